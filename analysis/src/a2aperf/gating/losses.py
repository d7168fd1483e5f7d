# SPDX-License-Identifier: BSD-3-Clause
"""Whether launches are slower than jobs of a baseline are among themselves, by bands of sizes.

The model is that of `compare --against` (`jobs`): the job is the unit, or the day where the
baseline has enough of them, and the mean of further ones lies within t(J − 1) · s · √(1/K + 1/J) of
the baseline's mean. Only losses are looked for, to one
side, and the error is shared by all bands. A band is the mean of its sizes, which hides one that
lost much beside others that did not: single sizes are looked at as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
    needed: int | None = None  # jobs of the baseline with which an equal cluster is called so


def judge(
    y: Floats,
    steps: jobs.Steps,
    candidate: NDArray[np.bool_],
    bands: Sequence[NDArray[np.intp]],
    loss: float,
) -> list[Loss]:
    """Of `y` [launches, cells], log speeds, NaN where missing; `candidate` [launches].

    `bands` has the cells of each, `steps` the jobs, and days where these are compared.
    """
    level = LEVEL / len(bands)
    return [_of_cells(y, steps, candidate, cells, level, loss) for cells in bands]


def single(
    y: Floats,
    steps: jobs.Steps,
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
    found = [(x, _of_cells(y, steps, candidate, np.array([x]), level, loss)) for x in others]
    return [(cell, one) for cell, one in found if one.state == State.CRITICAL]


def _of_cells(
    y: Floats,
    steps: jobs.Steps,
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
    spread = jobs.Spread.of(base)
    if spread is None:
        return Loss(State.UNKNOWN, *counts, needed=jobs.FEWEST)
    more = jobs.excess(of_launches, steps, ~candidate)
    wider = spread.widened(float(more[known & side, 0].mean()), len(other))
    change = float(other.mean()) - spread.mean
    half = wider.bound(level, len(other))
    reach = half + float(laws.t_ppf(power.POWER, spread.jobs - 1)) * wider.error(len(other))
    made = Loss(
        _state(change, half, loss), *counts,
        math.expm1(change), math.expm1(-half), math.expm1(change - half),
        math.expm1(spread.deviation), -math.expm1(-reach),
    )  # fmt: skip
    if made.state != State.UNKNOWN:
        return made
    return Loss(**{**vars(made), "needed": _needed(wider, len(other), level, loss)})


def _state(change: float, half: float, loss: float) -> State:
    """Slower beyond the bound; else fine only where a loss that matters is excluded."""
    tolerated = math.log1p(-loss)
    if change < -half:
        return State.CRITICAL if change <= tolerated else State.WARNING
    return State.OK if change - half > tolerated else State.UNKNOWN


def _needed(spread: jobs.Spread, others: int, level: float, loss: float) -> int | None:
    """Jobs of the baseline from which an equal cluster is called ok in 90 % of trials.

    More than there are; None: more than can be said.
    """
    tolerated = -math.log1p(-loss)
    for count in range(max(jobs.FEWEST, spread.jobs + 1), power.MOST + 1):
        error = spread.deviation * math.sqrt(1 / others + 1 / count)
        freedom = count - 1
        reach = float(laws.t_isf(level, freedom)) + float(laws.t_ppf(power.POWER, freedom))
        if reach * error <= tolerated:
            return count
    return None
