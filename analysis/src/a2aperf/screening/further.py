# SPDX-License-Identifier: BSD-3-Clause
"""Which further values are tried, and in which launches: each alone, beside the best line so far.

That line is what the rounds left to be confirmed. A further value is one that the catalogue lists
beside the one that was screened; it takes that one's place in the line, or is set beside it. A
setting that conflicts with one of the rounds' is tried likewise, and those of the line that it
conflicts with are not set then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from a2aperf.labels import count_text, list_text
from a2aperf.screening import trial
from a2aperf.screening.outcome import Outcome
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import Trial


def planned(made: Outcome, seconds: float, limit: float) -> tuple[Trial | None, str]:
    """The launches that try them, None where there are none to try; and what has no room, in words.

    Of settings that mattered all, and the settings that no round had for a conflict, as far as they
    fit with a confirmation into the time `limit`, where a launch takes `seconds`; where both are
    known (not 0), also those of the other settings.
    """
    first, others = _listed(made)
    aside = made.plans[0].aside
    first += [{one.name: one.value} for one in aside]
    room = len(first)
    if seconds and limit:
        left = limit / seconds - trial.launches_for(len(made.candidates) + 1)
        first_and_others = [*first, *others]
        fitting = (
            n for n in range(len(first_and_others), 0, -1) if trial.launches_for_values(n) <= left
        )
        room = next(fitting, 0)
        others = others[: max(0, room - len(first))]
    else:
        others = []
    why = _without(first[room:], [one.name for one in aside])
    chosen = [*first[:room], *others]
    line = {**made.plans[0].fixed, **_assigned(made.candidates[: trial.MOST])}
    conflicts = {one.name: one.conflicts for one in aside if {one.name: one.value} in chosen}
    return (make(made.plan, line, chosen, conflicts) if chosen else None), why


def _without(left: Sequence[Mapping[str, str]], aside: Sequence[str]) -> str:
    """What has no room, in words."""
    told = []
    for what, is_aside in (("further values", False), ("settings that conflict with others", True)):
        names = [_assignment(one) for one in left if (set(one) <= set(aside)) == is_aside]
        told += [f"{what} that do not fit into the time: {list_text(names, 8)}"] * bool(names)
    return "; ".join(told)


def _listed(made: Outcome) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Further values of settings that mattered, the largest first, and of the others."""
    mattered = [factor for one in made.earlier for factor, _ in one.dominating]
    factors = made.plan.factors
    mattered += [factors[x] for x in made.ranked if made.called(x)]
    others = [factors[x] for x in made.ranked if not made.called(x)]
    return _values(mattered), _values(others)


def _values(factors: Sequence[Factor]) -> list[dict[str, str]]:
    return [{one.name: value} for one in factors for value in one.others]


def _assigned(factors: Sequence[Factor]) -> dict[str, str]:
    return {one.name: one.value for one in factors}


def _assignment(one: Mapping[str, str]) -> str:
    return trial.assignments(one)


def make(
    plan: Plan,
    line: Mapping[str, str],
    values: Sequence[Mapping[str, str]],
    conflicts: Mapping[str, tuple[str, ...]] | None = None,
) -> Trial:
    """Launches in blocks by chance; a single value in turn with the line, A B B A or B A A B."""
    rng = np.random.default_rng([plan.seed, len(values), 1])
    blocks: list[list[int]] = []
    if len(values) == 1:
        for _ in range(trial.LAUNCHES // 2):
            once = rng.permutation(2).tolist()
            blocks.append([*once, *reversed(once)])
    else:
        for _ in range(trial.LAUNCHES):
            mixed = rng.permutation(len(values)) + 1
            parts = np.array_split(mixed, -(-len(values) // trial.BESIDE))
            blocks += [rng.permutation([0, *part.tolist()]).tolist() for part in parts]
    return Trial(
        plan.id,
        plan.seed,
        ({}, *(dict(one) for one in values)),
        tuple(side for block in blocks for side in block),
        dict(line),
        tuple(number for number, block in enumerate(blocks) for _ in block),
        trial.VALUES_SCHEMA,
        dict(conflicts or {}),
    )


def told(made: Trial) -> str:
    """What is tried, in a sentence."""
    line = trial.assignments(made.fixed)
    beside = f"the best so far, {line}" if line else "nothing set"
    return (
        f"further values ({trial.VALUES_NAME}), "
        f"{count_text(made.launches, 'launch', 'launches')} in turn with {beside}: "
        f"{list_text(made.settings, 8)}"
    )
