# SPDX-License-Identifier: BSD-3-Clause
"""A confirmation in words: each setting, all together, and the line that is recommended."""

from __future__ import annotations

import math
import shlex
from typing import Final

from a2aperf import layouts
from a2aperf.deferred import pandas as pd
from a2aperf.labels import list_text, number_text, range_text
from a2aperf.screening.confirmation import Confirmation, name, said
from a2aperf.screening.trial import assignments
from a2aperf.tables import Column, Table
from a2aperf.terminal import Bold


def lines(made: Confirmation) -> list[str]:
    """For people; ends in what is recommended, or that nothing is."""
    sides = [Bold(heading(made)), *compared(made)]
    side = made.recommended
    if side is None:
        return [*sides, "", Bold(NOTHING), WHY_NOTHING]
    return [
        *sides,
        "",
        f"what it gains, {made.unit}:",
        *gains(made, side).lines(),
        "",
        *doubts(made, side),
        Bold(f"recommended: {gained(made, side)}"),
        f"  {export(made, side)}",
    ]


NOTHING: Final = "nothing is recommended"
WHY_NOTHING: Final = (
    "no side that can be recommended is faster somewhere and slower nowhere "
    "(all together cannot be where one of them alone is slower)"
)


def heading(made: Confirmation) -> str:
    """What it rests on."""
    return (
        f"confirmation: {range_text(made.counted)} new launches of each side; 95 % intervals of "
        "all sides and sizes together"
    )


def compared(made: Confirmation) -> list[str]:
    """A sentence for each side."""
    trial = made.trial
    told = [
        f"{name(trial, side)}: {said(made.against_default(side))}"
        for side in range(1, len(trial.sides))
    ]
    both = made.against_best
    if both is not None:
        told.append(f"all together against {name(trial, 1)} alone: {said(both)}")
    return told


def export(made: Confirmation, side: int) -> str:
    """The line that sets what a side has."""
    chosen = {**made.trial.fixed, **made.trial.sides[side]}
    return "export " + " ".join(shlex.quote(f"{key}={value}") for key, value in chosen.items())


def gained(made: Confirmation, side: int) -> str:
    """What a side that is faster gains, at most where chance is excluded."""
    one, fixed = made.against_default(side), made.trial.fixed
    gain = (made.rates[side] - made.rates[0])[one.faster].max()
    base = f" over {assignments(fixed)} alone" if fixed else ""
    return f"{said(one)}, up to {number_text(gain)} {made.unit}{base}"


def doubts(made: Confirmation, side: int) -> list[str]:
    """What of the line is not confirmed by itself, and what is not in it."""
    trial = made.trial
    told = []
    if made.unproven:
        names = [name(trial, x) for x in made.unproven]
        told.append(
            f"{list_text(names)}: not confirmed alone; what is confirmed is the line as a whole"
        )
    left = [x for x in made.singles if side in made.singles and x != side]
    told += [f"{name(trial, x)}: not in the line, which is better confirmed without" for x in left]
    return told


def gains(made: Confirmation, side: int) -> Table:
    """What the recommended side gains, a row for each cell."""
    one = made.against_default(side)
    before, after = made.rates[0], made.rates[side]
    varied = [
        column
        for column in made.cells
        if column == "message_size" or made.cells[column].nunique(dropna=False) > 1
    ]
    data = made.cells[varied].assign(
        before=before, after=after, gain=after - before, change=one.change, low=one.low,
        high=one.high, is_called=one.faster | one.slower,
    )  # fmt: skip
    columns = [
        *(layouts.shown(str(column)) for column in varied),
        Column("default", number_text, of="before"),
        Column("recommended", number_text, of="after"),
        Column("gain", lambda x: _signed(x["gain"])),
        Column("%", _percent, of="change"),
        Column("95 % interval", lambda x: f"{_percent(x['low'])} to {_percent(x['high'])}"),
        Column("", _doubt, left=True),
    ]
    return Table.of(columns, data, f"What the recommended line gains, {made.unit}.")


def _doubt(row: pd.Series[float]) -> str:
    return "" if row["is_called"] else "not beyond chance"


def _signed(gain: float) -> str:
    return ("+" if gain > 0 else "") + number_text(gain, 2)


def _percent(change: float) -> str:
    return f"{100 * math.expm1(change):+.1f} %"
