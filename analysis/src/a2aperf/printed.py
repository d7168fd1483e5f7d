# SPDX-License-Identifier: BSD-3-Clause
"""How far a figure may be from what it was before it was rounded for print.

A column is rounded to a place (`0.12`, `3.40`) or to a number of digits, two at the least (`0.12`,
`34.0`). Which one nobody says, so a figure may be off by half of its last digit in the reading that
allows more; of units that a figure may have been printed in, the one in which the column takes
fewest digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Final

_FEWEST: Final = 2
"""Digits: zeros behind the first one may have been counted."""


def half_unit(values: Iterable[float | None], units: Sequence[float]) -> Callable[[float], float]:
    """Of a column of positive values, by how much one of them may be off; in their own unit."""
    known = [value for value in values if value is not None and value > 0]
    if not known:
        return lambda _: 0.0

    def unlikely(unit: float) -> tuple[int, bool, float]:
        most = max(len(_digits(value / unit)[0]) for value in known)
        return most, min(known) < unit, -unit

    worth = min(units, key=unlikely)
    written = [_digits(value / worth) for value in known]
    most = max(_FEWEST, *(len(digits) for digits, _ in written))
    place = min(0, *(exponent for _, exponent in written))

    def half(value: float) -> float:
        if not value > 0:
            return 0.0
        last = math.floor(math.log10(value / worth) + 1e-9) - most + 1
        return 0.5 * worth * 10.0 ** max(place, last)

    return half


def _digits(value: float) -> tuple[tuple[int, ...], int]:
    """Those up to the last that is no zero, and the power of ten at which that stands."""
    told = Decimal(f"{value:.10g}").normalize().as_tuple()
    return told.digits, int(told.exponent)
