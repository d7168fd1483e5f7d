# SPDX-License-Identifier: BSD-3-Clause
"""Equality within a margin is said wrongly at most once in twenty studies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from a2aperf import blocks, equivalence, maxt
from trials import Trial

pytestmark = pytest.mark.usefixtures("summed_once")


def adjusted(trial: Trial, rng: np.random.Generator) -> list[float]:
    margin = math.log1p(0.02)
    p = equivalence.outside(trial.speeds(rng), trial.side, trial.block, margin, rng)
    return [float(x) for x in equivalence.step_up(p)]


@pytest.mark.slow
@pytest.mark.parametrize("changed", [1, None])
@pytest.mark.parametrize("shared", [0.0, 0.005])
def test_a_change_of_just_the_margin_is_called_none_in_at_most_5_per_cent(
    changed: int | None, shared: float
) -> None:
    rng = np.random.default_rng(1)
    own = 0.005 if shared == 0 else 0.0015
    trial = Trial(cells=4, shared=shared, own=own, change=0.02, changed=changed)
    number = changed or trial.cells
    wrong = sum(min(adjusted(trial, rng)[:number]) <= 0.05 for _ in range(200))
    assert wrong <= 19  # 10 are expected; 20 would be a 1 in 300 event


def test_equal_sides_are_found_equal() -> None:
    rng = np.random.default_rng(2)
    trial = Trial(cells=6, shared=0.004, own=0.001)
    assert sum(max(adjusted(trial, rng)) <= 0.05 for _ in range(30)) >= 27


def test_all_cells_at_5_per_cent_are_enough_and_one_that_is_not_leaves_the_small_ones() -> None:
    every = equivalence.step_up(np.array([0.04, 0.05, 0.01]))
    assert every == pytest.approx([0.05, 0.05, 0.03])
    some = equivalence.step_up(np.array([0.9, 0.04, 0.01, np.nan]))
    assert some[:3] == pytest.approx([0.9, 0.08, 0.03])
    assert np.isnan(some[3])


def test_launches_that_cannot_tell_say_nothing() -> None:
    rng = np.random.default_rng(3)
    one = Trial(launches=1, cells=2, shared=0.0001, own=0.0)
    assert np.isnan(adjusted(one, rng)).all() or min(adjusted(one, rng)) > 0.05


@pytest.mark.parametrize("launches", [2, 3, 5])
def test_launches_of_a_side_that_are_all_alike_are_refuted_by_no_fewer_permutations(
    launches: int,
) -> None:
    trial = Trial(launches=launches, cells=1)
    y = np.where(trial.side, 0.001, 0.0)[:, None] - 7.0
    rng = np.random.default_rng(4)
    p = equivalence.outside(y, trial.side, trial.block, math.log1p(0.02), rng)
    assert p[0] == pytest.approx(1 / blocks.count(trial.side, trial.block))


def test_values_that_are_all_alike_are_equal() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        side = rng.permutation(np.repeat([False, True], 8))
        block = blocks.alternating(side)
        if blocks.count(side, block) < 40:
            continue
        y = np.tile(-np.log(rng.uniform(1e3, 1e6, 4)), (16, 1))
        p = equivalence.outside(y, side, block, math.log1p(0.02), rng)
        assert max(equivalence.step_up(p)) <= 0.05
        assert maxt.max_t(y, side, block, rng).p == pytest.approx(1.0)
