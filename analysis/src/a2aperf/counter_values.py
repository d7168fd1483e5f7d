# SPDX-License-Identifier: BSD-3-Clause
"""What each counter had counted before a point's timed ops and after them, and by how much it rose.

The difference is of the ops alone. Where these came in several blocks a counter rises between
blocks too, and the value after is then more than the value before and the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import counter_table, datasets, schema
from a2aperf.counter_table import NONE, Phase
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.schema import Column, Counters
from a2aperf.tables import BLANK, UNKNOWN, Cell, Table
from a2aperf.tables import Column as TableColumn

COLUMNS: Final = {
    one.name: one
    for one in (
        counter_table.COLUMNS["phase"],
        counter_table.COLUMNS["counter"],
        Column(
            "counter_units",
            "string",
            "unit of before, after and difference; empty: a number, or a port's own",
        ),
        counter_table.COLUMNS["of"],
        Column("rank", "int32", "the rank that has it; empty: its node has"),
        Column("node", "string", "the node that has it, or that its rank is on"),
        Column("before", "int64", "read just before the first of the timed ops"),
        Column("after", "int64", "read just after the last"),
        Column(
            "difference",
            "int64",
            "counted during the ops, or after - before of what is there at one moment",
        ),
        Column(
            "cpus",
            "string",
            "of threads: the CPUs that each of them might use after the point, with ; between "
            "threads",
        ),
    )
}
_THREADS: Final = "threads"
_INTEGERS: Final = ("rank", "before", "after", "difference")
_LACKING: Final = "without values before and after: older files and imports have the difference"

_WORDS: Final = {Phase.VERIFICATION: "verification", Phase.START: "start of a launch"}


@dataclass(frozen=True)
class Values:
    """Of one counter on each rank or node, −1: unknown; `changed` says where a difference is.

    `cpus` are those of the threads of each rank, of threads alone.
    """

    name: str
    of: str
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    difference: NDArray[np.int64]
    changed: NDArray[np.bool_]
    cpus: tuple[str, ...] = ()

    @property
    def units(self) -> str:
        """Of its values; of a port, or of numbers: empty."""
        told = datasets.VALUES_BEFORE.get(self.name) or datasets.COUNTERS.get(self.name)
        return told.units if told else ""

    @property
    def is_level(self) -> bool:
        """There at one moment, and not counted."""
        return _is_level(self.name)

    @property
    def read(self) -> NDArray[np.bool_]:
        """Where it was read before and after."""
        return (self.before >= 0) & (self.after >= 0)

    @property
    def three(self) -> tuple[tuple[NDArray[np.int64], NDArray[np.bool_]], ...]:
        """Before, after and difference, and where each is known."""
        known = (self.before >= 0, self.after >= 0, self.changed)
        return tuple(zip((self.before, self.after, self.difference), known, strict=True))

    @property
    def has_more(self) -> bool:
        """Whether it changed by something else than the difference between the two moments."""
        both = self.read & self.changed
        return bool((self.after - self.before != self.difference)[both].any())


def of_counters(counters: Counters) -> Iterator[Values]:
    """Of all that was counted, in the order of the other table; levels as ranks have them."""
    of_rank = [*counters.per_rank, *(counters.before.per_rank if counters.before else ())]
    of_node = [*counters.per_node, *counters.ports]
    for of, names in (("ranks", of_rank), ("nodes", of_node)):
        for name in dict.fromkeys(names):
            three = (counters.before, counters.after, counters)
            made = _values(name, of, *(_in(one, name) for one in three))
            yield replace(made, cpus=tuple(counters.thread_affinity)) if name == _THREADS else made


def _is_level(name: str) -> bool:
    told = datasets.VALUES_BEFORE.get(name)
    return bool(told and told.is_level)


def _in(counters: Counters | None, name: str) -> NDArray[np.int64] | None:
    if counters is None:
        return None
    return {**counters.ports, **counters.per_node, **counters.per_rank}.get(name)


def _values(
    name: str,
    of: str,
    before: NDArray[np.int64] | None,
    after: NDArray[np.int64] | None,
    counted: NDArray[np.int64] | None,
) -> Values:
    """A level's value after the point is what else is a difference."""
    is_level = _is_level(name)
    if is_level and after is None:
        after, counted = counted, None
    length = next(len(one) for one in (counted, after, before) if one is not None)
    unknown = np.full(length, schema.UNKNOWN, np.int64)
    before, after = (unknown if one is None else one for one in (before, after))
    if is_level:
        changed = (before >= 0) & (after >= 0)
        return Values(name, of, before, after, np.where(changed, after - before, 0), changed)
    counted = unknown if counted is None else counted
    return Values(name, of, before, after, counted, counted >= 0)


