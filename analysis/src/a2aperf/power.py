# SPDX-License-Identifier: BSD-3-Clause
"""What a number of launches can tell: the smallest effect found, the launches for a change."""

from __future__ import annotations

import math
from typing import Final

from a2aperf import laws

POWER: Final = 0.9
_EQUALITY: Final = 0.8
MOST: Final = 1000


def fewest(level: float) -> int:
    """Fewest launches a side in A B B A blocks whose arrangements allow such a p, two-sided.

    6 arrangements a block, and 2 of half a block: 6 · 6 · 2 = 72 for the 5 that 5 % takes.
    """
    launches = 1
    while level * 6 ** (launches // 2) * 2 ** (launches % 2) < 2:
        launches += 1
    return launches


def detectable(spread: float, information: float, freedom: float, critical: float) -> float:
    """Smallest relative change of speed found in 90 % of such trials; NaN where none can be.

    `spread` is the standard deviation of a launch in log time, `information` as in `maxt.MaxT`,
    `critical` the family-wise critical value of |t|.
    """
    if freedom < 1 or not spread >= 0 or information <= 0 or not math.isfinite(critical):
        return math.nan
    return _relative((critical + _reach(freedom)) * spread / math.sqrt(information))


def tail(critical: float, freedom: float, tests: int, level: float = 0.05) -> float:
    """One-sided error that a family-wise critical |t| leaves to one cell; Bonferroni's at least."""
    least = level / 2 / max(tests, 1)
    return max(least, float(laws.t_sf(critical, freedom))) if freedom >= 1 else least


def equality_margin(spread: float, information: float, freedom: float, error: float) -> float:
    """Smallest relative margin within which equal sides are found equal in 80 % of such trials.

    `error` is the one-sided error level of one cell; NaN where none can be.
    """
    if freedom < 1 or not spread >= 0 or information <= 0:
        return math.nan
    reach = float(laws.t_isf(error, freedom) + laws.t_isf((1 - _EQUALITY) / 2, freedom))
    return _relative(reach * spread / math.sqrt(information))


def launches_needed(
    spread: float, freedom: float, tail: float, change: float, least: int = 5
) -> int | None:
    """Launches a side with which 90 % of trials find such a relative change.

    None: more than MOST, or nobody knows how far launches differ. `spread` (log time) comes from a
    trial with that many degrees of freedom; `tail` is the one-sided error level of one cell; fewer
    than `least` decide nothing.
    """
    if freedom < 1 or not math.isfinite(spread):
        return None
    target = math.log1p(change)
    for launches in range(least, MOST + 1):
        degrees = 2 * launches - math.ceil(launches / 2) - 1
        reach = float(laws.t_isf(tail, degrees)) + _reach(degrees)
        if reach * spread * math.sqrt(2 / launches) <= target:
            return launches
    return None


def _relative(change: float) -> float:
    """Of a change in log time; NaN beyond all numbers, as of launches with no spread."""
    try:
        return math.expm1(change)
    except OverflowError:
        return math.nan


def _reach(freedom: float) -> float:
    return float(laws.t_ppf(POWER, freedom))
