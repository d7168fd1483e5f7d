# SPDX-License-Identifier: BSD-3-Clause
"""A round trip that took much of the time of all."""

from __future__ import annotations

from typing import Final

from a2aperf.explain import held_up, series
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.results import Results

_MUCH: Final = 0.05
_MANY: Final = 200
"""Round trips of which none takes such a share by a tail of its own."""


def find(found: Results) -> list[Finding]:
    """Of each point with enough round trips."""
    findings = []
    for _, row in found.points[found.points["ops"] >= _MANY].iterrows():
        share = float(row["time_max"] / (row["time_mean"] * row["ops"]))
        if share < _MUCH:
            continue
        ops = int(row["ops"])
        text = (
            f"the longest of {ops} round trips took {us(row['time_max'])}, {percent(share)} of "
            "what all took together: mean and bandwidth count it, the median does not"
        )
        where, unit = series.place(row), "round trips"
        numbers = {"share": share}
        findings.append(Finding(held_up.KIND, text, where, ops, unit, share, numbers))
    return findings
