# SPDX-License-Identifier: BSD-3-Clause
"""False alarms and power of the analysis where the truth is known.

`benchmarks/false_alarms.py` draws the same table at length.
"""

import os

import numpy as np
import pytest

import nulls

pytestmark = pytest.mark.slow

STUDIES = int(os.environ.get("A2A_STUDIES", "200"))
"""A row fails where its rate, if it were held, would give such a count once in 1000."""


@pytest.mark.nulls
@pytest.mark.parametrize("row", nulls.TABLE, ids=lambda row: row.name)
def test_what_is_said_of_a_known_truth(row: nulls.Row) -> None:
    assert not nulls.contradicted(row, STUDIES)


def test_a_claim_that_is_always_made_is_caught() -> None:
    def study(_: object) -> dict[str, nulls.Outcome]:
        return {"made": nulls.Outcome.CALLED, "missed": nulls.Outcome.ABSTAINED}

    found = nulls.rates(nulls.Row("x", study, {"made": 0.05}, {"missed": 0.5}), 50)
    assert [rate.contradicts for rate in found] == [True, True]
    assert [rate.holds for rate in found] == [False, False]
    assert {rate.claim: rate.abstained for rate in found} == {"made": 0, "missed": 50}


@pytest.mark.parametrize("often", [0.0, 0.04, 0.2, 0.5, 0.93, 1.0])
def test_studies_that_would_change_nothing_are_not_drawn(often: float) -> None:
    drawn = []

    def study(random: np.random.Generator) -> dict[str, nulls.Outcome]:
        drawn.append(random)
        called = nulls.Outcome.CALLED if random.random() < often else nulls.Outcome.SILENT
        return {"false": called, "true": called}

    row = nulls.Row("x", study, {"false": 0.05}, {"true": 0.9})
    found = nulls.contradicted(row, STUDIES)
    assert len(drawn) < STUDIES
    claims = [rate.claim for rate in nulls.rates(row, STUDIES) if rate.contradicts]
    assert [rate.claim for rate in found] == claims
