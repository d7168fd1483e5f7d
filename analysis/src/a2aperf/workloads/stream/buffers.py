# SPDX-License-Identifier: BSD-3-Clause
"""What the number of buffers does: tables of one mode that differ in it."""

from __future__ import annotations

from itertools import combinations

from a2aperf.explain.finding import Finding, spanned
from a2aperf.labels import size_text
from a2aperf.results import Results
from a2aperf.workloads.stream import pause, tables

_SMALL = 1024


def find(found: Results) -> list[Finding]:
    """The ratio of message rates for each two numbers of buffers, of one table each: no verdict."""
    known = [(table, pause.buffers(table)) for table in tables.of(found)]
    findings = []
    for (one, few), (other, many) in combinations(known, 2):
        if one.mode != other.mode or few is None or many is None or few == many or not one.mode:
            continue
        if few > many:
            one, few, other, many = other, many, one, few
        findings += _between(one, few, other, many)
    counts = {count for _, count in known if count is not None}
    if not findings and len(counts) == 1:
        untold = sum(count is None for _, count in known)
        also = f"; of {untold} it is unknown" if untold else ""
        text = (
            f"every table whose number of buffers is known has {counts.pop()}{also}: what another "
            "number does needs a table that has one"
        )
        findings.append(Finding("buffers", text, "all", len(known), "tables", abstains=True))
    return findings


def _between(one: tables.Table, few: int, other: tables.Table, many: int) -> list[Finding]:
    both = one.free.merge(other.free, on="message_size", suffixes=("_few", "_many"))
    both = both[both[["msg_rate_few", "msg_rate_many"]].notna().all(axis=1)]
    both = both[both["msg_rate_few"] > 0]
    if both.empty:
        return []
    ratio = both["msg_rate_many"].astype(float) / both["msg_rate_few"].astype(float)
    parts = []
    for rows, words in (
        (both["message_size"] <= _SMALL, f"up to {size_text(_SMALL)}"),
        (both["message_size"] > _SMALL, "above"),
    ):
        if rows.any():
            parts.append(f"{spanned([*ratio[rows]])} times {words}")
    text = (
        f"{many} buffers against {few}: the message rate is {', '.join(parts)}; one table each, "
        "so nothing is said of how sure that is"
    )
    if one.heading != other.heading:
        text += f"; their headings differ, too ('{one.heading}', '{other.heading}')"
    numbers = {"smallest_ratio": float(ratio.min()), "largest_ratio": float(ratio.max())}
    where = f"{other.where}, and {one.where}"
    return [Finding("buffers", text, where, len(both), "sizes", float(ratio.max()), numbers)]
