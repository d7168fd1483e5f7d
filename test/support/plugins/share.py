# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest: `-p share --share N` takes one test in N of each file, the first among them.

Every file is looked at so, at a fraction of the time, and the same tests are taken each time.
"""

from collections import defaultdict
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", type=int, default=1, metavar="N", help="one test in N of each file")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After marks were looked at: what they leave out is not counted."""
    one_in: int = config.getoption("--share")
    if one_in < 1:
        raise pytest.UsageError(f"--share {one_in}: one test in how many? expected 1 or more")
    of_file: defaultdict[Path, list[pytest.Item]] = defaultdict(list)
    for item in items:
        of_file[item.path].append(item)
    taken = {item for tests in of_file.values() for item in tests[::one_in]}
    left_out = [item for item in items if item not in taken]
    items[:] = [item for item in items if item in taken]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
