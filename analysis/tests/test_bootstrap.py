# SPDX-License-Identifier: BSD-3-Clause
"""Coverage of the hierarchical-bootstrap interval of an effect, whatever makes launches differ."""

from __future__ import annotations

import numpy as np
import pytest

from a2aperf import bootstrap
from trials import Drift, Trial

pytestmark = pytest.mark.slow


def coverage(trial: Trial, ops: float, seed: int = 3) -> float:
    """Share of 1500 independent cells whose interval holds the truth; `ops` is the op noise."""
    rng = np.random.default_rng(seed)
    y = trial.speeds(rng)
    y += rng.normal(0, ops, y.shape)
    noise = rng.normal(0, ops, (200, *y.shape))
    low, high = bootstrap.effect_intervals(y, trial.side, trial.block, noise, rng)
    truth = np.log1p(trial.change)
    return float(np.mean((low <= truth) & (truth <= high)))


@pytest.mark.parametrize("launches", [2, 3, 5, 8, 10])
def test_coverage_where_launches_differ_more_than_ops(launches: int) -> None:
    trial = Trial(launches=launches, cells=1500, shared=0, own=0.02, change=0.05)
    assert 0.93 <= coverage(trial, ops=0.002) <= 0.97


@pytest.mark.parametrize("launches", [5, 8, 10])
@pytest.mark.parametrize("own", [0.0, 0.02])
def test_noise_of_the_ops_is_not_counted_twice(launches: int, own: float) -> None:
    trial = Trial(launches=launches, cells=1500, shared=0, own=own)
    # Where ops are all there is, the first level cannot give up more than it has: a little wide.
    assert 0.93 <= coverage(trial, ops=0.02) <= 0.995


@pytest.mark.parametrize("drift", ["line", "wave", "heavy"])
def test_coverage_does_not_fall_with_drift(drift: Drift) -> None:
    trial = Trial(launches=8, cells=1500, shared=0, own=0.02, drift=drift)
    assert coverage(trial, ops=0.002) >= 0.93


def test_a_single_launch_a_side_has_no_interval() -> None:
    trial = Trial(launches=1, cells=2)
    rng = np.random.default_rng(1)
    low, high = bootstrap.effect_intervals(
        trial.speeds(rng), trial.side, trial.block, np.zeros((1, 2, 2)), rng
    )
    assert np.isnan(low).all() and np.isnan(high).all()
