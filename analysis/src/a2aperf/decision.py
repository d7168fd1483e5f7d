# SPDX-License-Identifier: BSD-3-Clause
"""What launches, or jobs, of two sides say about every cell: effect, interval, p, equality.

Launches of the same jobs are exchanged within their blocks (`maxt`, `equivalence`). Where no job
has both sides the job is the unit: several jobs a side that came in turn are exchanged; else the
candidate is compared with the spread between the jobs of the baseline (`jobs.Spread`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, bootstrap, equivalence, jobs, laws, maxt, power, robust
from a2aperf.blocks import Blocks, Sides
from a2aperf.deferred import pandas as pd

Floats = NDArray[np.float64]

LEVEL: Final = 0.05
"""The error of all claims of a comparison together, unless another one is asked for."""
LOOKS: Final = ((8, 0.005), (16, 0.015), (32, 0.03))
"""Launches a side at which a comparison that goes on until it is decided is looked at, and the
error of each look: planned beforehand, so that all together have LEVEL (Bonferroni)."""
_LITTLE: Final = 0.25
"""Of the variance of a job: more than that for having fewer launches, and jobs are not alike."""


@dataclass(frozen=True)
class Decision:
    """[cells] arrays on a logarithmic scale; NaN where there is nothing to say.

    `p` and `equal` (of a change of the margin or more) are corrected for the number of cells and
    for the `family` of candidates compared with one baseline. `arrangements` is 0 where no units
    were exchanged.
    """

    effect: Floats
    spread: Floats  # standard deviation of a unit
    freedom: Floats  # of the error of the effect
    information: Floats  # variance of the effect = spread² / information
    low: Floats
    high: Floats
    p: Floats
    equal: Floats
    critical: float  # |t| from which a cell differs
    arrangements: int
    family: int
    outliers: NDArray[np.intp]  # units far from the others of their side
    drawn: Floats  # [units, cells], with these drawn in
    unequal: NDArray[np.bool_]  # cells in which units of the sides do not spread equally
    withheld: NDArray[np.bool_]  # of these, where only the exchange of units calls a difference
    of_sides: Floats  # [2, cells], standard deviations of a unit of baseline and candidate
    moved: int  # cells in which one of the outliers is drawn in
    level: float = LEVEL  # the error of p, equal, critical, low and high

    @property
    def tests(self) -> int:
        """Over how many claims an error level is shared."""
        return max(1, int((self.freedom >= 1).sum())) * self.family

    @property
    def decides(self) -> bool:
        """Whether there are units enough for anything to be significant."""
        exchanged = self.arrangements >= 2 * self.family / self.level
        return exchanged or (self.arrangements == 0 and bool((self.freedom >= 1).any()))

    @property
    def fewest(self) -> int:
        """Launches a side, in A B B A blocks, with which exchanged ones decide."""
        return power.fewest(self._of_one)

    @property
    def _of_one(self) -> float:
        """The error of all cells of one candidate."""
        return self.level / self.family

    def detectable(self) -> list[float]:
        """Minimum detectable effect per cell (90 % power), whatever effect there is.

        A large effect widens what exchanged units show, and with it the critical value: it is
        then that of as many tests.
        """
        if not self.decides:
            return [math.nan] * len(self.effect)
        coarse = power.coarseness(self._of_one, self.arrangements) if self.arrangements else 1.0
        return [
            power.detectable(spread, information, freedom, float(laws.t_isf(tail, freedom)), coarse)
            for spread, information, freedom, tail in zip(
                self.spread, self.information, self.freedom, self._tails(), strict=True
            )
        ]

    def equality_margin(self, tests: int) -> list[float]:
        """Smallest margin per cell in which no difference can be shown, `tests` cells at once."""
        if not self.decides:
            return [math.nan] * len(self.effect)
        return [
            power.equality_margin(*numbers, self.level / tests)
            for numbers in zip(self.spread, self.information, self.freedom, strict=True)
        ]

    def needed(self, change: float) -> list[int | None]:
        """Units a side per cell to find such a change (90 % power); None: more than can be said.

        From fewer units than can decide anything nobody knows how far units differ.
        """
        if not self.decides:
            return [None] * len(self.effect)
        return [
            power.launches_needed(*numbers, change, self._of_one)
            for numbers in zip(self.spread, self.freedom, self._tails(), strict=True)
        ]

    def _tails(self) -> list[float]:
        """One-sided error of each cell."""
        return [
            power.tail(math.inf if unequal else self.critical, freedom, self.tests, self.level)
            for freedom, unequal in zip(self.freedom, self.unequal, strict=True)
        ]


def exchanged(
    y: Floats,
    side: Sides,
    block: Blocks,
    margin: float,
    rng: np.random.Generator,
    noise: Floats | None = None,
    family: int = 1,
    level: float = LEVEL,
) -> Decision:
    """Units of both sides exchanged within their blocks. `y` is [units, cells], NaN where missing.

    `noise` [draws, units, cells] is what resampling the ops inside a unit does to y.
    """
    tested = maxt.max_t(y, side, block, rng, level)
    outside = equivalence.outside(y, side, block, margin, rng)
    noise = np.zeros((1, *y.shape)) if noise is None else noise
    drawn = maxt.drawn_in(y, side, block)
    low, high = bootstrap.effect_intervals(drawn, side, block, noise, rng, level)
    known = tested.freedom >= 1
    p = np.where(known, np.minimum(1.0, tested.p * family), np.nan)
    outliers = robust.outliers(y, side, block)
    far = np.abs(drawn[outliers] - y[outliers]) > 1e-9  # NaN is not
    return Decision(
        tested.effect,
        tested.spread,
        np.where(tested.unequal & known, tested.least, tested.freedom),
        tested.information,
        low,
        high,
        p,
        np.minimum(1.0, equivalence.step_up(np.where(known, outside, np.nan)) * family),
        tested.critical,
        tested.arrangements,
        family,
        outliers,
        drawn,
        tested.unequal,
        (tested.exchanged * family <= level) & (p > level),
        tested.of_sides,
        int(far.any(axis=0).sum()),
        level,
    )


def predicted(
    y: Floats,
    side: Sides,
    begun: Floats,
    margin: float,
    family: int = 1,
    excess: Floats | None = None,
    level: float = LEVEL,
) -> Decision:
    """Jobs of the candidate against the spread between the jobs of the baseline, [jobs, cells].

    `excess` [jobs, cells] is the variance of a job's value beyond that of a job of the baseline,
    `begun` [jobs] as in `jobs.Spread.of`.
    """
    count = y.shape[1]
    arrays = {
        name: np.full(count, np.nan)
        for name in ("effect", "spread", "information", "low", "high", "p", "outside")
    }
    freedom = np.zeros(count)
    spreads = jobs.together([jobs.Spread.of(line, begun[~side]) for line in y[~side].T])
    for cell, spread in enumerate(spreads):
        known = side & ~np.isnan(y[:, cell])
        other = y[known, cell]
        own = y[~side & ~np.isnan(y[:, cell]), cell]
        if not len(other) or not len(own):
            continue
        arrays["effect"][cell] = effect = jobs.gap(float(other.mean()), float(own.mean()))
        if spread is None:
            continue
        more = 0.0 if excess is None else float(np.mean(excess[known, cell]))
        further = spread.further(begun[known], more)
        half = further.bound(level / 2)
        freedom[cell] = further.freedom
        arrays["spread"][cell] = spread.deviation
        by_counts = 1 / (1 / len(other) + 1 / spread.jobs)  # of jobs that do not differ at all
        of_spread = (spread.deviation / further.error) ** 2 if further.error > 0 else by_counts
        arrays["information"][cell] = of_spread
        arrays["low"][cell], arrays["high"][cell] = effect - half, effect + half
        arrays["p"][cell] = further.chance(effect)
        gap = margin - abs(effect)
        arrays["outside"][cell] = further.chance(gap) / 2 if gap > 0 else 1.0
    tests = max(1, int((freedom >= 1).sum())) * family
    outside = np.minimum(1.0, equivalence.step_up(arrays.pop("outside")) * family)
    least = freedom[freedom >= 1].min(initial=np.inf)
    critical = float(laws.t_isf(level / 2 / tests, least)) if np.isfinite(least) else math.inf
    p = np.minimum(1.0, arrays.pop("p") * tests)
    nobody, nowhere = np.array([], dtype=np.intp), np.zeros(count, dtype=np.bool_)
    return Decision(
        **arrays, freedom=freedom, p=p, equal=outside, critical=critical,
        arrangements=0, family=family, outliers=nobody, drawn=y, unequal=nowhere,
        withheld=nowhere, of_sides=np.full((2, count), np.nan), moved=0, level=level,
    )  # fmt: skip


def _exchangeable(y: Floats, side: Sides, excess: Floats | None) -> bool:
    """Whether jobs of the candidate vary hardly more than those of the baseline."""
    if excess is None:
        return True
    variance = np.nan_to_num(pd.DataFrame(y[~side]).var(ddof=1).to_numpy())
    return bool((excess[side].mean(axis=0) <= _LITTLE * variance).all())


def between_jobs(
    y: Floats,
    side: Sides,
    begun: Floats,
    block: Blocks,
    margin: float,
    rng: np.random.Generator,
    family: int = 1,
    excess: Floats | None = None,
    level: float = LEVEL,
) -> Decision:
    """Sides that no job has both of; `y`, `begun` and `excess` are those of `predicted`.

    Jobs are exchanged where those of the sides came in turn: one may be like the one before.
    """
    several = (~side).sum() >= jobs.FEWEST and blocks.alternate(side, block)
    if several and _exchangeable(y, side, excess):
        made = exchanged(y, side, block, margin, rng, family=family, level=level)
        if made.decides:
            return made
    return predicted(y, side, begun, margin, family, excess, level)
