# SPDX-License-Identifier: BSD-3-Clause
"""What the operating system and the ports counted in one phase, of all ranks and nodes.

The timed part of each point, the verification before it, or the start of each launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import datasets, layouts, schema, workloads
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text, number_text
from a2aperf.launch import Launch
from a2aperf.moved import Amount, Moved
from a2aperf.results import Results
from a2aperf.schema import Column, Counters
from a2aperf.tables import BLANK, UNKNOWN, Cell, Table, missing
from a2aperf.tables import Column as TableColumn


class Phase(StrEnum):
    """While what was going on."""

    TIMED = "timed"
    VERIFICATION = "verification"
    START = "start"


COLUMNS: Final = {
    one.name: one
    for one in (
        Column("phase", "string", "while what it was counted: timed, verification or start"),
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
        Column(
            "per_second", "float64", "sum / the longest time that a rank, or a node, counted", "1/s"
        ),
    )
}
_INTEGERS: Final = tuple(name for name, one in COLUMNS.items() if one.kind == "int64")
_TIMES: Final = (datasets.WALL_TIME, datasets.NODE_WALL_TIME)
"""In which the others were counted."""
_STATES: Final = ("complete", "failed")
"""Of points that were measured."""
_POINT: Final = ("file", "point", "launch", *layouts.VARYING)
NONE: Final = {
    Phase.TIMED: "no point here has counters: older files and imported ones lack them",
    Phase.VERIFICATION: "no point here has counters of its verification: older files and imported "
    "ones lack them, and rows of MPI",
    Phase.START: "no launch here has counters of its start: older files and imports lack them",
}


def frame(found: Results, phase: Phase = Phase.TIMED) -> pd.DataFrame:
    """A row for each counter of each point, or launch: its place and settings, then `COLUMNS`.

    What is unknown is <NA>. Raises InputError where no file here has counters of that phase.
    """
    rows = list(_of_launches(found) if phase is Phase.START else _of_points(found, phase))
    if not rows:
        raise InputError(NONE[phase])
    made = pd.DataFrame(rows)
    return made.astype(dict.fromkeys(_INTEGERS, "Int64"))


def points(found: Results, phase: Phase) -> Iterator[tuple[dict[Any, Any], pd.Series[Any]]]:
    """The place and the row of each point that was measured."""
    places = layouts.frame(found, names_of_points(found)).to_dict("records")
    for place, (_, row) in zip(places, found.points.iterrows(), strict=True):
        if row["state"] in _STATES:
            yield {**place, "phase": phase.value}, row


def launches(found: Results) -> Iterator[tuple[dict[Any, Any], Launch]]:
    """The place of each launch."""
    files = {str(path): name for name, path in found.files.items()}
    for name, launch in found.launches.items():
        place: dict[Any, Any] = {
            "file": files[str(launch.path)],
            "launch": name,
            "provider": launch.attributes["provider"],
            "nodes": len(launch.nodes),
            "ranks": len(launch.node_of_rank),
            "phase": Phase.START.value,
        }
        yield place, launch


def _of_points(found: Results, phase: Phase) -> Iterator[dict[Any, Any]]:
    for place, row in points(found, phase):
        for one in _of_point(found, row, phase):
            yield {**place, **one}


def _of_launches(found: Results) -> Iterator[dict[Any, Any]]:
    """Nobody knows what was moved when a launch began."""
    for place, launch in launches(found):
        for one in _of(launch.start, launch.nodes, Moved()):
            yield {**place, **one}


def left_out(found: Results, made: pd.DataFrame) -> str:
    """Which points or launches have no row in `made`, in words; empty where all have."""
    if "point" not in made:
        lacking = len(found.launches) - made["launch"].nunique()
        count = count_text(lacking, "launch", "launches")
        return f"left out: {count} without counters of the start" if lacking else ""
    there = set(zip(made["file"], made["point"], strict=True))
    every = found.points
    others = every[
        [place not in there for place in zip(every["file"], every["point"], strict=True)]
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


def _of_point(found: Results, row: pd.Series[Any], phase: Phase) -> Iterator[dict[str, Any]]:
    """What a verification moves is told by nobody."""
    counters = found.counters(str(row["file"]), int(row["point"]))
    if counters is None:
        return
    nodes = found.launches[str(row["launch"])].nodes
    if phase is Phase.VERIFICATION:
        before = counters.verification
        yield from _of(before if before and before.have_any() else None, nodes, Moved())
    else:
        yield from _of(counters, nodes, workloads.of_role(str(row["role"])).moved(found, row))


def _of(counters: Counters | None, nodes: list[str], moved: Moved) -> Iterator[dict[str, Any]]:
    if counters is None:
        return
    of_ranks = _Divisors(moved.during_ranks, _seconds(counters.per_rank.get(datasets.WALL_TIME)))
    for name, values in counters.per_rank.items():
        yield _row(name, "ranks", values, of_ranks, [f"{x}" for x in range(len(values))])
    of_nodes = _Divisors(
        moved.during_nodes, _seconds(counters.per_node.get(datasets.NODE_WALL_TIME))
    )
    for name, values in (*counters.per_node.items(), *counters.ports.items()):
        yield _row(name, "nodes", values, of_nodes, nodes)


@dataclass(frozen=True)
class _Divisors:
    """What went on while it was counted: messages, and the longest time of all."""

    amount: Amount | None
    seconds: float


def _seconds(times: NDArray[np.int64] | None) -> float:
    """Of the rank or node that counted longest; NaN where one of them is not known."""
    if times is None or not len(times) or times.min() < 0 or times.max() == 0:
        return np.nan
    return float(times.max()) / 1e9


def _row(
    name: str, of: str, values: NDArray[np.int64], divisors: _Divisors, names: list[str]
) -> dict[str, Any]:
    """Where one rank or node does not have it, the sum is not of all and is divided by nothing."""
    told = datasets.COUNTERS.get(name)
    there = np.flatnonzero(values >= 0)
    has_all = len(there) == len(values) > 0
    amount = divisors.amount
    is_divided = has_all and not (told and told.is_level)
    by = amount if is_divided and name not in _TIMES else None
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
        "per_second": total / divisors.seconds if is_divided and name not in _TIMES else np.nan,
    }


# As text -----------------------------------------------------------------------------------------

_US: Final = 1e-3  # ns


def table(made: pd.DataFrame, columns: Mapping[str, schema.Column]) -> tuple[Table, str]:
    """The counters that were above 0 at any point or launch, and a note on the others.

    Of a point's settings those are shown that differ, and they stand in its first line.
    """
    is_shown = made.groupby("counter", sort=False)["sum"].transform("max").fillna(0) > 0
    hidden = made[~is_shown]
    one = "point" if "point" in made else "launch"
    of_all = made.groupby(["file", one, "of"], sort=False)["counted"].transform("max")
    is_known = hidden["counted"] == of_all[~is_shown]
    known = is_known.groupby(hidden["counter"]).all()
    absent = hidden["sum"].isna().groupby(hidden["counter"]).all()
    words = [
        f"{count_text(n, 'counter')} {says}"
        for n, says in (
            (int((known & ~absent).sum()), f"with 0 at every {one}"),
            (int((~known & ~absent).sum()), "with 0 where they are known"),
            (int(absent.sum()), f"that no {one} has"),
        )
        if n
    ]
    note = f"left out: {', '.join(words)}; --csv has all" if words else ""
    heads = apart(made, [str(name) for name in made if name not in COLUMNS], columns)
    rows: list[list[Cell]] = []
    last: Any = None
    for row in made[is_shown].to_dict("records"):
        point = (row["file"], row[one])
        cells = [head.cell(row) if point != last else Cell("") for head in heads]
        rows.append(cells + _cells(row))
        last = point
    phase = made["phase"].iloc[0]
    counter = TableColumn(f"counter ({phase})", left=True)
    all_heads = [*heads, counter, *_HEADS]
    if phase != Phase.TIMED:  # nothing is divided
        divided = len(_DIVIDED)
        all_heads, rows = all_heads[:-divided], [row[:-divided] for row in rows]
    return Table(all_heads, rows), note


def apart(
    made: pd.DataFrame, front: list[str], columns: Mapping[str, schema.Column]
) -> list[TableColumn]:
    """Of the columns in front of the counters those that differ, and the size."""
    which = "launch" if made["launch"].nunique() > made["file"].nunique() else "file"
    hidden = {"file", "point", "launch", "phase"} - {which}
    return [
        layouts.shown(name, columns)
        for name in front
        if name == "message_size" or (name not in hidden and made[name].nunique(False) > 1)
    ]


_DIVIDED: Final = (TableColumn("per message"), TableColumn("per GB"), TableColumn("per s"))
_HEADS: Final = (
    TableColumn("of", left=True),
    *(TableColumn(name) for name in ("sum", "min", "max")),
    TableColumn("most at", left=True),
    *_DIVIDED,
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
        _number(row["per_second"], scale),
    ]


def _number(value: Any, scale: float) -> Cell:
    if missing(value):
        return BLANK
    if isinstance(value, float) or scale != 1.0:
        return Cell(number_text(float(value) * scale).replace("\u2009", ""))
    return Cell(f"{value}")
