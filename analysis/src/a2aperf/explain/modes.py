# SPDX-License-Identifier: BSD-3-Clause
"""More than one mode in the op times: the median then says little about either."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import intervals, laws
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.results import Results

Floats = NDArray[np.float64]

_FEWEST: Final = 20  # ops
_ERROR: Final = 1e-4  # of a valley between two hills of equal density
_APART: Final = 0.05  # in log time: closer modes are one in practice
_LEAST: Final = 0.01  # share of the ops that is a mode, and no few outliers
_JUMP: Final = 10.0  # usual changes from op to op: a gap that times jump over
_FEWEST_FAST: Final = 5  # ops that a mean must stand for before a summary shows a fast mode
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


@dataclass(frozen=True)
class _Memory:
    """How much ops depend on those before: what one counts, and the usual change to the next."""

    effective: float
    change: float  # of the log time

    @classmethod
    def of(cls, times: Floats) -> _Memory:
        """From the lag-1 autocorrelation of op times in the order of measurement."""
        n = len(times)
        change = float(np.median(np.abs(np.diff(np.log(times)))))
        rho = intervals.autocorrelation(times)
        if not intervals.dependent(rho, n):
            return cls(1.0, change)
        rho = min(0.999, rho + (1 + 3 * rho) / n)  # Kendall's correction
        return cls((1 - rho) / (1 + rho), change)

    def worth(self, logs: Floats, valley: float) -> float:
        """What an op counts at a valley of the sorted log times.

        Times that wander cross a valley in small steps; where none has ever been in a gap of many
        such steps they jump, and how long they stay does not matter.
        """
        above = int(np.searchsorted(logs, valley))
        gap = float(logs[above] - logs[above - 1]) if 0 < above < len(logs) else 0.0
        return 1.0 if gap > _JUMP * self.change else self.effective


def modes(times: Floats) -> list[Mode]:
    """Modes of op times [n] in ns, fastest first; one mode unless the valleys are beyond chance.

    A valley counts when a window over it holds fewer ops than windows of the same width (in log
    time) over the hills on both sides, each by the binomial test; of ops that depend on those
    before only the effective ones count.
    """
    logs = np.sort(np.log(times))
    edges = [] if len(logs) < _FEWEST else _valleys(logs, _Memory.of(times))
    bounds = _large(np.searchsorted(logs, edges), len(logs))
    found = []
    for part in np.split(logs, bounds):
        low, middle, high = np.exp([part[0], part[(len(part) - 1) // 2], part[-1]])
        found.append(Mode(len(part), len(part) / len(logs), middle, low, high))
    return found


def _large(bounds: NDArray[np.intp], n: int) -> list[int]:
    """Those bounds that leave modes of a share worth the name; outliers belong to the next one."""
    kept: list[int] = []
    for bound in bounds:
        if min(bound - (kept[-1] if kept else 0), n - bound) >= _LEAST * n:
            kept.append(int(bound))
    return kept


def _valleys(logs: Floats, memory: _Memory) -> list[float]:
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
    density = np.convolve(counts, laws.normal_pdf(reach, width), mode="same")
    beside = np.pad(density, 1, mode="edge")
    is_hill = (density >= beside[:-2]) & (density >= beside[2:]) & (density > 0)
    hills = np.flatnonzero(is_hill)
    kept: list[float] = []
    left = hills[0] if len(hills) else 0
    for hill in hills[1:]:
        valley = left + _bottom(density[left : hill + 1])
        right = hill + int(np.argmax(density[hill:]))
        if _dips(logs, grid[left], grid[valley], grid[right], memory):
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


def _dips(logs: Floats, left: float, valley: float, right: float, memory: _Memory) -> bool:
    if right - left < _APART:
        return False
    half = min(valley - left, right - valley) / 2
    inside = _within(logs, valley, half)
    hills = min(_within(logs, left, half), _within(logs, right, half))
    if hills <= inside:
        return False
    worth = memory.worth(logs, valley)
    inside, both = math.ceil(worth * inside), math.floor(worth * (inside + hills))
    return bool(laws.binomial_cdf(inside, max(inside, both), 0.5) < _ERROR)


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
        share = _fast(row)
        if share * int(row["ops"]) >= _FEWEST_FAST:
            findings.append(_summary(row, share, points))
    return findings


def _fast(row: Any) -> float:
    """Share of ops in a fast mode: two modes, at minimum and median, then give the mean.

    0 where the mean is no less than the median: then nothing tells how many ops were fast.
    """
    low, middle, mean = (float(row[name]) for name in ("time_min", "time_p50", "time_mean"))
    return min(1.0, max(0.0, (middle - mean) / (middle - low)))


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


def _summary(row: Any, share: float, points: pd.DataFrame) -> Finding:
    low, middle, high, mean = (
        float(row[name]) for name in ("time_min", "time_p50", "time_p90", "time_mean")
    )
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
