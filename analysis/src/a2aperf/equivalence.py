# SPDX-License-Identifier: BSD-3-Clause
"""Is a change within a margin? Two one-sided tests per cell, corrected for the number of cells.

The sides are no different within ± the margin where both a change down to − the margin and one up
to + the margin are refuted (TOST: Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987). Each is
tested by exchanging launches after the candidate was moved by the margin, so the error is at most
that of a permutation test; where launches of one side differ more than those of the other, by
Student's law, too (`unequal`). All cells together are equal if each is at 5 %
(intersection-union: Berger, Technometrics 24, 1982); fewer of them are by the smaller errors of
Hochberg's step-up procedure (Biometrika 75, 1988), whose first step that is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, laws, maxt
from a2aperf.blocks import Blocks, Sides

Floats = NDArray[np.float64]


def outside(
    y: Floats, side: Sides, block: Blocks, margin: float, rng: np.random.Generator
) -> Floats:
    """The p per cell of a change of ± `margin` (in units of y) or more, for that cell by itself.

    1 where the estimated effect is not within the margin; NaN where there is none.
    """
    real = maxt.fit(y, side[None], block)
    p = np.where(np.isnan(real.t[0]), np.nan, 1.0)
    near = np.flatnonzero((np.abs(real.effect[0]) < margin) & ~np.isnan(real.t[0]))
    if not len(near):
        return p
    arranged = blocks.arrangements(side, block, rng)
    shift = margin * side[:, None]
    p[near] = np.maximum(
        _refuted(y[:, near] + shift, side, block, arranged),
        _refuted(-(y[:, near] - shift), side, block, arranged),
    )
    return p


def _refuted(y: Floats, side: Sides, block: Blocks, arranged: NDArray[np.bool_]) -> Floats:
    """The p per cell that the candidate is not above the baseline."""
    # Infinite where launches of a side are alike.
    found = maxt.fit(y, side[None], block)
    real = np.nan_to_num(found.t[0])
    t = np.nan_to_num(maxt.fit(y, arranged, block).t, nan=0.0)
    reached = (t >= real - 1e-9 * np.abs(real)).mean(axis=0)
    alone = laws.t_sf(real, np.maximum(1.0, found.least[0]))
    unequal, _ = maxt.spread_unequally(y, side, block)
    return np.asarray(np.where(unequal, np.maximum(reached, alone), reached))


def step_up(p: Floats) -> Floats:
    """Hochberg's adjusted p over the cells that are known; NaN stays."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(-p[known], kind="stable")]
    adjusted[order] = np.minimum.accumulate(p[order] * np.arange(1, len(order) + 1))
    return np.asarray(np.minimum(adjusted, 1.0))
