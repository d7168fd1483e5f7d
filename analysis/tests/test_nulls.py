# SPDX-License-Identifier: BSD-3-Clause
"""False alarms and power of the analysis where the truth is known.

`benchmarks/false_alarms.py` draws the same table at length.
"""

import pytest

import nulls

pytestmark = pytest.mark.slow

STUDIES = 80
"""A row fails where its rate, if it were held, would give such a count once in 1000."""


@pytest.mark.nulls
@pytest.mark.parametrize("row", nulls.TABLE, ids=lambda row: row.name)
def test_what_is_said_of_a_known_truth(row: nulls.Row) -> None:
    wrong = [rate for rate in nulls.rates(row, STUDIES) if rate.contradicts]
    assert not wrong


def test_a_claim_that_is_always_made_is_caught() -> None:
    def study(_: object) -> dict[str, nulls.Outcome]:
        return {"made": nulls.Outcome.CALLED, "missed": nulls.Outcome.ABSTAINED}

    found = nulls.rates(nulls.Row("x", study, {"made": 0.05}, {"missed": 0.5}), 50)
    assert [rate.contradicts for rate in found] == [True, True]
    assert [rate.holds for rate in found] == [False, False]
    assert {rate.claim: rate.abstained for rate in found} == {"made": 0, "missed": 50}
