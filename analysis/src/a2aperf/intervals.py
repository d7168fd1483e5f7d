# SPDX-License-Identifier: BSD-3-Clause
"""Confidence intervals of a percentile within one launch.

Independent ops: order statistics, exact whatever the distribution (Hoefler & Belli, SC'15).
Autocorrelated ops: the same interval, widened by the block bootstrap of the count of ops below the
percentile. That bootstrap needs no drawing: its variance is the Bartlett-weighted sum of
autocovariances (Künsch, Ann. Statist. 17, 1989), and the quantile that belongs to it for a finite
number of blocks is known (Kiefer & Vogelsang, Econometric Theory 21, 2005).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws, metrics

Floats = NDArray[np.float64]
Kind = Literal["none", "order-statistics", "block-bootstrap"]

# One-sided 5 %: above it the ops are not taken as independent.
_INDEPENDENCE_Z: Final = 1.645
# Block lengths in units of sqrt(n); the long one from an autocorrelation of _STRONG on. Chosen by
# simulation (tests/test_intervals.py): 93 to 97 % coverage up to 0.8 at n = 200, 0.9 at n = 1000.
_BLOCK, _LONG_BLOCK, _STRONG = 1.3, 3.0, 0.6


@dataclass(frozen=True)
class Interval:
    """Two-sided 95 % interval of a percentile; `low` and `high` are NaN where none exists."""

    low: float
    high: float
    kind: Kind
    n: int
    autocorrelation: float

    @property
    def exists(self) -> bool:
        """Whether n carries an interval."""
        return self.kind != "none"


_indices = lru_cache(maxsize=4096)(metrics.interval_indices)


def coverage(n: int, q: float = 0.5) -> float:
    """Exact probability that the order-statistics interval holds a continuous law's q-quantile."""
    ends = _indices(n, q)
    if ends is None:
        return math.nan
    return float(laws.binomial_cdf(ends[1], n, q) - laws.binomial_cdf(ends[0], n, q))


def autocorrelation(samples: Floats) -> float:
    """Lag-1 autocorrelation of the ranks of the samples; 0 when constant.

    Of the ranks, so that one slow op does not hide it; corrected by 1/n for its bias under
    independence.
    """
    n = len(samples)
    if n < 3:
        return 0.0
    ranks = laws.mean_ranks(samples) - (n + 1) / 2
    power = float(ranks @ ranks)
    return float(ranks[1:] @ ranks[:-1]) / power + 1 / n if power > 0 else 0.0


def dependent(autocorrelation: float, n: int) -> bool:
    """Whether n ops with this lag-1 autocorrelation must not be taken as independent."""
    return autocorrelation > _INDEPENDENCE_Z / math.sqrt(max(n, 1))


def block_length(autocorrelation: float, n: int) -> int:
    """Ops per block: 1 where ops are independent, else a multiple of sqrt(n)."""
    if not dependent(autocorrelation, n):
        return 1
    factor = _LONG_BLOCK if autocorrelation > _STRONG else _BLOCK
    return max(2, min(n // 2, round(factor * math.sqrt(n))))


def _inflation(indicator: Floats, length: int) -> float:
    """Variance of the block-bootstrapped mean ÷ variance for independent samples; at least 1."""
    n = len(indicator)
    centred = indicator - indicator.mean()
    power = float(centred @ centred)
    if power == 0:
        return 1.0
    lags = range(1, min(length, n))
    total = sum((1 - lag / length) * float(centred[lag:] @ centred[:-lag]) for lag in lags)
    return max(1.0, 1 + 2 * total / power)


def _fixed_b(share: float) -> float:
    """97.5 % quantile of the t statistic with Bartlett weights over `share` of the sample.

    Kiefer & Vogelsang (2005), table 1; 1.96 for a share of 0.
    """
    return 1.96 + 2.9694 * share + 0.4160 * share**2 - 0.5324 * share**3


def quantile_interval(samples: Floats, q: float = 0.5) -> Interval:
    """95 % interval of the q-quantile (nearest rank) of op times in the order they were measured.

    Absent (NaN, kind `none`) where n is too small for it: below 6 for the median, 368 for p99.
    """
    n = len(samples)
    none = Interval(math.nan, math.nan, "none", n, math.nan)
    exact = _indices(n, q)
    if exact is None:
        return none
    ordered = np.sort(samples)
    correlation = autocorrelation(samples)
    length = block_length(correlation, n)
    if length == 1:
        low, high = exact
        return Interval(ordered[low], ordered[high], "order-statistics", n, correlation)
    below = (samples <= ordered[math.ceil(q * n) - 1]).astype(np.float64)
    half = _fixed_b(length / n) * math.sqrt(_inflation(below, length) * n * q * (1 - q))
    centre = n * q + 0.5
    low, high = math.floor(centre - half), math.ceil(centre + half)
    if low < 1 or high > n:
        return none
    return Interval(ordered[low - 1], ordered[high - 1], "block-bootstrap", n, correlation)


def median_interval(samples: Floats) -> Interval:
    """95 % interval of the median."""
    return quantile_interval(samples, 0.5)


def resampled_medians(samples: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Medians (nearest rank) of circular block resamples, [draws]; single ops if independent."""
    n = len(samples)
    length = block_length(autocorrelation(samples), n)
    starts = rng.integers(0, n, size=(draws, math.ceil(n / length)))
    index = (starts[:, :, None] + np.arange(length)) % n
    drawn = samples[index.reshape(draws, -1)[:, :n]]
    middle = math.ceil(n / 2) - 1
    return np.asarray(np.partition(drawn, middle, axis=1)[:, middle], dtype=np.float64)
