# SPDX-License-Identifier: BSD-3-Clause
"""Launches whose last sentinel lies outside the first one's interval: the machine has moved."""

from __future__ import annotations

import math
from typing import Any, Final

from a2aperf import intervals
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.results import Results

_FEWEST: Final = 10.0  # effective ops


def find(found: Results) -> list[Finding]:
    """Per launch, the first against the last sentinel; needs rows of that role."""
    sentinels = found.points[found.points["role"] == "sentinel"]
    findings = []
    for launch, rows in sentinels.sort_values("order").groupby("launch"):
        if len(rows) < 2:
            continue
        first: Any = rows.iloc[0]
        last: Any = rows.iloc[-1]
        before, after = _interval(found, first), _interval(found, last)
        if not (after[0] > before[1] or after[1] < before[0]):
            continue
        change = last["time_p50"] / first["time_p50"] - 1
        findings.append(
            Finding(
                "drift",
                f"the sentinel ({first['message_size']} B) went from {us(first['time_p50'])} "
                f"({us(before[0])} to {us(before[1])}) to {us(last['time_p50'])} "
                f"({us(after[0])} to {us(after[1])}): {'+' if change > 0 else '-'}"
                f"{percent(abs(change))} "
                "between the start and the end of the launch",
                str(launch),
                int(first["ops"] + last["ops"]),
                weight=abs(float(change)),
                numbers={"change": float(change)},
            )
        )
    return findings


def _interval(found: Results, row: Any) -> tuple[float, float]:
    """95 % interval of the median op time, ns; NaN where the ops carry none.

    From the samples where they are there: ops that depend on each other carry less. Of fewer than
    so many effective ops (Gaussian with that autocorrelation) not even that interval holds.
    """
    if not row["has_raw"]:
        return float(row["time_p50_low"]), float(row["time_p50_high"])
    one = intervals.median_interval(found.op_times(str(row["file"]), int(row["point"])))
    rho = min(max(one.autocorrelation + 4 / max(one.n, 1), 0.0), 0.999)
    if one.n * (1 - rho) / (1 + rho) < _FEWEST and one.kind == "block-bootstrap":
        return math.nan, math.nan
    return one.low, one.high
