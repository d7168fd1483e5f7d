# SPDX-License-Identifier: BSD-3-Clause
"""Shares of a link: the shared part, Jain's index, and intervals that hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from a2aperf import shares
from a2aperf.workloads.qos import expected
from support.shared_link import drawn

NONE = -1


def part(
    connected: list[int], begins: list[list[int]], came: list[list[int]], length: int = 10
) -> shares.Shared | None:
    """Intervals of one length; a begin of −1 is no interval."""
    begin, bytes_ = np.array(begins), np.array(came)
    there = begin != NONE
    lengths, idle = np.where(there, length, NONE), np.full(begin.shape, NONE)
    return shares.shared(np.array(connected), begin, lengths, bytes_, bytes_, idle)


def test_what_came_before_the_last_could_send_is_start_up() -> None:
    found = part([0, 10], [[0, 10, 20], [10, 20, NONE]], [[9, 3, 5], [1, 3, NONE]])
    assert found is not None
    assert found.bytes.tolist() == [[3, 5], [1, 3]]
    assert found.begin.tolist() == [10, 20]
    assert (found.count, found.seconds) == (2, 20e-9)


def test_an_interval_that_began_before_it_is_start_up_too() -> None:
    found = part([0, 13], [[0, 10, 20], [13, 23, 33]], [[9, 9, 5], [1, 2, 3]])
    assert found is not None
    assert found.bytes.tolist() == [[5], [1]]


def test_a_path_that_connected_and_told_nothing_got_nothing() -> None:
    found = part([0, 0], [[0, 10], [NONE, NONE]], [[4, 4], [NONE, NONE]])
    assert found is not None
    assert found.totals.tolist() == [8, 0]


def test_of_one_that_never_said_that_it_connected_nothing_is_known() -> None:
    found = part([0, NONE], [[0, 10], [NONE, NONE]], [[4, 4], [NONE, NONE]])
    assert found is not None
    assert found.known.tolist() == [True, False]
    assert np.isnan(found.totals[1])


def test_all_have_as_many_intervals_as_the_one_that_has_fewest() -> None:
    found = part([0, 0], [[0, 10, 20], [0, 10, NONE]], [[1, 2, 4], [1, 2, NONE]])
    assert found is not None
    assert found.bytes.tolist() == [[1, 2], [1, 2]]
    assert part([0, 30], [[0, 10], [NONE, NONE]], [[1, 1], [NONE, NONE]]) is None


def test_jains_index() -> None:
    assert shares.jain(np.array([3.0, 3.0, 3.0])) == pytest.approx(1)
    assert shares.jain(np.array([3.0, 0.0, 0.0])) == pytest.approx(1 / 3)
    assert shares.jain(np.array([1.0, 1.0, 2.0])) == pytest.approx(16 / 18)
    assert math.isnan(shares.jain(np.zeros(3)))


def test_a_share_of_few_intervals_has_no_interval() -> None:
    few = np.arange(1.0, shares.LEAST)
    assert math.isnan(shares.share(few, 2 * few).low)
    one_more = np.arange(1.0, shares.LEAST + 1)
    found = shares.share(one_more, 2 * one_more)
    assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)


def autocorrelated(n: int, alike: float, rng: np.random.Generator) -> NDArray[np.float64]:
    values = rng.normal(size=n)
    for at in range(1, n):
        values[at] = alike * values[at - 1] + math.sqrt(1 - alike**2) * values[at]
    return values


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "alike"), [(n, alike) for n in (10, 30, 100) for alike in (0.0, 0.5, 0.8, 0.9)]
)
def test_intervals_hold_the_true_share(n: int, alike: float) -> None:
    rng = np.random.default_rng(n)
    held = 0
    studies = 1000
    for _ in range(studies):
        mine = 0.25 * (1 + 0.05 * autocorrelated(n, alike, rng))
        others = 0.75 * (1 + 0.05 * autocorrelated(n, alike, rng))
        found = shares.share(mine, mine + others)
        held += found.low <= 0.25 <= found.high
    assert held / studies >= 0.94


@pytest.mark.slow
@pytest.mark.parametrize("alike", [0.0, 0.5])
def test_no_path_is_off_its_weight_by_chance(alike: float) -> None:
    """All paths of an experiment together are called off in no more than one of twenty."""
    rng = np.random.default_rng(7)
    weights = (0.25, 0.25, 0.5)
    wrong, studies = 0, 500
    for _ in range(studies):
        came = np.array(drawn(weights, 30, rng, alike), dtype=float)
        found = [shares.share(mine, came.sum(axis=0), len(weights)) for mine in came]
        wrong += any(not x.low <= w <= x.high for x, w in zip(found, weights, strict=True))
    assert wrong / studies <= 0.05 * 1.6


def test_a_share_that_is_off_is_outside_its_interval() -> None:
    came = np.array(drawn((1, 1, 3), 30, np.random.default_rng(3)), dtype=float)
    found = shares.share(came[2], came.sum(axis=0), 3)
    assert found.low < 0.6 < found.high
    assert not found.low <= 0.5 <= found.high


@pytest.mark.parametrize(("n", "alike"), [(10, 0.8), (10, 0.9), (20, 0.9), (30, 0.9)])
def test_no_path_of_eight_is_off_by_noise_that_lasts(n: int, alike: float) -> None:
    """One was in 17 to 48 % of experiments, by the spread of four batches of intervals."""
    rng = np.random.default_rng(n)
    off = 0
    for _ in range(80):
        came = [1 + 0.2 * autocorrelated(n, alike, rng) for _ in range(8)]
        off += bool(expected.off(np.array(came), [1 / 8] * 8))
    assert off <= 9  # of 80; more once in 100, if it were 5 %


@pytest.mark.parametrize(("paths", "n"), [(2, 20), (3, 20), (8, 30)])
def test_a_path_that_gets_a_fifth_more_is_off(paths: int, n: int) -> None:
    rng = np.random.default_rng(paths)
    weights = [*[1.0] * (paths - 1), 1.25]
    for _ in range(20):
        came = np.array(drawn(weights, n, rng), dtype=np.float64)
        assert paths - 1 in expected.off(came, [1 / paths] * paths)
        assert expected.off(came, [one / sum(weights) for one in weights]) == []


def test_a_single_interval_tells_nothing_of_how_shares_vary() -> None:
    assert expected.off(np.array([[0.64], [0.36]]), [0.5, 0.5]) == []
    assert expected.off(np.array([[0.66], [0.34]]), [0.5, 0.5]) == [0, 1]
