# SPDX-License-Identifier: BSD-3-Clause
"""What a screening comes to, for a page: sentences, tables, the line to export, figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from a2aperf.chart import Figure
from a2aperf.errors import InputError
from a2aperf.labels import list_text, number_text
from a2aperf.results import Results
from a2aperf.screening import (
    failures,
    figure,
    folder,
    outcome,
    pareto,
    recommendation,
    values,
)
from a2aperf.screening.estimate import Effect
from a2aperf.screening.outcome import Outcome, percent
from a2aperf.studies.study import Job
from a2aperf.tables import Cell, Column, Table


@dataclass(frozen=True)
class Section:
    """`line` is to be exported, as `says` has it; empty where there is none."""

    heading: Sequence[str]
    found: Sequence[str]
    effects: Table
    confirmation: Sequence[str]
    says: str
    line: str
    gains: Table | None
    failed: Sequence[str]
    notes: Sequence[str]
    figures: Sequence[tuple[Figure, str]]
    """Each with how it is read."""
    plain: Results
    """The launches with nothing set, and those with the recommended line: what others look at."""


def of(found: Results, jobs: Sequence[Job]) -> Section | None:
    """Of results whose launches belong to a screening; None where they do not, or tell nothing."""
    try:
        made = folder.judged(found)
    except InputError:
        return None
    says, line, gains = _line(made)
    drawn = [(figure.figure(made), figure.READS), (pareto.figure(made), pareto.READS)]
    return Section(
        outcome.head(made),
        [
            *(said for one in made.earlier for said in outcome.settled(one)),
            _beyond(made),
            *outcome.together(made),
            *outcome.following(made),
            *(values.lines(made.values) if made.values else []),
        ],
        _effects(made),
        _confirmation(made),
        says,
        line,
        gains,
        failures.of_rounds(made.plans, jobs),
        [*outcome.notes(made), *outcome.not_screened(made), *outcome.not_tried(made)],
        drawn,
        _plain(made, found),
    )


def _plain(made: Outcome, found: Results) -> Results:
    confirmed = made.confirmation
    shown: list[dict[str, str]] = [{}]
    if confirmed is not None and confirmed.recommended is not None:
        shown.append(dict(confirmed.trial.sides[confirmed.recommended]))
    names = set(made.plans[0].every)
    kept = [
        key
        for key, one in found.launches.items()
        if {k: v for k, v in one.environment.items() if k in names - one.tuned} in shown
    ]
    return found.select(found.points["launch"].isin(kept))


def _beyond(made: Outcome) -> str:
    called = [made.plan.factors[s].assignment for s in made.ranked if made.called(s)]
    return f"beyond chance: {list_text(called, 8)}" if called else "no setting is beyond chance"


def _effects(made: Outcome) -> Table:
    """A row for each setting and band, ranked; of those not beyond chance what is excluded."""
    heads = [*outcome.HEADS, Column("verdict", left=True)]
    rows = [
        [
            Cell(made.plan.factors[setting].assignment),
            Cell(made.measured.bands[one.band], str(one.band)),
            Cell(percent(one.change), str(math.expm1(one.change))),
            Cell(f"{percent(one.low)} to {percent(one.high)}", str(math.expm1(one.low))),
            Cell(f"{one.p:.2g}"),
            Cell(_verdict(made, one)),
        ]
        for setting in made.ranked
        for one in made.estimate.effects
        if one.setting == setting
    ]
    caption = "Effect of each setting, against not set; the largest that are beyond chance first."
    return Table(heads, rows, caption)


def _verdict(made: Outcome, one: Effect) -> str:
    if one.is_called:
        return "faster" if one.change > 0 else "slower"
    most = number_text(100 * made.excluded(one), 2)
    return f"not beyond chance; excluded is a change beyond ±{most} %"


def _confirmation(made: Outcome) -> list[str]:
    confirmed = made.confirmation
    if confirmed is None:
        return [*made.pending]
    told = [recommendation.heading(confirmed), *recommendation.compared(confirmed)]
    side = confirmed.recommended
    return told + (recommendation.doubts(confirmed, side) if side is not None else [])


def _line(made: Outcome) -> tuple[str, str, Table | None]:
    confirmed = made.confirmation
    if confirmed is None:
        line = outcome.candidate(made)
        return (outcome.CANDIDATE if line else ""), line, None
    side = confirmed.recommended
    if side is None:
        return f"{recommendation.NOTHING}: {recommendation.WHY_NOTHING}", "", None
    return (
        f"recommended: {recommendation.gained(confirmed, side)}",
        recommendation.export(confirmed, side),
        recommendation.gains(confirmed, side),
    )
