# SPDX-License-Identifier: BSD-3-Clause
"""The rounds of a screening: a setting that dominates is fixed, and the rest is screened again.

Each round has a plan of its own beside the first one: `screen-2.json` follows `screen.json`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.screening import design, plan
from a2aperf.screening.costing import Cost
from a2aperf.screening.outcome import Outcome
from a2aperf.screening.plan import Plan

MOST: Final = 3
_FEWEST: Final = 2
"""Settings of a further round: a single one is compared by fewer launches than a round has."""


def path_of(first: Path, number: int) -> Path:
    """Where the plan of a round lies, by that of the first."""
    return first.with_name(f"{first.stem}-{number}.json")


def named(first: Path, number: int) -> str:
    """A round with the file of its plan: `round 2 (screen-2.json)`."""
    return f"round {number} ({path_of(first, number).name})"


def read(first: Path) -> list[Plan]:
    """The plans of all rounds; InputError where one is none, or not as it was written."""
    found = [plan.read(first)]
    while (beside := path_of(first, len(found) + 1)).is_file():
        following = plan.read(beside)
        if following.follows != found[-1].id:
            break
        found.append(following)
    return found


def following(made: Outcome) -> Plan | None:
    """The next round; None where nothing dominates, little else is left, or there were enough."""
    settled = made.dominating
    number = len(made.plans) + 1
    names = {factor.name for factor, _ in settled}
    rest = tuple(one for one in made.plan.factors if one.name not in names)
    if not settled or len(rest) < _FEWEST or number > MOST:
        return None
    fixed = {factor.name: factor.value for factor, is_faster in settled if is_faster}
    left_out = [f"{factor.name}: dominates, and is faster not set"
                for factor, is_faster in settled if not is_faster]  # fmt: skip
    return Plan(
        made.plan.provider,
        made.plan.seed,
        rest,
        design.make(len(rest), np.random.default_rng([made.plan.seed, number])),
        {**made.plan.fixed, **fixed},
        (*made.plan.left_out, *left_out),
        made.plan.id,
        made.plan.aside,
    )


def too_long(again: Plan, seconds: float, limit: float) -> str:
    """Why a round does not fit with a confirmation of one setting; empty where it does.

    A launch takes `seconds`; 0: nobody knows, or there is no limit.
    """
    if not (seconds and limit):
        return ""
    try:
        Cost(seconds).require(len(again.factors), limit)
    except InputError as error:
        return f"not screened again: {error}"
    return ""


def told(made: Outcome, again: Plan) -> str:
    """What the next round is, in a clause."""
    names = ", ".join(factor.name for factor, _ in made.dominating)
    verb = "dominates" if len(made.dominating) == 1 else "dominate"
    return (
        f"{names} {verb}; the rest is screened again, "
        f"{count_text(len(again.factors), 'setting')}, {again.design.launches} launches"
    )
