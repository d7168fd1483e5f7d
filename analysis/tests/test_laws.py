# SPDX-License-Identifier: BSD-3-Clause
"""The laws of the package give what scipy.stats gives, and spare its import."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats

from a2aperf import laws

NAN = np.nan
CHANCES = np.array([0, 1e-30, 1e-12, 1e-5, 0.025, 0.3, 0.5, 0.9, 0.975, 1 - 1e-12, 1, NAN, -0.1, 2])
FREEDOM = np.array([0.0, 0.3, 1, 1.5, 2, 3, 17, 400, 1e6, 1e10, np.inf, NAN, -1])[:, None]
VALUES = np.array([-np.inf, -1e10, -40, -3, -1e-9, 0, 1e-9, 0.5, 4, 40, 1e5, 1e100, np.inf, NAN])


def same(ours: Any, expected: Any) -> None:
    """To the last digits, in the tails too, and nan where it has nan."""
    np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-300)


def test_students_t() -> None:
    same(laws.t_ppf(CHANCES, FREEDOM), stats.t.ppf(CHANCES, FREEDOM))
    same(laws.t_isf(CHANCES, FREEDOM), stats.t.isf(CHANCES, FREEDOM))
    same(laws.t_sf(VALUES, FREEDOM), stats.t.sf(VALUES, FREEDOM))


@pytest.mark.parametrize("below", [0, 1, 2, 8, 1e4, NAN])
def test_f(below: float) -> None:
    same(laws.f_cdf(VALUES, FREEDOM[:-3], below), stats.f.cdf(VALUES, FREEDOM[:-3], below))


def test_normal() -> None:
    same(laws.normal_pdf(VALUES, 0.4), stats.norm.pdf(VALUES, scale=0.4))
    same([laws.normal_ppf(chance) for chance in CHANCES], stats.norm.ppf(CHANCES))


@pytest.mark.parametrize("trials", [0, 1, 2, 7, 400, 10**6])
@pytest.mark.parametrize("chance", [0, 1e-9, 1e-3, 0.25, 0.5, 0.999, 1, NAN])
def test_binomial(trials: int, chance: float) -> None:
    times = np.append(np.unique(np.linspace(-2, trials + 2, 60).astype(int)), NAN)
    law = stats.binom(trials, chance)
    same(laws.binomial_cdf(times, trials, chance), law.cdf(times))
    same(laws.binomial_sf(times, trials, chance), law.sf(times))
    assert np.ndim(laws.binomial_sf(0, trials, chance)) == 0


@pytest.mark.parametrize("trials", [1, 2, 7, 400, 10**6])
@pytest.mark.parametrize("chance", [1e-9, 1e-3, 0.25, 0.5, 0.999])
def test_binomial_ppf(trials: int, chance: float) -> None:
    law = stats.binom(trials, chance)
    for below in (1e-12, 0.01, 0.5, 0.95, 1 - 0.05 / 4096, 1 - 1e-9):
        assert laws.binomial_ppf(below, trials, chance) == law.ppf(below)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shift", [0.0, 0.3, 5.0, 1e6])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 40])
def test_welch(shift: float, count: int) -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0, 1, count), rng.normal(shift, 3, 9)
    same(laws.welch(first, second), stats.ttest_ind(first, second, equal_var=False).pvalue)


def test_welch_without_spread() -> None:
    assert math.isnan(laws.welch(np.ones(3), np.ones(4)))
    assert laws.welch(np.zeros(3), np.ones(4)) == 0.0
    assert math.isnan(laws.welch(np.array([1, NAN, 2]), np.arange(4.0)))


def test_mean_ranks() -> None:
    values = np.random.default_rng(1).integers(0, 9, 40).astype(np.float64)
    assert (laws.mean_ranks(values) == stats.rankdata(values)).all()
    assert laws.mean_ranks(np.empty(0)).tolist() == []
    assert laws.mean_ranks(np.ones(1)).tolist() == [1.0]
    assert np.isnan(laws.mean_ranks(np.array([2, NAN, 1]))).all()


def test_scipy_stats_is_not_loaded() -> None:
    """It takes longer than all else that a command loads."""
    modules = "a2aperf.check, a2aperf.history, a2aperf.decision, a2aperf.workloads"
    said = subprocess.run(
        [sys.executable, "-c", f"import sys, {modules}; print('scipy.stats' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "False\n"
