# SPDX-License-Identifier: BSD-3-Clause
"""The family-wise test, by simulation with known answers (hundreds of trials, fixed seeds)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from a2aperf import blocks, maxt
from trials import Drift, Trial

pytestmark = pytest.mark.slow


def adjusted(trial: Trial, number: int, seed: int = 1) -> list[maxt.MaxT]:
    rng = np.random.default_rng(seed)
    side, block = trial.side, trial.block
    return [maxt.max_t(trial.speeds(rng), side, block, rng) for _ in range(number)]


@pytest.mark.parametrize("drift", ["none", "line", "wave", "walk", "memory", "heavy"])
def test_launches_that_do_not_differ_are_called_different_in_at_most_5_per_cent(
    drift: Drift,
) -> None:
    calls = [bool((m.p <= 0.05).any()) for m in adjusted(Trial(cells=6, drift=drift), 200)]
    # At a true rate of 5 %, more than 19 of 200 would be a 1 in 300 event.
    assert sum(calls) <= 19


@pytest.mark.parametrize("launches", [5, 6])
@pytest.mark.parametrize("drift", ["none", "heavy", "walk"])
def test_of_all_arrangements_of_the_sides_at_most_5_per_cent_are_called(
    drift: Drift, launches: int
) -> None:
    """No simulation: whatever the data, equal launches could have been arranged in any of them."""
    rng = np.random.default_rng(3)
    trial = Trial(launches=launches, cells=6, drift=drift)
    y, block = trial.speeds(rng), trial.block
    every = blocks.arrangements(trial.side, block, rng)
    called = [bool((maxt.max_t(y, side, block, rng).p <= 0.05).any()) for side in every]
    assert 0 < sum(called) <= 0.05 * len(every)


def test_a_change_in_one_cell_does_not_spill_over_to_the_others() -> None:
    found = adjusted(Trial(cells=6, change=0.05, changed=1, own=0.01), 200)
    assert sum(bool((m.p[1:] <= 0.05).any()) for m in found) <= 0.05 * 200 + 8


@pytest.mark.parametrize(
    "trial",
    [
        Trial(cells=6, change=0.05, shared=0.02, own=0.002),
        Trial(cells=6, change=0.05, shared=0.014, own=0.014),
        Trial(cells=6, change=0.05, shared=0.0, own=0.02),
        Trial(cells=6, change=-0.05, shared=0.02, own=0.002),
    ],
)
def test_a_true_change_of_5_per_cent_is_found_in_nine_of_ten_cells(trial: Trial) -> None:
    found = adjusted(trial, 50)
    assert np.mean([m.p <= 0.05 for m in found]) >= 0.9
    assert all(
        np.sign(m.effect[m.p <= 0.05]).tolist().count(-np.sign(trial.change)) == 0 for m in found
    )


def test_the_fit_is_the_paired_t_test_when_every_block_is_a_pair() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=(10, 3))
    side = np.tile([False, True], 5)
    found = maxt.max_t(y, side, np.repeat(np.arange(5), 2), rng)
    expected = stats.ttest_rel(y[1::2], y[::2])
    assert found.t == pytest.approx(expected.statistic)
    assert (found.freedom == 4).all()


@pytest.mark.parametrize("baselines", [4, 5, 7])
def test_the_fit_is_welchs_t_test_in_a_single_block(baselines: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=(10, 3))
    side = np.arange(10) >= baselines
    found = maxt.max_t(y, side, np.zeros(10, dtype=np.intp), rng)
    expected = stats.ttest_ind(y[side], y[~side], equal_var=False)
    if 2 * baselines == 10:
        assert found.t == pytest.approx(expected.statistic)
    else:
        assert 2 * stats.t.sf(np.abs(found.t), 8) == pytest.approx(expected.pvalue, rel=0.005)
        assert np.sign(found.t).tolist() == np.sign(expected.statistic).tolist()
    assert found.effect == pytest.approx(y[side].mean(axis=0) - y[~side].mean(axis=0))
    assert found.least == pytest.approx(min(baselines, 10 - baselines) - 1)


def test_with_one_cell_p_is_the_exact_permutation_p() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(size=8)
    side = np.arange(8) % 2 == 0
    found = maxt.max_t(y[:, None], side, np.zeros(8, dtype=np.intp), rng)
    gaps = []
    for chosen in itertools.combinations(range(8), 4):
        mask = np.isin(np.arange(8), chosen)
        gaps.append(abs(y[mask].mean() - y[~mask].mean()))
    real = abs(y[side].mean() - y[~side].mean())
    assert found.p[0] == pytest.approx(np.mean([gap >= real - 1e-12 for gap in gaps]))
    assert found.arrangements == len(gaps)


def test_a_launch_that_lacks_cells_counts_in_the_others_only() -> None:
    rng = np.random.default_rng(5)
    trial = Trial(launches=6, cells=3, change=0.2)
    y = trial.speeds(rng)
    y[0, 1] = np.nan
    y[trial.side, 2] = np.nan
    found = maxt.max_t(y, trial.side, trial.block, rng)
    assert found.freedom.tolist() == [8, 7, 2]
    assert np.isnan(found.effect[2]) and found.p[2] == 1.0
    assert (found.p[:2] <= 0.05).all()


@pytest.mark.parametrize(("launches", "least"), [(1, 1), (2, 1 / 3), (4, 2 / 36), (5, 2 / 72)])
def test_no_effect_is_so_large_that_few_launches_prove_it(launches: int, least: float) -> None:
    found = adjusted(Trial(launches=launches, change=10.0), 1)[0]
    assert found.p.min() == pytest.approx(least)
