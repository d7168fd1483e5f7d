# SPDX-License-Identifier: BSD-3-Clause
"""The texts of other programs that can be read: one module and one row of `ALL` each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2aperf.errors import InputError
from a2aperf.importers import compat, osu, perftest
from a2aperf.importers.block import Block


@dataclass(frozen=True)
class Format:
    """One kind of text."""

    what: str
    """As it is asked for."""
    matches: Callable[[str], bool]
    """By its content."""
    parse: Callable[[Path, str], list[Block]]
    percentile_rule: str
    remarks: Callable[[list[Block]], list[str]] = lambda blocks: []
    """What its own figures leave in doubt."""


ALL: Final[Mapping[str, Format]] = {
    "compat": Format(
        "the 2019 layout (heading '# nodes msg (B) ops …')",
        compat.matches,
        compat.parse,
        compat.PERCENTILE_RULE,
        compat.disagreements,
    ),
    "perftest": Format(
        "perftest's JSON", perftest.matches, perftest.parse, perftest.PERCENTILE_RULE
    ),
    "osu": Format("osu_alltoall's text", osu.matches, osu.parse, osu.PERCENTILE_RULE),
}


def of_text(path: Path, text: str) -> Format:
    """The one that it is."""
    for one in ALL.values():
        if one.matches(text):
            return one
    what = "is empty" if not text.strip() else "line 1, column 1: no known table"
    *others, last = (one.what for one in ALL.values())
    raise InputError(f"{path}: {what}; expected {', '.join(others)} or {last}")
