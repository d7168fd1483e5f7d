# SPDX-License-Identifier: BSD-3-Clause
"""What the operating system and the ports counted at each point, of all ranks and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from a2aperf import datasets, layouts, schema, workloads
from a2aperf.errors import InputError
from a2aperf.labels import count_text, number_text
from a2aperf.launch import Launch
from a2aperf.moved import Amount
from a2aperf.results import Results
from a2aperf.schema import Column, Counters
from a2aperf.tables import BLANK, UNKNOWN, Cell, Table, missing
from a2aperf.tables import Column as Shown

COLUMNS: Final = {
    one.name: one
    for one in (
        Column("messages", "int64", "messages of all ranks while it was counted"),
        Column("bytes", "int64", "payload of these messages", "B"),
        Column("counter", "string", "what was counted"),
        Column(
            "counter_units", "string", "unit of sum, min and max; empty: a number, or a port's own"
        ),
        Column("of", "string", "whether ranks or nodes have it"),
        Column("counted", "int64", "ranks or nodes that have it"),
        Column("sum", "int64", "of all that have it"),
        Column("min", "int64", "of the rank or node with least"),
        Column("max", "int64", "of the rank or node with most"),
        Column("max_at", "string", "the first rank or node with most"),
        Column("per_message", "float64", "sum / messages"),
        Column("per_gb", "float64", "sum / bytes", "1e-9 / B"),
    )
}
_INTEGERS: Final = tuple(name for name, one in COLUMNS.items() if one.kind == "int64")
_STATES: Final = ("complete", "failed")
"""Of points that were measured."""
_POINT: Final = ("file", "point", "launch", *layouts.VARYING)


def frame(found: Results) -> pd.DataFrame:
    """A row for each counter of each point: its place and settings, then `COLUMNS`.

    What is unknown is <NA>. Raises InputError where no file here has counters.
    """
    places = layouts.frame(found, names_of_points(found)).to_dict("records")
    rows = [
        {**place, **one}
        for place, (_, row) in zip(places, found.points.iterrows(), strict=True)
        if row["state"] in _STATES
        for one in _of_point(found, row)
    ]
    if not rows:
        raise InputError("no point here has counters: older files and imported ones lack them")
    made = pd.DataFrame(rows)
    return made.astype(dict.fromkeys(_INTEGERS, "Int64"))


def left_out(found: Results, made: pd.DataFrame) -> str:
    """Which points have no row in `made`, in words; empty where all have."""
    there = set(zip(made["file"], made["point"], strict=True))
    points = found.points
    others = points[
        [place not in there for place in zip(points["file"], points["point"], strict=True)]
    ]
    skipped = int((~others["state"].isin(_STATES)).sum())
    words = [
        f"{count_text(n, 'point')} {says}"
        for n, says in ((skipped, "skipped"), (len(others) - skipped, "without counters"))
        if n
    ]
    return f"left out: {', '.join(words)}" if words else ""


def names_of_points(found: Results) -> list[str]:
    """What tells the points apart; sizes come last."""
    names = dict.fromkeys((*_POINT, *found.choices, "ranks", "message_size"))
    return [name for name in names if name not in found.absent]


def _of_point(found: Results, row: pd.Series[Any]) -> Iterator[dict[str, Any]]:
    counters = found.counters(str(row["file"]), int(row["point"]))
    if counters is None:
        return
    launch = found.launches[str(row["launch"])]
    moved = workloads.of_role(str(row["role"])).moved(found, row)
    for name, values in counters.per_rank.items():
        yield _row(name, "ranks", values, moved.during_ranks, [f"{x}" for x in range(len(values))])
    yield from _of_nodes(counters, launch, moved.during_nodes)


def _of_nodes(
    counters: Counters, launch: Launch, amount: Amount | None
) -> Iterator[dict[str, Any]]:
    for name, values in (("interrupts", counters.interrupts), *counters.ports.items()):
        yield _row(name, "nodes", values, amount, launch.nodes)


def _row(
    name: str, of: str, values: NDArray[np.int64], amount: Amount | None, names: list[str]
) -> dict[str, Any]:
    """Where one rank or node does not have it, the sum is not of all and is divided by nothing."""
    told = datasets.COUNTERS.get(name)
    there = np.flatnonzero(values >= 0)
    has_all = len(there) == len(values) > 0
    by = amount if amount and has_all and not (told and told.is_level) else None
    known = values[there]
    total = int(known.sum()) if len(known) else pd.NA
    most = int(there[np.argmax(known)]) if len(known) else -1
    return {
        "messages": amount.messages if amount else pd.NA,
        "bytes": amount.bytes if amount else pd.NA,
        "counter": name,
        "counter_units": told.units if told else "",
        "of": of,
        "counted": len(known),
        "sum": total,
        "min": int(known.min()) if len(known) else pd.NA,
        "max": int(known.max()) if len(known) else pd.NA,
        "max_at": names[most] if 0 <= most < len(names) else "",
        "per_message": total / by.messages if by and by.messages else np.nan,
        "per_gb": total / by.bytes * 1e9 if by and by.bytes else np.nan,
    }


# As text -----------------------------------------------------------------------------------------

_US: Final = 1e-3  # ns


def table(made: pd.DataFrame, columns: Mapping[str, schema.Column]) -> tuple[Table, str]:
    """The counters that were above 0 at any point, and a note on the others.

    Of a point's settings those are shown that differ, and they stand in its first line.
    """
    is_shown = made.groupby("counter", sort=False)["sum"].transform("max").fillna(0) > 0
    hidden = made[~is_shown]
    of_all = made.groupby(["file", "point", "of"], sort=False)["counted"].transform("max")
    is_known = hidden["counted"] == of_all[~is_shown]
    known = is_known.groupby(hidden["counter"]).all()
    absent = hidden["sum"].isna().groupby(hidden["counter"]).all()
    words = [
        f"{count_text(n, 'counter')} {says}"
        for n, says in (
            (int((known & ~absent).sum()), "with 0 at every point"),
            (int((~known & ~absent).sum()), "with 0 where they are known"),
            (int(absent.sum()), "that no point has"),
        )
        if n
    ]
    note = f"left out: {', '.join(words)}; --csv has all" if words else ""
    front = [name for name in made if name not in COLUMNS]
    which = "launch" if made["launch"].nunique() > made["file"].nunique() else "file"
    apart = [
        name
        for name in front
        if name == "message_size"
        or (name not in {"file", "point", "launch"} - {which} and made[name].nunique(False) > 1)
    ]
    heads = [layouts.shown(str(name), columns) for name in apart]
    rows: list[list[Cell]] = []
    last: Any = None
    for row in made[is_shown].to_dict("records"):
        point = (row["file"], row["point"])
        cells = [head.cell(row) if point != last else Cell("") for head in heads]
        rows.append(cells + _cells(row))
        last = point
    return Table([*heads, *_HEADS], rows), note


_HEADS: Final = (
    Shown("counter", left=True),
    Shown("of", left=True),
    *(Shown(name) for name in ("sum", "min", "max")),
    Shown("most at", left=True),
    Shown("per message"),
    Shown("per GB"),
)


def _cells(row: Mapping[Any, Any]) -> list[Cell]:
    is_time = row["counter_units"] == "ns"
    scale = _US if is_time else 1.0
    name = f"{row['counter'].replace('_', ' ')} µs" if is_time else row["counter"]
    numbers = [_number(row[key], scale) for key in ("sum", "min", "max")]
    apart = row["max_at"] if not missing(row["min"]) and row["min"] != row["max"] else UNKNOWN
    return [
        Cell(name),
        Cell(f"{row['counted']} {row['of'] if row['counted'] != 1 else row['of'][:-1]}"),
        *numbers,
        Cell(apart),
        _number(row["per_message"], scale),
        _number(row["per_gb"], scale),
    ]


def _number(value: Any, scale: float) -> Cell:
    if missing(value):
        return BLANK
    if isinstance(value, float) or scale != 1.0:
        return Cell(number_text(float(value) * scale).replace("\u2009", ""))
    return Cell(f"{value}")
