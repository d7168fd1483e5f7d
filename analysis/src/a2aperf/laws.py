# SPDX-License-Identifier: BSD-3-Clause
"""The probability laws that the analysis asks, by scipy.special.

scipy.stats has them too, but takes longer to import than all else together, and more than ten
times as long for a value. scipy.special takes a sixth of a short command, so it is imported when
it is first asked. Names are as there: `cdf` and `sf` are the chances at or below and above
a value, `ppf` and `isf` the values that belong to a chance below and above.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import deferred

Floats = NDArray[np.float64]
Numbers = float | NDArray[Any]

special: Any = deferred.Module("scipy.special")


def t_sf(value: Numbers, freedom: Numbers) -> Any:
    """Student's t."""
    return special.stdtr(freedom, np.negative(value))


def t_ppf(chance: Numbers, freedom: Numbers) -> Any:
    """Student's t."""
    # stdtrit has +inf at 0, and older versions of scipy no number at 1
    is_known = np.greater(freedom, 0)
    found = np.where(np.equal(chance, 1) & is_known, np.inf, special.stdtrit(freedom, chance))
    return np.where(np.equal(chance, 0) & is_known, -np.inf, found)[()]


def t_isf(chance: Numbers, freedom: Numbers) -> Any:
    """Student's t, which is symmetrical: a small chance loses no digits."""
    return -t_ppf(chance, freedom)


NORMAL_OF_MAD: Final = 1.4826
"""Standard deviation of normal noise ÷ its median absolute deviation."""


def mad_freedom(count: float) -> float:
    """Degrees of freedom of a spread that is told by the median absolute deviation of so many.

    n values tell as much of a spread as 0.37 n would by their standard deviation; with fewer than
    three no limit would be of use.
    """
    return max(3.0, 0.37 * count)


def f_cdf(value: Numbers, above: Numbers, below: Numbers) -> Any:
    """F, by the degrees of freedom of the numerator and the denominator."""
    is_end = np.isposinf(value) & np.greater(above, 0) & np.greater(below, 0)
    return np.where(is_end, 1.0, special.fdtr(above, below, np.maximum(value, 0)))[()]


def normal_pdf(value: Floats, scale: float) -> Floats:
    """Density around 0."""
    return np.exp(-((value / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi))


def normal_ppf(chance: float) -> float:
    """Of standard deviation 1."""
    return float(special.ndtri(chance))


def binomial_cdf(times: Numbers, trials: Numbers, chance: float) -> Any:
    """Chance of so many successes or fewer."""
    return _binomial(special.betaincc, (0.0, 1.0), times, trials, chance)


def binomial_sf(times: Numbers, trials: Numbers, chance: float) -> Any:
    """Chance of more successes."""
    return _binomial(special.betainc, (1.0, 0.0), times, trials, chance)


def _binomial(
    tail: Any, ends: tuple[float, float], times: Numbers, trials: Numbers, chance: float
) -> Any:
    """That tail of the beta law; below no success and from all trials on its end."""
    below, from_all = np.less(times, 0), np.greater_equal(times, trials)
    is_end = below | from_all  # older versions of scipy have no number there
    found = tail(np.where(is_end, 1, times + 1.0), np.where(is_end, 1, trials - times), chance)
    known = np.where(from_all, ends[1], np.where(below, ends[0], found))
    return np.where(np.isnan(times) | np.isnan(chance), np.nan, known)[()]


def binomial_ppf(below: float, trials: int, chance: float) -> float:
    """Fewest successes that are not passed with at least this chance."""
    found: float = max(0.0, math.ceil(special.bdtrik(below, trials, chance)))
    fewer = max(0.0, found - 1)
    return fewer if binomial_cdf(fewer, trials, chance) >= below else found


def welch(first: Floats, second: Floats) -> float:
    """Chance of such a difference of two means or a larger one, by Welch's t test."""
    if min(len(first), len(second)) < 2:
        return math.nan
    parts = [float(one.var(ddof=1)) / len(one) for one in (first, second)]
    gap = abs(float(first.mean() - second.mean()))
    if not sum(parts):
        return 0.0 if gap else math.nan
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(one) - 1) for part, one in zip(parts, (first, second), strict=True)
    )
    return float(2 * t_sf(gap / math.sqrt(sum(parts)), freedom))


def mean_ranks(values: Floats) -> Floats:
    """Places of the values in their order, from 1; equal ones share the mean of theirs."""
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    _, which, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[which], dtype=np.float64)