def _all(found: Results, phase: Phase) -> Iterator[tuple[dict[Any, Any], Launch, Counters | None]]:
    """The place of each point, or launch, and what it has counted."""
    if phase is Phase.START:
        for place, launch in counter_table.launches(found):
            yield place, launch, launch.start
        return
    for place, row in counter_table.points(found, phase):
        counters = found.counters(str(row["file"]), int(row["point"]))
        if counters and phase is Phase.VERIFICATION:
            own = counters.verification
            counters = own if own and own.have_any() else None
        yield place, found.launches[str(row["launch"])], counters


def _notes(
    found: Results, phase: Phase, told: list[tuple[dict[Any, Any], list[Values]]]
) -> list[str]:
    """What is left out, and what the values do not say."""
    left_out = counter_table.left_out(found, pd.DataFrame([place for place, _ in told]))
    notes = [left_out] if left_out else []
    if phase is not Phase.TIMED:
        return [
            *notes,
            f"of the {_WORDS[phase]} there are differences alone: values are read before and after "
            "the timed ops",
        ]
    lacking = sum(not any(one.read.any() for one in values) for _, values in told)
    if lacking:
        notes.append(f"{count_text(lacking, 'point')} {_LACKING}")
    more = sum(any(one.has_more for one in values) for _, values in told)
    if more:
        notes.append(
            f"at {count_text(more, 'point')} the value after is not before + difference: what "
            "happened between blocks of ops is in no difference"
        )
    return notes


# For machines ------------------------------------------------------------------------------------


