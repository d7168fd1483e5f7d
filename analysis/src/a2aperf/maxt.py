# SPDX-License-Identifier: BSD-3-Clause
"""One test for all cells together: which of them changed between two sides of launches.

Per cell (a message size, say) the effect is fitted as y = block + side, its t statistic is held
against the largest t that any cell reaches when whole launches exchange sides within their blocks
(step-down max-T: Westfall & Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1). The
chance that any cell without a change is called changed is then at most the level, whatever the
shape of the noise and however alike the cells of one launch are. Launches far out are drawn in
first, anew for every arrangement: one launch of ten times the time hides no change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, robust
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
    information: Floats  # variance of the effect = spread² / information
    t: Floats
    p: Floats  # adjusted: family-wise over all cells
    critical: float  # quantile of the largest |t| under exchange, 95 % for an error of 5 %
    arrangements: int
    exhaustive: bool  # whether these are all arrangements there are


def max_t(
    y: Floats, side: Sides, block: Blocks, rng: np.random.Generator, level: float = 0.05
) -> MaxT:
    """`y` is [launches, cells], NaN where a launch lacks the cell; `level`: of `critical`."""
    real = fit(y, side[None, :], block)
    arranged = blocks.arrangements(side, block, rng)
    total = blocks.count(side, block)
    strength = np.nan_to_num(np.abs(fit(y, arranged, block).t), nan=0.0)
    largest = strength.max(axis=1, initial=0.0)
    observed = np.nan_to_num(np.abs(real.t[0]), nan=-1.0)
    return MaxT(
        effect=real.effect[0],
        spread=real.spread[0],
        freedom=real.freedom,
        information=real.information[0],
        t=real.t[0],
        p=_step_down(observed, strength),
        critical=float(np.quantile(largest, 1 - level, method="higher")),
        arrangements=len(arranged),
        exhaustive=len(arranged) == total,
    )


@dataclass(frozen=True)
class Fit:
    """y = block + side for several arrangements of the sides."""

    effect: Floats  # [arrangements, cells], as the three below
    spread: Floats
    information: Floats
    t: Floats
    freedom: Floats  # [cells]


def fit(y: Floats, sides: NDArray[np.bool_], block: Blocks) -> Fit:
    """Least squares of y = block + side per arrangement, over the launches that have the cell.

    Launches far from the others of their side are drawn in first (`robust`).
    """
    shape = (len(sides), y.shape[1])
    effect, spread, information = (np.full(shape, np.nan) for _ in range(3))
    freedom = np.zeros(y.shape[1])
    present = ~np.isnan(y)
    patterns, member = np.unique(present, axis=1, return_inverse=True)
    for number in range(patterns.shape[1]):
        rows, cells = patterns[:, number], np.flatnonzero(member.ravel() == number)
        if not rows.any():
            continue
        arranged, own = sides[:, rows], block[rows]
        centred_side = _centred(arranged.astype(np.float64), own)
        power = (centred_side**2).sum(axis=1)
        freedom[cells] = max(0, int(rows.sum()) - len(np.unique(own)) - 1)
        for cell in cells:
            drawn = _centred(robust.drawn_in(y[rows, cell], arranged, own), own)
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = np.where(power > 1e-12, (drawn * centred_side).sum(axis=1) / power, np.nan)
                rest = np.maximum((drawn**2).sum(axis=1) - slope**2 * power, 0.0)
                tiny = _ROUNDING * max(1.0, float(np.abs(y[rows, cell]).max()))
                slope = np.where(np.abs(slope) < tiny, 0.0, slope)
                rest = np.where(rest < len(own) * tiny**2, 0.0, rest)
                spread[:, cell] = np.sqrt(rest / freedom[cell])
            effect[:, cell] = slope
            information[:, cell] = power
    with np.errstate(divide="ignore", invalid="ignore"):
        t = effect * np.sqrt(information) / spread
    t[(effect == 0) & (spread == 0)] = 0.0  # all alike
    return Fit(effect, spread, information, np.where(freedom > 0, t, np.nan), freedom)


def drawn_in(y: Floats, side: Sides, block: Blocks) -> Floats:
    """The values with launches far out drawn in, as the sides are."""
    drawn = y.copy()
    for cell in range(y.shape[1]):
        rows = np.flatnonzero(~np.isnan(y[:, cell]))
        if len(rows):
            drawn[rows, cell] = robust.drawn_in(y[rows, cell], side[None, rows], block[rows])[0]
    return drawn


def _centred(rows: Floats, block: Blocks) -> Floats:
    """Each row minus its mean in every block of columns."""
    _, inverse, sizes = np.unique(block, return_inverse=True, return_counts=True)
    indicator = np.zeros((len(block), len(sizes)))
    indicator[np.arange(len(block)), inverse] = 1.0
    means = rows @ indicator / sizes
    return np.asarray(rows - means[:, inverse])


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
