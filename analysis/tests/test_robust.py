# SPDX-License-Identifier: BSD-3-Clause
"""Launches far out decide nothing and are named, hardly ever where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from a2aperf import maxt, robust
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


@pytest.mark.parametrize(("launches", "cells"), [(5, 1), (8, 1), (10, 1), (8, 6), (20, 3)])
def test_ordinary_launches_are_hardly_ever_called_outliers(launches: int, cells: int) -> None:
    rng = np.random.default_rng(2)
    trial = Trial(launches=launches, cells=cells)
    named = sum(
        len(robust.outliers(trial.speeds(rng), trial.side, trial.block)) > 0 for _ in range(200)
    )
    assert named <= 12  # 2 % are expected at most


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
