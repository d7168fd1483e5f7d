# SPDX-License-Identifier: BSD-3-Clause
"""Files as the program writes them of a duration: four ranks on two nodes, an op for each point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import datasets, schema, writer
from a2aperf.sample_columns import SampleColumn
from a2aperf.schema import Column
from support import synthetic

RANKS = 4
_OP, _TICK = ("point", "attempt", "rank"), ("point", "tick", "rank")
_BUCKET = ("point", "bucket", "rank")


def own_columns(
    of_op: Iterable[str], of_tick: Iterable[str], of_bucket: Iterable[str] = ()
) -> dict[str, SampleColumn]:
    """Samples that the workload has of each rank, along time, and in a histogram."""
    fill = schema.NO_MOMENT
    found = {name: SampleColumn(name, "<i8", _OP, fill=fill, long_name=name) for name in of_op}
    for name in of_tick:
        found[name] = SampleColumn(name, "<i8", _TICK, fill=fill, long_name=name, count="ticks")
    for name in of_bucket:
        found[name] = SampleColumn(name, "<i8", _BUCKET, fill=fill, long_name=name, count="buckets")
    return found


def counters(point: int) -> schema.Counters:
    """What is easily divided: rank 3 of point 1 is preempted, and one node has no such port."""
    switches = np.array([0, 0, 0, 297 * point])
    per_rank = dict.fromkeys(datasets.COUNTED_PER_RANK, np.zeros(RANKS, np.int64))
    per_rank |= {"involuntary_switches": switches, "threads": np.full(RANKS, 2)}
    per_rank |= {"wall_time": np.array([5, 10, 5, 5]) * 100_000_000}
    ports = {"eth0/statistics/tx_bytes": np.array([100, 8000]), "other": np.array([7, -1])}
    return schema.Counters(per_rank, ["0;0"] * RANKS, {"interrupts": np.array([-1, -1])}, ports)


def described(without: Iterable[str], own: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of all workloads but some, and the workload's own."""
    return (*(one for one in schema.COLUMNS if one.name not in without), *own)


def write(
    path: Path,
    workload: str,
    figures: Sequence[dict[str, Any]],
    columns: tuple[Column, ...],
    raw: Callable[[int], schema.Raw],
    own: dict[str, SampleColumn],
    samples: Callable[[int], Mapping[str, NDArray[np.int64]]],
) -> Path:
    """A complete point for each of the figures, a second from one to the next."""
    setup = synthetic.Setup(nodes=2, ppn=2, sizes=(8,), ops=3)
    segment = synthetic.segment_of(setup, 3 * 10**9, workload)
    start = int(segment.attributes["time_origin"])
    segment.planned_order = np.arange(len(figures), dtype=np.int32)
    rows = [
        {
            "role": workload, "engine": "a2aperf", "mode": "tagged", "ranks": RANKS, "nodes": 2,
            "ranks_per_node": 2.0, "post": "before", "provider": segment.attributes["provider"],
            "state": 1, "segment": 0, "order": point, "inject": 0, "buffer_slots": 1,
            "clock_error": 0.0, "started": start + point * 10**9, "duration": 9 * 10**8, **one,
        }
        for point, one in enumerate(figures)
    ]  # fmt: skip
    document = writer.Document(
        {"workload": workload, "origin": "measured", "title": workload},
        writer.columns_of(rows, columns),
        [segment],
        raw=raw,
        counters=counters,
        own_columns=own,
        own_samples=lambda point, column: samples(point)[column.name],
        described=columns,
    )
    writer.write(path, document, force=True)
    return path
