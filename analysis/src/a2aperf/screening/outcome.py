# SPDX-License-Identifier: BSD-3-Clause
"""What a screening comes to: what is told, what is worth confirming, what can be excluded.

No gain is claimed from the screening: the largest of many estimates is too large as a rule. What it
leaves is measured anew, and what is recommended follows from those launches alone.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from a2aperf.errors import InputError
from a2aperf.labels import count_text, list_text, number_text
from a2aperf.results import Results
from a2aperf.screening import confirmation, estimate, recommendation, untried, values
from a2aperf.screening.confirmation import Confirmation
from a2aperf.screening.estimate import Effect, Estimate, Interaction
from a2aperf.screening.launches import Measured, measure
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import MOST, Trial
from a2aperf.screening.values import Values
from a2aperf.tables import Cell, Column, Table
from a2aperf.terminal import Bold

HEADS: Final = [
    Column("setting", left=True),
    Column("sizes", left=True),
    Column("speed"),
    Column("95 % interval of all"),
    Column("p"),
]
"""Of a row for each setting and band."""


@dataclass(frozen=True)
class Outcome:
    """The plan, what its launches measured, and the effects of its settings."""

    plan: Plan
    measured: Measured
    estimate: Estimate
    confirmation: Confirmation | None = None
    pending: tuple[str, ...] = ()
    """In words what is to be confirmed and why it is not yet."""
    earlier: tuple[Outcome, ...] = ()
    """Of the rounds before this one, in which a setting dominated."""
    values: Values | None = None
    """What further values of the settings come to."""

    @property
    def plans(self) -> list[Plan]:
        """Of all rounds."""
        return [*(one.plan for one in self.earlier), self.plan]

    @property
    def dominating(self) -> list[tuple[Factor, bool]]:
        """Settings that dominate in one direction, and whether they are faster set."""
        found = []
        for setting in self.estimate.dominant():
            signs = {effect.change > 0 for effect in self.called(setting)}
            if len(signs) == 1:
                found.append((self.plan.factors[setting], signs == {True}))
        return found

    def called(self, setting: int) -> list[Effect]:
        """Of one setting what is beyond chance, by band."""
        return [x for x in self.estimate.effects if x.setting == setting and x.is_called]

    @property
    def ranked(self) -> list[int]:
        """All settings: those beyond chance first, then by size of effect."""

        def key(setting: int) -> tuple[bool, float]:
            largest = max(abs(x.change) for x in self.estimate.effects if x.setting == setting)
            return not self.called(setting), -largest

        return sorted(range(len(self.plan.factors)), key=key)

    @property
    def candidates(self) -> list[Factor]:
        """Settings to be confirmed, with the best of the values that were tried."""
        if self.values is None:
            return self.left
        first = self.plans[0]
        return self.values.line(self.left, (*first.factors, *first.aside))

    @property
    def left(self) -> list[Factor]:
        """What the rounds leave: faster somewhere and slower nowhere, by the round that told."""
        before = [x for one in self.earlier for x, is_faster in one.dominating if is_faster]
        return before + [
            self.plan.factors[setting]
            for setting in self.ranked
            if (found := self.called(setting)) and all(x.change > 0 for x in found)
        ]

    @property
    def untried(self) -> dict[str, list[str]]:
        """Of each setting that has had launches the values that have had none."""
        return untried.of(self.plans, self.values.trial if self.values else None)

    def excluded(self, effect: Effect) -> float:
        """The change of speed, as a share and either way, beyond which there is none."""
        return max(abs(math.expm1(effect.low)), abs(math.expm1(effect.high)))


def judge(
    found: Results,
    plan: Plan,
    trial: Trial | None = None,
    earlier: Sequence[Plan] = (),
    further: Trial | None = None,
) -> Outcome:
    """The outcome of the launches of a plan, and of the trial that confirms what they left.

    `earlier` are the plans of the rounds before; `further` tries further values. InputError where
    the launches of a plan tell nothing.
    """
    plans = [*earlier, plan]
    labels = [label for one in (*plans, further, trial) if one for label in one.labels]
    *before, made = [_screened(found, one, labels) for one in plans]
    made = replace(made, earlier=tuple(before))
    if further is not None:
        try:
            made = replace(made, values=values.judge(found, plans, further, labels))
        except InputError as error:
            made = replace(made, pending=(f"further values: no verdict: {error}",))
    if trial is None:
        return made
    best = [one.assignment for one in made.candidates[:MOST]]
    if made.values is not None and sorted(best) != sorted(trial.settings):
        made = replace(made, pending=(
            *made.pending,
            f"the best line known by now is {list_text(best, 8)}: it is not what was confirmed, "
            "which was planned before all launches of further values were there",
        ))  # fmt: skip
    try:
        return replace(made, confirmation=confirmation.judge(found, plans, trial, labels))
    except InputError as error:
        return replace(made, pending=(*made.pending, *confirmation.pending(trial, error)))


def so_far(
    found: Results, plans: Sequence[Plan], trial: Trial | None, further: Trial | None = None
) -> Outcome:
    """The same where the last round may tell nothing yet: then of the one before."""
    try:
        return judge(found, plans[-1], trial, plans[:-1], further)
    except InputError as error:
        if len(plans) == 1:
            raise
        made = so_far(found, plans[:-1], None)
        return replace(made, pending=(*made.pending, f"round {len(plans)}, not yet: {error}"))


def _screened(found: Results, plan: Plan, labels: Sequence[str]) -> Outcome:
    measured = measure(found, plan, labels)
    try:
        result = estimate.estimate(measured.y, plan.design, plan.names)
    except InputError as error:
        why = f" ({list_text(measured.notes, 3)})" if measured.notes else ""
        raise InputError(f"{error}{why}") from None
    return Outcome(plan, measured, result)


# In words ---------------------------------------------------------------------------------------


def lines(made: Outcome, failed: Sequence[str] = ()) -> list[str]:
    """For people; `failed` is what `failures` says."""
    parts = [
        *(_settled(number, one) for number, one in enumerate(made.earlier, 1)),
        head(made),
        _found(made),
        together(made),
        _following(made),
        _undecided(made),
        values.lines(made.values) if made.values else [],
        [*failed],
        [f"note: {note}" for note in notes(made)],
        [*not_screened(made), *not_tried(made)],
        [*made.pending],
        recommendation.lines(made.confirmation) if made.confirmation else [],
    ]
    told = [line for part in parts if part for line in (*part, "")]
    return told[:-1]


def notes(made: Outcome) -> list[str]:
    """Of all stages, each once."""
    later = (one.notes for one in (made.values, made.confirmation) if one)
    return [*dict.fromkeys((*made.measured.notes, *(note for of in later for note in of)))]


def not_screened(made: Outcome) -> list[str]:
    """Settings without a verdict, as no round has had them, and why."""
    had = {name for one in made.earlier for name in one.plan.names}
    if made.values:
        had |= {name for x in made.values.contrasts for name in made.values.trial.sides[x]}
    left_out = (one for one in made.plan.left_out if one.partition(":")[0] not in had)
    return [f"not screened: {one}" for one in left_out]


def not_tried(made: Outcome) -> list[str]:
    """Values without a verdict, beside those of which `following` says that they may be tried."""
    return untried.told(made.untried, [made.plan.names[x] for x in made.ranked if made.called(x)])


def head(made: Outcome) -> list[str]:
    """What was screened, from how many launches, in which bands."""
    plan, bands = made.plan, made.measured.bands
    spread = [f"{number_text(100 * math.expm1(x), 2)} %" for x in made.estimate.spread]
    fixed = [f"{name}={value}" for name, value in plan.fixed.items()]
    count = int(np.isfinite(made.measured.y).all(axis=1).sum())
    return [
        f"screening of {plan.provider}, plan {plan.id}: {count_text(len(plan.factors), 'setting')},"
        f" {count} of {plan.design.launches} launches",
        *([f"fixed in all launches: {list_text(fixed, 12)}"] if fixed else []),
        f"message sizes in bands: {list_text(bands)}; a launch differs there by "
        f"{list_text(spread)} (standard deviation)",
    ]


def _settled(number: int, made: Outcome) -> list[str]:
    return [f"round {number}: {head(made)[0]}", *(f"  {one}" for one in settled(made))]


def settled(made: Outcome) -> list[str]:
    """Of an earlier round which settings dominated, by how much, and what became of them."""
    told = []
    for factor, is_faster in made.dominating:
        changes = [
            f"{percent(x.change)} at {made.measured.bands[x.band]}"
            for x in made.called(made.plan.names.index(factor.name))
        ]
        then = "is set in all launches of the next round" if is_faster else "stays at its default"
        told.append(f"{factor.assignment} dominates, {list_text(changes)}: it {then}")
    return told


def _found(made: Outcome) -> list[str]:
    called = [(x, made.plan.factors[x.setting]) for s in made.ranked for x in made.called(s)]
    if not called:
        return [Bold("no setting is beyond chance")]
    rows = [
        [
            Cell(factor.assignment),
            Cell(made.measured.bands[effect.band]),
            Cell(percent(effect.change)),
            Cell(f"{percent(effect.low)} to {percent(effect.high)}"),
            Cell(f"{effect.p:.2g}"),
        ]
        for effect, factor in called
    ]
    return [Bold("beyond chance:"), *Table(HEADS, rows).lines()]


def together(made: Outcome) -> list[str]:
    """Which settings interact."""
    names, bands = made.plan.names, made.measured.bands
    told = [
        f"{_pair(names, one.settings)} interact at {bands[one.band]}: with both or none set, speed "
        f"differs by {percent(one.change)} from that with one{_or(names, one)}"
        for one in made.estimate.interactions
    ]
    told += [
        f"settings interact at {bands[band]}, unresolved: pairs of launches differ by more than "
        "launches do by themselves"
        for band in made.estimate.unresolved
    ]
    return told + _least_together(made)


def _least_together(made: Outcome) -> list[str]:
    """How much two settings have to do together to be told; nothing where nobody can say."""
    least = [made.estimate.together(band) for band in range(len(made.measured.bands))]
    if not all(map(math.isfinite, least)):
        return []
    from_on = list_text([f"{number_text(100 * x, 2)} %" for x in least])
    return [
        "two settings that change speed only where both are set are found, or told to interact, in "
        f"90 % of such cases or more from {from_on} on; of a smaller change nothing may be said: "
        "undecided",
    ]


def _pair(names: Sequence[str], pair: tuple[int, int]) -> str:
    return f"{names[pair[0]]} and {names[pair[1]]}"


def _or(names: Sequence[str], one: Interaction) -> str:
    if not one.others:
        return ""
    others = [_pair(names, pair) for pair in one.others]
    return f"; {list_text(others, 3)} would explain it as well"


def following(made: Outcome) -> list[str]:
    """What to do about those beyond chance, beside the candidates."""
    told = []
    plan = made.plan
    for factor, is_faster in made.dominating:
        verb = "faster" if is_faster else "slower"
        told.append(f"{factor.assignment} dominates, and is {verb}: beside it others are hidden")
    if made.dominating and (again := _again(made)):
        told.append(f"screen the rest again: {again}")
    for setting in made.ranked:
        effects = made.called(setting)
        better_at, worse_at = (
            [made.measured.bands[x.band] for x in effects if (x.change > 0) == is_better]
            for is_better in (True, False)
        )
        factor = plan.factors[setting]
        if better_at and worse_at:
            told.append(f"{factor.assignment} is faster at {list_text(better_at)}, slower at "
                        f"{list_text(worse_at)}: it depends on the message size")  # fmt: skip
        elif worse_at:
            told.append(f"{factor.assignment} is slower: leave it at its default")
        if effects and (others := made.untried.get(factor.name)):
            told.append(f"{factor.name}: further values to try: {', '.join(others)}")
    return told


CANDIDATE: Final = "candidate, to be confirmed by launches of its own before any gain is claimed"


def candidate(made: Outcome) -> str:
    """The line to be confirmed; empty where nothing is left, or the confirmation is planned."""
    if not made.candidates or made.confirmation or made.pending:
        return ""
    return "export " + " ".join(shlex.quote(one.assignment) for one in made.candidates)


def _following(made: Outcome) -> list[str]:
    line = candidate(made)
    return [*following(made), *([f"{CANDIDATE}:", f"  {line}"] if line else [])]


def _again(made: Outcome) -> str:
    """The plan of the rest: what this one fixed and screened, whatever made it so."""
    plan = made.plan
    settled = [factor.name for factor, _ in made.dominating]
    fixed = [f"{name}={value}" for name, value in plan.fixed.items()]
    fixed += [factor.assignment for factor, is_faster in made.dominating if is_faster]
    rest = [one.assignment for one in plan.factors if one.name not in settled]
    words = ["a2a", "screen", "--provider", plan.provider]
    words += [word for one in rest for word in ("--try", one)]
    words += [word for one in fixed for word in ("--fix", one)]
    return shlex.join([*words, "-o", "next.json"]) if rest else ""


def _undecided(made: Outcome) -> list[str]:
    quiet = [setting for setting in made.ranked if not made.called(setting)]
    if not quiet:
        return []
    effects = {(x.setting, x.band): x for x in made.estimate.effects}
    rows = [
        [
            Cell(made.plan.factors[setting].assignment),
            *(
                Cell(f"{number_text(100 * made.excluded(effects[setting, band]), 2)} %")
                for band in range(len(made.measured.bands))
            ),
        ]
        for setting in quiet
    ]
    heads = [Column("not beyond chance; excluded is a change beyond ±", left=True),
             *(Column(band) for band in made.measured.bands)]  # fmt: skip
    return Table(heads, rows).lines()


def percent(change: float) -> str:
    """A change of log speed: `+5.1 %`."""
    return f"{100 * math.expm1(change):+.1f} %"
