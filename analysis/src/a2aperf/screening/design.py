# SPDX-License-Identifier: BSD-3-Clause
"""Which launch has which settings: Plackett–Burman designs with their fold-over, in blocks.

R. L. Plackett and J. P. Burman, "The Design of Optimum Multifactorial Experiments", Biometrika 33
(1946). Each run has a mirrored one, in which every setting has its other level: so main effects,
which are differences within such pairs, are clear of all interactions of two settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.errors import InputError
from a2aperf.labels import count_text

Levels = NDArray[np.int8]
Places = NDArray[np.intp]

RUNS: Final = (12, 20, 24)
"""Of a design before it is folded over; each has room for one setting less."""
MOST: Final = RUNS[-1] - 1
DEFAULTS: Final = 4
"""Launches that have no setting: what they differ by is the pure spread."""
_PAIRS: Final = 2  # in a block
ALONE: Final = -1
"""The pair of a launch that has no mirrored one."""


@dataclass(frozen=True)
class Design:
    """Launches in their order: levels [launches, settings], +1 where a setting is made.

    `pair` [launches] numbers a run and its mirrored one, ALONE for those with no setting at all,
    which share a block of their own; `block` [launches] counts in the order of launching.
    """

    levels: Levels
    pair: Places
    block: Places

    @property
    def launches(self) -> int:
        """How many there are."""
        return len(self.levels)

    @property
    def settings(self) -> int:
        """How many are screened."""
        return int(self.levels.shape[1])


def runs_for(settings: int) -> int:
    """Runs of the smallest design that has room for them; InputError where none has."""
    if settings < 1:
        raise InputError("nothing to screen: expected one setting at least")
    for runs in RUNS:
        if settings < runs:
            return runs
    raise InputError(
        f"{count_text(settings, 'setting')} are more than a design has room for: "
        f"{MOST} at once; screen the rest in a second round"
    )


def launches_for(settings: int) -> int:
    """Launches that the design of so many settings needs."""
    return 2 * runs_for(settings) + DEFAULTS


def make(settings: int, rng: np.random.Generator) -> Design:
    """A design in random order: of settings over columns, of pairs over blocks, within blocks."""
    array = _array(runs_for(settings), settings, rng)
    runs = len(array)
    groups = rng.permutation(runs).reshape(-1, _PAIRS)
    members = [np.concatenate([group, group + runs]) for group in groups]
    members.append(np.arange(2 * runs, 2 * runs + DEFAULTS))
    order = [rng.permutation(members[number]) for number in rng.permutation(len(members))]
    levels = np.concatenate([array, -array, np.full((DEFAULTS, settings), -1, np.int8)])
    pair = np.concatenate([np.tile(np.arange(runs), 2), np.full(DEFAULTS, ALONE)])
    block = np.repeat(np.arange(len(order)), [len(one) for one in order])
    inside = np.concatenate(order)
    return Design(levels[inside], pair[inside].astype(np.intp), block.astype(np.intp))


def _array(runs: int, settings: int, rng: np.random.Generator) -> Levels:
    """Runs [runs, settings] with columns and signs by chance; none has all or no settings.

    Such a run would look like a launch with no setting, and no two look alike either.
    """
    whole = hadamard(runs)[:, 1:]
    while True:
        chosen = rng.permutation(runs - 1)[:settings]
        signs = rng.choice(np.array([-1, 1], np.int8), settings)
        array: Levels = np.multiply(whole[:, chosen], signs, dtype=np.int8)
        both = np.concatenate([array, -array])
        if settings < _DISTINCT:
            return array
        no_extreme = not (both == both[:, :1]).all(axis=1).any()
        if no_extreme and len(np.unique(both, axis=0)) == len(both):
            return array


_DISTINCT: Final = 8
"""Settings from which on all runs of a design can differ from each other."""


def hadamard(order: int) -> Levels:
    """Rows and columns of ±1 that are all orthogonal; `order` − 1 is a prime of the kind 4k + 3.

    By R. E. A. C. Paley's construction (1933), with a first column of ones.
    """
    prime = order - 1
    squares = {i * i % prime for i in range(1, prime)}
    sign = np.array([1 if i in squares else -1 for i in range(prime)], dtype=np.int8)
    sign[0] = -1
    index = np.arange(prime)
    matrix = np.ones((order, order), dtype=np.int8)
    matrix[1:, 1:] = sign[(index[None, :] - index[:, None]) % prime]
    return matrix
