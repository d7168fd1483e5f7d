# SPDX-License-Identifier: BSD-3-Clause
"""The datasets of a file: what each is, its unit, its scales, and what a file lacks of it.

The writer describes them by these tables and `check` asks for what they say (docs/file-format.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import making, schema, segments, strict


@dataclass(frozen=True)
class Described:
    """One dataset; `scales` names the dimension scales, `point` being that of the points."""

    long_name: str
    scales: tuple[str, ...]
    units: str = ""
    has_unknown: bool = False
    """Integers in which −1 is told to be "unknown" by the attribute `_FillValue`."""
    better: str = ""
    """The better side: higher, lower, or empty where it is not said."""
    is_level: bool = False
    """What was there at one moment, and no change of it."""
    is_text: bool = False
    length: int = 0
    """Bytes of a text that a launch puts in place as it measures; 0: it may have any length."""
    is_late: bool = False
    """A text that files of older programs lack: blank there."""

    def read(self, group: h5py.Group, name: str) -> NDArray[Any]:
        """That dataset of the group, as it is described."""
        if self.is_late and name not in group:
            return np.full(strict.array(group[self.scales[0]], 1).size, "", dtype=object)
        if self.is_text:
            return np.array(strict.texts(group[name]), dtype=object)
        return strict.array(group[name], len(self.scales) or 1)


_OP = ("point", "attempt", "rank")
_OF_RANK, _OF_NODE = ("point", "rank"), ("point", "node")

RAW = {
    "begin": Described("begin of the rank's op, from the op's start", _OP, "ns"),
    "send_done": Described("all sends of the rank are done, from the op's start", _OP, "ns"),
    "recv_done": Described("all arrivals at the rank are seen, from the op's start", _OP, "ns"),
    "start": Described("start of the op, from the segment's time_origin", _OP[:2], "ns"),
    "valid": Described("1 valid, 0 a rank was late, or the op time is not above 0", _OP[:2]),
    "exit": Described("the rank left the barrier, from `start`; 0 with a clock start", _OP, "ns"),
    "arrival": Described(
        "the message is seen at its destination, from the op's start", (*_OP, "source"), "ns"
    ),
}
_TIMED = {
    "voluntary_switches": Described("voluntary context switches", _OF_RANK),
    "involuntary_switches": Described("involuntary context switches", _OF_RANK),
    "minor_faults": Described("page reclaims", _OF_RANK),
    "major_faults": Described("page faults with I/O", _OF_RANK),
    "user_time": Described("CPU time in user mode", _OF_RANK, "ns"),
    "system_time": Described("CPU time in the kernel", _OF_RANK, "ns"),
    "wall_time": Described("time in which the rank was counted", _OF_RANK, "ns"),
    "threads": Described("threads of the process after the point", _OF_RANK, is_level=True),
    "resident_memory": Described(
        "resident memory of the process after the point", _OF_RANK, "B", is_level=True
    ),
    "locked_memory": Described(
        "locked or pinned memory of the process after the point", _OF_RANK, "B", is_level=True
    ),
    "thread_affinity": Described("CPU list of every thread", _OF_RANK),
    "interrupts": Described("interrupts of the fabric's driver on the node", _OF_NODE),
    "softirqs_net_rx": Described("softirqs NET_RX of all interfaces of the node", _OF_NODE),
    "softirqs_net_tx": Described("softirqs NET_TX of all interfaces of the node", _OF_NODE),
    "node_user_time": Described("CPU time of all CPUs of the node in user mode", _OF_NODE, "ns"),
    "node_system_time": Described("CPU time of all CPUs of the node in the kernel", _OF_NODE, "ns"),
    "node_irq_time": Described("CPU time of all CPUs of the node for interrupts", _OF_NODE, "ns"),
    "node_softirq_time": Described("CPU time of all CPUs of the node for softirqs", _OF_NODE, "ns"),
    "node_steal_time": Described(
        "time that a hypervisor took from all CPUs of the node", _OF_NODE, "ns"
    ),
    "node_idle_time": Described(
        "time in which CPUs of the node were idle, of all together", _OF_NODE, "ns"
    ),
    "node_wall_time": Described("time in which the node was counted", _OF_NODE, "ns"),
    "port": Described("change of each of port_names on the node", (*_OF_NODE, "port_index")),
    "port_names": Described("", ("port_index",)),
}

_LISTS = ("thread_affinity",)
"""Texts; all else in /counters is counted."""
COUNTED_PER_RANK = tuple(
    name for name, one in _TIMED.items() if one.scales == _OF_RANK and name not in _LISTS
)
MEMORY = ("resident_memory", "locked_memory")
"""Of ranks, after the point."""
WALL_TIME, NODE_WALL_TIME = "wall_time", "node_wall_time"
"""In which the others of ranks, and those of nodes, were counted."""
COUNTED_PER_NODE = tuple(name for name, one in _TIMED.items() if one.scales == _OF_NODE)
CAME_LATER = frozenset((*MEMORY, WALL_TIME, *COUNTED_PER_NODE[1:]))
"""Older files lack some, or all."""
CHANGED_PER_RANK = tuple(name for name in COUNTED_PER_RANK if not _TIMED[name].is_level)
VERIFICATION = "verification_"
"""Before the name of a counter: what the verification of the point counted."""
TIMED = {name: _TIMED[name] for name in (*COUNTED_PER_RANK, *COUNTED_PER_NODE, "port")}
"""What is counted over the timed ops."""
CHANGES = {name: one for name, one in TIMED.items() if not one.is_level}
"""What is counted of every phase."""
BEFORE, AFTER = "before_", "after_"
"""Before the name of a counter: what it had counted just before the first of the timed ops, and
just after the last; a column of `VALUES_OF_RANKS` or `VALUES_OF_NODES`."""
CPU_FREQUENCY = "cpu_frequency"
_CPU = {
    CPU_FREQUENCY: Described(
        "frequency of the CPU that the rank was on", _OF_RANK, "kHz", is_level=True
    )
}
_CLOCKS = (WALL_TIME, NODE_WALL_TIME)
"""Counted from no moment that means anything."""
LEVELS = {
    name: replace(one, long_name=one.long_name.removesuffix(" after the point"))
    for name, one in TIMED.items()
    if one.is_level
}
"""What is there at one moment. After the point it has its own name."""
VALUES = {name: one for name, one in CHANGES.items() if name not in _CLOCKS}
VALUES_AFTER = {**VALUES, **_CPU}
VALUES_BEFORE = {**VALUES, **LEVELS, **_CPU}
"""What has a value, and not only a change; in the program's order, so that a copy has its sums."""
VALUES_OF_RANKS, VALUES_OF_NODES = "values_of_ranks", "values_of_nodes"
"""Datasets of them all: one for each would take 3.5 kB, whatever is in it."""
COLUMNS = "counters"
"""The attribute that names their columns, apart by spaces."""
_OF_VALUES = {
    VALUES_OF_RANKS: Described(
        "values of each of counters just before and just after the point", (*_OF_RANK, "rank_value")
    ),
    VALUES_OF_NODES: Described(
        "values of each of counters, port being all of port_names, just before and just after the "
        "point",
        (*_OF_NODE, "node_value"),
    ),
}
COUNTERS = {
    **_TIMED,
    **{
        VERIFICATION + name: replace(one, long_name=f"{one.long_name}, during the verification")
        for name, one in CHANGES.items()
    },
    **_OF_VALUES,
}

