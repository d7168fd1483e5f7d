# SPDX-License-Identifier: BSD-3-Clause
"""Of settings that conflict one is in the rounds, and the others are tried by themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from a2aperf import loading
from a2aperf.screening import (
    catalogue,
    choosing,
    contrast,
    design,
    estimate,
    folder,
    further,
    outcome,
    plan,
    planned,
    trial,
)
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.costing import Cost
from a2aperf.screening.launches import Measured
from a2aperf.screening.outcome import Outcome as Screened
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import Trial
from a2aperf.screening.values import LEVEL, Values
from a2aperf.studies import screened
from conftest import Outcome
from support.screening_rates import Rates
from support.synthetic_screening import (
    SETUP,
    START,
    Drift,
    Truth,
    confirmed,
    launched,
    trial_speeds,
)

A2A = Callable[..., Outcome]
SHORT = replace(SETUP, sizes=(1000, 20000), ops=10)
STUDIES = int(os.environ.get("A2A_SCREENINGS", "40"))
RATES = Rates(STUDIES)
CELLS = 8


def screening(seed: int = 5) -> Plan:
    """A is in the rounds; B and C conflict with it, and with each other."""
    factors = (Factor("A", "1"), *(Factor(f"A2APERF_DUMMY_{i}", "1") for i in range(4)))
    aside = (
        Factor("B", "2", conflicts=("A", "C")),
        Factor("C", "3", conflicts=("A", "B")),
    )
    arranged = design.make(len(factors), np.random.default_rng(seed))
    left_out = ("B: conflicts with A", "C: conflicts with A")
    return Plan("psm2", seed, factors, arranged, {}, left_out, aside=aside)


# Plans --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", catalogue.providers())
def test_of_each_pair_one_is_in_the_round_and_the_other_is_tried(provider: str) -> None:
    settings = [one for one in catalogue.of(provider) if not one.danger]
    made = choosing.make(settings, Wanted(provider), 1)
    aside = {one.name: one.conflicts for one in made.aside}
    for one in settings:
        for other in settings:
            if catalogue.conflict(one, other):
                assert not {one.name, other.name} <= set(made.names)
                assert one.name in made.every and other.name in made.every
                if one.name in aside:
                    assert other.name in aside[one.name]
    assert not set(aside) & set(made.names)


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = screening()
    (tmp_path / plan.NAME).write_text(made.as_json())
    assert plan.read(tmp_path / plan.NAME).aside == made.aside
    assert replace(made, aside=()).id != made.id
    tried = further.make(made, {"A": "1", "D": "1"}, [{"B": "2"}], {"B": ("A", "C")})
    (tmp_path / trial.VALUES_NAME).write_text(tried.as_json())
    assert trial.values_of(made, tmp_path / plan.NAME) == tried
    assert tried.environment(tried.order.index(0)) == {"A": "1", "D": "1"}
    assert tried.environment(tried.order.index(1)) == {"D": "1", "B": "2"}


def test_the_dry_run_tells_them() -> None:
    told = "\n".join(planned.lines(screening(), 0.02, Cost(60.0)))
    assert (
        "2 settings that cannot be set together with one of these: 24 launches after the rounds, "
        "24 min, as far as they fit" in told
    )


# Truths -------------------------------------------------------------------------------------------


def line_of(truths: Mapping[str, float], drift: Drift, seed: int) -> dict[str, str]:
    """What is left to be confirmed where settings change the speed by these shares."""
    rng = np.random.default_rng([seed, 3])
    made = screening(seed)
    truth = Truth(5, {made.names.index(x): y for x, y in truths.items() if x in made.names})
    truth = replace(truth, drift=drift)
    y = truth.speeds(made.design, rng)
    found = estimate.estimate(y, made.design, made.names)
    judged = Screened(made, Measured(y, ("a", "b", "c"), 3, ()), found)
    tried, why = further.planned(judged, 0.0, 0.0)
    assert tried is not None and not why
    effects = {x: np.full(CELLS, np.log1p(truths.get(x, 0.0))) for x in made.every}
    speeds = trial_speeds(tried, effects, truth, rng)
    told = replace(judged, values=values_of(tried, speeds))
    return {one.name: one.value for one in told.candidates}


def values_of(made: Trial, y: NDArray[np.float64]) -> Values:
    side = np.array(made.order, dtype=np.intp)
    block = np.array([made.block(i) for i in range(made.launches)], dtype=np.intp)
    pairs = [(x, 0) for x in range(1, len(made.sides))]
    each = dict(enumerate(contrast.contrasts(y, side, block, pairs, LEVEL).each, 1))
    return Values(made, each, pd.DataFrame(index=range(CELLS)), (), ())


@pytest.mark.slow
@pytest.mark.parametrize("drift", ["none", "line", "walk"])
def test_the_true_one_is_found_whichever_it_is(
    drift: Drift, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contrast, "_DRAWS", 3000)
    of = range(STUDIES)
    what = "of settings that conflict"
    wrong = sum(bool(line_of({}, drift, seed)) for seed in of)
    assert RATES.told(f"{what} none matters: one is left", drift, wrong) <= RATES.at_most(0.05)
    least = RATES.at_least(0.8 if drift == "walk" else 0.9)
    for name, value in (("A", "1"), ("B", "2"), ("C", "3")):
        found = sum(line_of({name: 0.06}, drift, seed).get(name) == value for seed in of)
        assert RATES.told(f"{what} {name} makes +6 %: it is left", drift, found) >= least
    better = sum(line_of({"A": 0.05, "B": 0.12, "C": 0.18}, drift, x) == {"C": "3"} for x in of)
    assert RATES.told(f"{what} all matter: the best alone is left", drift, better) >= least


# A study ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_better_one_takes_the_place_of_what_it_conflicts_with(a2a: A2A, tmp_path: Path) -> None:
    made = screening()
    speed = {"A=1": 0.08, "B=2": 0.2, "C=3": -0.1}
    (tmp_path / "given.json").write_text(made.as_json())
    results = tmp_path / "results"
    screened.prepare(str(tmp_path / "given.json"), results, None)
    launched(results, made, speed, setup=SHORT)
    assert "not screened: B: conflicts with A" in a2a("screen", results).out
    told = a2a("screen", results, "--confirm", "--budget", "41min", "--seconds", "60").out
    assert told.startswith(
        "settings that conflict with others that do not fit into the time: B=2 and C=3\n"
    )
    assert "not screened: C: conflicts with A" in a2a("screen", results).out
    (results / trial.NAME).unlink()
    told = a2a("screen", results, "--confirm").out
    assert told == (
        "further values (values.json), 24 launches in turn with the best so far, A=1: B=2 and C=3\n"
    )
    tried = trial.values_of(made, results / plan.NAME)
    assert tried is not None
    rows = (results / screened.ROWS).read_text().splitlines()
    settings = {tuple(row.split("\t")[1].split(";")) for row in rows[28:]}
    assert settings == {("A=1",), ("B=2",), ("C=3",)}
    confirmed(results, tried, speed, SHORT.sizes)
    told = a2a("screen", results, "--confirm").out
    assert told == "to be confirmed by 16 launches (confirm.json): B=2\n"
    last = trial.of(made, results / plan.NAME)
    assert last is not None
    confirmed(results, last, speed, SHORT.sizes, start=START + timedelta(hours=2))
    found = folder.judged(loading.load([*results.glob("*.h5")]))
    said = "\n".join(outcome.lines(found))
    assert re.search(r"^B=2: faster at 2 of 2 sizes.*; it takes the place of A=1$", said, re.M)
    assert said.endswith("  export B=2")
    assert "not screened" not in said and "left out" not in said
