# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes stand out over several launches: equal nodes could as well have changed their names.

A launch says of each node how far it is from the middle one, in robust spreads, and no more than
some of them: one bad launch names nobody. Within a launch equal nodes are exchangeable, whatever
its ops remember, so the distribution of a node's sum over the launches is exact, and needs no
drawing. Launches in which the ranks lie alike are one: there a node cannot be told from its ranks.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.explain import equal

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FEWEST: Final = 4
"""Nodes of a launch: of fewer it may as well be the others."""
_FAR: Final = 8.0  # robust spreads: what is beyond counts as this
_GRID: Final = 32  # steps of a spread
_ALONE: Final = 0.05  # of equal nodes, that a launch by itself calls far out
_EXACT: Final = 1e-9  # of a chance: what sums of spectra round off


def standardised(values: Floats) -> Floats:
    """How far each node [N] is from the median one, in robust spreads, no farther than some."""
    off = values - np.median(values)
    scale = float(np.median(np.abs(off))) / laws.normal_ppf(0.75)
    if scale <= 0:
        scale = float(off.std())
    return np.clip(off / scale, -_FAR, _FAR) if scale > 0 else np.zeros(len(values))


def far_out(scores: Floats) -> Flags:
    """Which nodes [N] are farther out than a launch of equal ones has 5 % of them."""
    return np.asarray(scores >= float(laws.t_isf(_ALONE, laws.mad_freedom(len(scores)))))


def least_blocks(nodes: int, sides: int, error: float) -> int:
    """Blocks in each of which a node must be the first of all to be named."""
    blocks = 1
    while sides * nodes ** (1 - blocks) > error * (1 + _EXACT):
        blocks += 1
    return blocks


def named(scores: Floats, error: float) -> tuple[list[tuple[int, int]], Floats]:
    """The sides and nodes whose sum is too high, the surest first, and the p of every one.

    `scores` [sides, blocks, nodes], NaN where a node takes no part in a block; `error` and p
    [sides, nodes] are over all of them. Who is named is no equal node: the others are exchanged
    without it, on every side, for who is late makes others early.
    """
    whole = np.where(np.isnan(scores), -1, np.rint((scores + _FAR) * _GRID)).astype(np.int64)
    left: Flags = np.any(whole[0] >= 0, axis=0)
    p = np.ones((len(scores), scores.shape[2]))
    found: list[tuple[int, int]] = []
    least = 0.0
    while left.sum() > 1:
        here = np.flatnonzero(left)
        own = np.minimum(1.0, np.array([_chances(one[:, here]) for one in whole]) * p[:, here].size)
        p[:, here] = np.maximum(least, own)
        side, at = (int(x) for x in np.unravel_index(own.argmin(), own.shape))
        best = int(here[at])
        if p[side, best] > error * (1 + _EXACT):
            break
        least = float(p[side, best])
        found.append((side, best))
        left[best] = False
    return found, p


def _chances(whole: NDArray[np.int64]) -> Floats:
    """Chance of each node's sum or a higher one, where the nodes of each block are exchanged."""
    there = whole >= 0
    width = round(2 * _FAR * _GRID) + 1
    shares = np.zeros((len(whole), width))
    block, _ = np.nonzero(there)
    np.add.at(shares, (block, whole[there]), 1.0)
    shares /= np.maximum(1, there.sum(axis=1))[:, None]
    sums = np.where(there, whole, 0).sum(axis=0)
    tails: dict[Any, Floats] = {}
    chances = np.ones(whole.shape[1])
    for node, total in enumerate(sums):
        key = there[:, node].tobytes()
        if key not in tails:
            tails[key] = np.cumsum(equal.of_sum(shares[there[:, node]])[::-1])[::-1]
        chances[node] = tails[key][total]
    return np.clip(chances, 0.0, 1.0)
