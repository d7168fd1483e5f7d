# SPDX-License-Identifier: BSD-3-Clause
"""What differs between two sides is seen in what is shown of it."""

from __future__ import annotations

import pytest

from a2aperf.differences import Difference, apart

LONG = "/a/long/path/to/the/program/bin/a2aperf stream --provider shm --sizes 8"


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        (("1.17",), ("2.1",), ("1.17", "2.1")),
        ((f"{LONG},64K",), (f"{LONG},4K --mode msg",), ("… 8,64K", "… 8,4K --mode msg")),
        ((LONG,), (f"{LONG} -q",), ("… 8", "… 8 -q")),
        (("x" * 90 + "1",), ("x" * 90 + "2",), ("… xxxxxxxx1", "… xxxxxxxx2")),
        (("a", "b"), (), ("a | b", "")),
        ((LONG + "0" * 90,), ("",), (f"{LONG[:58]} …", "not recorded")),
    ],
)
def test_what_differs_is_shown(
    one: tuple[str, ...], other: tuple[str, ...], shown: tuple[str, str]
) -> None:
    assert apart(Difference("command_line", one, other)) == shown
