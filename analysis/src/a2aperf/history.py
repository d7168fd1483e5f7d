# SPDX-License-Identifier: BSD-3-Clause
"""A collection of launches over months: trends, and the days on which something changed.

The unit is the job (`jobs`): launches of one job have their nodes and their hour in common, and
eight of them say no more about months than one. Steps are told from drift by `changepoints`; where
days have several jobs, which are more alike than those of other days, a day is what is compared. A
trend is that of the jobs since the last step, with an interval that bears jobs which are like the
one before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import changepoints, differences, jobs, laws, memory
from a2aperf.changepoints import Split
from a2aperf.deferred import pandas as pd
from a2aperf.differences import Differences
from a2aperf.errors import InputError
from a2aperf.explain import series
from a2aperf.labels import natural
from a2aperf.results import Results
from a2aperf.traits import Judged

Floats = NDArray[np.float64]

TREND: Final = 6  # jobs from which a trend is told
_DAY_NS: Final = 86_400 * 1_000_000_000
_WEEK_NS, _MONTH_NS = 7 * _DAY_NS, 30 * _DAY_NS
LINE: Final = ["series", "ranks", "nodes", "ppn", "message_size"]
_FIGURES: Final = (
    "jobs", "first", "last", "median", "trend", "trend_low", "trend_high", "values"
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A step in the history, with the lines that moved and what else was recorded to change.

    `lines` has the columns of a line, `ratio` (speed after ÷ before), `before` and `after`
    (jobs), `p` (two-sample t test of the line by itself, for order only).
    """

    before: str  # last launch of the job before it
    after: str  # first launch of the job after it
    time: int  # ns since 1970, start of that launch
    p: float
    lines: pd.DataFrame
    differences: Differences


@dataclass(frozen=True)
class History:
    """`launches`: id, time (ns), job (its number), in order. `lines`: one row per line with `jobs`,
    `launches`, `first`, `last`, `median` (`Judged.rate`, of the jobs' medians that are known),
    `trend`, `trend_low`, `trend_high` (relative speed per 30 days since the last step, NaN below 6
    jobs or within a week), `values` (of the jobs). `changes` in order of time; `jobs`: how many.
    """  # noqa: D205

    launches: pd.DataFrame
    lines: pd.DataFrame
    changes: list[Change]
    jobs: int
    sought: tuple[str, int]
    """Among what steps were sought, `job` or `day`, and how many there are."""
    unit: str = Judged.unit
    """Of rates."""

    @property
    def lacking(self) -> str:
        """`8 jobs are needed`, where there are too few for a step; else empty."""
        unit, count = self.sought
        return f"{changepoints.LEAST} {unit}s are needed" if count < changepoints.LEAST else ""


def history(found: Results) -> History:
    """Trends and change points of complete points; InputError where none has a time."""
    names = series.named(found)
    in_order = pd.Categorical(names, sorted(set(names), key=natural), ordered=True)
    points = found.points.assign(series=in_order)
    points["speed"] = -np.log(found.judged.time(points).astype(float))
    launches = _launches(found)
    job = launches["job"].to_numpy()
    table = points.pivot_table(
        index="launch", columns=LINE, values="speed", aggfunc="mean", dropna=False, observed=True
    )
    table = table.reindex(launches["launch"]).dropna(axis=1, how="all")
    if table.empty:
        raise InputError("no point tells a time that could be judged")
    y = jobs.medians(table.to_numpy(dtype=np.float64), [job])
    rates = points.pivot_table(
        index="launch",
        columns=LINE,
        values=found.judged.rate,
        aggfunc="mean",
        dropna=False,
        observed=True,
    ).reindex(index=launches["launch"], columns=table.columns)
    rate = jobs.medians(rates.to_numpy(dtype=np.float64), [job])
    times = launches.groupby("job")["time"].min().to_numpy(dtype=np.float64)
    day = days_of(times)
    steps = splits(y, day)
    lines = _lines(table.columns, y, rate, times, steps[-1].index if steps else 0)
    count = table.notna().sum(axis=0).to_numpy()
    lines.insert(lines.columns.tolist().index("jobs"), "launches", count)
    changes = [_change(found, step, steps, launches, y, lines) for step in steps]
    sought = ("job", len(times)) if day is None else ("day", int(day[-1]) + 1)
    return History(launches, lines, changes, len(times), sought, found.judged.unit)


