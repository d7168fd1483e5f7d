# SPDX-License-Identifier: BSD-3-Clause
"""A plan and a catalogue in words: what is tried, what it costs, what it will find."""

from __future__ import annotations

import math
from collections.abc import Sequence

from a2aperf.labels import count_text
from a2aperf.screening import design, estimate
from a2aperf.screening.catalogue import Setting
from a2aperf.screening.costing import Cost
from a2aperf.screening.plan import Plan
from a2aperf.tables import Cell, Column, Table
from a2aperf.terminal import Bold

BANDS = 3
"""Of message sizes, as most screenings have."""
SPREAD = 0.02
"""By how much launches differ, where nobody says otherwise."""


def lines(plan: Plan, spread: float, cost: Cost) -> list[str]:
    """The settings, the cost, the smallest effect that is found, and each launch.

    `spread` is by how much launches differ, as a share.
    """
    runs = design.runs_for(len(plan.factors))
    each = [f"a launch is taken for {cost.seconds:g} s"] if cost.seconds else []
    return [
        Bold(
            f"plan {plan.id}, provider {plan.provider}, seed {plan.seed}: "
            f"{count_text(len(plan.factors), 'setting')}, {plan.design.launches} launches"
        ),
        f"{runs} runs (Plackett and Burman), each with its mirrored run, and {design.DEFAULTS} "
        "launches with no setting; in random order inside blocks of four",
        *cost.lines(len(plan.factors), plan.further, len(plan.aside)),
        *each,
        smallest(plan, spread),
        *of_design(plan),
    ]


def of_design(plan: Plan) -> list[str]:
    """The settings, what is left out and why, and which settings each launch has."""
    return [
        *(f"in all launches: {name}={value}" for name, value in plan.fixed.items()),
        "",
        *_settings(plan),
        *([""] if plan.left_out else []),
        *(f"not in this round: {reason}" for reason in plan.left_out),
        "",
        *_launches(plan),
    ]


def smallest(plan: Plan, spread: float = SPREAD) -> str:
    """The smallest effect that is found, where launches differ by a share."""
    found = estimate.smallest(len(plan.factors), BANDS, math.log1p(spread))
    return (
        f"minimum detectable effect (90 % power): {100 * found:.2g} % of speed, where launches "
        f"differ by {100 * spread:.2g} %, in {BANDS} bands of message sizes"
    )


def _settings(plan: Plan) -> list[str]:
    heads = [
        Column("no."),
        Column("setting", left=True),
        Column("default", left=True),
        Column("further values", left=True),
        Column("what it does", left=True),
    ]
    rows = [
        [
            Cell(str(i)),
            Cell(one.assignment),
            Cell(one.default or "-"),
            Cell(", ".join(one.others) or "-"),
            Cell(one.what or "-"),
        ]
        for i, one in enumerate(plan.factors, 1)
    ]
    return Table(heads, rows).lines()


def _launches(plan: Plan) -> list[str]:
    """A row for each, `+` under the number of a setting that it has."""
    width = len(str(len(plan.factors)))
    numbers = " ".join(f"{i:{width}}" for i in range(1, len(plan.factors) + 1))
    heads = [Column("launch", left=True), Column("block"), Column(numbers, left=True)]
    rows = [
        [
            Cell(plan.label(i)),
            Cell(str(int(plan.design.block[i]) + 1)),
            Cell(" ".join(f"{'+' if level > 0 else '.':>{width}}" for level in levels)),
        ]
        for i, levels in enumerate(plan.design.levels)
    ]
    return Table(heads, rows).lines()


def catalogue_lines(settings: Sequence[Setting]) -> list[str]:
    """A block for each setting."""
    told: list[str] = []
    for one in settings:
        told += [
            Bold(one.name),
            f"  {one.what}",
            f"  try {' or '.join(one.values)}; default: {one.default}; sizes: {one.sizes}",
            *([f"  allowed: {one.allowed_text}"] if one.allowed else []),
            *([f"  since {one.since}"] if one.since else []),
            *([f"  not together with {', '.join(one.conflicts)}"] if one.conflicts else []),
            *([f"  dangerous: {one.danger}"] if one.danger else []),
            f"  source: {one.source}",
        ]
    return told
