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
        names: dict[str, None] = {}
        for point in range(points):
            found = self._of(point)
            names.update(dict.fromkeys(found.ports if found else ()))
        self._ports = list(names)
        group = self._group = file.create_group("counters")
        for name in datasets.COUNTED_PER_RANK:
            kind = "i4" if name == "threads" else "i8"
            group.create_dataset(name, (points, ranks), kind, fillvalue=schema.UNKNOWN)
        self._affinity = h5py.string_dtype(length=96)
        group.create_dataset("thread_affinity", (points, ranks), self._affinity)
        group.create_dataset("interrupts", (points, nodes), "i8", fillvalue=schema.UNKNOWN)
        segments.write_texts(group, "port_names", self._ports)
        group.create_dataset(
            "port", (points, nodes, len(self._ports)), "i8", fillvalue=schema.UNKNOWN
        )
        for name, length in (("rank", ranks), ("node", nodes), ("port_index", len(self._ports))):
            datasets.create_scale(group, name, length)
        datasets.describe(group, datasets.COUNTERS)

    def write(self, point: int) -> None:
        """Put in what is known of a point."""
        found = self._of(point)
        if found is None:
            return
        for name, values in found.per_rank.items():
            self._group[name][point, : len(values)] = values
        affinity = np.array([a.encode()[:96] for a in found.thread_affinity], self._affinity)
        self._group["thread_affinity"][point, : len(affinity)] = affinity
        self._group["interrupts"][point, : len(found.interrupts)] = found.interrupts
        for name, values in found.ports.items():
            self._group["port"][point, : len(values), self._ports.index(name)] = values