def days_of(times: Floats) -> NDArray[np.intp] | None:
    """The day of each job (UTC), by its number; None where no day of several has several jobs."""
    if not len(times) or times.min() < 0:
        return None
    days, day = np.unique(times // _DAY_NS, return_inverse=True)
    return day if 1 < len(days) < len(day) else None


def splits(y: Floats, day: NDArray[np.intp] | None) -> list[Split]:
    """Steps of y [jobs, lines] in order of time, by their jobs; `day` as `days_of` says."""
    if day is None:
        return changepoints.splits(y)
    first = np.searchsorted(day, np.arange(day[-1] + 1))
    of_days = changepoints.splits(jobs.medians(y, [day]))
    return [replace(one, index=int(first[one.index])) for one in of_days]


def _launches(found: Results) -> pd.DataFrame:
    """Launches in order of time, job by job; jobs are numbered."""
    of_launch = jobs.of_launches(found)
    starts = found.points.groupby("launch")["started"].min().astype("Float64").fillna(-1)
    launches = starts.rename("time").reset_index()
    launches["name"] = launches["launch"].map(of_launch)
    launches["begun"] = launches.groupby("name")["time"].transform("min")
    launches = launches.sort_values(["begun", "name", "time"], kind="stable", ignore_index=True)
    launches["job"] = pd.factorize(launches["name"])[0]
    return launches[["launch", "time", "job"]]


def _lines(columns: pd.Index, y: Floats, rates: Floats, times: Floats, since: int) -> pd.DataFrame:
    phi = _memory(times[since:], y[since:])
    rows = []
    for number, key in enumerate(columns):
        known = ~np.isnan(y[:, number])
        values = rates[known, number]
        told = values[~np.isnan(values)] if not np.isnan(values).all() else np.array([np.nan])
        last = known & (np.arange(len(y)) >= since)
        slope, low, high = _trend(times[last], y[last, number], phi)
        rows.append(
            {
                **dict(zip(LINE, key, strict=True)),
                "jobs": int(known.sum()),
                "first": told[0],
                "last": told[-1],
                "median": float(np.median(told)),
                "trend": slope,
                "trend_low": low,
                "trend_high": high,
                "values": values.tolist(),
            }
        )
    return pd.DataFrame(rows, columns=[*LINE, *_FIGURES])


def _memory(times: Floats, y: Floats) -> float:
    """How much a job may be like the one before, beside the trends of the lines."""
    left = np.full(y.shape, np.nan)
    for line in range(y.shape[1]):
        known = ~np.isnan(y[:, line])
        if known.sum() >= TREND and np.ptp(times[known]) > 0:
            fit = np.polynomial.Polynomial.fit(times[known], y[known, line], 1)
            left[known, line] = y[known, line] - fit(times[known])
    left = left[:, ~np.isnan(left).all(axis=0)]
    return memory.most(memory.estimate(left, 2), len(left)) if left.size else 0.0


def _trend(times: Floats, speed: Floats, phi: float) -> tuple[float, float, float]:
    """Slope of log speed with its 95 % interval, as relative change per 30 days.

    By least squares; the interval is that of noise with the lag-1 autocorrelation `phi` and as
    many degrees of freedom as independent jobs would leave.
    """
    n = len(times)
    if n < TREND or times.min() < 0 or np.ptp(times) < _WEEK_NS:
        return np.nan, np.nan, np.nan
    month = (times - times.mean()) / _MONTH_NS
    design = np.column_stack([np.ones(n), month])
    slope = float(np.linalg.lstsq(design, speed, rcond=None)[0][1])
    hat = design @ np.linalg.pinv(design)
    alike = phi ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    left = speed - hat @ speed
    weight = month / (month @ month)
    variance = float(left @ left) / float(np.trace((np.eye(n) - hat) @ alike))
    error = np.sqrt(variance * float(weight @ alike @ weight))
    freedom = max(2.0, (n - 2) * (1 - phi) / (1 + phi))
    half = float(laws.t_isf(0.025, freedom)) * error
    return float(np.expm1(slope)), float(np.expm1(slope - half)), float(np.expm1(slope + half))


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
        p = laws.welch(a, b) if a.std() + b.std() > 0 else 0.0
        ratio = float(np.exp(b.mean() - a.mean()))
        named = lines.loc[number, LINE].to_dict()
        rows.append({**named, "ratio": ratio, "before": len(a), "after": len(b), "p": p})
    ids, job = launches["launch"], launches["job"]
    at_first = int(np.flatnonzero(job == split.index)[0])
    columns = [*LINE, "ratio", "before", "after", "p"]
    moved = pd.DataFrame(rows, columns=columns).sort_values("p", kind="stable", ignore_index=True)
    return Change(
        ids.iloc[at_first - 1],
        ids.iloc[at_first],
        int(launches["time"].iloc[at_first]),
        split.p,
        moved,
        differences.between(found, ids[_within(job, before)], ids[_within(job, after)], ()),
    )


def _within(job: pd.Series[int], jobs_: slice) -> pd.Series[bool]:
    return job.between(jobs_.start, jobs_.stop, inclusive="left")
