# SPDX-License-Identifier: BSD-3-Clause
"""What a confirmation comes to: which settings are recommended, and what they gain.

Every figure is of the confirmation's own launches, none of the screening's, whose largest estimates
are too large as a rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import scaling, sides
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text, list_text, number_text
from a2aperf.results import Results
from a2aperf.screening import contrast, launches
from a2aperf.screening.contrast import Contrast, Contrasts
from a2aperf.screening.launches import Taken
from a2aperf.screening.plan import Plan
from a2aperf.screening.trial import Trial, assignments

Floats = NDArray[np.float64]

_UNITS: Final = {"gbps_node_net": "Gbit/s per node", "gbps_node_total": "Gbit/s per node"}


@dataclass(frozen=True)
class Confirmation:
    """The sides of a trial against each other, at every cell of `cells`.

    `rates` [sides, cells] in `unit`, from the geometric mean of the launches' median op times;
    `counted` launches of each side.
    """

    trial: Trial
    contrasts: Contrasts
    cells: pd.DataFrame
    rates: Floats
    unit: str
    counted: tuple[int, ...]
    notes: tuple[str, ...]

    def against_default(self, side: int) -> Contrast:
        """Of a side that has settings."""
        return self.contrasts.each[side - 1]

    @property
    def against_best(self) -> Contrast | None:
        """All settings together against the screening's largest alone; None: there is one only."""
        return self.contrasts.each[-1] if self.trial.together > 1 else None

    @property
    def singles(self) -> range:
        """The sides with one setting."""
        return range(1, len(self.trial.settings) + 1)

    @property
    def recommended(self) -> int | None:
        """The side that is faster somewhere and slower nowhere than the default.

        All together, unless one of them is slower somewhere, or the first alone faster than all;
        else the first of the single ones. Of two what the second does beside the first is known:
        where that is faster, it does not matter what it does alone.
        """
        both = self.against_best
        alone = any(self.against_default(side).slower.any() for side in self.singles)
        is_made_up = both is not None and len(self.singles) == 2 and bool(both.faster.any())
        is_spoilt = both is not None and (both.slower.any() or (alone and not is_made_up))
        order = [*([] if is_spoilt else [self.trial.together]), *self.singles]
        return next((side for side in order if wins(self.against_default(side))), None)

    @property
    def unproven(self) -> list[int]:
        """Single settings of the recommended side that are not confirmed by themselves."""
        if self.recommended is None or self.recommended in self.singles:
            return []
        return [side for side in self.singles if not wins(self.against_default(side))]


def wins(one: Contrast) -> bool:
    """Faster somewhere and slower nowhere."""
    return bool(one.faster.any() and not one.slower.any())


def pairs(together: int) -> list[tuple[int, int]]:
    """Sides that are compared: each with the default, and all together with the first alone."""
    each = [(side, 0) for side in range(1, together + 1)]
    return each + ([(together, 1)] if together > 1 else [])


def judge(found: Results, plans: Sequence[Plan], trial: Trial, own: Sequence[str]) -> Confirmation:
    """What the launches of a trial say, after these rounds; InputError where they tell nothing.

    Launches with the labels `own` belong to the screening, too.
    """
    count = launched(found, plans, trial, "the confirmation", own)
    made = contrast.contrasts(count.y, count.side, count.block, pairs(trial.together))
    column = scaling.judged_by(count.taken.used.points)
    return Confirmation(
        trial,
        made,
        count.taken.cells,
        _rates(count.taken, column, count.side, len(trial.sides)),
        _UNITS.get(column, "Gbit/s per rank"),
        count.a_side,
        count.notes,
    )


@dataclass(frozen=True)
class Launched:
    """The launches of a trial that count: `y` log speed [launches, cells], `side`, `block`."""

    taken: Taken
    y: Floats
    side: NDArray[np.intp]
    block: NDArray[np.intp]
    a_side: tuple[int, ...]
    notes: tuple[str, ...]


