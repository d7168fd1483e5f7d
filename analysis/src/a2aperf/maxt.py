# SPDX-License-Identifier: BSD-3-Clause
"""One test for all cells together: which of them changed between two sides of launches.

Per cell (a message size, say) the effect is fitted as y = block + side, its t statistic is held
against the largest t that any cell reaches when whole launches exchange sides within their blocks
(step-down max-T: Westfall & Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1). The
chance that any cell without a change is called changed is then at most the level, whatever the
shape of the noise and however alike the cells of one launch are. Launches far out are drawn in
first, anew for every arrangement: one launch of ten times the time hides no change.

Where launches of the sides spread differently they may not be exchanged. So t counts the spread of
each side by itself (`unequal`), and where spreads are unequal a cell differs only if its own t is
beyond chance by Student's law, too, corrected for the number of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, laws, robust, unequal
from a2aperf.blocks import Blocks, Sides

Floats = NDArray[np.float64]

_ROUNDING: Final = 1e-12
"""Of y: what arithmetic alone leaves of values that are all alike."""


@dataclass(frozen=True)
class MaxT:
    """Outcome per cell ([cells] arrays) and of the permutation as a whole."""

    effect: Floats  # candidate minus baseline, in units of y; NaN where a side is missing
    spread: Floats  # residual standard deviation of one launch, same units
    freedom: Floats  # degrees of freedom of the spread
    least: Floats  # of the error of the effect if all launches of one side were alike
    information: Floats  # variance of the effect = spread² / information
    t: Floats
    p: Floats  # adjusted: family-wise over all cells
    exchanged: Floats  # p of the exchange of launches alone
    unequal: NDArray[np.bool_]  # whether launches of the sides do not spread equally
    of_sides: Floats  # [2, cells], standard deviations within blocks of baseline and candidate
    critical: float  # quantile of the largest |t| under exchange, 95 % for an error of 5 %
    arrangements: int


def max_t(
    y: Floats, side: Sides, block: Blocks, rng: np.random.Generator, level: float = 0.05
) -> MaxT:
    """`y` is [launches, cells], NaN where a launch lacks the cell; `level`: of `critical`."""
    real = fit(y, side[None, :], block)
    arranged = blocks.arrangements(side, block, rng)
    strength = np.nan_to_num(np.abs(fit(y, arranged, block).t), nan=0.0)
    largest = strength.max(axis=1, initial=0.0)
    observed = np.nan_to_num(np.abs(real.t[0]), nan=-1.0)
    exchanged = _step_down(observed, strength)
    apart, of_sides = spread_unequally(y, side, block)
    return MaxT(
        effect=real.effect[0],
        spread=real.spread[0],
        freedom=real.freedom,
        least=real.least[0],
        information=real.information[0],
        t=real.t[0],
        p=np.where(apart, np.maximum(exchanged, _alone(y, side, block)), exchanged),
        exchanged=exchanged,
        unequal=apart,
        of_sides=of_sides,
        critical=float(np.quantile(largest, 1 - level, method="higher")),
        arrangements=len(arranged),
    )


@dataclass(frozen=True)
class Fit:
    """y = block + side for several arrangements of the sides."""

    effect: Floats  # [arrangements, cells], as the three below
    spread: Floats
    information: Floats
    t: Floats
    least: Floats  # degrees of freedom of the error if all launches of one side were alike
    freedom: Floats  # [cells], of the spread


def fit(y: Floats, sides: NDArray[np.bool_], block: Blocks, reach: float = robust.REACH) -> Fit:
    """Least squares of y = block + side per arrangement, over the launches that have the cell.

    Launches far from the others of their side are drawn in first (`robust`), to `reach`.
    """
    shape = (len(sides), y.shape[1])
    effect, spread, information, t = (np.full(shape, np.nan) for _ in range(4))
    least = np.zeros(shape)
    freedom = np.zeros(y.shape[1])
    present = ~np.isnan(y)
    patterns, member = np.unique(present, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        rows, cells = patterns[:, number], np.flatnonzero(member.ravel() == number)
        if not rows.any():
            continue
        arranged, own = sides[:, rows], block[rows]
        design = unequal.Design(arranged, own)
        side = _centred(arranged.astype(np.float64), own)
        freedom[cells] = design.freedom
        least[:, cells] = design.least[:, None]
        for cell in cells:
            drawn = _centred(robust.drawn_in(y[rows, cell], arranged, own, reach), own)
            tiny = _ROUNDING * max(1.0, float(np.abs(y[rows, cell]).max()))
            one = _of_cell(drawn, side, design, tiny)
            effect[:, cell], spread[:, cell], information[:, cell], t[:, cell] = one
    return Fit(effect, spread, information, t, least, freedom)


def _of_cell(
    drawn: Floats, side: Floats, design: unequal.Design, tiny: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Effect, spread, information and t.

    `drawn` and `side` [arrangements, launches] are centred in their blocks.
    """
    power, freedom = design.power, design.freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(power > 1e-12, (drawn * side).sum(axis=1) / power, np.nan)
        residuals = drawn - slope[:, None] * side
        slope = np.where(np.abs(slope) < tiny, 0.0, slope)
        rest = (residuals**2).sum(axis=1)
        residuals[rest < drawn.shape[1] * tiny**2] = 0.0
        error = design.error(residuals)
        spread = np.sqrt((residuals**2).sum(axis=1) / freedom)
        information = np.where(spread > 0, spread**2 / error.variance, power)
        real_t = slope / np.sqrt(error.variance)
        t = unequal.equivalent_t(real_t, error.freedom, freedom)
    t[(slope == 0) & (spread == 0)] = 0.0  # all alike
    if freedom == 0:
        t[:] = np.nan
    return slope, spread, information, t


