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
    while level * _arrangements(launches) < 2:
        launches += 1
    return launches


def _arrangements(launches: int) -> int:
    return int(6 ** min(launches // 2, 100) * 2 ** (launches % 2))  # a float holds that many


def coarseness(level: float, arrangements: int) -> float:
    """What few arrangements add to a change that is found in 90 % of trials, as a factor.

    Of those that are significant there are `level * arrangements`, in pairs of mirror images. By
    simulation (150 trials a row, 1 and 4 cells): 1.25 to 1.35 where there is one pair, 1.13 to 1.19
    for two, 1.16 to 1.19 for three, 1.06 to 1.10 for five, 1.00 to 1.13 for ten.
    """
    pairs = math.floor(level * arrangements / 2)
    return 1 + 0.35 * pairs**-0.8 if pairs else math.inf


def detectable(
    spread: float, information: float, freedom: float, critical: float, coarse: float = 1.0
) -> float:
    """Smallest relative change of speed found in 90 % of such trials; NaN where none can be.

    `spread` is the standard deviation of a launch in log time, `information` as in `maxt.MaxT`,
    `critical` the family-wise critical value of |t|, `coarse` as of `coarseness`.
    """
    if freedom < 1 or not spread >= 0 or information <= 0 or not math.isfinite(critical):
        return math.nan
    return _relative(coarse * (critical + _reach(freedom)) * spread / math.sqrt(information))


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
    spread: float, freedom: float, tail: float, change: float, level: float = 0.05
) -> int | None:
    """Launches a side with which 90 % of trials find such a relative change.

    None: more than MOST, or nobody knows how far launches differ. `spread` (log time) comes from a
    trial with that many degrees of freedom; `tail` is the one-sided error level of one cell, and
    `level` the two-sided one of all together.
    """
    if freedom < 1 or not math.isfinite(spread):
        return None
    target = math.log1p(change)
    for launches in range(fewest(level), MOST + 1):
        degrees = 2 * launches - math.ceil(launches / 2) - 1
        reach = float(laws.t_isf(tail, degrees)) + _reach(degrees)
        reach *= coarseness(level, _arrangements(launches))
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
