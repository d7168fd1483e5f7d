# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the operating system and the ports counted."""

from collections.abc import Callable

import h5py
import numpy as np

from a2aperf import datasets, schema, segments


class CounterGroup:
    """`/counters`, filled point by point; ports are the union over all points."""

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
        names: dict[str, None] = {}
        per_rank = {*datasets.COUNTED_PER_RANK} - datasets.CAME_LATER
        per_node = {*datasets.COUNTED_PER_NODE} - datasets.CAME_LATER
        for point in range(points):
            found = self._of(point)
            names.update(dict.fromkeys(found.ports if found else ()))
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
        datasets.describe(group, datasets.COUNTERS)

    def write(self, point: int) -> None:
        """Put in what is known of a point."""
        found = self._of(point)
        if found is None:
            return
        affinity = np.array([a.encode()[:96] for a in found.thread_affinity], self._affinity)
        self._group["thread_affinity"][point, : len(affinity)] = affinity
        self._write("", found, point)
        if found.verification:
            self._write(datasets.VERIFICATION, found.verification, point)

    def _write(self, prefix: str, found: schema.Counters, point: int) -> None:
        for name, values in (*found.per_rank.items(), *found.per_node.items()):
            self._group[prefix + name][point, : len(values)] = values
        port = self._group[f"{prefix}port"]
        for name, values in found.ports.items():
            port[point, : len(values), self._ports.index(name)] = values


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
        group[name].attrs["long_name"] = one.long_name
        if one.units:
            group[name].attrs["units"] = one.units