def drawn_in(y: Floats, side: Sides, block: Blocks) -> Floats:
    """The values with launches far out drawn in, as the sides are."""
    drawn = y.copy()
    for cell in range(y.shape[1]):
        rows = np.flatnonzero(~np.isnan(y[:, cell]))
        if len(rows):
            drawn[rows, cell] = robust.drawn_in(y[rows, cell], side[None, rows], block[rows])[0]
    return drawn


def spread_unequally(y: Floats, side: Sides, block: Blocks) -> tuple[NDArray[np.bool_], Floats]:
    """Whether launches of one side differ more than those of the other, [cells].

    And how far those of baseline and candidate differ (standard deviation), [2, cells].
    """
    apart, of_sides = np.zeros(y.shape[1], dtype=np.bool_), np.full((2, y.shape[1]), np.nan)
    for cell, drawn in enumerate(drawn_in(y, side, block).T):
        known = ~np.isnan(drawn)
        seen = drawn[known], side[known], block[known]
        apart[cell] = unequal.chance(*seen) <= unequal.APART
        squares, freedom = unequal.within(*seen)
        of_sides[:, cell] = np.sqrt(squares / np.where(freedom > 0, freedom, np.nan))
    return apart, of_sides


def _centred(rows: Floats, block: Blocks) -> Floats:
    """Each row minus its mean in every block of columns."""
    _, inverse, sizes = np.unique(block, return_inverse=True, return_counts=True)
    indicator = np.zeros((len(block), len(sizes)))
    indicator[np.arange(len(block)), inverse] = 1.0
    means = rows @ indicator / sizes
    return np.asarray(rows - means[:, inverse])


def _alone(y: Floats, side: Sides, block: Blocks) -> Floats:
    """The p per cell by Student's law, corrected for the number of cells (Bonferroni).

    Launches are drawn in less: what is taken from a spread that is told rightly makes t too large.
    """
    real = fit(y, side[None], block, 2 * robust.REACH)
    t = np.nan_to_num(np.abs(real.t[0]), nan=0.0)
    p = 2 * laws.t_sf(t, np.maximum(1.0, real.least[0]))
    return np.asarray(np.minimum(1.0, p * max(1, int((~np.isnan(real.t[0])).sum()))))


def _step_down(observed: Floats, strength: Floats) -> Floats:
    """Adjusted p per cell, from |t| [cells] and its distribution [arrangements, cells]."""
    order = np.argsort(-observed, kind="stable")
    # Largest |t| among this cell and all weaker ones, per arrangement.
    strongest = np.maximum.accumulate(strength[:, order[::-1]], axis=1)[:, ::-1]
    reached = (strongest >= observed[order] * (1 - 1e-9)).mean(axis=0)
    p = np.empty_like(observed)
    p[order] = np.maximum.accumulate(reached)
    p[observed < 0] = 1.0
    return p
