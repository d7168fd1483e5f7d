# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the operating system and the ports counted."""

from collections.abc import Callable, Iterator, Sequence

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import datasets, making, schema, segments

_AT_ONCE = 1 << 16
"""Ranks of points whose counters are in memory."""
Counted = Sequence[schema.Counters | None]


class CounterGroup:
    """`/counters`, of many points at once; ports are the union over all points."""

    def __init__(
        self,
        file: h5py.File,
        of: Callable[[int], schema.Counters | None],
        points: int,
        nodes: int,
        ranks: int,
    ) -> None:
        self._of = of
        self._has_verification = False
        self._values: set[str] = set()
        names: dict[str, None] = {}
        per_rank = {*datasets.COUNTED_PER_RANK} - datasets.CAME_LATER
        per_node = {*datasets.COUNTED_PER_NODE} - datasets.CAME_LATER
        for point in range(points):
            found = self._of(point)
            names.update(dict.fromkeys(found.ports if found else ()))
            self._values.update(_columns(found))
            for phase in (found, found.verification if found else None):
                per_rank.update(phase.per_rank if phase else ())
                per_node.update(phase.per_node if phase else ())
            self._has_verification |= bool(found and found.verification)
        self._ports = list(names)
        group = self._group = file.create_group("counters")
        for name in (one for one in datasets.COUNTED_PER_RANK if one in per_rank):
            kind = "i4" if name == "threads" else "i8"
            group.create_dataset(name, (points, ranks), kind, fillvalue=schema.UNKNOWN)
        self._affinity = h5py.string_dtype(length=96)
        group.create_dataset("thread_affinity", (points, ranks), self._affinity)
        segments.write_texts(group, "port_names", self._ports)
        if self._has_verification:
            for name in (one for one in datasets.CHANGED_PER_RANK if one in per_rank):
                place = datasets.VERIFICATION + name
                group.create_dataset(place, (points, ranks), "i8", fillvalue=schema.UNKNOWN)
        for prefix in ("", datasets.VERIFICATION) if self._has_verification else ("",):
            shape = (points, nodes, len(self._ports))
            for name in datasets.COUNTED_PER_NODE:
                if name in per_node:
                    group.create_dataset(prefix + name, shape[:2], "i8", fillvalue=schema.UNKNOWN)
            group.create_dataset(f"{prefix}port", shape, "i8", fillvalue=schema.UNKNOWN)
        for name, length in (("rank", ranks), ("node", nodes), ("port_index", len(self._ports))):
            datasets.create_scale(group, name, length)
        if self._values:
            self._create_values(points, ranks, nodes)
        datasets.describe(group, datasets.COUNTERS)

    def _create_values(self, points: int, ranks: int, nodes: int) -> None:
        known = {name: one for name, one in _VALUES.items() if name in self._values}
        of_rank = [name for name, one in known.items() if one.scales == ("point", "rank")]
        of_node = [name for name, one in known.items() if one.scales == ("point", "node")]
        for name, scale, columns, count in (
            (datasets.VALUES_OF_RANKS, "rank_value", of_rank, ranks),
            (datasets.VALUES_OF_NODES, "node_value", [*of_node, *_PORTS], nodes),
        ):
            width = len(columns) + (len(self._ports) - 1) * sum(one in _PORTS for one in columns)
            shape = (points, count, width)
            made = self._group.create_dataset(name, shape, "i8", fillvalue=schema.UNKNOWN)
            making.attribute(made, datasets.COLUMNS, " ".join(columns))
            datasets.create_scale(self._group, scale, width)

    def write(self) -> None:
        """Put in what is known of the points, of many at once."""
        points, ranks = self._group["thread_affinity"].shape
        for first in range(0, points, step := max(_AT_ONCE // max(ranks, 1), 1)):
            found = [self._of(point) for point in range(first, min(first + step, points))]
            self._write_affinity(first, found)
            self._write("", first, found)
            self._write(datasets.VERIFICATION, first, [one and one.verification for one in found])
            if self._values:
                self._write_values(datasets.VALUES_OF_RANKS, first, found)
                self._write_values(datasets.VALUES_OF_NODES, first, found)

    def _write_affinity(self, first: int, found: Counted) -> None:
        lists = np.zeros((len(found), self._group["rank"].size), self._affinity)
        for row, one in zip(lists, found, strict=True):
            texts = [text.encode()[:96] for text in one.thread_affinity] if one else []
            row[: len(texts)] = texts
        self._group["thread_affinity"][first : first + len(found)] = lists

    def _write(self, prefix: str, first: int, found: Counted) -> None:
        names = dict.fromkeys(
            name for one in found if one for name in (*one.per_rank, *one.per_node)
        )
        for name in names:
            dataset = self._group[prefix + name]
            values = np.full((len(found), dataset.shape[1]), schema.UNKNOWN, dataset.dtype)
            for row, one in zip(values, found, strict=True):
                counted = {**one.per_rank, **one.per_node}.get(name, ()) if one else ()
                row[: len(counted)] = counted
            dataset[first : first + len(found)] = values
        if not any(found) or not self._ports:
            return
        dataset = self._group[f"{prefix}port"]
        values = np.full((len(found), *dataset.shape[1:]), schema.UNKNOWN, dataset.dtype)
        for row, one in zip(values, found, strict=True):
            for port, counted in one.ports.items() if one else ():
                row[: len(counted), self._ports.index(port)] = counted
        dataset[first : first + len(found)] = values

    def _write_values(self, place: str, first: int, found: Counted) -> None:
        dataset = self._group[place]
        values = np.full((len(found), *dataset.shape[1:]), schema.UNKNOWN, np.int64)
        at = 0
        for column in str(dataset.attrs[datasets.COLUMNS]).split():
            ports = self._ports if column in _PORTS else [None]
            for port in ports:
                for row, one in zip(values, found, strict=True):
                    read = _value(one, column, port)
                    row[: len(read), at] = read
                at += 1
        dataset[first : first + len(found)] = values


_VALUES = {
    prefix + name: one
    for prefix, described in (
        (datasets.BEFORE, datasets.VALUES_BEFORE),
        (datasets.AFTER, datasets.VALUES_AFTER),
    )
    for name, one in described.items()
    if name != "port"
}
_PORTS = (f"{datasets.BEFORE}port", f"{datasets.AFTER}port")
"""Columns of values, each of which all ports have."""


def _columns(counted: schema.Counters | None) -> Iterator[str]:
    """Those of values, as far as any of them were read."""
    for moment in ("before", "after") if counted else ():
        read: schema.Counters | None = getattr(counted, moment)
        for name in (*read.per_rank, *read.per_node) if read else ():
            yield f"{moment}_{name}"


def _value(
    counted: schema.Counters | None, column: str, port: str | None
) -> NDArray[np.int64] | tuple[()]:
    """Of a column, of each rank or node; nothing where it was not read."""
    moment, _, name = column.partition("_")
    read = counted and (counted.before if moment == "before" else counted.after)
    if not read:
        return ()
    return read.ports.get(port, ()) if port else {**read.per_rank, **read.per_node}.get(name, ())


def write_start(launch: h5py.Group, counters: schema.Counters) -> None:
    """What the start of a launch counted."""
    group = launch.create_group(segments.START)
    for name, values in (*counters.per_rank.items(), *counters.per_node.items()):
        group.create_dataset(name, data=values.astype(np.int64))
    ports = [values.astype(np.int64) for values in counters.ports.values()]
    shape = (counters.per_node["interrupts"].size, len(ports))
    group.create_dataset("port", data=np.array(ports, np.int64).T.reshape(shape))
    segments.write_texts(group, "port_names", counters.ports)
    for name, one in datasets.CHANGES.items():
        if name not in group:  # of an older launch
            continue
        making.attribute(group[name], "long_name", one.long_name)
        if one.units:
            making.attribute(group[name], "units", one.units)
