# SPDX-License-Identifier: BSD-3-Clause
"""Which launches belong to one job, and how far jobs differ: the one model of both.

Launches of a job have its nodes, its hour and its neighbours in common. How far two jobs differ
cannot be told from launches within them; it takes several jobs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws, memory
from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.results import Results

Floats = NDArray[np.float64]

_ROUNDING: Final = 1e-12
"""Share of a value that sums of equal ones may differ by: texts with few digits give such."""

FEWEST: Final = 5
"""Jobs from which their spread is taken as known."""
_MOST_ALIKE: Final = 0.85
"""The largest autocorrelation from a job to the next that is reckoned with."""
_SURE: Final = 1.0
"""Standard errors by which it may be underestimated, for what the jobs of a baseline show.

With 1.645 of them, as for further jobs, few jobs would tell hardly anything, with none jobs that
are alike would tell too much (docs/statistics.md, sides in different jobs).
"""
_GAP_NS: Final = 12 * 3600 * 10**9


def of_launches(found: Results) -> dict[str, str]:
    """The job of each launch, by a name that can be printed.

    That is the Slurm job (of its cluster). A launch without one belongs to the launch before it
    that shares a node with it, if it began less than 12 hours after that one ended; what an import
    holds without times is one job for each file.
    """
    begun = found.points.groupby("launch")["started"].min().astype("Float64").fillna(-1)
    ended = _ends(found.points)
    named: dict[str, str] = {}
    open_: list[_Open] = []
    for launch in sorted(found.launches, key=lambda key: (float(begun.get(key, -1)), key)):
        facts, start = found.launches[launch], int(begun.get(launch, -1))
        slurm = str(facts.attributes.get("slurm_job_id", ""))
        if slurm:
            cluster = facts.environment.get("SLURM_CLUSTER_NAME", "")
            named[launch] = f"job {slurm}" + (f" of {cluster}" if cluster else "")
        elif start <= 0:
            named[launch] = launch.rpartition("#")[0]
        else:
            named[launch] = _joined(open_, facts, start, int(ended.get(launch, start)))
    return named


@dataclass
class _Open:
    """Launches without a job's number that may go on."""

    name: str
    nodes: set[str]
    ended: int


def _ends(points: pd.DataFrame) -> Any:
    """The last moment that a launch is known to have run, ns since 1970."""
    lasted = points["started"].astype("Float64") + points["duration"].astype("Float64").fillna(0)
    return lasted.groupby(points["launch"]).max().fillna(-1)


def _joined(open_: list[_Open], facts: Launch, start: int, end: int) -> str:
    open_[:] = [one for one in open_ if start - one.ended < _GAP_NS]  # what comes begins later yet
    nodes = set(facts.nodes)
    for one in open_:
        if one.nodes & nodes:
            one.nodes |= nodes
            one.ended = max(one.ended, end)
            return one.name
    when = datetime.fromtimestamp(start / 1e9, UTC).strftime("%Y-%m-%d %H:%M")
    where = f"{facts.nodes[0]} +{len(facts.nodes) - 1}" if facts.nodes[1:] else facts.nodes[0]
    open_.append(_Open(f"{where} from {when}", set(facts.nodes), end))
    return open_[-1].name


Steps = Sequence[NDArray[np.intp]]
"""How launches make up what is compared: the job of each launch, then the day of each job.

Only the first where jobs are compared; empty where launches are.
"""


def medians(y: Floats, steps: Steps) -> Floats:
    """Median over the launches of each job, and over the jobs of each day, [units, cells].

    From y [launches, cells].
    """
    for group in steps:
        y = pd.DataFrame(y).groupby(group).median().to_numpy(dtype=np.float64)
    return y


def of_units(values: NDArray[Any], steps: Steps) -> NDArray[Any]:
    """What the first launch of each unit has, [units], from values [launches]."""
    for group in steps:
        values = values[np.unique(group, return_index=True)[1]]
    return values


def excess(y: Floats, steps: Steps, baseline: NDArray[np.bool_]) -> Floats:
    """How much more the median of a unit varies than that of one of the baseline, [units, cells].

    Because it has fewer launches or jobs: from y [launches, cells] and the spread within;
    `baseline` [launches]. At least 0.
    """
    more = np.zeros(y.shape)
    for group in steps:
        share = pd.DataFrame(more).groupby(group)  # the mean of n values varies by 1 / n of it
        carried = (share.mean() / share.count()).to_numpy(dtype=np.float64)
        baseline = of_units(baseline, [group])
        more = carried + _fewer(y, group, baseline)
        y = medians(y, [group])
    return more


