# SPDX-License-Identifier: BSD-3-Clause
"""What the number of buffers does: tables that differ in nothing else that was chosen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, spanned
from a2aperf.labels import count_text, range_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.stream import pause, tables
from a2aperf.workloads.stream.tables import Table

_SMALL = 1024
_TELL_BUFFERS = ("heading", "buffers")
"""Labels of imported tables in which the number of buffers may stand."""


def find(found: Results) -> list[Finding]:
    """Of each setting the ratio of message rates to those with the fewest buffers: no verdict."""
    known = [(table, pause.buffers(table)) for table in tables.of(found)]
    settings: dict[Hashable, dict[int, list[Table]]] = {}
    names = _names(found)
    for table, count in known:
        if table.mode and count is not None:
            of = settings.setdefault(_setting(found, table, *names), {})
            of.setdefault(count, []).append(table)
    findings = []
    for of in settings.values():
        few, *more = sorted(of)
        for many in more:
            findings += _between(of[few], few, of[many], many)
    counts = {count for _, count in known if count is not None}
    if not findings and counts:
        findings.append(_none(counts, [count for _, count in known]))
    return findings


def _none(counts: set[int], told: Sequence[int | None]) -> Finding:
    untold = sum(count is None for count in told)
    also = f"; of {untold} it is unknown" if untold else ""
    if len(counts) == 1:
        text = (
            f"every table whose number of buffers is known has {counts.pop()}{also}: what another "
            "number does needs a table that has one"
        )
    else:
        text = (
            f"tables have {range_text(counts)} buffers{also}, but differ in more than that, do not "
            "tell their mode, or have no size in common: what the number does needs tables that "
            "differ in nothing else"
        )
    return Finding("buffers", text, "all", len(told), "tables", abstains=True)


def _names(found: Results) -> tuple[list[str], list[str]]:
    """Of all that was chosen but the number of buffers: columns, and settings of launches."""
    columns = [*grouping.CHOICES, *found.choices, "ranks", "nodes"]
    of_launch = [
        *grouping.differing_starts(found, found.points),
        *grouping.differing_names(found.launches),
    ]
    return (
        [name for name in columns if name not in ("window", "section", "free_delay")],
        [name for name in of_launch if name not in _TELL_BUFFERS],
    )


def _setting(
    found: Results, table: Table, columns: Sequence[str], of_launch: Sequence[str]
) -> Hashable:
    """What was chosen for a table."""
    first, launch = table.rows.iloc[0], found.launches[table.launch]
    return (
        *(str(first[name]) for name in columns if name in table.rows),
        *(launch.setting(name) for name in of_launch),
    )


def _rates(of: Sequence[Table]) -> pd.Series[float]:
    """Messages/s at each size: the median of the tables."""
    rows = pd.concat([table.free for table in of])
    rows = rows[rows["msg_rate"].notna()]
    return rows.groupby("message_size")["msg_rate"].median().astype(float)


def _between(ones: list[Table], few: int, others: list[Table], many: int) -> list[Finding]:
    fewer, more = _rates(ones), _rates(others)
    ratio = (more / fewer[fewer > 0]).dropna()
    if ratio.empty:
        return []
    parts = []
    for rows, words in (
        (ratio.index <= _SMALL, f"up to {size_text(_SMALL)}"),
        (ratio.index > _SMALL, "above"),
    ):
        if rows.any():
            parts.append(f"{spanned([*ratio[rows]])} times {words}")
    text = f"{many} buffers against {few}: the message rate is {', '.join(parts)}; "
    one, other = ones[0], others[0]
    if len(ones) == len(others) == 1:
        text += "one table each, so nothing is said of how sure that is"
        where = f"{other.where}, and {one.where}"
        if one.heading != other.heading:
            text += f"; their headings differ, too ('{one.heading}', '{other.heading}')"
    else:
        launches = [len({table.launch for table in of}) for of in (ones, others)]
        text += f"medians of {range_text(launches)} launches each"
        if all(table.window is not None for table in (*ones, *others)):
            text += "; 'a2a compare --by window' says how sure that is"
        where = f"{count_text(len(ones) + len(others), 'table')}, mode {one.mode}"
        where += f", {one.others}" if one.others else ""
    numbers = {"smallest_ratio": float(ratio.min()), "largest_ratio": float(ratio.max())}
    return [Finding("buffers", text, where, len(ratio), "sizes", float(ratio.max()), numbers)]
