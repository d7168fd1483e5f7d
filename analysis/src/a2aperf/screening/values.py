# SPDX-License-Identifier: BSD-3-Clause
"""What further values come to: each against the best line so far, by launches of its own.

A value takes its place in the line where it is faster at one size at least and slower at none. The
error of all values and sizes together is small beside the screening's, so that both keep 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from a2aperf.deferred import pandas as pd
from a2aperf.labels import count_text, range_text
from a2aperf.results import Results
from a2aperf.screening import confirmation, contrast, trial
from a2aperf.screening.contrast import Contrast
from a2aperf.screening.plan import Factor, Plan
from a2aperf.screening.trial import Trial

LEVEL: Final = 0.02
"""The error of all values at all sizes together."""
_FEWEST: Final = trial.LAUNCHES // 2
"""Launches of a value that has a verdict."""


@dataclass(frozen=True)
class Values:
    """`contrasts` of the sides with a verdict, against the line; `counted` launches of each."""

    trial: Trial
    contrasts: Mapping[int, Contrast]
    cells: pd.DataFrame
    counted: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def better(self) -> dict[str, str]:
        """Of each setting the value that is faster somewhere and slower nowhere than the line.

        Of several, and of settings that conflict, the one that is fastest over all sizes, though
        they may be as fast.
        """
        wins = [side for side, one in self.contrasts.items() if confirmation.wins(one)]
        found: dict[str, str] = {}
        for side in sorted(wins, key=lambda x: -float(self.contrasts[x].change.mean())):
            for name, value in self.trial.sides[side].items():
                if name not in found and not any(self.trial.are_apart(name, x) for x in found):
                    found[name] = value
        return found

    def line(self, left: Sequence[Factor], factors: Sequence[Factor]) -> list[Factor]:
        """The settings to be confirmed: `left`, with better values, and others that have one.

        `factors` are all of the screening.
        """
        better = self.better
        left = [x for x in left if not any(self.trial.are_apart(x.name, name) for name in better)]
        names = {one.name for one in left}
        more = [one for one in factors if one.name in better and one.name not in names]
        return [
            replace(one, value=better[one.name]) if one.name in better else one
            for one in (*left, *more)
        ]


def judge(found: Results, plans: Sequence[Plan], made: Trial, own: Sequence[str]) -> Values:
    """What their launches say; InputError where they tell nothing. `own` as of `confirmation`."""
    there = confirmation.launched(found, plans, made, "further values", own)
    sides = [x for x in range(1, len(made.sides)) if there.a_side[x] >= _FEWEST]
    each: list[Contrast] = []
    if sides:
        kept = np.isin(there.side, [0, *sides])
        pairs = [(x, 0) for x in sides]
        of = contrast.contrasts(there.y[kept], there.side[kept], there.block[kept], pairs, LEVEL)
        each = of.each
    return Values(
        made,
        dict(zip(sides, each, strict=True)),
        there.taken.cells,
        there.a_side,
        there.notes,
    )


# In words ---------------------------------------------------------------------------------------


def lines(made: Values) -> list[str]:
    """A heading and a sentence for each value."""
    beside = trial.assignments(made.trial.fixed) or "nothing set"
    return [
        f"further values: {range_text(made.counted[1:])} new launches of each, against the best so "
        f"far, {beside}; {100 * (1 - LEVEL):g} % intervals of all values and sizes together",
        *(f"{confirmation.name(made.trial, x)}: {_said(made, x)}"
          for x in range(1, len(made.trial.sides))),
    ]  # fmt: skip


def _said(made: Values, side: int) -> str:
    one = made.contrasts.get(side)
    if one is None:
        count = count_text(made.counted[side], "launch", "launches")
        return f"no verdict: {count} of {trial.LAUNCHES} count"
    ((name, value),) = made.trial.sides[side].items()
    told = confirmation.said(one)
    if made.better.get(name) == value:
        return f"{told}; it {_place(made.trial, name)}"
    apart = {x: of for x, of in made.better.items() if made.trial.are_apart(x, name)}
    if confirmation.wins(one) and apart:
        return f"{told}; {trial.assignments(apart)} is faster, and they conflict"
    return told


def _place(made: Trial, name: str) -> str:
    """Where a better value stands in the line."""
    if before := made.fixed.get(name):
        return f"takes the place of {before}"
    apart = {x: value for x, value in made.fixed.items() if made.are_apart(x, name)}
    return f"takes the place of {trial.assignments(apart)}" if apart else "comes into the line"


# For machines -----------------------------------------------------------------------------------


def document(made: Values) -> dict[str, Any]:
    """Everything, changes as shares of speed."""
    return {
        "plan": made.trial.id,
        "line": dict(made.trial.fixed),
        "launches": list(made.counted),
        "better": made.better,
        "notes": list(made.notes),
        "values": [
            {
                "settings": dict(made.trial.sides[side]),
                "cells": _cells(made, made.contrasts.get(side)),
            }
            for side in range(1, len(made.trial.sides))
        ],
    }


def _cells(made: Values, one: Contrast | None) -> list[dict[str, float]]:
    if one is None:
        return []
    return [
        {
            "message_size": int(size),
            "change": math.expm1(one.change[cell]),
            "low": math.expm1(one.low[cell]),
            "high": math.expm1(one.high[cell]),
        }
        for cell, size in enumerate(made.cells["message_size"])
    ]
