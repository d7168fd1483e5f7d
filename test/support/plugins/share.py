# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest, `-p share`: of the tests of each file, or of the slow ones among them, some.

Every file is looked at so, at a fraction of the time, and the same tests are taken each time: the first of the file and
each Nth after it. Slow ones that are marked `every` are all taken.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", type=int, default=1, metavar="N", help="one test in N of each file")
    parser.addoption(
        "--share-slow", type=int, default=1, metavar="N", help="one test in N of those of each file that are marked slow"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After marks were looked at: what they leave out is not counted."""
    slow = [item for item in items if item.get_closest_marker("slow") and not item.get_closest_marker("every")]
    left_out = _left_out(items, _one_in(config, "--share")) | _left_out(slow, _one_in(config, "--share-slow"))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _one_in(config: pytest.Config, option: str) -> int:
    one_in: int = config.getoption(option)
    if one_in < 1:
        raise pytest.UsageError(f"{option} {one_in}: one test in how many? expected 1 or more")
    return one_in


def _left_out(items: Iterable[pytest.Item], one_in: int) -> set[pytest.Item]:
    of_file: defaultdict[Path, list[pytest.Item]] = defaultdict(list)
    for item in items:
        of_file[item.path].append(item)
    return {item for tests in of_file.values() for at, item in enumerate(tests) if at % one_in}
