# SPDX-License-Identifier: BSD-3-Clause
"""Launches far from the others of their side: drawn in, so that one cannot decide a comparison.

Each value is compared with what its block and its side are, by medians; what is further from it
than REACH robust standard deviations (median absolute deviation) is moved to that distance
(winsorised: Huber & Ronchetti, Robust Statistics, 2009). The sides are those of the arrangement
that is looked at, so a permutation test of the result stays exact. Each side tells its deviation by
itself, and the mean of both counts: by the median of all distances, most launches of a side that
differs more would be moved, and what is left of it would look surer than it is.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.blocks import Blocks, Sides

Floats = NDArray[np.float64]

REACH: Final = 5.0
# Values of a side from which they are drawn in: with fewer, an arrangement that takes two launches
# for those of the other side, and draws them in, looks as sure as the real one.
FEWEST: Final = 6
_FEWEST_NAMED: Final = 6
# Far out, in robust standard deviations: of studies without an outlier 2 % have a launch beyond it
# (tests/test_robust.py); with few launches the deviation is known less well, with 0.37 n degrees
# of freedom; and below so many in all it was simulated.
_FAR: Final = 8.0
_FAR_OF_FEW: Final = ((8, 36.0), (10, 15.5), (12, 12.0))
_ERROR: Final = 0.01
_AT_ONCE: Final = 1 << 22  # differences


def drawn_in(
    values: Floats, sides: NDArray[np.bool_], block: Blocks, reach: float = REACH
) -> Floats:
    """Values [launches] for every arrangement of the sides, [arrangements, launches]."""
    if len(values) < 2 * FEWEST:
        return np.broadcast_to(values, sides.shape)
    members = _members(block)
    off = _off(values, sides, members)
    most = reach * _scales(off, sides, members)
    return np.asarray(values - off + np.clip(off, -most, most))


def distances(values: Floats, side: Sides, block: Blocks) -> Floats:
    """How far each value is from the median of its side, in robust standard deviations."""
    members = _members(block)
    off = _off(values, side[None], members)
    scales = _scales(off, side[None], members)
    if not _own_scales(side):
        scales = _scale(*_distance(off, side[None], members), medians=2)
    return np.asarray((off / scales)[0])


def outliers(y: Floats, side: Sides, block: Blocks) -> NDArray[np.intp]:
    """Launches of y [launches, cells] that are far out in at least half of their cells."""
    count = np.zeros(len(y))
    for cell in range(y.shape[1]):
        rows = np.flatnonzero(~np.isnan(y[:, cell]))
        if len(rows) >= _FEWEST_NAMED:
            off = distances(y[rows, cell], side[rows], block[rows])
            told_by = len(rows) // 2 if _own_scales(side[rows]) else len(rows)
            count[rows] += np.abs(off) > _limit(len(rows), told_by)
    known = (~np.isnan(y)).sum(axis=1)
    return np.flatnonzero((count > 0) & (2 * count >= known))


def _limit(n: int, told_by: int) -> float:
    """Of n values whose deviation so many of them tell."""
    for fewer, far in _FAR_OF_FEW:
        if n < fewer:
            return far
    return max(_FAR, float(laws.t_isf(_ERROR / (2 * n), laws.mad_freedom(told_by))))


def _own_scales(side: Sides) -> bool:
    """Whether either side has values enough for a deviation of its own."""
    return min(int(side.sum()), int((~side).sum())) >= FEWEST


def _members(block: Blocks) -> list[NDArray[np.intp]]:
    """The launches of each block."""
    return [np.flatnonzero(block == number) for number in np.unique(block)]


def _off(values: Floats, sides: NDArray[np.bool_], members: list[NDArray[np.intp]]) -> Floats:
    """Values less those of their block and side, by medians, [arrangements, launches]."""
    if _are_balanced(sides, members):
        aligned = values.copy()
        for own in members:
            aligned[own] -= np.median(values[own])
        off = aligned - _centres(aligned, sides)
    else:  # the median of such a block lies nearer to the side that it has more of
        off = values - sides * _shift(values, sides, members)
    for own in members:  # the median of a block with a launch far out leans to one side
        off[:, own] -= _middle(np.sort(off[:, own], axis=1))
    return off


def _are_balanced(sides: NDArray[np.bool_], members: list[NDArray[np.intp]]) -> bool:
    """Whether each block has as many launches of either side, as every arrangement has them."""
    return all(2 * int(sides[0, own].sum()) == len(own) for own in members)


def _shift(values: Floats, sides: NDArray[np.bool_], members: list[NDArray[np.intp]]) -> Floats:
    """Median of all differences between the sides within blocks, [arrangements, 1]; 0 without one.

    What Hodges and Lehmann estimate a shift by (Annals of Mathematical Statistics 34, 1963).
    """
    of = [np.triu_indices(len(own), 1) for own in members]
    first = np.concatenate([own[i] for own, (i, _) in zip(members, of, strict=True)])
    second = np.concatenate([own[j] for own, (_, j) in zip(members, of, strict=True)])
    count = sum(int(sides[0, own].sum()) * int((~sides[0, own]).sum()) for own in members)
    shift = np.zeros((len(sides), 1))
    if not count:
        return shift
    step = max(1, _AT_ONCE // len(first))
    for start in range(0, len(sides), step):
        rows = sides[start : start + step]
        sign = rows[:, first].astype(np.int8) - rows[:, second]
        differences = np.where(sign == 0, np.inf, sign * (values[first] - values[second]))
        middle = [(count - 1) // 2, count // 2]
        differences.partition(middle, axis=1)
        shift[start : start + step, 0] = differences[:, middle].mean(axis=1)
    return shift


def _centres(values: Floats, sides: NDArray[np.bool_]) -> Floats:
    """Median of each value's own side, [arrangements, launches]."""
    order = np.argsort(values, kind="stable")
    ordered, member = values[order], sides[:, order]
    medians = [_median(ordered, own) for own in (member, ~member)]
    return np.where(sides, medians[0][:, None], medians[1][:, None])