Tables = Mapping[str, Described]
_GROUPS: Mapping[str, Tables] = {"raw": RAW, "counters": COUNTERS}


def mark_unknown(dataset: h5py.Dataset) -> None:
    """Tell readers that −1 stands for "unknown"."""
    making.attribute(dataset, "_FillValue", dataset.dtype.type(schema.UNKNOWN))


def create_scale(group: h5py.Group, name: str, length: int) -> None:
    """The dimension scale 0 … length − 1."""
    scale = group.create_dataset(name, data=np.arange(length, dtype=np.int32))
    scale.make_scale(name)


def describe(group: h5py.Group, tables: Tables) -> None:
    """Attributes and scales of the datasets that are there; the scales are there already."""
    for name, table in tables.items():
        if name not in group:
            continue
        dataset = group[name]
        if table.long_name:
            making.attribute(dataset, "long_name", table.long_name)
        if table.units:
            making.attribute(dataset, "units", table.units)
        if table.better:
            making.attribute(dataset, "better", table.better)
        if table.has_unknown:
            mark_unknown(dataset)
        for axis, scale in enumerate(table.scales):
            dataset.dims[axis].attach_scale(
                group.file["point"] if scale == "point" else group[scale]
            )


def create_texts(
    group: h5py.Group, name: str, values: NDArray[Any], length: int = 0
) -> h5py.Dataset:
    """Texts of so many bytes (0: of any), cut where they are longer, and then with `…` at the end.

    What a launch puts in place keeps its length in copies: the program resumes no other.
    """
    if not length:
        return group.create_dataset(name, data=values, dtype=h5py.string_dtype())
    kind = h5py.string_dtype("utf-8", length)
    texts = np.array([_cut(str(text), length) for text in values.flat], kind)
    return group.create_dataset(name, data=texts.reshape(values.shape), dtype=kind)


def _cut(text: str, length: int) -> bytes:
    whole, end = text.encode(), "…".encode()
    if len(whole) <= length:
        return whole
    return whole[: length - len(end)].decode(errors="ignore").encode() + end


