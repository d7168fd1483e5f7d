# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest, `-p share`: of the tests of each file some, of the slow ones among them fewer.

Every file is looked at so, at a fraction of the time: the first of the file and each Nth after it, or, with a turn, the
one that many behind the first and each Nth after it, so that N turns take all. Those that are marked `every` are all taken.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", type=int, default=1, metavar="N", help="one test in N of each file, but for slow ones")
    parser.addoption("--share-turn", type=int, default=0, metavar="T", help="which of these N, and of the slow ones: T mod N")
    parser.addoption(
        "--share-slow", type=int, default=1, metavar="N", help="one test in N of those of each file that are marked slow"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After marks were looked at: what they leave out is not counted."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    others = set(items).difference(slow)
    turn = config.getoption("--share-turn")
    left_out = _left_out([item for item in items if item in others], _one_in(config, "--share"), turn)
    left_out |= _left_out([item for item in slow if not item.get_closest_marker("every")], _one_in(config, "--share-slow"), turn)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _one_in(config: pytest.Config, option: str) -> int:
    one_in: int = config.getoption(option)
    if one_in < 1:
        raise pytest.UsageError(f"{option} {one_in}: one test in how many? expected 1 or more")
    return one_in


def _left_out(items: Iterable[pytest.Item], one_in: int, turn: int) -> set[pytest.Item]:
    of_file: defaultdict[Path, list[pytest.Item]] = defaultdict(list)
    for item in items:
        of_file[item.path].append(item)
    return {
        item for tests in of_file.values() for at, item in enumerate(tests) if at % one_in != turn % min(one_in, len(tests))
    }
