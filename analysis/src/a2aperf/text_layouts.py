# SPDX-License-Identifier: BSD-3-Clause
"""The layouts of the table as text by name: one row of `ALL` each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from a2aperf import clusterperf, compat, layouts, workloads
from a2aperf.results import Results

Lines = Callable[[Results, Sequence[str]], list[str]]
"""The heading and a line per point, of the columns named or, of none, the layout's own."""


@dataclass(frozen=True)
class TextLayout:
    """One layout."""

    lines: Lines
    says: str = ""
    """What there is to know of it, for the help text."""
    takes_columns: bool = True
    is_of_alltoalls: bool = False


def _columns(own: Sequence[str], mark_maximum: bool = False) -> Lines:
    return lambda found, names: layouts.text(
        found, names or layouts.columns_for(found, own), mark_maximum
    )


def _compat(found: Results, _: Sequence[str]) -> list[str]:
    return compat.lines_of(found.complete(sorted(set(found.points["role"]))))


def _own(lines: Callable[[Results], list[str]], found: Results, _: Sequence[str]) -> list[str]:
    return lines(found)


ALL: Final = {
    "table": TextLayout(_columns(layouts.TABLE)),
    "wide": TextLayout(_columns(layouts.WIDE, mark_maximum=True)),
    "compat": TextLayout(
        _compat,
        "compat is the layout of 2019; its 'nodes' are ranks.",
        takes_columns=False,
        is_of_alltoalls=True,
    ),
    "clusterperf": TextLayout(
        lambda found, _: clusterperf.lines_of(found),
        "clusterperf has a line for each figure of round trips.",
        takes_columns=False,
    ),
    **{
        name: TextLayout(partial(_own, lines), listing.texts_say, takes_columns=False)
        for one in workloads.ALL
        if (listing := one.listing)
        for name, lines in listing.texts.items()
    },
}
