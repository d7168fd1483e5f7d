# SPDX-License-Identifier: BSD-3-Clause
"""Files as `a2aperf stream` writes them: two pairs of four ranks, with what came in every tick."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, schema
from a2aperf.raw_ops import RawOps
from a2aperf.schema import Column
from support import made, native
from support.native import RANKS

TICKS = 3
SIZES = (8, 1000)
_OWN = native.own_columns(
    ("messages_sent", "messages_received", "rank_longest_wait"),
    ("tick_end", "tick_sent", "tick_received"),
)
_ASKED = ("free_delay", "free_every", "asked_duration", "asked_messages")
_WHOLE = ("ticks", "ticks_lost", "stream_time", "messages", "bytes", "longest_wait")
COLUMNS = (
    Column("stream_pairs", "string", "who sends to whom", result=False),
    Column("duplex", "string", "whether each pair sends in both directions", result=False),
    Column("asked_inject", "string", "whether messages were to go by it", result=False),
    *(Column(name, "int64", name, result=False) for name in _ASKED),
    *(Column(name, "int64", name) for name in _WHOLE),
    Column("byte_rate", "float64", "payload per second", "B/s"),
    Column("gbps", "float64", "payload per second", "Gbit/s"),
)


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


def _figures(point: int, size: int) -> dict[str, Any]:
    time, messages = 250_200_000 - 5000, int(_samples(point)["messages_received"].sum())
    return {
        "schedule": "pairs", "window": 4, "message_size": size, "stream_pairs": "halves",
        "duplex": "one way", "free_delay": 0, "free_every": -1, "asked_inject": "auto",
        "asked_duration": 250_000_000, "asked_messages": -1,
        "attempts": 1, "ops": 1, "invalid": 0, "stop_rule": 7, "ticks": TICKS, "ticks_lost": 0,
        "stream_time": time, "messages": messages, "bytes": messages * size,
        "longest_wait": 5000 + point, "msg_rate": messages / time * 1e9,
        "byte_rate": messages * size / time * 1e9, "gbps": messages * size * 8 / time,
    }  # fmt: skip


def _times(size: int) -> dict[str, Any]:
    raw = _raw()
    ops = RawOps(raw.begin, raw.send_done, raw.recv_done, raw.start, raw.valid, exit=raw.exit)
    found = derived.derive(ops, size, [2, 2], np.nan, True)
    found["interval_kind"] = schema.INTERVAL_KINDS.index(found["interval_kind"])
    return {name: value for name, value in found.items() if name in schema.TIMES}


@made.once
def write(path: Path, has_times: bool = False, sizes: Sequence[int] = SIZES) -> Path:
    """A point for each size, sound to the last figure; older programs had times of its op."""
    raw = _raw()
    without = schema.RATES - {"msg_rate"} | (frozenset() if has_times else schema.TIMES)
    figures = [
        _figures(point, size) | (_times(size) if has_times else {})
        for point, size in enumerate(sizes)
    ]
    columns = native.described(without, COLUMNS)
    return native.write(path, "stream", figures, columns, lambda _: raw, _OWN, _samples)