def _fewer(y: Floats, job: NDArray[np.intp], baseline: NDArray[np.bool_]) -> Floats:
    """The same of one step; the median of L values varies by π/2 of their variance / L."""
    table = pd.DataFrame(y)
    count = table.groupby(job).count().to_numpy(dtype=np.float64)
    left = (table - table.groupby(job).transform("mean")).to_numpy(dtype=np.float64)
    freedom = np.maximum(1.0, (count - (count > 0)).sum(axis=0))
    variance = np.nansum(left**2, axis=0) / freedom
    with np.errstate(divide="ignore"):
        share = np.where(count > 1, np.pi / 2, 1.0) / count
    share[np.isinf(share)] = np.nan
    usual = mean_of_known(share[baseline])
    return np.asarray(np.nan_to_num(np.maximum(0.0, (share - usual) * variance)))


def mean_of_known(values: Floats) -> Floats:
    """Of each column; NaN where nothing of it is known."""
    return pd.DataFrame(values).mean().to_numpy(dtype=np.float64)


def gap(one: float, other: float) -> float:
    """How much more the one is; 0 where rounding alone may part them."""
    tiny = _ROUNDING * max(1.0, abs(one), abs(other))
    return one - other if abs(one - other) > tiny else 0.0


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of `jobs` jobs, one value each (log of the speed, say).

    Each may be like the one before: `likeness` is the autocorrelation as estimated, infinite where
    the order of the jobs is not known. `step` is the usual time between two, ns; NaN: not known.
    """

    mean: float
    deviation: float
    jobs: int
    likeness: float
    step: float

    @staticmethod
    def of(values: Sequence[float] | Floats, begun: Sequence[float] | Floats) -> Spread | None:
        """Of the values that are known; None below FEWEST jobs.

        `begun`: when each job did, ns since 1970; negative: not known.
        """
        every, when = (np.asarray(one, dtype=np.float64) for one in (values, begun))
        order = np.argsort(when, kind="stable")
        order = order[~np.isnan(every[order])]
        known, when = every[order], when[order]
        if len(known) < FEWEST:
            return None
        mean = float(known.mean())
        left = np.array([gap(value, mean) for value in known])
        deviation = float(left.std(ddof=1))
        if when[0] < 0:
            return Spread(mean, deviation, len(known), math.inf, math.nan)
        likeness = memory.estimate(left[:, None], 1)
        return Spread(mean, deviation, len(known), likeness, float(np.median(np.diff(when))))

    @property
    def memory(self) -> float:
        """How much a job is taken to be like the one before."""
        return memory.most(self.likeness, self.jobs, _SURE, _MOST_ALIKE)

    def further(self, begun: Sequence[float] | Floats, excess: float = 0.0) -> Further:
        """Further jobs that began then; the value of one varies by `excess` more than these.

        They count as one unless these show how much jobs that lie so far apart are alike at most.
        Of how far they lie from these nothing is presumed: the farther, the less alike.
        """
        when = np.asarray(begun, dtype=np.float64)
        most = memory.most(self.likeness, self.jobs, limit=_MOST_ALIKE)
        places = _places(when, self.step if most < _MOST_ALIKE else math.nan)
        alike = memory.of_mean(places, most)
        of_mean, of_square, freedom = memory.of_spread(self.jobs, self.memory)
        variance = self.deviation**2 / of_square * (alike + of_mean) + excess / len(when)
        return Further(math.sqrt(variance), freedom, 1 / alike)


def together(spreads: Sequence[Spread | None]) -> list[Spread | None]:
    """Those of several cells with what their jobs are alike on average.

    Where each had its own, the cell whose jobs seem least alike by chance would decide.
    """
    known = [one.likeness for one in spreads if one is not None and math.isfinite(one.likeness)]
    mean = float(np.mean(known)) if known else 0.0
    return [
        replace(one, likeness=mean) if one is not None and math.isfinite(one.likeness) else one
        for one in spreads
    ]


@dataclass(frozen=True)
class Further:
    """The mean of further jobs less the mean of those of a `Spread`, where nothing has changed."""

    error: float  # its standard error
    freedom: float  # degrees of freedom of that
    count: float  # as how many the further jobs count

    def bound(self, level: float) -> float:
        """How far it lies from 0, to one side, with that chance.

        Of jobs that are not alike the prediction bound t(J − 1) · s · √(1/K + 1/J).
        """
        return float(laws.t_isf(level, self.freedom)) * self.error

    def chance(self, gap: float) -> float:
        """Chance that it is so far from 0, to either side."""
        if self.error <= 0:
            return 1.0 if gap == 0 else 0.0
        return float(2 * laws.t_sf(abs(gap) / self.error, self.freedom))


def _places(begun: Floats, step: float) -> NDArray[np.intp]:
    """Of jobs in a series with that time between two; those nearer than half of it are at one.

    So are all where that, or when they began, is not known.
    """
    if not step > 0 or begun.min() < 0:
        return np.zeros(len(begun), dtype=np.intp)
    return np.asarray(np.round((begun - begun.min()) / step), dtype=np.intp)
