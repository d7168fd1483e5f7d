# SPDX-License-Identifier: BSD-3-Clause
"""How many rounds of launches it takes before anything can be told of so many interconnects."""

from __future__ import annotations

import math
from typing import Final

from a2aperf.decision import LEVEL

RUNS: Final = 2
"""Rounds of a block: an order by chance, and its mirror image."""


def pairs_of(interconnects: int) -> int:
    """Pairs that are compared, and share the error."""
    return math.comb(interconnects, 2)


def decides(arrangements: int, pairs: int) -> bool:
    """Whether so many arrangements of two sides can be significant among so many pairs."""
    return arrangements >= 2 * pairs / LEVEL


def rounds_for(interconnects: int) -> int:
    """The fewest in which one pair can be decided at all."""
    pairs, rounds, arrangements = pairs_of(interconnects), 1, RUNS
    while not decides(arrangements, pairs):
        rounds += 1
        whole, rest = divmod(rounds, RUNS)
        arrangements = math.comb(2 * RUNS, RUNS) ** whole * RUNS**rest
    return rounds
