# SPDX-License-Identifier: BSD-3-Clause
"""What is said of further values whose truth is known: A2A_SCREENINGS=2000 for the long run.

The long run writes its rates where A2A_SCREENING_RATES names a file: docs/screening.md has them.
"""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from a2aperf.screening import contrast, design, further
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.values import LEVEL, Values
from support.screening_rates import Rates
from support.synthetic_screening import DRIFTS, Drift, Truth

pytestmark = pytest.mark.slow
STUDIES = int(os.environ.get("A2A_SCREENINGS", "40"))
RATES = Rates(STUDIES)
CELLS = 8
PLAN = Plan("none", 1, (Factor("S", "1"),), design.make(1, np.random.default_rng(1)))


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the critical value: its noise is that of one study in a thousand."""
    monkeypatch.setattr(contrast, "_DRAWS", 3000)


def judged(count: int, first: float, truth: Truth, seed: int, rng: np.random.Generator) -> Values:
    """So many values, of which the first is faster by a share, launched and judged."""
    values = [{f"S{i}": "2"} for i in range(count)]
    made = further.make(Plan("none", seed, PLAN.factors, PLAN.design), {}, values)
    side: NDArray[np.intp] = np.array(made.order, dtype=np.intp)
    block = np.array([made.block(i) for i in range(made.launches)], dtype=np.intp)
    y = truth.launches(made.launches, rng)[:, None]
    y = (
        y
        + rng.normal(0, truth.own, (made.launches, CELLS))
        + np.log1p(first) * (side == 1)[:, None]
    )
    pairs = [(x, 0) for x in range(1, count + 1)]
    found = contrast.contrasts(y, side, block, pairs, LEVEL)
    each = dict(enumerate(found.each, 1))
    return Values(made, each, pd.DataFrame(index=range(CELLS)), (), ())


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("count", [1, 6])
def test_values_that_are_known(drift: Drift, count: int) -> None:
    """Nothing is called where none matters; one that is 5 % faster is taken, and no other one."""
    rng = np.random.default_rng(7)
    wrong = found = other = 0
    for seed in range(STUDIES):
        none = judged(count, 0.0, Truth(drift=drift), seed, rng)
        wrong += any((x.faster | x.slower).any() for x in none.contrasts.values())
        better = judged(count, 0.05, Truth(drift=drift), seed, rng).better
        found += "S0" in better
        other += bool(set(better) - {"S0"})
    what = f"{count} further values"
    assert RATES.told(f"{what}, none matters: any is called", drift, wrong) <= RATES.at_most(0.03)
    assert RATES.told(
        f"{what}, one is 5 % faster: another one is taken", drift, other
    ) <= RATES.at_most(0.03)
    least = {"wave": 0.5, "walk": 0.8}.get(drift, 0.9)
    assert RATES.told(f"{what}, one is 5 % faster: it is taken", drift, found) >= 1 - RATES.at_most(
        1 - least
    )
