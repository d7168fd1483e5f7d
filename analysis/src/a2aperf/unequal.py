# SPDX-License-Identifier: BSD-3-Clause
"""The error of an effect where launches of one side may differ more than those of the other.

From the squared residuals of y = block + side the variance of a launch is estimated of each side
by itself (Rao's MINQUE, Journal of the American Statistical Association 65, 1970); in a single
block that is Welch's t test (Biometrika 34, 1947). A test that exchanges launches stays exact with
such a statistic, and where sides spread differently holds its level with many launches (Janssen,
Statistics & Probability Letters 36, 1997; Chung & Romano, Annals of Statistics 41, 2013). With few
it does not: so where spreads are unequal Student's law is asked, too (`APART`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.blocks import Blocks, Sides

Floats = NDArray[np.float64]

APART: Final = 0.1
"""Chance of so unequal spreads from which on they are not taken as equal: few launches tell badly
how far launches differ, and taking equal ones for unequal costs little."""
_SINGULAR: Final = 1e-9


@dataclass(frozen=True)
class Error:
    """Of the effect, [arrangements]; `of_sides` is [2, arrangements], baseline and candidate."""

    variance: Floats  # of the effect
    freedom: Floats  # of that variance (Satterthwaite, Biometrics Bulletin 2, 1946)
    of_sides: Floats  # variances of a launch; of both together where they are not told apart


class Design:
    """What the arrangements of the sides [arrangements, launches] leave in the residuals."""

    def __init__(self, sides: NDArray[np.bool_], block: Blocks) -> None:
        _, number, size = np.unique(block, return_inverse=True, return_counts=True)
        candidates = sides @ np.eye(len(size))[number]
        count = np.stack([size - candidates, candidates])  # [2, arrangements, blocks]
        pairs = count[0] * count[1] / size
        self.sides = sides
        self.freedom = max(0, len(number) - len(size) - 1)
        self.power = pairs.sum(axis=-1)  # variance of the effect = that of a launch / power
        weight = (count[::-1] / size) ** 2  # of a launch in the effect, squared
        with np.errstate(divide="ignore", invalid="ignore"):
            own = (count * weight).sum(axis=-1) / self.power
            # Expected squares of one side's residuals, per variance of a launch of each side: sums
            # of the squared elements of the matrix that makes residuals of y.
            alike = (count * ((size - 1) ** 2 + count - 1) / size**2).sum(axis=-1)
            alike += own**2 - 2 * (weight * pairs).sum(axis=-1) / self.power
            across = (pairs / size).sum(axis=-1) + own[0] * own[1]
            across -= 2 * (pairs**2 / size).sum(axis=-1) / self.power
            self.shares = np.array([[alike[0], across], [across, alike[1]]])
            self.inverse = np.array([[alike[1], -across], [-across, alike[0]]])
            determinant = alike[0] * alike[1] - across**2
            self.inverse /= np.where(determinant > _SINGULAR, determinant, np.nan)
            self.factor = np.einsum("ghn,hn->gn", self.inverse, own / self.power)
            least = np.einsum("hn,hgn->gn", self.factor, self.shares) ** 2
            least /= self.factor**2 * alike
            self.is_even = np.isclose(*self.factor)
        self.told_apart = (self.factor > 0).all(axis=0)
        self.least = np.where(self.told_apart, np.clip(least.min(axis=0), 1, None), self.freedom)
        """Degrees of freedom of the error if all launches of one side were alike, the fewest that
        it can have (Mickey & Brown, Annals of Mathematical Statistics 37, 1966)."""

    def error(self, residuals: Floats) -> Error:
        """`residuals` are [arrangements, launches] of one cell."""
        squares = residuals**2
        of_candidate = (squares * self.sides).sum(axis=-1)
        total = squares.sum(axis=-1)
        sums = np.stack([np.maximum(0, total - of_candidate), of_candidate])
        with np.errstate(divide="ignore", invalid="ignore"):
            pooled = total / np.float64(self.freedom)
            found = np.maximum(0, np.einsum("ghn,hn->gn", self.inverse, sums))
            both = self.told_apart
            variance = np.where(both, (self.factor * sums).sum(axis=0), pooled / self.power)
            parts = self.factor * found
            freedom = np.einsum("gn,ghn,hn->n", self.factor, self.shares, found) ** 2
            freedom /= np.einsum("gn,ghn,hn->n", parts, self.shares, parts)
            freedom = np.clip(freedom, 1, self.freedom)
        told = both & ~self.is_even & (total > 0)
        freedom = np.where(told, freedom, self.freedom)
        return Error(variance, freedom, np.where(both, found, pooled))


def equivalent_t(t: Floats, freedom: Floats, wanted: int) -> Floats:
    """The t with `wanted` degrees of freedom that is as unlikely, nearly.

    By the normal law between them (Wallace, Annals of Mathematical Statistics 30, 1959).
    """
    ratio = (8 * freedom + 1) / (8 * freedom + 3) * (8 * wanted + 3) / (8 * wanted + 1)
    with np.errstate(over="ignore"):
        raised = np.expm1(freedom / wanted * ratio**2 * np.log1p(t**2 / freedom))
    return np.asarray(np.where(freedom == wanted, t, np.copysign(np.sqrt(wanted * raised), t)))


def within(y: Floats, side: Sides, block: Blocks) -> tuple[Floats, NDArray[np.intp]]:
    """Squares of y [launches] about the means of a side in a block, and how many are free, [2]."""
    squares, freedom = np.zeros(2), np.zeros(2, dtype=np.intp)
    for candidate in (0, 1):
        for number in np.unique(block):
            mine = y[(block == number) & (side == bool(candidate))]
            if len(mine):
                squares[candidate] += float(((mine - mine.mean()) ** 2).sum())
                freedom[candidate] += len(mine) - 1
    return squares, freedom


def chance(y: Floats, side: Sides, block: Blocks) -> float:
    """Of spreads of the sides as unequal or more so, by an F test within their blocks.

    1 where no block has two launches of either side.
    """
    squares, freedom = within(y, side, block)
    if not freedom.all() or not squares.any():
        return 1.0
    if not squares.all():
        return 0.0
    ratio = squares / freedom
    below = float(laws.f_cdf(ratio[1] / ratio[0], int(freedom[1]), int(freedom[0])))
    return 2 * min(below, 1 - below)
