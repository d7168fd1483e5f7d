# SPDX-License-Identifier: BSD-3-Clause
"""A confirmation in words: each setting, all together, and the line that is recommended."""

from __future__ import annotations

import math
import shlex

import pandas as pd

from a2aperf import layouts
from a2aperf.labels import list_text, number_text, range_text
from a2aperf.screening.confirmation import Confirmation, name, said
from a2aperf.screening.trial import assignments
from a2aperf.tables import Column, Table
from a2aperf.terminal import Bold


def lines(made: Confirmation) -> list[str]:
    """For people; ends in what is recommended, or that nothing is."""
    return [*_sides(made), "", *_verdict(made)]


def _sides(made: Confirmation) -> list[str]:
    trial = made.trial
    told = [
        Bold(f"confirmation: {range_text(made.counted)} new launches of each side; 95 % intervals "
             "of all sides and sizes together"),
        *(
            f"{name(trial, side)}: {said(made, made.against_default(side))}"
            for side in range(1, len(trial.sides))
        ),
    ]  # fmt: skip
    both = made.against_best
    if both is not None:
        told.append(f"all together against {name(trial, 1)} alone: {said(made, both)}")
    return told


def _verdict(made: Confirmation) -> list[str]:
    trial, side = made.trial, made.recommended
    if side is None:
        return [Bold("nothing is recommended"), "no side is faster somewhere and slower nowhere"]
    chosen = {**trial.fixed, **trial.sides[side]}
    words = " ".join(shlex.quote(f"{key}={value}") for key, value in chosen.items())
    one = made.against_default(side)
    gain = (made.rates[side] - made.rates[0])[one.faster].max()
    base = f" over {assignments(trial.fixed)} alone" if trial.fixed else ""
    return [
        f"what it gains, {made.unit}:",
        *_table(made, side).lines(),
        "",
        *_doubts(made, side),
        Bold(f"recommended: {said(made, one)}, up to {number_text(gain)} {made.unit}{base}"),
        f"  export {words}",
    ]


def _doubts(made: Confirmation, side: int) -> list[str]:
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


def _table(made: Confirmation, side: int) -> Table:
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
    return Table.of(columns, data)


def _doubt(row: pd.Series[float]) -> str:
    return "" if row["is_called"] else "not beyond chance"


def _signed(gain: float) -> str:
    return ("+" if gain > 0 else "") + number_text(gain, 2)


def _percent(change: float) -> str:
    return f"{100 * math.expm1(change):+.1f} %"