def launched(
    found: Results, plans: Sequence[Plan], trial: Trial, what: str, own: Sequence[str]
) -> Launched:
    """Of `what` this trial is; InputError where none counts. `own` labels are no strangers'."""
    notes: list[str] = []
    wanted = {trial.label(i): trial.environment(i) for i in range(trial.launches)}
    names = [*plans[0].fixed, *plans[0].every]
    taken = launches.take(found, wanted, names, own, notes)
    rows = np.array([taken.rows[str(x)] for x in taken.times.index], dtype=np.intp)
    side = np.array([trial.order[row] for row in rows], dtype=np.intp)
    lost = trial.launches - len(rows)
    if lost:
        notes.append(launches.missing(lost, trial.launches, what=f" of {what}"))
    notes += launches.beside(taken.used, names)
    return Launched(
        taken,
        -np.log(taken.times.to_numpy(dtype=np.float64)),
        side,
        np.array([trial.block(int(row)) for row in rows], dtype=np.intp),
        tuple(int((side == x).sum()) for x in range(len(trial.sides))),
        tuple(dict.fromkeys(notes)),
    )


def _rates(taken: Taken, column: str, side: NDArray[np.intp], count: int) -> Floats:
    """[sides, cells]: what a cell moves, the same in all launches, over the side's time."""
    points = taken.used.points
    shape = [name for name in sides.SHAPE if name in taken.cells]
    moved = points[column].astype("float64") * taken.used.judged.time(points).astype("float64")
    amount = points[shape].assign(moved=moved).groupby(shape, dropna=False, as_index=False).median()
    of_cell = taken.cells[shape].merge(amount, how="left", on=shape)["moved"].to_numpy(dtype=float)
    times = np.log(taken.times.to_numpy(dtype=np.float64))
    means = [np.exp(times[side == one].mean(axis=0)) for one in range(count)]
    return np.array([of_cell / mean for mean in means])


def pending(trial: Trial, why: InputError) -> list[str]:
    """In words, where there is no verdict yet."""
    return [f"to be confirmed: {list_text(trial.settings, 8)}; not yet: {why}"]


# For machines -----------------------------------------------------------------------------------


def document(made: Confirmation) -> dict[str, Any]:
    """Everything, changes as shares of speed."""
    trial = made.trial
    chosen = made.recommended
    both = made.against_best
    return {
        "plan": trial.id,
        "launches_a_side": list(made.counted),
        "unit": made.unit,
        "contrasts": [
            *(
                _contrast(made, made.against_default(side), side, 0)
                for side in range(1, len(trial.sides))
            ),
            *([_contrast(made, both, trial.together, 1)] if both is not None else []),
        ],
        "recommended": None if chosen is None else {**trial.fixed, **trial.sides[chosen]},
        "not_confirmed_alone": [dict(trial.sides[side]) for side in made.unproven],
        "notes": list(made.notes),
    }


def _contrast(made: Confirmation, one: Contrast, side: int, other: int) -> dict[str, Any]:
    trial = made.trial
    return {
        "settings": dict(trial.sides[side]),
        "against": dict(trial.sides[other]),
        "cells": [
            {
                "message_size": int(made.cells["message_size"].iloc[cell]),
                "change": math.expm1(one.change[cell]),
                "low": math.expm1(one.low[cell]),
                "high": math.expm1(one.high[cell]),
                "rate": float(made.rates[side, cell]),
                "rate_against": float(made.rates[other, cell]),
            }
            for cell in range(len(made.cells))
        ],
    }


# In words ---------------------------------------------------------------------------------------


def said(one: Contrast) -> str:
    """`faster at 5 of 7 sizes, by 4.1 % to 6.0 %`; or what is excluded where nothing is called."""
    count = len(one.change)
    at = f" of {count_text(count, 'size')}" if count > 1 else ""
    told = []
    for word, called in (("faster", one.faster), ("slower", one.slower)):
        if called.any():
            changes = np.abs(np.expm1(one.change[called]))
            places = f" at {int(called.sum())}{at}" if at else ""
            told.append(f"{word}{places}, by {_span(changes)}")
    if told:
        return "; ".join(told)
    most = float(np.abs(np.expm1([one.low, one.high])).max())
    return f"no change beyond chance; excluded is one beyond ±{number_text(100 * most, 2)} %"


def _span(changes: Sequence[float] | Floats) -> str:
    texts = [f"{100 * x:.1f} %" for x in (min(changes), max(changes))]
    return " to ".join(dict.fromkeys(texts))


def name(trial: Trial, side: int) -> str:
    """Of a side, in words."""
    return assignments(trial.sides[side]) or "none of them"
