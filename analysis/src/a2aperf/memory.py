# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are like the one before: how much they may be, and what a mean of them is worth.

The model is AR(1): two jobs of a series have the correlation `memory` to the power of the steps
between them. Few jobs underestimate it, so some standard errors are added to what they show.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST: Final = 0.95
_SURE: Final = 1.645  # standard errors by which the memory may be underestimated


def estimate(residuals: Floats, parameters: int) -> float:
    """Lag-1 autocorrelation of residuals [jobs, lines] of a fit; minus infinity without any."""
    n = len(residuals)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = residuals / np.nanstd(residuals, axis=0)
    products = z[1:] * z[:-1]
    if n <= parameters + 1 or not np.isfinite(products).any():
        return -math.inf
    pairs = float(np.nanmean(products))
    # A fit takes the slow part out of the noise, so the residuals seem to remember less.
    return (n * pairs + parameters) / (n - parameters)


def most(estimated: float, jobs: int, sure: float = _SURE, limit: float = _MOST) -> float:
    """The autocorrelation so many standard errors above this estimate of so many jobs.

    By itself the largest that it allows for (95 %).
    """
    return min(max(estimated + sure / math.sqrt(jobs), 0.0), limit)


def of_mean(places: NDArray[np.intp], memory: float) -> float:
    """Variance of the mean of jobs at these places of a series ÷ that of one job."""
    apart = np.abs(np.subtract.outer(places, places))
    return float((memory**apart).mean())


def of_spread(jobs: int, memory: float) -> tuple[float, float, float]:
    """What so many jobs in a row tell of themselves.

    The variance of their mean and their expected squared deviation, both ÷ the variance of a job,
    and the degrees of freedom of the latter (Satterthwaite): 1 / n, 1 and n − 1 without a memory.
    """
    apart = np.arange(1, jobs)
    alike, square = memory**apart, memory ** (2 * apart)
    mean = (jobs + 2 * float((jobs - apart) @ alike)) / jobs**2
    sums = np.concatenate([[0.0], np.cumsum(alike)])
    rows = 1 + sums + sums[::-1]
    trace = jobs * (1 - mean)
    squares = jobs + 2 * float((jobs - apart) @ square)
    squares += -2 / jobs * float(rows @ rows) + (jobs * mean) ** 2
    return mean, trace / (jobs - 1), trace**2 / squares
