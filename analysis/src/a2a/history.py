# SPDX-License-Identifier: BSD-3-Clause
"""A collection of launches over months: trends, and the days on which something changed.

Change points are sought in all lines together by circular binary segmentation (Olshen et al.,
Biostatistics 5, 2004): the stretch of launches that differs most from the rest, by the two-sample
|t| in any line, counts when hardly any random order of the launches has one that differs as much
(max-T over lines and stretches). Its ends are the change points; the parts are then searched again.
Launches far out are first moved to three robust standard deviations from the median of the line, so
that a single bad day neither hides a change nor makes one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from a2a import differences
from a2a.differences import Differences
from a2a.explain import series
from a2a.results import Results

Floats = NDArray[np.float64]

ERROR: Final = 0.01  # per search, family-wise over lines and places
FEWEST: Final = 3  # launches on each side of a change
_ORDERS: Final = 500
_AT_ONCE: Final = 25
_PLACES: Final = 96  # ends of a stretch that are tried
_IN_MEMORY: Final = 1_000_000  # numbers in one array
_SEED: Final = 20190417
_DAY_NS: Final = 86_400 * 1_000_000_000
_WEEK_NS, _MONTH_NS = 7 * _DAY_NS, 30 * _DAY_NS
LINE: Final = ["series", "ranks", "nodes", "ppn", "message_size"]


@dataclass(frozen=True)
class Split:
    """A change between launch `index - 1` and launch `index`, and how surprising it is."""

    index: int
    p: float


@dataclass(frozen=True)
class Change:
    """A change in the history, with the lines that moved and what else was recorded to change.

    `lines` has the columns of a line, `ratio` (speed after ÷ before), `before` and `after`
    (launches), `p` (two-sample t test of the line by itself, for order only).
    """

    before: str
    after: str
    time: int  # ns since 1970, start of the first launch after it
    p: float
    lines: pd.DataFrame
    differences: Differences


@dataclass(frozen=True)
class History:
    """`launches`: id, time (ns), in order. `lines`: one row per line with `launches`, `first`,
    `last`, `median` (Gbit/s per rank), `trend`, `trend_low`, `trend_high` (relative speed per 30
    days, NaN below 6 launches or within a week), `values` (list). `changes` in order of time.
    """  # noqa: D205

    launches: pd.DataFrame
    lines: pd.DataFrame
    changes: list[Change]


def splits(y: Floats, rng: np.random.Generator) -> list[Split]:
    """Change points of y [launches in time order, lines], NaN where a launch lacks the line."""
    found = _search(y, 0, len(y), rng)
    return sorted(found, key=lambda split: split.index)


def _search(y: Floats, start: int, stop: int, rng: np.random.Generator) -> list[Split]:
    n = stop - start
    if n < 2 * FEWEST:
        return []
    part = y[start:stop, ~np.isnan(y[start:stop]).all(axis=0)]
    if not part.size:
        return []
    part = _without_bad_days(part)
    stretches = _stretches(n)
    strength = _strength(part[None], stretches)[0]
    best = int(np.argmax(strength))
    if strength[best] <= 0:
        return []
    least = strength[best] * (1 - 1e-9)
    at_once = max(1, min(_AT_ONCE, _IN_MEMORY // (len(stretches) * part.shape[1])))
    reached, made = 0, 0
    # Once too many orders reach it the answer is known.
    while made < _ORDERS and reached < ERROR * (_ORDERS + 1):
        orders = np.stack([part[rng.permutation(n)] for _ in range(min(at_once, _ORDERS - made))])
        reached += int((_strength(orders, stretches).max(axis=1) >= least).sum())
        made += len(orders)
    p = (reached + 1) / (_ORDERS + 1)
    if p > ERROR:
        return []
    ends = [start + int(end) for end in stretches[best] if 0 < end < n]
    bounds = [start, *ends, stop]
    parts = [_search(y, a, b, rng) for a, b in itertools.pairwise(bounds)]
    return [Split(end, p) for end in ends] + [split for part in parts for split in part]


def _without_bad_days(y: Floats) -> Floats:
    """Values less the median of their line, within ± 3 standard deviations (by the MAD)."""
    centre = np.nanmedian(y, axis=0)
    reach = 3 * 1.4826 * np.nanmedian(np.abs(y - centre), axis=0)
    reach = np.where(reach > 0, reach, np.inf)
    return np.asarray(np.clip(y - centre, -reach, reach))


def _stretches(n: int) -> NDArray[np.intp]:
    """Ends [i, j) of the stretches to try, [stretches, 2]; what is left of them is no shorter.

    Beyond _PLACES launches only every second, third, … may be an end.
    """
    places = np.arange(FEWEST, n - FEWEST + 1, -(-n // _PLACES))
    ends = [(i, j) for i, j in itertools.combinations([0, *places, n], 2)]
    kept = [(i, j) for i, j in ends if j - i >= FEWEST and n - (j - i) >= FEWEST]
    # A stretch up to the end is the rest of the one from the start.
    return np.array([(i, j) for i, j in kept if not (j == n and i > 0)], dtype=np.intp)


def _strength(orders: Floats, stretches: NDArray[np.intp]) -> Floats:
    """Largest |t| of any line, [orders, stretches], for `orders` [orders, launches, lines]."""
    known = ~np.isnan(orders)
    values = np.where(known, orders, 0.0)
    n, total, power = (x.sum(axis=1, keepdims=True) for x in (known, values, values**2))
    count, inside = (_within(x, stretches) for x in (known, values))
    with np.errstate(divide="ignore", invalid="ignore"):
        outside = n - count
        gap = inside / count - (total - inside) / outside
        rest = power - inside**2 / count - (total - inside) ** 2 / outside
        # Rounding must not turn lines that never change into certain changes.
        rest = np.maximum(rest, 1e-9 * power)
        t = np.abs(gap) / np.sqrt(rest / (n - 2) * (1 / count + 1 / outside))
    t = np.where((count >= FEWEST) & (outside >= FEWEST), t, 0.0)
    return np.asarray(np.nan_to_num(t, nan=0.0, posinf=0.0).max(axis=2))


def _within(values: NDArray[Any], stretches: NDArray[np.intp]) -> Floats:
    """Sums over each stretch, [orders, stretches, lines]."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1, values.shape[2]))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return np.asarray(sums[:, stretches[:, 1]] - sums[:, stretches[:, 0]])


