# SPDX-License-Identifier: BSD-3-Clause
"""The interval of a mean of values that may be like the one before."""

from __future__ import annotations

import numpy as np
import pytest

from a2aperf import means
from nulls.shared import Paths


@pytest.mark.parametrize("count", [3, 10, 20, 47])
def test_an_interval_ends_where_a_mean_is_no_longer_likely(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    ends = means.interval(values, 0.05)
    for end, beyond in zip(ends, (-0.01, 0.01), strict=True):
        inside, outside = means.ratios(np.array([values - end + beyond, values - end - beyond]))
        assert inside < means.limit(count, 0.05) < outside


def test_a_wider_one_for_a_smaller_error_and_for_noise_that_lasts() -> None:
    rng = np.random.default_rng(1)
    independent, lasting = (Paths(2, 20, memory).came(rng)[0] for memory in (0.0, 0.9))
    low, high = means.interval(independent)
    assert means.interval(independent, 0.01)[0] < low
    lasts = means.interval(lasting)
    assert (lasts[1] - lasts[0]) / lasting.std() > 2 * (high - low) / independent.std()


def test_values_that_are_all_alike_leave_nothing_open() -> None:
    assert means.interval(np.full(12, 0.5)) == (0.5, 0.5)


def test_limits_between_and_beyond_those_of_the_table() -> None:
    rows = [means.limit(count, 0.01) for count in means.COUNTS]
    assert rows[0] == means.limit(1, 0.01) and rows[-1] == means.limit(9999, 0.01)
    assert means.limit(20, 0.05) < means.limit(20, 0.02) < means.limit(20, 0.01)
    assert means.limit(20, 0.001) < means.limit(20, 0.0005)
    assert rows == pytest.approx([means.limit(count, 0.01 - 1e-9) for count in means.COUNTS])


@pytest.mark.slow
@pytest.mark.parametrize("count", [7, 20, 60])
def test_the_table_is_that_of_the_worst_memory(count: int) -> None:
    rng = np.random.default_rng(count)
    truths = (Paths(2, count, 0.9, 1.0), Paths(2, count, 0.9, 1.0, independent=0.5))
    shares = [
        float((means.ratios(rows) > means.limit(count, 0.05)).mean())
        for truth in truths
        for rows in [np.concatenate([truth.noise_of(rng) for _ in range(2000)])]
    ]
    assert 0.04 < max(shares) < 0.06
