# SPDX-License-Identifier: BSD-3-Clause
"""Launches whose last sentinel lies outside the first one's interval: the machine has moved.

Slow noise does that, too. How far it wanders over a launch is bounded by what it does within the
points: where noise comes from a stationary process whose memory fades, or from a random walk, the
variance of a change over k spans is at most k times that over one.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from a2aperf import intervals, laws
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.results import Results

_FEWEST: Final = 10.0  # effective ops
_FEWEST_OPS: Final = 8  # of a point, for the medians of its halves
_FEWEST_POINTS: Final = 3  # for how far halves differ


def find(found: Results) -> list[Finding]:
    """Per launch, the first against the last sentinel; needs rows of that role."""
    findings = []
    for launch, points in found.points.sort_values("order").groupby("launch"):
        rows = points[points["role"] == "sentinel"]
        if len(rows) < 2:
            continue
        first: Any = rows.iloc[0]
        last: Any = rows.iloc[-1]
        before, after = _interval(found, first), _interval(found, last)
        if not (after[0] > before[1] or after[1] < before[0]):
            continue
        change = last["time_p50"] / first["time_p50"] - 1
        limit = wandering(found, points)
        if not abs(math.log1p(change)) > limit:
            findings.append(_abstains(str(launch), float(change), limit, rows))
            continue
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


def wandering(found: Results, points: pd.DataFrame) -> float:
    """How far noise alone may move the log op time over a launch (95 %); inf where not known.

    From the change between the halves of each point, less what they have in common, which a drift
    gives; a launch is as many such spans as points have halves, but one.
    """
    changes = []
    for _, row in points[points["has_raw"]].iterrows():
        times = np.log(np.maximum(1.0, found.op_times(str(row["file"]), int(row["point"]))))
        if len(times) >= _FEWEST_OPS:
            half = len(times) // 2
            changes.append(float(np.median(times[-half:]) - np.median(times[:half])))
    if len(changes) < _FEWEST_POINTS:
        return math.inf
    spans = 2 * len(points) - 1
    spread = float(np.std(changes, ddof=1))
    return float(laws.t_ppf(0.975, len(changes) - 1)) * spread * math.sqrt(spans)


def _change(limit: float) -> str:
    """A log ratio that noise alone may reach."""
    return f"{percent(math.expm1(limit))} are" if limit < math.log(10) else "ten times as long is"


def _abstains(launch: str, change: float, limit: float, sentinels: pd.DataFrame) -> Finding:
    why = (
        f"less than {_FEWEST_POINTS} points of {_FEWEST_OPS} ops tell how far op times wander"
        if math.isinf(limit)
        else f"op times wander within points, so that {_change(limit)} no drift"
    )
    return Finding(
        "drift",
        f"not judged: the sentinel changed by {'+' if change > 0 else '-'}{percent(abs(change))}, "
        f"but {why} (insufficient samples)",
        launch,
        int(sentinels["ops"].sum()),
        abstains=True,
    )


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
