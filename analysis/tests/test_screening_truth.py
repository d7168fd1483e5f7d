# SPDX-License-Identifier: BSD-3-Clause
"""What a screening says of settings whose truth is known: A2A_SCREENINGS=2000 for the long run.

The long run writes its rates where A2A_SCREENING_RATES names a file: docs/screening.md has them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from a2aperf.screening.estimate import Estimate
from support.screening_rates import Rates
from support.synthetic_screening import DRIFTS, Drift, Truth

pytestmark = pytest.mark.slow
SCREENINGS = int(os.environ.get("A2A_SCREENINGS", "100"))
RATES = Rates(SCREENINGS)
STILL = tuple(drift for drift in DRIFTS if drift != "wave")
ONE = Truth(changes={3: 0.05})
THREE = Truth(changes={3: 0.05, 7: -0.06, 11: 0.08})
DOMINANT = Truth(changes={3: 1.3, 7: 0.05}, both={(3, 5): 0.3})
Said = Callable[[Estimate], bool]


def rate(truth: Truth, drift: Drift, says: Said, what: str, seed: int = 1) -> float:
    """The share of screenings that say it."""
    rng = np.random.default_rng(seed)
    here = replace(truth, drift=drift)
    found = sum(says(here.screening(rng)) for _ in range(SCREENINGS))
    return RATES.told(what, drift, found)


def called(made: Estimate) -> set[int]:
    return {one.setting for one in made.called()}


def says_anything(made: Estimate) -> bool:
    return bool(made.called() or made.interactions or made.unresolved)


def says_together(made: Estimate, pair: tuple[int, int]) -> bool:
    """Both are found, or the two are told to interact, or that some do."""
    named = {p for one in made.interactions for p in (one.settings, *one.others)}
    return set(pair) <= called(made) or pair in named or bool(made.unresolved)


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("settings", [5, 11, 20, 23])
def test_nothing_is_called_where_nothing_is(drift: Drift, settings: int) -> None:
    truth = Truth(settings=settings)
    what = f"{settings} settings, none matters: something is called"
    assert rate(truth, drift, says_anything, what) <= RATES.at_most(0.05)


@pytest.mark.parametrize("drift", STILL)
@pytest.mark.parametrize(("name", "truth"), [("one", ONE), ("three", THREE)])
def test_each_that_matters_is_found(drift: Drift, name: str, truth: Truth) -> None:
    for setting, change in truth.changes.items():
        what = f"{name} of 20 matter: {100 * change:+.0f} % is found"
        assert rate(truth, drift, lambda x, s=setting: s in called(x), what) >= RATES.at_least(0.9)  # type: ignore[misc]
    others = f"{name} of 20 matter: another one is called"
    assert rate(
        truth, drift, lambda x: bool(called(x) - set(truth.changes)), others
    ) <= RATES.at_most(0.05)


def test_a_wave_hides_some() -> None:
    found = rate(ONE, "wave", lambda x: 3 in called(x), "one of 20 matters: +5 % is found")
    assert found >= RATES.at_least(0.85)


@pytest.mark.parametrize("drift", STILL)
def test_beside_one_that_dominates_and_interacts(drift: Drift) -> None:
    what = "+5 % beside one of +130 % that interacts"
    assert rate(DOMINANT, drift, lambda x: 7 in called(x), f"{what}: is found") >= RATES.at_least(
        0.9
    )
    assert rate(
        DOMINANT, drift, lambda x: 3 in x.dominant(), f"{what}: that dominates"
    ) >= RATES.at_least(0.99)
    wrong = f"{what}: another one is called"
    assert rate(DOMINANT, drift, lambda x: bool(called(x) - {3, 5, 7}), wrong) <= RATES.at_most(
        0.05
    )


@pytest.mark.parametrize("drift", STILL)
def test_two_that_interact_only(drift: Drift) -> None:
    alone = Truth(both_or_none={(2, 9): 0.1})
    what = "10 % where both or none are set: the two are named"
    assert rate(alone, drift, lambda x: says_together(x, (2, 9)), what) >= RATES.at_least(0.9)
    neither = "10 % where both or none are set: one is called by itself"
    assert rate(alone, drift, lambda x: bool(called(x)), neither) <= RATES.at_most(0.05)


@pytest.mark.parametrize(("change", "least"), [(0.1, 0.8), (0.2, 0.99)])
@pytest.mark.parametrize("drift", STILL)
def test_two_that_matter_together_only(drift: Drift, change: float, least: float) -> None:
    truth = Truth(both={(2, 9): change})
    what = f"{100 * change:+.0f} % with both only: both are found, or told to interact"
    assert rate(truth, drift, lambda x: says_together(x, (2, 9)), what) >= RATES.at_least(least)


@pytest.mark.parametrize("both_or_none", [False, True])
@pytest.mark.parametrize("settings", [2, 5, 8, 11, 12, 16, 19, 20, 23])
def test_what_two_do_together_is_told_from_there_on(settings: int, both_or_none: bool) -> None:
    """From the change on that an outcome of launches without any has for its limit."""
    quiet = Truth(settings=settings)
    rng = np.random.default_rng(3)
    least = float(np.median([quiet.screening(rng).together(0) for _ in range(20)]))
    pair = {(0, 1): least}
    truth = replace(quiet, both_or_none=pair) if both_or_none else replace(quiet, both=pair)
    what = f"{settings} settings, two do together what is told in 90 %: told"
    assert rate(truth, "none", lambda x: says_together(x, (0, 1)), what) >= RATES.at_least(0.9)


def test_intervals_hold_what_is_true() -> None:
    def all_inside(made: Estimate) -> bool:
        truth = {3: np.log(1.05), 7: np.log(0.94), 11: np.log(1.08)}
        return all(x.low <= truth.get(x.setting, 0.0) <= x.high for x in made.effects)

    for drift in DRIFTS:
        what = "three of 20 matter: all intervals hold the truth"
        assert rate(THREE, drift, all_inside, what) >= RATES.at_least(0.95)