def write_group(group: h5py.Group, tables: Tables, arrays: Mapping[str, NDArray[Any]]) -> None:
    """The datasets of a group with their attributes and scales; a scale may be one of them."""
    for name, values in arrays.items():
        if values.dtype.kind in "OU":
            create_texts(group, name, values, tables[name].length if name in tables else 0)
        else:
            group.create_dataset(name, data=values)
    for name, table in tables.items():
        for scale, length in zip(table.scales, arrays[name].shape, strict=False):
            if scale not in group:
                create_scale(group, scale, length)
            elif not group[scale].is_scale:
                group[scale].make_scale(scale)
    describe(group, tables)


def columns_lacking(file: h5py.File, figures: frozenset[str]) -> Iterator[str]:
    """What the columns of the points do not say, or not as they should, in words.

    `figures` are those that its workloads have beside the columns of all.
    """
    not_of_all = schema.RATES | schema.TIMES
    for column in schema.COLUMNS:
        if column.name not in file:
            if not column.late and (column.name in figures or column.name not in not_of_all):
                yield f"column {column.name} is missing"
            continue
        dataset = file[column.name]
        kind = "O" if column.kind == "string" else np.dtype(column.kind).str[1:]
        found = "O" if dataset.dtype.kind in "OS" else dataset.dtype.str[1:]
        if found != kind:
            yield f"column {column.name} is {dataset.dtype}, not {column.kind}"
        if strict.text(dataset.attrs.get("units", "")) != column.units:
            yield f"column {column.name} has not the units '{column.units}'"
        if not len(dataset.dims[0]):
            yield f"column {column.name} has no dimension scale point"
        marked = "_FillValue" in dataset.attrs
        if not marked and column.needs_fill_value(dataset[()]):
            yield f"column {column.name} has no _FillValue: readers take −1 for a number"


def too_small(file: h5py.File, own: Tables, counts: Mapping[str, str]) -> Iterator[str]:
    """Which of the samples have not the shape that the points need, in words.

    `own` are the columns beside those of every workload, `counts` says by what column of the points
    the second dimension of each is told.
    """
    points = len(file["state"])
    ranks = int(file["ranks"][()].max())
    always = {name: RAW[name] for name in (*schema.RAW_MOMENTS, "start", "valid")}
    for name, table in {**always, **own}.items():
        most = int(file[counts.get(name, "attempts")][()].max())
        least = (points, most, ranks, ranks)[: len(table.scales)]
        shape: tuple[int, ...] = getattr(file["raw"][name], "shape", None) or ()  # of a group: none
        if (
            len(shape) != len(least)
            or shape[0] != points
            or any(has < needs for has, needs in zip(shape, least, strict=True))
        ):
            yield f"/raw/{name} has shape {shape}, too small for {least}"


def lacking(file: h5py.File, own: Mapping[str, Tables]) -> Iterator[str]:
    """What datasets do not say though they should, in words; `own` are groups of a workload."""
    for index in range(len(file["segments"])):
        missing = list(segments.lacking(file["segments"][str(index)]))
        if missing:
            yield f"launch {index}: {', '.join(missing)} missing"
    for group, tables in {**_GROUPS, **own}.items():
        for name, table in tables.items() if group in file else ():
            if name not in file[group]:
                continue
            dataset = file[group][name]
            if strict.text(dataset.attrs.get("units", "")) != table.units:
                yield f"/{group}/{name} has not the units '{table.units}'"
            if table.has_unknown and "_FillValue" not in dataset.attrs:
                yield f"/{group}/{name} has no _FillValue: readers take its −1 for a number"
            shape = getattr(dataset, "shape", None)  # of a group, or one without values: none
            if table.scales and (shape is None or len(shape) != len(table.scales)):
                yield f"/{group}/{name} has not the dimensions {', '.join(table.scales)}"
                continue
            bare = [s for axis, s in enumerate(table.scales) if not len(dataset.dims[axis])]
            if bare:
                yield f"/{group}/{name} has no dimension scale {', '.join(bare)}"


def miscounted(file: h5py.File, own: Mapping[str, Tables]) -> Iterator[str]:
    """Which dimension scales do not count from 0, in words; `own` are groups of a workload.

    A scale that is a column of its group has values of its own.
    """
    for group, tables in {"": {}, **_GROUPS, **own}.items():
        if group and group not in file:
            continue
        for name, scale in file[group or "/"].items():
            if not getattr(scale, "is_scale", False) or name in tables:
                continue
            values = np.ravel(scale[()])
            wrong = np.flatnonzero(values != np.arange(len(values)))
            if len(wrong):
                found = f"{values[wrong[0]]} at {wrong[0]}"
                yield f"{scale.name} does not count from 0: {found}"
