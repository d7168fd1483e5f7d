# SPDX-License-Identifier: BSD-3-Clause
"""Whether launches are slower than jobs of a baseline are among themselves, by bands of sizes.

The model is that of `compare --against` (`jobs`): the job is the unit, or the day where the
baseline has enough of them, and the mean of further ones lies as near to the baseline's mean as the
spread of its jobs says, each of which may be like the one before. Only losses are looked for, to
one side, and the error is shared by all bands. A band is the mean of its sizes, which hides one
that lost much beside others that did not: single sizes are looked at as well.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import jobs, laws, power
from a2aperf.decision import LEVEL
from a2aperf.gating.checks import State

Floats = NDArray[np.float64]

_OF_SIZES: Final = 0.01
"""Error of all single sizes together, beside that of the bands."""


@dataclass(frozen=True)
class Loss:
    """One band. Changes are of the speed, relative to the baseline's mean; NaN where not known."""

    state: State
    jobs: int  # of the baseline; days where these are compared, as below
    others: int  # jobs of the candidate
    launches: int
    change: float = math.nan
    bound: float = math.nan  # a change below it is no difference between jobs
    low: float = math.nan  # the change is above it, with that error
    spread: float = math.nan  # of a job of the baseline
    found: float = math.nan  # the loss that is found in 90 % of such trials
    memory: float = math.nan  # how much a job is taken to be like the one before
    counted: float = math.nan  # as how many the jobs of the candidate count
    needed: int | None = None  # jobs of the baseline with which an equal cluster is called so


def judge(
    y: Floats,
    steps: jobs.Steps,
    begun: Floats,
    candidate: NDArray[np.bool_],
    bands: Sequence[NDArray[np.intp]],
    loss: float,
) -> list[Loss]:
    """Of `y` [launches, cells], log speeds, NaN where missing; `candidate` [launches].

    `bands` has the cells of each, `steps` the jobs, and days where these are compared; `begun`
    [launches] as in `jobs.Spread.of`.
    """
    level = LEVEL / len(bands)
    return [_of_cells(y, steps, begun, candidate, cells, level, loss) for cells in bands]


def single(
    y: Floats,
    steps: jobs.Steps,
    begun: Floats,
    candidate: NDArray[np.bool_],
    bands: Sequence[NDArray[np.intp]],
    made: Sequence[Loss],
    loss: float,
) -> list[tuple[int, Loss]]:
    """Cells that lost so much, of bands that did not: `made` is what `judge` says of these."""
    level = _OF_SIZES / sum(map(len, bands))
    others = [
        int(cell)
        for cells, one in zip(bands, made, strict=True)
        if one.state != State.CRITICAL and len(cells) > 1
        for cell in cells
    ]
    found = [(x, _of_cells(y, steps, begun, candidate, np.array([x]), level, loss)) for x in others]
    return [(cell, one) for cell, one in found if one.state == State.CRITICAL]


def _of_cells(
    y: Floats,
    steps: jobs.Steps,
    begun: Floats,
    candidate: NDArray[np.bool_],
    cells: NDArray[np.intp],
    level: float,
    loss: float,
) -> Loss:
    side = jobs.of_units(candidate, steps)
    of_launches = y[:, cells].mean(axis=1)[:, None]  # NaN of a launch that lacks a size
    values = jobs.medians(of_launches, steps)[:, 0]
    known = ~np.isnan(values)
    base, other = values[known & ~side], values[known & side]
    launches = int((~np.isnan(of_launches[:, 0]) & candidate).sum())
    counts = len(base), len(other), launches
    if len(other) == 0 or launches < 2:
        return Loss(State.UNKNOWN, *counts)
    when = jobs.of_units(begun, steps)
    spread = jobs.Spread.of(base, when[known & ~side])
    if spread is None:
        return Loss(State.UNKNOWN, *counts, needed=jobs.FEWEST)
    more = float(jobs.excess(of_launches, steps, ~candidate)[known & side, 0].mean())
    further = spread.further(when[known & side], more)
    change = jobs.gap(float(other.mean()), spread.mean)
    half = further.bound(level)
    reach = half + _beyond(further)
    made = Loss(
        _state(change, half, loss), *counts,
        math.expm1(change), math.expm1(-half), math.expm1(change - half),
        math.expm1(spread.deviation), -math.expm1(-reach), spread.memory, further.count,
    )  # fmt: skip
    if made.state != State.UNKNOWN:
        return made
    tolerated = -math.log1p(-loss)
    return replace(made, needed=_needed(spread, when[known & side], more, level, tolerated))


def _beyond(further: jobs.Further) -> float:
    """How far the mean of further jobs lies beyond what is expected, in one of ten trials."""
    return float(laws.t_ppf(power.POWER, further.freedom)) * further.error


def _state(change: float, half: float, loss: float) -> State:
    """Slower beyond the bound; else fine only where a loss that matters is excluded."""
    tolerated = math.log1p(-loss)
    if change < -half:
        return State.CRITICAL if change <= tolerated else State.WARNING
    return State.OK if change - half > tolerated else State.UNKNOWN


def _needed(
    spread: jobs.Spread, when: Floats, excess: float, level: float, tolerated: float
) -> int | None:
    """Jobs of the baseline from which an equal cluster is called ok in 90 % of trials.

    More than there are, and no more alike; None: more than can be said. In every sixth trial or so
    they seem to be more alike than they are by a standard error or more.
    """
    likeness = max(spread.likeness, 0.0)

    def is_enough(count: int) -> bool:
        seeming = likeness + 1 / math.sqrt(count)
        further = replace(spread, jobs=count, likeness=seeming).further(when, excess)
        return further.bound(level) + _beyond(further) <= tolerated

    counts = range(max(jobs.FEWEST, spread.jobs + 1), power.MOST + 1)
    at = bisect.bisect_left(counts, True, key=is_enough)
    return counts[at] if at < len(counts) else None
