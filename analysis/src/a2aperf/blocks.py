# SPDX-License-Identifier: BSD-3-Clause
"""A/B blocks: which launches may exchange their sides, and all the ways they can.

Launches that ran one after the other under the same conditions differ by chance only if the
setting has no effect. A balanced run is the shortest stretch of launches with as many of one side
as of the other; two of them make a block. A B B A is such a block: a drift over the allocation
stays outside it, and with two launches a side it shows how far equal launches differ.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Sides = NDArray[np.bool_]  # [launches], True: the candidate, False: the baseline
Blocks = NDArray[np.intp]  # [launches], number of the block

# Up to this many arrangements all are used (10 launches a side in A B B A have 7776), beyond it as
# many at random.
ENUMERATED: Final = 8192
_LEANING: Final = 0.5
"""Less than that in A B A B, more in A A B B."""


def alternating(side: Sides) -> Blocks:
    """Blocks of two balanced runs, from launches in time order; a rest joins the last run."""
    run = np.zeros(len(side), dtype=np.intp)
    number, balance, start = 0, 0, 0
    for i, candidate in enumerate(side):
        balance += 1 if candidate else -1
        run[i] = number
        if balance == 0:
            number, start = number + 1, i + 1
    if start < len(side) and number > 0:
        run[start:] = number - 1
    return run // 2


def within(kinds: Sequence[Hashable], allocations: Sequence[Hashable], side: Sides) -> Blocks:
    """Blocks of launches of the same kind and allocation, all given in time order.

    Launches whose allocation has one side only make blocks with the others of their kind. Kinds
    are never mixed.
    """
    members: dict[Hashable, dict[Hashable, list[int]]] = {}
    for i, (kind, allocation) in enumerate(zip(kinds, allocations, strict=True)):
        members.setdefault(kind, {}).setdefault(allocation, []).append(i)
    block = np.zeros(len(side), dtype=np.intp)
    offset = 0
    for groups in members.values():
        mixed = [group for group in groups.values() if len({bool(side[i]) for i in group}) == 2]
        rest = sorted({i for group in groups.values() for i in group}.difference(*mixed))
        for indices in filter(None, [*mixed, rest]):
            local = alternating(side[indices])
            block[indices] = local + offset
            offset += int(local.max()) + 1
    return block


def lean(side: Sides, block: Blocks) -> float:
    """Correlation of side with position in time within the blocks.

    0 for ABBA, 0.45 for ABAB, near 1 for AABB. Far from 0 a drift would look like an effect.
    """
    position = np.arange(len(side), dtype=np.float64)
    centred = [_centred(values, block) for values in (side.astype(np.float64), position)]
    powers = [float(c @ c) for c in centred]
    return float(centred[0] @ centred[1]) / math.sqrt(powers[0] * powers[1]) if all(powers) else 0.0


def is_in_turn(side: Sides, block: Blocks) -> bool:
    """Whether in some block a side's launches have others between them."""
    return any(np.count_nonzero(np.diff(side[block == one])) > 1 for one in np.unique(block))


def alternate(side: Sides, block: Blocks) -> bool:
    """Whether sides are in turn in every block: noise that remembers is then alike on both."""
    runs = [
        len(list(run))
        for one in np.unique(block)
        for _, run in itertools.groupby(side[block == one])
    ]
    return max(runs) <= 2 and abs(lean(side, block)) < _LEANING


def _centred(values: NDArray[np.float64], block: Blocks) -> NDArray[np.float64]:
    means = np.array([values[block == b].mean() for b in range(int(block.max()) + 1)])
    return np.asarray(values - means[block])


def count(side: Sides, block: Blocks) -> int:
    """How many arrangements of the sides within their blocks there are."""
    return math.prod(
        math.comb(int((block == b).sum()), int(side[block == b].sum())) for b in np.unique(block)
    )


def arrangements(side: Sides, block: Blocks, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Sides rearranged within their blocks, [arrangement, launch]; the real one is among them.

    All of them up to ENUMERATED, else the real one and ENUMERATED - 1 at random.
    """
    if count(side, block) > ENUMERATED:
        return _drawn(side, block, rng)
    return _every(tuple(side.tolist()), tuple(block.tolist()))


@lru_cache(maxsize=8)
def _every(sides: tuple[bool, ...], blocks: tuple[int, ...]) -> NDArray[np.bool_]:
    side, block = np.array(sides), np.array(blocks)
    rows = np.zeros((1, len(side)), dtype=np.bool_)
    for b in np.unique(block):
        members = np.flatnonzero(block == b)
        picks = int(side[members].sum())
        every = list(itertools.combinations(members, picks))
        choices = np.array(every, dtype=np.intp).reshape(len(every), picks)  # picks may be 0
        filled = np.repeat(rows, len(choices), axis=0)
        chosen = np.tile(choices, (len(rows), 1))
        filled[np.arange(len(filled))[:, None], chosen] = True
        rows = filled
    return rows


def _drawn(side: Sides, block: Blocks, rng: np.random.Generator) -> NDArray[np.bool_]:
    rows = np.repeat(side[None, :], ENUMERATED, axis=0)
    for b in np.unique(block):
        members = np.flatnonzero(block == b)
        shuffled = rng.permuted(rows[1:, members], axis=1)
        rows[1:, members] = shuffled
    return rows
