# SPDX-License-Identifier: BSD-3-Clause
"""Coverage by simulation with known answers; fixed seeds, thousands of launches per case."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import signal, stats

from a2aperf import intervals, metrics
from a2aperf.intervals import Floats

Generator = np.random.Generator


def coverage_of(series: Floats, truth: float) -> float:
    hits = [i.low <= truth <= i.high for i in map(intervals.median_interval, series)]
    return float(np.mean(hits))


def autoregressive(rng: Generator, launches: int, ops: int, phi: float) -> Floats:
    noise = rng.standard_normal((launches, ops + 60))
    return np.asarray(signal.lfilter([1.0], [1.0, -phi], noise, axis=1)[:, 60:])


SHAPES: dict[str, tuple[Callable[[Generator, tuple[int, int]], Floats], float]] = {
    "normal": (lambda rng, size: rng.standard_normal(size), 0.0),
    "lognormal": (lambda rng, size: rng.lognormal(0.0, 1.5, size), 1.0),
    "cauchy": (lambda rng, size: rng.standard_cauchy(size), 0.0),
    "two modes": (
        # 60 % near 1, 40 % near 10: the median is the 5/6 quantile of the first mode.
        lambda rng, size: np.where(
            rng.random(size) < 0.6, rng.normal(1, 0.1, size), rng.normal(10, 1, size)
        ),
        1 + 0.1 * float(stats.norm.ppf(0.5 / 0.6)),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [30, 100])
def test_coverage_of_independent_ops_is_the_exact_binomial_one(shape: str, n: int) -> None:
    draw, truth = SHAPES[shape]
    series = draw(np.random.default_rng(20), (20_000, n))
    ordered = np.sort(series, axis=1)
    ends = metrics.interval_indices(n, 0.5)
    assert ends is not None
    inside = (ordered[:, ends[0]] <= truth) & (truth <= ordered[:, ends[1]])
    assert float(inside.mean()) == pytest.approx(intervals.coverage(n), abs=0.005)
    # The whole procedure, its test for independence included, keeps within the same half per cent.
    assert coverage_of(series[:8000], truth) == pytest.approx(intervals.coverage(n), abs=0.005)


def test_ties_only_widen_the_coverage() -> None:
    series = np.round(np.random.default_rng(3).normal(100, 1, (4000, 100)))
    assert coverage_of(series, 100.0) >= intervals.coverage(100) - 0.005


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phi", "n"),
    [
        (0.1, 100),
        (0.2, 100),
        (0.3, 100),
        (0.5, 50),
        (0.5, 100),
        (0.5, 1000),
        (0.7, 100),
        (0.8, 200),
        (0.9, 1000),
    ],
)
def test_coverage_under_autocorrelation_is_93_to_97_per_cent(phi: float, n: int) -> None:
    series = autoregressive(np.random.default_rng(7), 4000 if n < 1000 else 2000, n, phi)
    assert 0.93 <= coverage_of(series, 0.0) <= 0.97


def test_any_monotone_distortion_of_the_times_moves_the_interval_with_it() -> None:
    series = autoregressive(np.random.default_rng(7), 1, 300, 0.6)[0]
    plain, distorted = intervals.median_interval(series), intervals.median_interval(np.exp(series))
    assert plain.kind == distorted.kind == "block-bootstrap"
    assert (np.exp(plain.low), np.exp(plain.high)) == (distorted.low, distorted.high)


def test_coverage_when_ops_share_a_moving_disturbance() -> None:
    rng = np.random.default_rng(11)
    series = signal.lfilter([1.0] * 5, [1.0], rng.standard_normal((4000, 104)), axis=1)[:, 4:]
    assert 0.93 <= coverage_of(np.asarray(series), 0.0) <= 0.97


def test_the_order_statistics_alone_would_fail_under_autocorrelation() -> None:
    series = np.sort(autoregressive(np.random.default_rng(7), 4000, 100, 0.5), axis=1)
    inside = (series[:, 39] <= 0) & (series[:, 60] >= 0)
    assert float(inside.mean()) < 0.87


def test_kind_says_which_interval_it_is() -> None:
    rng = np.random.default_rng(1)
    assert intervals.median_interval(rng.standard_normal(500)).kind == "order-statistics"
    assert intervals.median_interval(autoregressive(rng, 1, 500, 0.8)[0]).kind == "block-bootstrap"
    few = intervals.median_interval(rng.standard_normal(5))
    assert few.kind == "none" and math.isnan(few.low) and not few.exists


def test_constant_ops_have_a_point_as_interval() -> None:
    interval = intervals.median_interval(np.full(100, 42.0))
    assert (interval.low, interval.high, interval.kind) == (42.0, 42.0, "order-statistics")


@pytest.mark.parametrize("phi", [0.0, 0.6])
def test_resampled_medians_spread_as_medians_of_fresh_launches_do(phi: float) -> None:
    rng = np.random.default_rng(5)
    fresh = np.median(autoregressive(rng, 4000, 400, phi), axis=1).std()
    series = autoregressive(rng, 60, 400, phi)
    drawn = np.mean([intervals.resampled_medians(s, 200, rng).std() for s in series])
    assert drawn / fresh == pytest.approx(1.0, abs=0.15)