def frame(found: Results, phase: Phase = Phase.TIMED) -> tuple[pd.DataFrame, list[str]]:
    """A row for each counter of each rank and node at each point, or launch; and notes.

    Its place and settings, then `COLUMNS`. What is unknown is <NA>. Raises InputError where no file
    here has counters of that phase.
    """
    told: list[tuple[dict[Any, Any], list[Values]]] = []
    parts: list[dict[str, Any]] = []
    at: list[int] = []  # the place of each part
    for place, launch, counters in _all(found, phase):
        if counters is None:
            continue
        values = list(of_counters(counters))
        at += [len(told)] * len(values)
        parts += [_part(launch, one) for one in values]
        told.append((place, values))
    if not parts:
        raise InputError(NONE[phase])
    counts = [len(one["rank"]) for one in parts]
    # Whole numbers stay such beside places that have none.
    places = pd.DataFrame([place for place, _ in told], dtype=object)
    front = places.iloc[np.repeat(at, counts)].reset_index(drop=True)
    made = {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
    known = {name: made.pop(f"{name}_known") for name in _INTEGERS}
    back = pd.DataFrame(made)
    for name in _INTEGERS:
        back[name] = back[name].astype("Int64").mask(~known[name])
    return pd.concat([front, back], axis=1), _notes(found, phase, told)


def _part(launch: Launch, one: Values) -> dict[str, Any]:
    """Columns of a counter, an entry for each rank or node, and where whole numbers are known."""
    count = len(one.before)
    ranks = np.arange(count)
    is_of_rank = one.of == "ranks"
    nodes = np.array(launch.nodes, dtype=object)
    words = {"counter": one.name, "counter_units": one.units, "of": one.of}
    cpus = np.array(one.cpus or [""] * count, dtype=object)
    return {
        **{name: np.full(count, word, dtype=object) for name, word in words.items()},
        "rank": ranks,
        "node": nodes[np.asarray(launch.node_of_rank)[ranks] if is_of_rank else ranks],
        "before": one.before,
        "after": one.after,
        "difference": one.difference,
        "cpus": cpus,
        "rank_known": np.full(count, is_of_rank),
        "before_known": one.before >= 0,
        "after_known": one.after >= 0,
        "difference_known": one.changed,
    }


# As text -----------------------------------------------------------------------------------------


def table(found: Results, phase: Phase = Phase.TIMED) -> tuple[Table, list[str]]:
    """The counters that changed at any point or launch, and levels; and notes.

    Of a point's settings those are shown that differ, and they stand in its first line.
    """
    told: list[tuple[dict[Any, Any], list[Values]]] = []
    launches: list[Launch] = []
    for place, launch, counters in _all(found, phase):
        if counters is not None:
            told.append((place, list(of_counters(counters))))
            launches.append(launch)
    if not told:
        raise InputError(NONE[phase])
    shown = {one.name for _, values in told for one in values if _is_shown(one)}
    places = pd.DataFrame([place for place, _ in told])
    heads = counter_table.apart(places, [str(name) for name in places], found.columns)
    rows: list[list[Cell]] = []
    for (place, values), launch in zip(told, launches, strict=True):
        front = [head.cell(place) for head in heads]
        for one in (one for one in values if one.name in shown):
            rows.append([*front, *_cells(one, launch)])
            front = [Cell("") for _ in heads]
    notes = _notes(found, phase, told)
    if hidden := len({one.name for _, values in told for one in values}) - len(shown):
        what = "point" if "point" in places else "launch"
        notes.append(
            f"left out: {count_text(hidden, 'counter')} without a change at any {what}; --csv has "
            "all"
        )
    counter = TableColumn(f"counter ({phase})", left=True)
    return Table([*heads, counter, *_HEADS], rows), notes


_HEADS: Final = (
    TableColumn("of", left=True),
    TableColumn("before → after (difference)", left=True),
    TableColumn("most change at", left=True),
    TableColumn("before → after (difference)", left=True),
)


def _is_shown(one: Values) -> bool:
    if one.is_level:
        return bool((one.after >= 0).any())
    # Also what was reset, and what changed between blocks of ops alone.
    return bool(one.difference[one.changed].any() or (one.before != one.after)[one.read].any())


def _cells(one: Values, launch: Launch) -> list[Cell]:
    """Of all ranks or nodes of which as much is known as of any, and of the one that changed most.

    Frequencies add up to nothing: their mean.
    """
    taken = next((mask for mask in _as_known(one) if mask.any()), None)
    label = (
        f"{one.name.replace('_', ' ')} {_UNITS.get(one.units, one.units)}"
        if one.units
        else one.name
    )
    if taken is None:
        return [Cell(label), Cell(f"0 {one.of}"), BLANK, Cell(UNKNOWN), BLANK]
    count = int(taken.sum())
    of = f"{count} {one.of if count != 1 else one.of[:-1]}"
    if count < len(taken):
        of = f"{count} of {len(taken)} {one.of}"
    is_mean = one.name == datasets.CPU_FREQUENCY and count > 1
    every = [
        _total(values[taken], is_mean) if known[taken].all() else None
        for values, known in one.three
    ]
    most = _most(one, taken)
    own = [
        int(values[most]) if most is not None and known[most] else None
        for values, known in one.three
    ]
    where = UNKNOWN
    if most is not None:
        where = f"{most}" if one.of == "ranks" else launch.nodes[most]
    return [
        Cell(label),
        Cell(f"{of}, mean" if is_mean else of),
        _told(one, every),
        Cell(where),
        _told(one, own) if most is not None else BLANK,
    ]


def _as_known(one: Values) -> Iterable[NDArray[np.bool_]]:
    """Where all of it is known, where the difference is, where both values are, where any is."""
    return one.read & one.changed, one.changed, one.read, (one.before >= 0) | (one.after >= 0)


def _total(values: NDArray[np.int64], is_mean: bool) -> int:
    of_all = [int(value) for value in values]  # which may not fit in 64 bits together
    return round(sum(of_all) / len(of_all)) if is_mean else sum(of_all)


def _most(one: Values, taken: NDArray[np.bool_]) -> int | None:
    """The first rank or node that changed most; None where all changed alike."""
    where = np.flatnonzero(taken & one.changed)
    changes = np.abs(one.difference[where])
    if not len(where) or (one.difference[where] == one.difference[where][0]).all():
        return None
    return int(where[np.argmax(changes)])


_UNITS: Final = {"ns": "µs"}


def _told(one: Values, three: list[int | None]) -> Cell:
    """No figure is rounded: a small difference of large values would be lost."""
    before, after, difference = (
        None if value is None else _exact(value, one.units == "ns") for value in three
    )
    if one.is_level and difference is not None and not difference.startswith(("-", "0")):
        difference = f"+{difference}"
    if before is None and after is None:
        return BLANK if difference is None else Cell(f"({difference})")
    return Cell(f"{before or UNKNOWN} → {after or UNKNOWN} ({difference or UNKNOWN})")


def _exact(value: int, is_time: bool) -> str:
    if not is_time:
        return f"{value}"
    whole, rest = divmod(abs(value), 1000)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}.{rest:03d}" if rest else f"{sign}{whole}"