def _median(ordered: Floats, member: NDArray[np.bool_]) -> Floats:
    """Median of the members in each row; `ordered` is sorted."""
    reached = np.cumsum(member, axis=1, dtype=np.int16)
    size = reached[:, -1:]
    ends = [(reached >= need).argmax(axis=1) for need in ((size + 1) // 2, size // 2 + 1)]
    return np.asarray((ordered[ends[0]] + ordered[ends[1]]) / 2)


def _scales(off: Floats, sides: NDArray[np.bool_], members: list[NDArray[np.intp]]) -> Floats:
    """Mean of the robust standard deviations of both sides, [arrangements, 1].

    Infinite where most do not differ, or a side has fewer than FEWEST.
    """
    distance, known = _distance(off, sides, members)
    total = np.zeros((len(off), 1))
    for own in (sides & known, ~sides & known):
        few = own.sum(axis=1, keepdims=True) < FEWEST
        total += np.where(few, np.inf, _scale(distance, own))
    return total / 2


def _distance(
    off: Floats, sides: NDArray[np.bool_], members: list[NDArray[np.intp]]
) -> tuple[Floats, NDArray[np.bool_]]:
    """How far values are from their own, and which of them tell that, [arrangements, launches]."""
    distance, known = np.abs(off), np.ones(off.shape, dtype=np.bool_)
    if not _are_balanced(sides, members):  # the fewer a block has, the nearer they are to its own
        size = np.ones(off.shape[1])
        for own in members:
            size[own] = len(own)
        known &= size > 1
        distance = distance / np.sqrt(1 - 1 / np.maximum(size, 1.5))
    return distance, known


def _scale(distance: Floats, mine: NDArray[np.bool_], medians: int = 1) -> Floats:
    """Of those values less so many medians, [arrangements, 1]; infinite where most are alike."""
    count = mine.sum(axis=1, keepdims=True)
    ordered = np.sort(np.where(mine, distance, np.inf), axis=1)
    ends = (np.maximum(count - 1, 0) // 2, np.minimum(count // 2, distance.shape[1] - 1))
    middle = sum(np.take_along_axis(ordered, end, axis=1) for end in ends) / 2
    scale = laws.NORMAL_OF_MAD * middle * count / np.maximum(count - medians, 1)
    return np.asarray(np.where((scale > 0) & (count > 0), scale, np.inf))


def _middle(ordered: Floats) -> Floats:
    """Median of sorted rows, [rows, 1]."""
    n = ordered.shape[1]
    return np.asarray((ordered[:, (n - 1) // 2] + ordered[:, n // 2])[:, None] / 2)
