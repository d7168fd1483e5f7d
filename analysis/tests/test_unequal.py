# SPDX-License-Identifier: BSD-3-Clause
"""Sides whose launches do not differ equally far: estimates, and what `compare` says of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from a2aperf import bootstrap, decision, equivalence, maxt, unequal
from trials import Trial

ABBA = Trial(launches=8)


def test_the_variance_of_each_side_is_estimated_without_bias() -> None:
    rng = np.random.default_rng(1)
    kept = np.array([0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15])  # blocks of unequal make
    side, block = ABBA.side[kept], ABBA.block[kept]
    design = unequal.Design(side[None], block)
    centre = np.eye(len(kept)) - np.equal.outer(block, block) / np.bincount(block)[block]
    contrast = centre @ side
    deviation = np.where(side, 3.0, 1.0)
    found, squares, effects = [], [], []
    for _ in range(4000):
        y = centre @ rng.normal(0, deviation)
        effects.append(contrast @ y / (contrast @ contrast))
        error = design.error((y - effects[-1] * contrast)[None])
        found.append(error.of_sides[:, 0])
        squares.append(error.variance[0])
    assert np.mean(squares) == pytest.approx(np.var(effects), rel=0.08)
    of_baseline, of_candidate = np.mean(found, axis=0)
    assert of_candidate == pytest.approx(9.0, rel=0.1)
    assert of_baseline >= 0.9  # cut off at 0, so more in the mean


def test_the_fewest_degrees_of_freedom_are_those_of_the_side_that_differs() -> None:
    design = unequal.Design(ABBA.side[None], ABBA.block)
    rng = np.random.default_rng(2)
    y = rng.normal(size=(4000, 16)) * ABBA.side
    fitted = [maxt.fit(one[:, None], ABBA.side[None], ABBA.block, math.inf).t[0, 0] for one in y]
    assert design.least[0] == pytest.approx(5.5**2 / 4.75)
    assert np.mean(np.abs(fitted) > stats.t.isf(0.025, design.least[0])) <= 0.055


def test_unequal_spreads_are_told_by_an_f_test_within_blocks() -> None:
    rng = np.random.default_rng(3)
    side, one = np.arange(12) >= 5, np.zeros(12, dtype=np.intp)
    y = rng.normal(size=12) * np.where(side, 2, 1)
    ratio = y[side].var(ddof=1) / y[~side].var(ddof=1)
    expected = 2 * min(stats.f.sf(ratio, 6, 4), stats.f.cdf(ratio, 6, 4))
    assert unequal.chance(y, side, one) == pytest.approx(expected)
    drawn = rng.normal(size=(500, 16))
    told = np.mean([unequal.chance(y, ABBA.side, ABBA.block) <= 0.1 for y in drawn])
    assert 0.06 <= told <= 0.14


@pytest.mark.parametrize(
    ("y", "expected"), [([1, 1, 1, 1], 1.0), ([1, 2, 2, 1], 1.0), ([1, 2, 3, 1], 0.0)]
)
def test_sides_that_do_not_differ_at_all(y: list[float], expected: float) -> None:
    side = np.array([False, True, True, False])
    assert unequal.chance(np.array(y, float), side, np.zeros(4, dtype=np.intp)) == expected


def test_pairs_do_not_tell_the_sides_apart() -> None:
    side, block = np.tile([False, True], 5), np.repeat(np.arange(5), 2)
    y = np.random.default_rng(4).normal(size=10)
    assert unequal.chance(y, side, block) == 1.0
    design = unequal.Design(side[None], block)
    assert not design.told_apart[0]
    assert design.least.tolist() == [4]


@pytest.mark.slow
@pytest.mark.parametrize("sides", [(12, 4), (4, 12)])
def test_few_launches_that_differ_more_than_many_are_called_in_5_per_cent(
    sides: tuple[int, int],
) -> None:
    """By a variance of all launches together it were 21 %."""
    rng = np.random.default_rng(5)
    side = np.arange(16) >= sides[0]
    few = side if sides[1] == 4 else ~side
    one, called = np.zeros(16, dtype=np.intp), 0
    for _ in range(200):
        y = rng.normal(0, np.where(few, 0.06, 0.02))[:, None]
        called += bool(maxt.max_t(y, side, one, rng).p[0] <= 0.05)
    assert called <= 19  # at a true rate of 5 %, more would be a 1 in 300 event


@pytest.mark.slow
def test_intervals_and_equality_hold_where_spreads_are_unequal() -> None:
    rng = np.random.default_rng(6)
    trial = Trial(launches=8, cells=1500, shared=0, own=0.01, wider=5, change=0.02)
    y = trial.speeds(rng)
    noise = np.zeros((1, *y.shape))
    low, high = bootstrap.effect_intervals(y, trial.side, trial.block, noise, rng)
    truth = math.log1p(0.02)
    assert np.mean((low <= truth) & (truth <= high)) >= 0.93
    single = Trial(launches=8, cells=1, shared=0, own=0.001, wider=5, change=0.02)
    wrong = [
        equivalence.outside(single.speeds(rng), single.side, single.block, truth, rng)[0] <= 0.05
        for _ in range(200)
    ]
    assert sum(wrong) <= 19


@pytest.mark.slow
def test_a_difference_that_only_the_exchange_of_launches_calls_is_withheld() -> None:
    rng = np.random.default_rng(7)
    trial = Trial(launches=8, cells=3, wider=10)
    withheld = 0
    for _ in range(60):
        made = decision.exchanged(trial.speeds(rng), trial.side, trial.block, 0.02, rng)
        assert (made.p[made.withheld] > 0.05).all()
        assert made.unequal[made.withheld].all()
        withheld += bool(made.withheld.any())
    assert withheld >= 1