def history(found: Results) -> History:
    """Trends and change points of complete points."""
    points = found.points.assign(series=series.named(found))
    points["speed"] = -np.log(points["time_p50"])
    starts = points.groupby("launch")["started"].min().astype("Float64").fillna(-1)
    launches = starts.rename("time").reset_index().sort_values("time", kind="stable")
    launches = launches.reset_index(drop=True)
    table = points.pivot_table(
        index="launch", columns=LINE, values="speed", aggfunc="mean", dropna=False, observed=True
    )
    table = table.reindex(launches["launch"]).dropna(axis=1, how="all")
    y = table.to_numpy(dtype=np.float64)
    times = launches["time"].to_numpy(dtype=np.float64)
    rates = points.pivot_table(
        index="launch", columns=LINE, values="gbps_rank", aggfunc="mean", dropna=False
    ).reindex(index=launches["launch"], columns=table.columns)
    lines = _lines(table.columns, y, rates.to_numpy(dtype=np.float64), times)
    found_splits = splits(y, np.random.default_rng(_SEED))
    changes = [_change(found, split, found_splits, launches, y, lines) for split in found_splits]
    return History(launches, lines, changes)


def _lines(columns: pd.Index, y: Floats, rates: Floats, times: Floats) -> pd.DataFrame:
    rows = []
    for number, key in enumerate(columns):
        known = ~np.isnan(y[:, number])
        values = rates[known, number]
        slope, low, high = _trend(times[known], y[known, number])
        rows.append(
            {
                **dict(zip(LINE, key, strict=True)),
                "launches": int(known.sum()),
                "first": values[0],
                "last": values[-1],
                "median": float(np.median(values)),
                "trend": slope,
                "trend_low": low,
                "trend_high": high,
                "values": values.tolist(),
            }
        )
    return pd.DataFrame(rows)


def _trend(times: Floats, speed: Floats) -> tuple[float, float, float]:
    """Theil-Sen slope of log speed with its 95 % interval, as relative change per 30 days."""
    if len(times) < 2 * FEWEST or times.min() < 0 or np.ptp(times) < _WEEK_NS:
        return np.nan, np.nan, np.nan
    slope, _, low, high = stats.theilslopes(speed, times / _MONTH_NS)
    return float(np.expm1(slope)), float(np.expm1(low)), float(np.expm1(high))


def _change(
    found: Results,
    split: Split,
    every: list[Split],
    launches: pd.DataFrame,
    y: Floats,
    lines: pd.DataFrame,
) -> Change:
    """Compares the stretches between this change and its neighbours."""
    places = sorted({0, len(y), *(other.index for other in every)})
    at = places.index(split.index)
    before, after = slice(places[at - 1], split.index), slice(split.index, places[at + 1])
    rows = []
    for number in range(y.shape[1]):
        a, b = (part[~np.isnan(part)] for part in (y[before, number], y[after, number]))
        if min(len(a), len(b)) < 2:
            continue
        p = float(stats.ttest_ind(a, b, equal_var=False).pvalue) if a.std() + b.std() > 0 else 0.0
        ratio = float(np.exp(b.mean() - a.mean()))
        named = lines.loc[number, LINE].to_dict()
        rows.append({**named, "ratio": ratio, "before": len(a), "after": len(b), "p": p})
    names = list(launches["launch"])
    columns = [*LINE, "ratio", "before", "after", "p"]
    moved = pd.DataFrame(rows, columns=columns).sort_values("p", kind="stable", ignore_index=True)
    return Change(
        names[split.index - 1],
        names[split.index],
        int(launches["time"].iloc[split.index]),
        split.p,
        moved,
        differences.between(found, names[before], names[after], ()),
    )
