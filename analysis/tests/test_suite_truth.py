# SPDX-License-Identifier: BSD-3-Clause
"""What is said of interconnects whose truth is known: A2A_SUITES=1000 for the long run.

The long run writes its rates where A2A_SUITE_RATES names a file: docs/interconnects.md has them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from a2aperf import laws
from a2aperf.suite.ranking import AHEAD, BEHIND, SAME, Against, Cell
from a2aperf.suite.rounds import rounds_for
from support.synthetic_suite import DRIFTS, SIZES, Drift, Truth

pytestmark = pytest.mark.slow
SUITES = int(os.environ.get("A2A_SUITES", "16"))
Said = dict[tuple[str, str], dict[Cell, Against]]


def rate(truth: Truth, says: Callable[[Said], bool], what: str) -> float:
    """The share of studies that say it."""
    rng = np.random.default_rng(11)
    found = sum(says(truth.study(rng)) for _ in range(SUITES)) / SUITES
    if path := os.environ.get("A2A_SUITE_RATES"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{what}, {truth.interconnects} interconnects, {truth.launches} launches, "
                       f"drift {truth.drift}: {100 * found:.1f} % of {SUITES}\n")  # fmt: skip
    return found


def verdicts(said: Said) -> set[int | None]:
    return {one.verdict for of in said.values() for one in of.values()}


def ranks_anything(said: Said) -> bool:
    return bool(verdicts(said) & {AHEAD, BEHIND})


def at_most(share: float) -> float:
    """More than that comes once in 1000 times where the share is held."""
    return float(laws.binomial_ppf(0.999, SUITES, share)) / SUITES


def at_least(share: float) -> float:
    """Less than that comes once in 1000 times where the share is reached."""
    return float(laws.binomial_ppf(0.001, SUITES, share)) / SUITES


@pytest.mark.nulls
@pytest.mark.parametrize("drift", DRIFTS)
def test_equal_interconnects_are_not_ranked(drift: Drift) -> None:
    truth = Truth(launches=rounds_for(3), drift=drift)
    assert rate(truth, ranks_anything, "equal, ranked") <= at_most(0.05)


@pytest.mark.nulls
def test_beside_one_that_is_slow_equal_ones_are_not_ranked() -> None:
    slow = Truth(speed={(2, place): -1.0 for place in range(3)})
    wrong = rate(slow, lambda said: ranks_anything({(): said["i0", "i1"]}), "equal beside a slow")  # type: ignore[dict-item]
    assert wrong <= at_most(0.05)


@pytest.mark.parametrize("drift", ["none", "line"])
def test_a_tenth_is_found_and_a_crossing_too(drift: Drift) -> None:
    """i1 is slower at the small sizes and faster at the large ones; i2 is a tenth slower."""
    speed = {(1, 0): -0.3, (1, 2): 0.3, **{(2, place): -0.1 for place in range(3)}}

    def right(said: Said) -> bool:
        one = {cell.size: x.verdict for cell, x in said["i0", "i1"].items()}
        two = [x.verdict for x in said["i0", "i2"].values()]
        return (one[SIZES[0]], one[SIZES[2]]) == (BEHIND, AHEAD) and set(two) == {BEHIND}

    truth = Truth(speed=speed, drift=drift)
    assert rate(truth, right, "a crossing and a tenth, found") >= at_least(0.9)


@pytest.mark.nulls
def test_no_different_is_not_said_of_what_differs_by_more_than_the_margin() -> None:
    speed = {(1, place): 0.025 for place in range(3)}
    truth = replace(Truth(speed=speed), shared=0.005, own=0.002)
    wrong = rate(truth, lambda said: any(one.verdict == SAME for one in said["i0", "i1"].values()),
                 "2.5 %, no different")  # fmt: skip
    assert wrong <= at_most(0.05)
