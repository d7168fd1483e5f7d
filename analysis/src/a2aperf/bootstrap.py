# SPDX-License-Identifier: BSD-3-Clause
"""Interval of a ratio by the hierarchical bootstrap: launches, then blocks of ops.

The first level draws launches: the residuals of y = block + side, scaled to the variance of the
fit, each side's own where they spread unequally (`unequal`). The second draws blocks of ops inside
each drawn launch. A launch's median already carries the noise of its ops, so the first level gives
up as much variance as the second one adds (Davison & Hinkley, Bootstrap Methods and their
Application, 1997, section 3.8). The percentile interval is expanded from the normal to Student's
quantile (Hesterberg, The American Statistician 69, 2015): with few launches the plain one is too
narrow.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws, unequal
from a2aperf.blocks import Blocks, Sides

Floats = NDArray[np.float64]

DRAWS: Final = 2000


def effect_intervals(
    y: Floats,
    side: Sides,
    block: Blocks,
    noise: Floats,
    rng: np.random.Generator,
    level: float = 0.05,
) -> tuple[Floats, Floats]:
    """Interval per cell of the effect of the side on y; NaN without a degree of freedom.

    `level` is its error: 5 % for a 95 % interval.

    `y` is [launches, cells], NaN where missing; `noise` is [draws, launches, cells]: what
    resampling the ops inside a launch does to y (0 where there are no raw samples).
    """
    low, high = np.full(y.shape[1], np.nan), np.full(y.shape[1], np.nan)
    for cell in range(y.shape[1]):
        rows = np.flatnonzero(~np.isnan(y[:, cell]))
        if len(rows) > 2:
            inner = noise[:, rows, cell]
            low[cell], high[cell] = _interval(
                y[rows, cell], side[rows], block[rows], inner, rng, level
            )
    return low, high


def _interval(
    y: Floats,
    side: Sides,
    block: Blocks,
    noise: Floats,
    rng: np.random.Generator,
    level: float,
) -> tuple[float, float]:
    number = np.unique(block, return_inverse=True)[1]
    centre = np.eye(int(number.max()) + 1)[number]
    centre = np.eye(len(y)) - centre / centre.sum(axis=0) @ centre.T
    contrast = centre @ side.astype(np.float64)
    power = float(contrast @ contrast)
    design = unequal.Design(side[None], block)
    if power < 1e-12 or design.freedom < 1:
        return np.nan, np.nan
    effect = float(contrast @ y) / power
    residual = centre @ y - effect * contrast
    if unequal.chance(y, side, block) <= unequal.APART:
        variances = design.error(residual[None]).of_sides[:, 0]
        parts, freedom = [~side, side], design.least[0]
    else:
        parts, freedom = [np.ones(len(y), dtype=np.bool_)], design.freedom
        variances = residual[None] @ residual / freedom
    drawn = noise[rng.integers(0, len(noise), size=(DRAWS, len(y))), np.arange(len(y))]
    for part, variance in zip(parts, variances, strict=True):
        drawn[:, part] += _launches(residual[part], float(variance), noise[:, part], rng)
    ratio = drawn @ contrast / power
    expansion = float(laws.t_isf(level / 2, freedom) / laws.normal_ppf(1 - level / 2))
    low, high = np.quantile(ratio - ratio.mean(), [level / 2, 1 - level / 2]) * expansion
    return effect + low, effect + high


def _launches(residual: Floats, variance: float, noise: Floats, rng: np.random.Generator) -> Floats:
    """Launches drawn from these residuals, [draws, launches], with what their ops do not add."""
    outer = max(0.0, variance - float(noise.var(axis=0).mean()))
    scale = np.sqrt(outer / max(float(residual @ residual) / len(residual), 1e-300))
    return np.asarray(residual[rng.integers(0, len(residual), (DRAWS, len(residual)))] * scale)
