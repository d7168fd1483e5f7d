# SPDX-License-Identifier: BSD-3-Clause
"""What a confirmation says of settings whose truth is known: A2A_SCREENINGS=2000 for the long run.

The long run writes its rates where A2A_SCREENING_RATES names a file: docs/screening.md has them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.screening import contrast, design, estimate, trial
from a2aperf.screening.confirmation import Confirmation, pairs
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import Trial
from support.screening_rates import Rates
from support.synthetic_screening import DRIFTS, Drift, Truth, trial_speeds

pytestmark = pytest.mark.slow
STUDIES = int(os.environ.get("A2A_SCREENINGS", "100"))
RATES = Rates(STUDIES)
CELLS = 8
STILL = tuple(drift for drift in DRIFTS if drift != "wave")
NAMES = [f"S{i}" for i in range(20)]
Floats = NDArray[np.float64]


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the critical value: its noise is that of one study in a thousand."""
    monkeypatch.setattr(contrast, "_DRAWS", 3000)


def confirmation(
    made: Trial, effects: Mapping[str, Floats], truth: Truth, rng: np.random.Generator
) -> Confirmation:
    """A trial launched and judged."""
    y = trial_speeds(made, effects, truth, rng)
    side = np.array(made.order, dtype=np.intp)
    block = np.array([made.block(i) for i in range(made.launches)], dtype=np.intp)
    found = contrast.contrasts(y, side, block, pairs(made.together))
    return Confirmation(made, found, pd.DataFrame(index=range(CELLS)), y, "", (), ())


def of(count: int, seed: int) -> Trial:
    arranged = design.make(20, np.random.default_rng(seed))
    factors = tuple(Factor(name, "1") for name in NAMES)
    made = trial.make(Plan("none", seed, factors, arranged), factors[:count])
    assert made
    return made


def effects_of(*changes: float) -> dict[str, Floats]:
    known = dict(zip(NAMES, changes, strict=False))
    return {name: np.full(CELLS, np.log1p(known.get(name, 0.0))) for name in NAMES}


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("count", [1, 3])
def test_nothing_is_recommended_where_nothing_matters(drift: Drift, count: int) -> None:
    rng = np.random.default_rng(2)
    wrong = recommended = 0
    for seed in range(STUDIES):
        made = confirmation(of(count, seed), effects_of(), Truth(drift=drift), rng)
        wrong += any((x.faster | x.slower).any() for x in made.contrasts.each)
        recommended += made.recommended is not None
    assert RATES.told(
        f"{count} left, none matters: anything is called", drift, wrong
    ) <= RATES.at_most(0.05)
    assert RATES.told(f"{count} left, none matters: a line", drift, recommended) <= RATES.at_most(
        0.05
    )


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("changes", [(0.05,), (0.05, 0.06, 0.08)])
def test_what_is_true_is_confirmed_and_intervals_hold_it(
    drift: Drift, changes: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(3)
    line = alone = inside = 0
    effects = effects_of(*changes)
    for seed in range(STUDIES):
        made = confirmation(of(len(changes), seed), effects, Truth(drift=drift), rng)
        line += made.recommended == made.trial.together
        alone += bool(made.against_default(1).faster.any())
        inside += all(
            bool((x.low <= change).all() and (x.high >= change).all())
            for x, change in zip(made.contrasts.each, _truths(made.trial, effects), strict=True)
        )
    what = f"{len(changes)} left, all matter"
    least = 0.8 if drift == "wave" else 0.9
    assert RATES.told(f"{what}: the line", drift, line) >= RATES.at_least(least)
    assert RATES.told(f"{what}: +5 % alone", drift, alone) >= RATES.at_least(
        {"wave": 0.45, "walk": 0.8}.get(drift, 0.9) if len(changes) > 1 else least
    )
    assert RATES.told(f"{what}: all intervals hold the truth", drift, inside) >= RATES.at_least(
        0.94
    )


def _truths(made: Trial, effects: Mapping[str, Floats]) -> list[Floats]:
    sums = [sum((effects[name] for name in one), np.zeros(CELLS)) for one in made.sides]
    return [sums[a] - sums[b] for a, b in pairs(made.together)]


@pytest.mark.parametrize("drift", DRIFTS)
def test_both_stages_recommend_nothing_where_nothing_matters(drift: Drift) -> None:
    rng = np.random.default_rng(4)
    lines = sum(
        both_stages(Truth(drift=drift), seed, effects_of(), rng) != [] for seed in range(STUDIES)
    )
    assert RATES.told("both stages, none of 20 matters: a line", drift, lines) <= RATES.at_most(
        0.01
    )


@pytest.mark.parametrize("drift", STILL)
def test_both_stages_recommend_what_is_true(drift: Drift) -> None:
    rng = np.random.default_rng(5)
    truth = Truth(changes={0: 0.05, 1: -0.06, 2: 0.08}, drift=drift)
    effects = effects_of(0.05, -0.06, 0.08)
    found = [both_stages(truth, seed, effects, rng) for seed in range(STUDIES)]
    has_all = sum({"S0", "S2"} <= set(one) for one in found)
    others = sum(bool(set(one) - {"S0", "S2"}) for one in found)
    what = "both stages, three of 20 matter"
    assert RATES.told(
        f"{what}: the two faster ones are the line", drift, has_all
    ) >= RATES.at_least(0.9)
    assert RATES.told(f"{what}: another one is in it", drift, others) <= RATES.at_most(0.05)


def both_stages(
    truth: Truth, seed: int, effects: Mapping[str, Floats], rng: np.random.Generator
) -> list[str]:
    """The settings of the line that a screening and its confirmation end in."""
    arranged = design.make(20, np.random.default_rng(seed))
    factors = tuple(Factor(name, "1") for name in NAMES)
    made = estimate.estimate(truth.speeds(arranged, rng), arranged)
    slower = {one.setting for one in made.called() if one.change < 0}
    left = dict.fromkeys(one.setting for one in made.called() if one.setting not in slower)
    confirming = trial.make(Plan("none", seed, factors, arranged), [factors[i] for i in left])
    if confirming is None:
        return []
    found = confirmation(confirming, effects, truth, rng)
    return [] if found.recommended is None else [*confirming.sides[found.recommended]]


@pytest.mark.parametrize("restless", [0, 2], ids=["the default", "a setting"])
def test_a_side_whose_launches_differ_more_makes_no_difference(restless: int) -> None:
    made = of(6, 9)
    rng = np.random.default_rng(21)
    side = np.array(made.order, dtype=np.intp)
    block = np.array([made.block(i) for i in range(made.launches)], dtype=np.intp)
    called = 0
    for _ in range(STUDIES):
        deviation = np.where(side == restless, 0.06, 0.02)
        y = rng.normal(0, deviation)[:, None] + rng.normal(0, 0.002, (len(side), CELLS))
        each = contrast.contrasts(y, side, block, pairs(made.together)).each
        called += any(one.faster.any() or one.slower.any() for one in each)
    assert called <= laws.binomial_ppf(0.999, STUDIES, 0.05)
