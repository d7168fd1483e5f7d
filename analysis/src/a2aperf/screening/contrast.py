# SPDX-License-Identifier: BSD-3-Clause
"""Sides of a confirmation against each other at all sizes, with one error for all of them.

Least squares of y = block + side. A block are launches that follow one another, and has what the
machine does over time. All contrasts at all sizes share one critical value, the quantile
of the largest |t| among them, drawn with the correlation of the sizes that the residuals show and
that of the contrasts (Hothorn, Bretz & Westfall, Biometrical Journal 50, 2008). Launches of a side
may differ by more than those of another: each side has a variance of its own (MacKinnon & White,
Journal of Econometrics 29, 1985), known as well as two sides tell it. A contrast is
called where its interval leaves 0, so the chance of any wrong call is that of any interval missing
the truth, whichever side is chosen for what it showed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.errors import InputError

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

LEVEL: Final = 0.05
"""The error of all contrasts at all sizes together."""
_FEWEST: Final = 3
"""Launches of a side that tell how far they differ; with fewer it has what all sides have."""
_DRAWS: Final = 20000
_AT_ONCE: Final = 1000
_SEED: Final = 20190417


@dataclass(frozen=True)
class Contrast:
    """One side against another, [cells]: the change of log speed with its interval."""

    change: Floats
    low: Floats
    high: Floats

    @property
    def faster(self) -> NDArray[np.bool_]:
        """Where chance is excluded."""
        return np.asarray(self.low > 0)

    @property
    def slower(self) -> NDArray[np.bool_]:
        """Where chance is excluded."""
        return np.asarray(self.high < 0)


@dataclass(frozen=True)
class Contrasts:
    """A contrast for each pair that was asked for, and what they rest on."""

    each: list[Contrast]
    spread: Floats  # [cells], of a launch, log
    freedom: int


def contrasts(
    y: Floats,
    side: Places,
    block: Places,
    pairs: Sequence[tuple[int, int]],
    level: float = LEVEL,
) -> Contrasts:
    """Contrasts `a` − `b` of `pairs`, of log speed y [launches, cells], with this error together.

    `side` and `block` are the launches'. InputError where these do not tell the sides apart, or
    how far launches differ.
    """
    names, member = np.unique(side, return_inverse=True)
    blocks = np.eye(len(np.unique(block)))[np.unique(block, return_inverse=True)[1]]
    design = np.hstack([blocks, np.eye(len(names))[member][:, 1:]])
    freedom = len(y) - int(np.linalg.matrix_rank(design))
    is_there = all({a, b} <= set(names.tolist()) for a, b in pairs)
    if not is_there or freedom < 1 or len(y) - freedom < design.shape[1]:
        raise InputError("its launches are too few to tell its sides apart")
    inverse = np.asarray(np.linalg.pinv(design), dtype=np.float64)
    slopes = inverse @ y
    left = y - design @ slopes
    place = {int(name): i - 1 + blocks.shape[1] for i, name in enumerate(names)}
    weights = np.zeros((len(pairs), design.shape[1]))
    for row, pair in enumerate(pairs):
        for name, sign in zip(pair, (1.0, -1.0), strict=True):
            if name != names[0]:  # which the others' slopes are against
                weights[row, place[name]] += sign
    pooled = (left**2).sum(axis=0) / freedom
    loads = weights @ inverse  # [pairs, launches]
    error = np.sqrt(loads**2 @ _variances(left, design, inverse, member, pooled)[member])
    known = max(1, min(freedom, 2 * (int(np.bincount(member).min()) - 1)))
    half = _critical(left, loads / np.linalg.norm(loads, axis=1)[:, None], known, level) * error
    changes = weights @ slopes
    each = [Contrast(x, x - h, x + h) for x, h in zip(changes, half, strict=True)]
    return Contrasts(each, np.sqrt(pooled), freedom)


def _variances(
    left: Floats, design: Floats, inverse: Floats, member: Places, pooled: Floats
) -> Floats:
    """Of a launch of each side, [sides, cells], from the residuals `left` [launches, cells]."""
    free = 1 - np.einsum("ij,ji->i", design, inverse)  # of a launch, what the fit has left of it
    squares = left**2 / np.maximum(free, 1e-9)[:, None]
    count = np.bincount(member)
    own = np.array([squares[member == one].mean(axis=0) for one in range(len(count))])
    return np.where((count >= _FEWEST)[:, None], own, pooled)


def _critical(left: Floats, loads: Floats, freedom: int, level: float) -> float:
    """Quantile of the largest |t| over contrasts and cells, where launches differ by chance alone.

    `loads` [contrasts, launches] are of norm 1. The cells' spreads are drawn, too.
    """
    rng = np.random.default_rng(_SEED)
    length = np.linalg.norm(left, axis=0)
    unit = np.divide(left, length, out=np.zeros_like(left), where=length > 0)
    _, weight, parts = np.linalg.svd(unit, full_matrices=False)
    mix = weight[:, None] * parts  # normal values @ mix have the cells' correlation
    alike = np.linalg.cholesky(loads @ loads.T + 1e-9 * np.eye(len(loads)))
    largest = np.empty(_DRAWS)
    for begin in range(0, _DRAWS, _AT_ONCE):
        values = rng.standard_normal((_AT_ONCE, len(loads) + freedom, len(mix))) @ mix
        effects = alike @ values[:, : len(loads)]
        spread = np.sqrt((values[:, len(loads) :] ** 2).mean(axis=1, keepdims=True))
        t = np.divide(effects, spread, out=np.zeros_like(effects), where=spread > 0)
        largest[begin : begin + _AT_ONCE] = np.abs(t).max(axis=(1, 2))
    least = float(laws.t_isf(level / 2, freedom))
    return max(least, float(np.quantile(largest, 1 - level)))
