# SPDX-License-Identifier: BSD-3-Clause
"""What is promised about launches needed holds when the trial is then made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from a2aperf import decision, equivalence, laws, maxt, power
from trials import Trial

pytestmark = pytest.mark.slow


def pilot(trial: Trial, seed: int = 1) -> maxt.MaxT:
    rng = np.random.default_rng(seed)
    return maxt.max_t(trial.speeds(rng), trial.side, trial.block, rng)


@pytest.mark.parametrize("own", [0.0, 0.01])
def test_with_the_launches_said_to_be_needed_the_margin_is_found(own: float) -> None:
    first = Trial(launches=6, cells=4, shared=0.015, own=own)
    spread = math.hypot(first.shared, first.own)
    tried = pilot(first)
    tail = power.tail(tried.critical, tried.freedom[0], 4)
    needed = power.launches_needed(spread, tried.freedom[0], tail, 0.03)
    assert needed is not None and needed > 6
    rng = np.random.default_rng(9)
    second = Trial(launches=needed, cells=4, shared=first.shared, own=own, change=0.03)
    found = [
        maxt.max_t(second.speeds(rng), second.side, second.block, rng).p <= 0.05 for _ in range(40)
    ]
    assert np.mean(found) >= 0.8


@pytest.mark.parametrize("launches", [5, 6, 8])
@pytest.mark.parametrize("cells", [1, 4])
def test_the_smallest_detectable_change_is_found_nine_times_in_ten(
    launches: int, cells: int
) -> None:
    """With few launches, too, of which few arrangements can be significant."""
    trial = Trial(launches=launches, cells=cells, shared=0.02, own=0.0)
    tried = pilot(trial)
    tail = power.tail(tried.critical, tried.freedom[0], cells)
    change = power.detectable(
        0.02,
        tried.information[0],
        tried.freedom[0],
        float(laws.t_isf(tail, tried.freedom[0])),
        power.coarseness(0.05, tried.arrangements),
    )
    rng = np.random.default_rng(9)
    made = Trial(launches=launches, cells=cells, shared=0.02, own=0.0, change=change)
    found = [
        bool(maxt.max_t(made.speeds(rng), made.side, made.block, rng).p.min() <= 0.05)
        for _ in range(100)
    ]
    assert 0.8 <= np.mean(found) <= 0.99


def test_more_spread_needs_more_launches_and_a_wider_margin_fewer() -> None:
    needed = [power.launches_needed(s, 10, 0.005, 0.02) for s in (0.01, 0.02, 0.05)]
    assert needed == sorted(needed) and needed[0] < needed[-1]  # type: ignore[type-var,operator]
    wide = power.launches_needed(0.02, 10, 0.005, 0.1)
    assert wide is not None and wide < needed[1]  # type: ignore[operator]


def test_what_cannot_be_known_is_not_invented() -> None:
    assert power.launches_needed(math.nan, 0, 0.005, 0.02) is None
    assert power.launches_needed(5.0, 10, 0.005, 0.001) is None
    assert math.isnan(power.detectable(0.02, 0.5, 0, 3.0))


def test_the_smallest_margin_is_shown_in_four_of_five_trials() -> None:
    trial = Trial(launches=8, cells=1, shared=0.02, own=0.0)
    freedom = pilot(trial).freedom[0]
    margin = power.equality_margin(0.02, 4.0, freedom, 0.05)
    assert margin == pytest.approx(0.032, abs=0.001)
    assert power.equality_margin(0.02, 4.0, freedom, 0.05 / 24) == pytest.approx(0.051, abs=0.001)
    rng = np.random.default_rng(4)
    p = [
        equivalence.outside(trial.speeds(rng), trial.side, trial.block, math.log1p(margin), rng)[0]
        for _ in range(200)
    ]
    assert 0.7 <= np.mean(np.array(p) <= 0.05) <= 0.9


def test_what_is_beyond_all_numbers_is_not_said() -> None:
    """The critical value where no arrangement of the launches can be significant."""
    assert math.isnan(power.detectable(0.01, 4.0, 7.0, np.finfo(float).max))


@pytest.mark.parametrize(("family", "fewest"), [(1, 5), (2, 6), (6, 7)])
def test_as_many_launches_as_are_said_to_be_needed_decide(family: int, fewest: int) -> None:
    """Candidates of one baseline share the error."""
    rng = np.random.default_rng(1)
    for each in (fewest - 1, fewest):
        side = np.array([False, True, True, False] * each)[: 2 * each]
        block = np.arange(2 * each) // 4
        y = rng.normal(0, 0.01, (2 * each, 3))
        made = decision.exchanged(y, side, block, 0.02, rng, family=family)
        assert made.fewest == fewest
        assert made.decides == (each == fewest)
        needed = made.needed(0.5)
        assert needed == [fewest if made.decides else None] * 3
