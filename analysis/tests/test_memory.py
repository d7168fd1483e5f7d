# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are like the one before: what their spread says of further ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from a2aperf import blocks, jobs, laws, memory

DAY_NS = 86400e9
ALTERNATING = (1.0, -1.0) * 15


def spread_of(values: tuple[float, ...], known: bool = True) -> jobs.Spread:
    begun = np.arange(1.0, 1 + len(values)) * DAY_NS if known else np.full(len(values), -1.0)
    found = jobs.Spread.of(np.array(values), begun)
    assert found is not None
    return found


@pytest.mark.parametrize("alike", [0.0, 0.3, 0.85])
@pytest.mark.parametrize("count", [5, 6, 30])
def test_what_jobs_in_a_row_tell_is_that_of_their_correlations(count: int, alike: float) -> None:
    lags = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    correlation = alike**lags
    centred = (np.eye(count) - 1 / count) @ correlation
    of_mean, of_square, freedom = memory.of_spread(count, alike)
    assert of_mean == pytest.approx(correlation.mean())
    assert of_square == pytest.approx(np.trace(centred) / (count - 1))
    assert freedom == pytest.approx(np.trace(centred) ** 2 / np.trace(centred @ centred))


def test_jobs_that_are_not_alike_have_the_prediction_bound() -> None:
    spread = spread_of(ALTERNATING)
    assert spread.memory == 0
    further = spread.further(np.array([50.0, 51.0, 52.0]) * DAY_NS)
    expected = float(laws.t_isf(0.05, 29)) * spread.deviation * math.sqrt(1 / 3 + 1 / 30)
    assert further.bound(0.05) == pytest.approx(expected)
    assert further.count == pytest.approx(3)


def test_jobs_that_lie_nearer_to_each_other_count_as_one() -> None:
    spread = spread_of(ALTERNATING)
    an_hour_apart = (50 + np.arange(3) / 24) * DAY_NS
    assert spread.further(an_hour_apart).count == 1
    assert spread.further(np.full(3, -1.0)).count == 1


def test_jobs_of_no_known_order_may_be_as_alike_as_any() -> None:
    values = (0.0, 0.1, -0.1, 0.05, -0.05, 0.02)
    undated, alike = spread_of(values, known=False), spread_of(tuple(sorted(values)))
    assert undated.memory == alike.memory
    two = np.array([50.0, 51.0]) * DAY_NS
    assert undated.further(two).count == alike.further(two).count == 1
    assert undated.further(two).error == pytest.approx(alike.further(two).error)


def test_cells_are_as_alike_as_on_average() -> None:
    values = (0.0, 0.1, -0.1, 0.05, -0.05, 0.02, 0.01, 0.07)
    own = [spread_of(values), spread_of(tuple(sorted(values))), spread_of((1.0,) * 8)]
    first, second, constant, absent = jobs.together([*own, None])
    assert first is not None and second is not None
    assert (
        first.likeness == second.likeness == pytest.approx((own[0].likeness + own[1].likeness) / 2)
    )
    assert constant == own[2] and absent is None


def test_the_order_is_that_of_time() -> None:
    values, begun = (
        np.array([3.0, 1.0, 2.0, 5.0, 4.0, 6.0]),
        np.array([3.0, 1.0, 2.0, 5.0, 4.0, 6.0]),
    )
    assert jobs.Spread.of(values, begun * DAY_NS) == spread_of((1.0, 2.0, 3.0, 4.0, 5.0, 6.0))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("ABBAABBA", True),
        ("ABABABAB", True),
        ("AABBAABB", True),
        ("AAAABBBB", False),
        ("AABB", False),
        ("AAABBBAAABBB", False),
        ("ABBAAAAA", False),
        ("AAAAAB", False),
    ],
)
def test_sides_in_turn(order: str, expected: bool) -> None:
    side = np.array([letter == "B" for letter in order])
    assert blocks.alternate(side, blocks.alternating(side)) is expected


@pytest.mark.parametrize("median", [2375736.0, 1e3, 7.0, 123456789.0])
def test_jobs_that_are_all_alike_differ_by_nothing(median: float) -> None:
    """Sums of equal values are not always equal: the gate called a cluster slower by 0.0 %."""
    for count in range(5, 12):
        spread = jobs.Spread.of(
            np.log(np.full(count, median)), np.arange(count, dtype=np.float64) * DAY_NS
        )
        assert spread is not None and spread.deviation == 0
        for others in (1, 2, 3):
            mean = float(np.log(np.full(others, median)).mean())
            assert jobs.gap(mean, spread.mean) == 0
    assert jobs.gap(1.0, 1.0 + 1e-9) == pytest.approx(-1e-9)
