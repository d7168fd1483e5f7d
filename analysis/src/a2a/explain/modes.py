# SPDX-License-Identifier: BSD-3-Clause
"""More than one mode in the op times: the median then says little about either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.signal import argrelextrema

from a2a.explain import series
from a2a.explain.finding import Finding, percent, us
from a2a.results import Results

Floats = NDArray[np.float64]

_FEWEST: Final = 20  # ops
_ERROR: Final = 1e-4  # of a valley between two hills of equal density
_APART: Final = 0.05  # in log time: closer modes are one in practice
# A summary shows two modes when the median is far above the minimum but close below p90.
_FAR, _CLOSE = 3.0, 1.5


@dataclass(frozen=True)
class Mode:
    """One mode of the op times: how many ops it holds, their median, and its bounds (ns)."""

    count: int
    share: float
    median: float
    low: float
    high: float


def modes(times: Floats) -> list[Mode]:
    """Modes of op times [n] in ns, fastest first; one mode unless the valleys are beyond chance.

    A valley counts when a window over it holds fewer ops than windows of the same width (in log
    time) over the hills on both sides, each by the binomial test.
    """
    logs = np.sort(np.log(times))
    edges = [] if len(logs) < _FEWEST else _valleys(logs)
    bounds = np.searchsorted(logs, edges)
    found = []
    for part in np.split(logs, bounds):
        low, middle, high = np.exp([part[0], part[(len(part) - 1) // 2], part[-1]])
        found.append(Mode(len(part), len(part) / len(logs), middle, low, high))
    return found


def _valleys(logs: Floats) -> list[float]:
    """Places in sorted log times where the density dips beyond chance."""
    if logs[-1] - logs[0] < _APART:
        return []
    quartiles = np.quantile(logs, [0.25, 0.75])
    spread = min(float(logs.std()), float(quartiles[1] - quartiles[0]) / 1.349)
    if spread <= 0:
        spread = float(logs.std())
    width = 0.9 * spread * len(logs) ** -0.2  # Silverman's rule
    grid = np.linspace(logs[0] - 3 * width, logs[-1] + 3 * width, _grid_size(logs, width))
    counts, _ = np.histogram(logs, bins=len(grid), range=(grid[0], grid[-1]))
    step = grid[1] - grid[0]
    reach = np.arange(-int(4 * width / step) - 1, int(4 * width / step) + 2) * step
    density = np.convolve(counts, stats.norm.pdf(reach, scale=width), mode="same")
    hills = argrelextrema(density, np.greater_equal)[0]
    hills = hills[density[hills] > 0]
    kept: list[float] = []
    left = hills[0] if len(hills) else 0
    for hill in hills[1:]:
        valley = left + _bottom(density[left : hill + 1])
        right = hill + int(np.argmax(density[hill:]))
        if _dips(logs, grid[left], grid[valley], grid[right]):
            kept.append(float(grid[valley]))
            left = hill
        elif density[hill] > density[left]:
            left = hill
    return kept


def _bottom(density: Floats) -> int:
    """Middle of the longest stretch at which the density is lowest."""
    low = np.flatnonzero(density <= density.min() + 1e-12)
    runs = np.split(low, np.flatnonzero(np.diff(low) > 1) + 1)
    longest = max(runs, key=len)
    return int(longest[len(longest) // 2])


def _grid_size(logs: Floats, width: float) -> int:
    return int(min(20_000, max(200, 8 * (logs[-1] - logs[0]) / width)))


def _dips(logs: Floats, left: float, valley: float, right: float) -> bool:
    if right - left < _APART:
        return False
    half = min(valley - left, right - valley) / 2
    inside = _within(logs, valley, half)
    hills = min(_within(logs, left, half), _within(logs, right, half))
    return hills > inside and bool(stats.binom.cdf(inside, inside + hills, 0.5) < _ERROR)


def _within(logs: Floats, centre: float, half: float) -> int:
    return int(np.searchsorted(logs, centre + half) - np.searchsorted(logs, centre - half))


def find(found: Results) -> list[Finding]:
    """Points with several modes: from raw samples where there are any, else from the summary."""
    points = found.points.assign(series=series.named(found))
    findings = []
    for _, row in points[points["has_raw"]].iterrows():
        parts = modes(found.op_times(str(row["file"]), int(row["point"])))
        if len(parts) > 1:
            findings.append(_told(row, parts))
    summaries = points[~points["has_raw"]]
    far = summaries["time_p50"] > _FAR * summaries["time_min"]
    near = summaries["time_p90"] < _CLOSE * summaries["time_p50"]
    for _, row in summaries[far & near].iterrows():
        findings.append(_summary(row, points))
    return findings


def _told(row: Any, parts: list[Mode]) -> Finding:
    texts = [f"{percent(x.share)} around {us(x.median)} (n={x.count})" for x in parts]
    n = sum(part.count for part in parts)
    return Finding(
        "modes",
        f"{len(parts)} modes: {', '.join(texts)}",
        series.place(row) + f", {row['launch']}",
        n,
        weight=1 - max(part.share for part in parts),
        numbers={f"median_{i}": part.median for i, part in enumerate(parts)}
        | {f"share_{i}": part.share for i, part in enumerate(parts)},
    )


def _summary(row: Any, points: pd.DataFrame) -> Finding:
    low, middle, high, mean = (
        float(row[name]) for name in ("time_min", "time_p50", "time_p90", "time_mean")
    )
    # Two modes at the minimum and at the median's place would give this mean with this share low.
    share = min(1.0, max(0.0, (middle - mean) / (middle - low)))
    same = points[
        (points["series"] == row["series"]) & (points["message_size"] == row["message_size"])
    ]
    near = [
        f"{us(other['time_p50'])} at {other['ranks']} ranks"
        for _, other in same.sort_values("ranks").iterrows()
        if other["ranks"] != row["ranks"]
        and abs(int(other["ranks"]) - int(row["ranks"])) <= 0.25 * int(row["ranks"])
    ]
    neighbours = f"; the median of its neighbours is {', '.join(near)}" if near else ""
    return Finding(
        "modes",
        f"two modes: min {us(low)}, but p50 {us(middle)} and p90 {us(high)}; mean {us(mean)}, so "
        f"about {percent(share)} of the ops are in the fast mode and the median sits in the "
        f"slow one{neighbours}",
        series.place(row),
        int(row["ops"]),
        weight=middle / low,
        numbers={"time_min": low, "time_p50": middle, "time_p90": high, "time_mean": mean},
    )
