# SPDX-License-Identifier: BSD-3-Clause
"""Files as `a2aperf qos` writes them: three paths of two classes from node to node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import schema, shares, workloads, writer
from a2aperf.importers.columns import QOS
from support import made, synthetic

INTERVALS = 12
SECOND_NS = 10**9
SIZES = (4096, 65536)
CLASSES = ("low-latency", "bulk", "bulk")
_RANKS = 2


def _paths(sizes: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    """Of each point three, which carry 2:1:1."""
    points = len(sizes)
    count = 3 * points
    which, point = np.tile(np.arange(3), points), np.repeat(np.arange(points), 3)
    random = np.random.default_rng(5)
    messages = np.round(
        np.array([20000, 10000, 10000])[which][:, None]
        * (1 + 0.01 * random.normal(size=(count, INTERVALS)))
    ).astype(np.int64)
    size = np.array(sizes)[point]
    begin = np.arange(INTERVALS) * SECOND_NS + np.zeros((count, 1), np.int64)
    classes = np.array(CLASSES, object)[which]
    return {
        "of_point": point.astype(np.int32), "number": which.astype(np.int32),
        "source": np.zeros(count, np.int32), "destination": np.ones(count, np.int32),
        "class_requested": classes, "class_granted": classes,
        "class_verified": np.full(count, "", object), "class_trouble": np.full(count, "", object),
        "message_size": size.astype(np.int64),
        "window": np.full(count, 32, np.int32), "mode": np.full(count, "tagged", object),
        "core": which.astype(np.int32), "port": np.full(count, "", object),
        "start": np.zeros(count, np.int64), "connected": np.zeros(count, np.int64),
        "interval_begin": begin, "interval_length": np.full_like(begin, SECOND_NS),
        "interval_bytes": messages * size[:, None], "interval_messages": messages,
        "interval_idle": np.zeros_like(begin),
    }  # fmt: skip


def _raw() -> schema.Raw:
    begin = np.array([[0, 5]])
    end = np.array([[INTERVALS * SECOND_NS, INTERVALS * SECOND_NS + 5]])
    return schema.Raw(begin, end, end, np.array([10]), np.array([True]), np.zeros_like(begin))


@made.once
def write(path: Path, sizes: tuple[int, ...] = SIZES, memory: tuple[str, ...] = ()) -> Path:
    """A point for each of the sizes, sound to the last figure; `memory` of each, where given."""
    paths = _paths(sizes)
    columns = tuple(
        one for one in schema.COLUMNS if one.name not in schema.RATES | schema.TIMES
    ) + tuple(QOS)
    if memory:
        columns += (schema.Column("memory", "string", "pages of the buffers", result=False),)
    setup = synthetic.Setup(nodes=2, ppn=1, sizes=(8,), ops=3)
    segment = synthetic.segment_of(setup, 3 * SECOND_NS, "qos")
    if memory:
        segment.attributes["memory"] = ",".join(dict.fromkeys(memory))
    segment.planned_order = np.arange(len(sizes), dtype=np.int32)
    started = int(segment.attributes["time_origin"])
    rows = []
    for point, size in enumerate(sizes):
        mine = slice(3 * point, 3 * point + 3)
        names = ("begin", "length", "bytes", "messages", "idle")
        intervals = [paths[f"interval_{name}"][mine] for name in names]
        told = "; ".join(f"0:1 class={one} size={size}" for one in CLASSES)
        rows.append(
            {
                "role": "qos", "engine": "a2aperf", "mode": "tagged", "ranks": _RANKS, "nodes": 2,
                "ranks_per_node": 1.0, "post": "before", "state": 1,
                "provider": segment.attributes["provider"],
                "segment": 0, "order": point, "inject": 0, "buffer_slots": 1, "clock_error": 0.0,
                "started": started + point * 20 * SECOND_NS, "duration": 13 * SECOND_NS,
                "message_size": size, "window": 32, "attempts": 1, "ops": 1, "invalid": 0,
                "stop_rule": 7, "path_list": told, "path_count": 3, "interval": SECOND_NS,
                "asked_duration": INTERVALS * SECOND_NS,
                **shares.figures(shares.shared(paths["connected"][mine], *intervals)),
                **({"memory": memory[point]} if memory else {}),
            }
        )  # fmt: skip
    (name,) = (name for name, one in workloads.GROUPS.items() if set(one) == set(paths))
    document = writer.Document(
        {"workload": "qos", "origin": "measured", "title": "qos"},
        writer.columns_of(rows, columns),
        [segment],
        raw=lambda _: _raw(),
        own={name: (workloads.GROUPS[name], paths)},
        described=columns,
    )
    writer.write(path, document, force=True)
    return path
