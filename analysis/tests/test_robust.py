# SPDX-License-Identifier: BSD-3-Clause
"""Launches far out decide nothing and are named, hardly ever where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from a2aperf import blocks, decision, maxt, robust
from trials import Trial


@pytest.mark.parametrize("cells", [1, 6])
def test_one_launch_of_eight_times_the_time_does_not_hide_a_change(cells: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(8):
        trial = Trial(launches=10, cells=cells, change=0.4)
        y = trial.speeds(rng)
        out = int(rng.choice(np.flatnonzero(trial.side)))
        y[out] -= math.log(8)
        found = maxt.max_t(y, trial.side, trial.block, rng)
        assert (found.p <= 0.01).all()
        assert np.exp(found.effect) == pytest.approx(1.4, rel=0.1)
        assert robust.outliers(y, trial.side, trial.block).tolist() == [out]


@pytest.mark.parametrize(
    ("launches", "cells"),
    [(3, 1), (4, 1), (5, 1), (5, 4), (8, 1), (10, 1), (8, 6), (20, 3)],
)
def test_ordinary_launches_are_hardly_ever_called_outliers(launches: int, cells: int) -> None:
    rng = np.random.default_rng(2)
    trial = Trial(launches=launches, cells=cells)
    named = sum(
        len(robust.outliers(trial.speeds(rng), trial.side, trial.block)) > 0 for _ in range(400)
    )
    assert named <= 17  # 2 % are expected: more in less than 1 of 1000 runs


@pytest.mark.parametrize("launches", [4, 5, 6])
def test_a_launch_of_eight_times_the_time_is_named_among_few(launches: int) -> None:
    rng = np.random.default_rng(7)
    named = 0
    for _ in range(20):
        trial = Trial(launches=launches, cells=4)
        y = trial.speeds(rng)
        out = int(rng.integers(len(y)))
        y[out] -= math.log(8)
        named += robust.outliers(y, trial.side, trial.block).tolist() == [out]
    assert named >= 16


@pytest.mark.parametrize(("launches", "moved"), [(5, 0), (6, 4)])
def test_it_is_told_whether_an_outlier_is_drawn_in(launches: int, moved: int) -> None:
    rng = np.random.default_rng(8)
    trial = Trial(launches=launches, cells=4)
    y = trial.speeds(rng)
    y[3] -= math.log(8)
    found = decision.exchanged(y, trial.side, trial.block, 0.02, rng)
    assert found.outliers.tolist() == [3]
    assert found.moved == moved


def test_a_real_change_makes_no_outlier() -> None:
    rng = np.random.default_rng(3)
    trial = Trial(launches=8, cells=3, change=1.0)
    named = [len(robust.outliers(trial.speeds(rng), trial.side, trial.block)) for _ in range(50)]
    assert sum(named) <= 3


def test_values_that_do_not_differ_are_left_as_they_are() -> None:
    side = np.arange(12) % 2 == 0
    values = np.where(side, 1.0, 0.0)
    values[3] = 9.0
    drawn = robust.drawn_in(values, side[None], np.zeros(12, dtype=np.intp))[0]
    assert drawn - drawn[0] == pytest.approx(values - values[0])


@pytest.mark.parametrize("missing", [0.2, 0.5])
def test_a_change_is_whole_where_blocks_have_more_of_one_side(missing: float) -> None:
    """Launches that lack a cell by chance: what is left of its blocks is uneven."""
    rng = np.random.default_rng(4)
    side = np.array([letter == "B" for letter in "ABBA" * 8])
    block = blocks.alternating(side)
    covered, named = [], 0
    for _ in range(40):
        kept = rng.random(side.size) >= missing
        y = 0.26 * side[kept] + rng.normal(0, 0.01, int(kept.sum()))
        found = decision.exchanged(y[:, None], side[kept], block[kept], 0.02, rng)
        assert found.effect[0] == pytest.approx(0.26, abs=0.04)
        covered.append(found.low[0] < 0.26 < found.high[0])
        named += len(found.outliers) > 0
    assert sum(covered) >= 32  # of 38 that are expected
    assert named <= 4


def test_what_could_be_detected_is_the_same_whatever_is_there() -> None:
    rng = np.random.default_rng(6)
    side = np.array([letter == "B" for letter in "ABBA" * 4])
    block = blocks.alternating(side)
    noise = rng.normal(0, 0.02, (side.size, 3))
    for effect in (0.0, 0.1, 0.3, 1.0, 7.0):
        y = noise + np.outer(side, [effect, 0, 0])
        found = decision.exchanged(y, side, block, 0.02, rng)
        told = found.detectable()
        assert max(told) < 0.06, (effect, told)
        needed = [found.needed(one) for one in (0.02, 0.05)]
        assert all(n is not None and n > 8 for n in needed[0])
        assert all(n is not None and n <= 12 for n in needed[1])


def test_of_uneven_blocks_one_launch_far_out_is_named() -> None:
    rng = np.random.default_rng(5)
    side = np.array([letter == "B" for letter in "ABBA" * 4])
    kept = np.array([0, 1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15])
    block = blocks.alternating(side)[kept]
    for out in (0, 5, 11):
        y = 0.26 * side[kept] + rng.normal(0, 0.01, kept.size)
        y[out] += 1.0
        assert robust.outliers(y[:, None], side[kept], block).tolist() == [out]
        drawn = robust.drawn_in(y, side[None, kept], block)[0]
        assert abs(drawn[out] - 0.26 * side[kept][out]) < 0.1
        assert np.delete(drawn, out) == pytest.approx(np.delete(y, out), abs=0.02)
