# SPDX-License-Identifier: BSD-3-Clause
"""What the number of buffers does: tables that differ in nothing else that was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from a2aperf.explain.finding import Finding, spanned
from a2aperf.labels import count_text, range_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.stream import alike
from a2aperf.workloads.stream.tables import Table

_SMALL = 1024


def find(found: Results) -> list[Finding]:
    """Of each setting the ratio of message rates to those with the fewest buffers: no verdict."""
    settings, told = alike.by_buffers(found)
    findings = []
    for of in settings:
        few, *more = sorted(of)
        for many in more:
            findings += _between(of[few], few, of[many], many)
    counts = {count for count in told if count is not None}
    if not findings and counts:
        findings.append(_none(counts, told))
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


def _between(ones: list[Table], few: int, others: list[Table], many: int) -> list[Finding]:
    fewer, more = alike.rates(ones), alike.rates(others)
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
        launches = [alike.launches(of) for of in (ones, others)]
        text += f"medians of {range_text(launches)} launches each"
        if all(table.window is not None for table in (*ones, *others)):
            text += "; 'a2a compare --by window' says how sure that is"
        headings = {table.heading for table in (*ones, *others)}
        if len(headings) > 1:
            text += f"; they stand under {len(headings)} headings, and may differ in what these say"
        where = f"{count_text(len(ones) + len(others), 'table')}, mode {one.mode}"
        where += f", {one.others}" if one.others else ""
    numbers = {"smallest_ratio": float(ratio.min()), "largest_ratio": float(ratio.max())}
    return [Finding("buffers", text, where, len(ratio), "sizes", float(ratio.max()), numbers)]
