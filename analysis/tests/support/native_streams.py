# SPDX-License-Identifier: BSD-3-Clause
"""Files as `a2aperf stream` writes them: two pairs of four ranks, with what came in every tick."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, schema, writer
from a2aperf.raw_ops import RawOps
from a2aperf.sample_columns import SampleColumn
from a2aperf.schema import Column
from support import synthetic

RANKS, TICKS = 4, 3
SIZES = (8, 1000)
_OP, _TICK = ("point", "attempt", "rank"), ("point", "tick", "rank")
_COUNTED = {
    "tick_sent": "messages that the rank sent in the interval",
    "tick_received": "messages that came to the rank in the interval",
}
_TOTALS = {
    "messages_sent": "messages that the rank has sent",
    "messages_received": "messages that have come to the rank",
    "rank_longest_wait": "longest wait of the rank for a buffer",
}
_WHOLE = ("ticks", "ticks_lost", "stream_time", "messages", "bytes", "longest_wait")
COLUMNS = (
    Column("stream_pairs", "string", "who sends to whom", result=False),
    *(Column(name, "int64", name) for name in _WHOLE),
    Column("byte_rate", "float64", "payload per second", "B/s"),
    Column("gbps", "float64", "payload per second", "Gbit/s"),
)


def _own() -> dict[str, SampleColumn]:
    fill = schema.NO_MOMENT
    found = {n: SampleColumn(n, "<i8", _OP, fill=fill, long_name=t) for n, t in _TOTALS.items()}
    for name, text in {"tick_end": "end of the interval", **_COUNTED}.items():
        found[name] = SampleColumn(name, "<i8", _TICK, fill=fill, long_name=text, count="ticks")
    return found


def _samples(point: int) -> dict[str, NDArray[np.int64]]:
    """[TICKS or 1, RANKS]; ranks 0 and 1 send, to 2 and 3, and rank 3 is over a tick earlier."""
    tick = np.array([[100, 90, 97, 90], [110, 95, 110, 96], [3, 2, 6, 0]]) + 10 * point
    sender = np.array([True, True, False, False])
    tick[-1, 3], there = 0, np.ones((TICKS, RANKS), bool)
    there[-1, 3] = False
    sent, came = np.where(sender, tick, 0), np.where(sender, 0, tick)
    ends = np.arange(1, TICKS + 1)[:, None] * 100_000_000 + np.arange(RANKS)
    none = schema.NO_MOMENT
    return {
        "messages_sent": sent.sum(axis=0, keepdims=True),
        "messages_received": came.sum(axis=0, keepdims=True),
        "rank_longest_wait": np.array([[5000 + point, 70, 0, 0]]),
        "tick_end": np.where(there, ends, none),
        "tick_sent": np.where(there, sent, none),
        "tick_received": np.where(there, came, none),
    }


def _raw() -> schema.Raw:
    begin = np.array([[5000, 7000, 0, 0]])
    done = np.array([[250_000_000, 250_100_000, 250_200_000, 240_000_000]])
    sent = np.where([True, True, False, False], done, begin)
    came = np.where([True, True, False, False], begin, done)
    return schema.Raw(begin, sent, came, np.array([10]), np.array([True]), np.zeros_like(begin))


def write(path: Path) -> Path:
    """A point for each of SIZES, sound to the last figure."""
    setup = synthetic.Setup(nodes=2, ppn=2, sizes=(8,), ops=3)
    segment = synthetic.segment_of(setup, 3 * 10**9, "stream")
    start = int(segment.attributes["time_origin"])
    segment.planned_order = np.arange(len(SIZES), dtype=np.int32)
    raw, time = _raw(), 250_200_000 - 5000
    rows: list[dict[str, Any]] = []
    for point, size in enumerate(SIZES):
        ops = RawOps(raw.begin, raw.send_done, raw.recv_done, raw.start, raw.valid, exit=raw.exit)
        figures = derived.derive(ops, size, [2, 2], np.nan, True)
        found = {n: v for n, v in figures.items() if n not in schema.RATES}
        found["last_rank"], found["last_rank_share"] = figures["last_rank"], 1.0
        kind = schema.INTERVAL_KINDS.index(found.pop("interval_kind"))
        messages = int(_samples(point)["messages_received"].sum())
        rows.append(
            {
                **found, "interval_kind": kind, "role": "stream", "engine": "a2aperf",
                "mode": "tagged", "schedule": "pairs", "window": 4, "message_size": size,
                "ranks": RANKS, "nodes": 2, "ranks_per_node": 2.0, "post": "before",
                "provider": segment.attributes["provider"], "stream_pairs": "halves",
                "state": 1, "segment": 0, "order": point, "stop_rule": 7, "inject": 0,
                "buffer_slots": 1, "clock_error": 0.0,
                "started": start + point * 10**9, "duration": 9 * 10**8,
                "ticks": TICKS, "ticks_lost": 0, "stream_time": time, "messages": messages,
                "bytes": messages * size, "longest_wait": 5000 + point,
                "msg_rate": messages / time * 1e9, "byte_rate": messages * size / time * 1e9,
                "gbps": messages * size * 8 / time,
            }
        )  # fmt: skip
    described = tuple(one for one in schema.COLUMNS if one.name not in schema.WHOLE - {"msg_rate"})
    described += COLUMNS
    writer.write(
        path,
        writer.Document(
            {"workload": "stream", "origin": "measured", "title": "streams"},
            writer.columns_of(rows, described),
            [segment],
            raw=lambda point: raw,
            own_columns=_own(),
            own_samples=lambda point, column: _samples(point)[column.name],
            described=described,
        ),
    )
    return path
