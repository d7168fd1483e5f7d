# SPDX-License-Identifier: BSD-3-Clause
"""Whether the figures of a stream are what its samples say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import carried, derived, schema
from a2aperf.deferred import pandas as pd
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.sample_columns import SampleColumn
from a2aperf.workloads.stream import streams
from a2aperf.workloads.workload import Verify

Values = Mapping[str, NDArray[Any]]
"""Columns of samples, by name: [attempts or ticks, R]."""

_TOTALS: Final = ("messages_sent", "messages_received", "rank_longest_wait")
_COLUMNS: Final = (
    *("stream_pairs", "stream_time", "messages", "bytes", "msg_rate", "byte_rate", "gbps"),
    *("longest_wait", "ticks_lost"),
)
"""Of the points, beside those of all."""
_TICKS: Final = {"tick_sent": "messages_sent", "tick_received": "messages_received"}
"""What was counted in each tick, and all that it adds up to."""


def verifier(found: Results, file: str) -> Verify:
    """What compares a point with its samples; nothing where another program made the file."""
    columns = found.own_columns(file)
    if not {*_TOTALS, *_TICKS, "tick_end"} <= set(columns):
        return lambda row, raw: iter(())
    return partial(_point, found, file, columns)


def _point(
    found: Results, file: str, columns: Mapping[str, SampleColumn], row: pd.Series, raw: RawOps
) -> Iterator[str]:
    point = int(row["point"])
    missing = [name for name in _COLUMNS if name not in row]
    if missing:
        yield f"column {missing[0]} is missing"
        return
    own = {name: found.own(file, point, columns[name]) for name in (*_TOTALS, *_TICKS, "tick_end")}
    yield from _figures(row, raw, own)
    yield from _ticks(row, own)


def _figures(row: pd.Series, raw: RawOps, own: Values) -> Iterator[str]:
    ranks = raw.begin.shape[1]
    pairs = streams.of(row["stream_pairs"], row.get("duplex"), ranks)
    if not pairs or len(raw.begin) != 1:
        yield f"stream_pairs '{row['stream_pairs']}' are no pairs of {ranks} ranks"
        return
    first = min(int(raw.begin[0, sender]) for sender, _ in pairs)
    last = max(0, *(int(raw.recv_done[0, receiver]) for _, receiver in pairs))
    received = own["messages_received"]
    is_time = carried.is_carried(last - first, row["clock_error"], received.max())
    time = float(last - first) if is_time else np.nan
    messages = float(received.sum())
    size = messages * float(row["message_size"])
    again = {
        "stream_time": time,
        "messages": messages,
        "bytes": size,
        "msg_rate": messages / time * 1e9,
        "byte_rate": size / time * 1e9,
        "gbps": size * 8 / time,
        "longest_wait": float(own["rank_longest_wait"].max()),
    }
    if not is_time and not pd.isna(row["stream_time"]):
        yield (
            f"stream_time is {row['stream_time']} ns, no time for the {received.max()} messages of "
            "a rank: no rate follows from it"
        )
        return
    for name, stored, value in derived.contradicted(row, again, least=0):
        yield f"{name} is {stored:g}, its samples say {value:g}"


def _ticks(row: pd.Series, own: Values) -> Iterator[str]:
    """Each tick is later than the one before, and all together are all messages."""
    ends = own["tick_end"]
    there = ends != schema.NO_MOMENT
    if (there[1:] > there[:-1]).any() or any(
        (np.diff(ends[there[:, rank], rank]) < 0).any() for rank in range(ends.shape[1])
    ):
        yield "/raw/tick_end: its ticks do not follow each other in time"
    for name, total in _TICKS.items():
        counted, whole = own[name], own[total][0]
        if ((counted != schema.NO_MOMENT) != there).any() or (counted[there] < 0).any():
            yield f"/raw/{name} has not a number of messages for each tick"
            continue
        sums = np.where(there, counted, 0).sum(axis=0)
        wrong = sums > whole if row["ticks_lost"] > 0 else sums != whole
        if wrong.any():
            rank = int(np.flatnonzero(wrong)[0])
            yield f"/raw/{name} of rank {rank} adds up to {sums[rank]}, not to {whole[rank]}"
