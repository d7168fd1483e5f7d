# SPDX-License-Identifier: BSD-3-Clause
"""Files as `a2aperf open-loop` writes them: one client of four ranks, a server of known speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, metrics, schema
from a2aperf.schema import Column
from support import made, native
from support.native import RANKS

SERVICE = 7_000
"""Ns that each message takes, one at a time: 142857/s."""
DURATION = 20_000_000
RATES = (25_000, 50_000, 100_000, 200_000)
_TOTALS = (
    *("round_trips", "trip_time", "idle_time", "open_time", "trip_span", "shortest_trip"),
    *("longest_trip", "trip_places", "messages_due", "due_time", "most_behind", "wait_time"),
)
_RELAY = ("relayed", "relay_time", "relayed_back", "relay_back_time")
HOP, STAY, BACK = 500, 3_000, 400
"""Ns until a message is at the relay, that it stays there, and its answer, where there is one."""
_TRIPS = ("request_due", "round_trip", "request_wait", "held_up")
_ASKED = ("outstanding", "rate", "relays", "asked_relay_time")
_WHOLE = ("ticks", "ticks_lost", "round_trips", "littles_law", "backlog", "unanswered", "paced")
_PACING = {"pacing_p50": 0.5, "pacing_p99": 0.99, "pacing_p999": 0.999}
_RATES = {"offered_rate": "1/s", "achieved_rate": "1/s", "byte_rate": "B/s", "gbps": "Gbit/s"}
COLUMNS = (
    Column("echo_pairs", "string", "which client asks which server", result=False),
    Column("arrivals", "string", "even or poisson", result=False),
    Column("asked_duration", "int64", "time that the point was to be measured", "ns", result=False),
    *(Column(name, "int64", name, result=False) for name in _ASKED),
    *(Column(name, "int64", name) for name in _WHOLE),
    Column("time_p999", "float64", "99.9th percentile of the round trip", "ns"),
    *(Column(name, "float64", name, unit) for name, unit in _RATES.items()),
    *(Column(name, "float64", name, "ns") for name in (*_PACING, "pacing_max")),
    Column("under_way", "float64", "requests of a client under way on average"),
    *(
        Column(f"relay_{name}", "float64", name, "ns")
        for name in ("mean", "p50", "p99", "back_mean")
    ),
)
_OWN = native.own_columns((*_TOTALS, *_RELAY), _TRIPS)


@dataclass(frozen=True)
class Loop:
    """Messages at a rate, one under way at a time; from `stop` on nothing moves for `pause` ns."""

    rate: int
    size: int = 8
    service: int = SERVICE
    late: int = 200
    """The client sends up to so many ns late by itself."""
    stop: int = DURATION
    pause: int = 0
    relays: int = 0
    """0, or 1: the last rank."""


@cache
def _course(loop: Loop) -> tuple[NDArray[np.int64], ...]:
    """Due, sent, answered, held up: of the messages that were sent, and how many were due."""
    count = DURATION * loop.rate // 10**9
    due = (2 * np.arange(count, dtype=np.int64) + 1) * 10**9 // (2 * loop.rate)
    sent, answered, held = [], [], []
    free = 0
    for k, moment in enumerate(due):
        is_held = bool(free > moment)
        begin = free if is_held else int(moment) + k * 37 % loop.late
        if begin >= DURATION:
            break
        if loop.stop <= begin < loop.stop + loop.pause:
            begin, is_held = loop.stop + loop.pause, True
        free = begin + loop.service
        sent.append(begin)
        answered.append(free)
        held.append(int(is_held))
    return due, *(np.array(values, dtype=np.int64) for values in (sent, answered, held))


def _samples(loop: Loop) -> dict[str, NDArray[np.int64]]:
    due, sent, answered, held = _course(loop)
    n = len(sent)
    trips = answered - due[:n]
    span = int(answered[-1] - sent[0])
    behind = max(int((due <= moment).sum()) - k for k, moment in enumerate(sent))
    of_client = (
        *(n, trips.sum(), span - n * loop.service, 0, span, trips.min(), trips.max(), 1),
        *(len(due), DURATION, max(behind, len(due) - n), (sent - due[:n]).sum()),
    )
    found = {}
    for name, value in zip(_TOTALS, of_client, strict=True):
        found[name] = np.array([[value, 0, 0, 0]], dtype=np.int64)
    for name, values in zip(_TRIPS, (due[:n], trips, sent - due[:n], held), strict=True):
        found[name] = np.full((n, RANKS), schema.NO_MOMENT)
        found[name][:, 0] = values
    for name, each in zip(_RELAY, (1, STAY, 1, BACK), strict=True):
        found[name] = np.array([[0, 0, 0, each * n * loop.relays]], dtype=np.int64)
    if loop.relays:
        found["request_due"][:, 3] = sent + HOP
        found["request_wait"][:, 3] = STAY
    return found


def _raw(loop: Loop) -> schema.Raw:
    _, sent, answered, _ = _course(loop)
    begin, done = np.zeros((1, RANKS), np.int64), np.zeros((1, RANKS), np.int64)
    begin[0, :2], done[0, :2] = sent[0], answered[-1]
    return schema.Raw(begin, done, done, np.array([10]), np.array([True]), np.zeros_like(begin))


def _figures(loop: Loop) -> dict[str, Any]:
    due, sent, answered, held = _course(loop)
    n = len(sent)
    own = _samples(loop)
    trips = (answered - due[:n]).astype(float)
    order = np.sort(trips)
    pacing = np.sort((sent - due[:n])[held == 0])
    found: dict[str, Any] = metrics.time_statistics(trips) | derived.quantile_intervals(trips)
    for name, q in (("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
        found[f"time_{name}"] = _tail(order, q)
    rate = n / max(DURATION, int(answered[-1])) * 1e9
    return found | {name: _tail(pacing, q) for name, q in _PACING.items()} | {
        "schedule": "", "window": 0, "message_size": loop.size, "echo_pairs": "0:1",
        "outstanding": 1, "littles_law": 1, "rate": loop.rate, "arrivals": "even",
        "asked_duration": DURATION, "attempts": 1, "invalid": 0, "stop_rule": 1,
        "ticks": n, "ticks_lost": 0, "ops": n, "round_trips": n,
        "autocorrelation": metrics.autocorrelation(trips),
        "interval_kind": schema.INTERVAL_KINDS.index(found["interval_kind"]),
        "offered_rate": len(due) / DURATION * 1e9, "achieved_rate": rate,
        "byte_rate": rate * loop.size, "gbps": rate * loop.size * 8e-9,
        "backlog": int(own["most_behind"].max()), "unanswered": len(due) - n, "paced": len(pacing),
        "pacing_max": float(pacing[-1]) if pacing.size else np.nan,
        "relays": loop.relays, "asked_relay_time": STAY * loop.relays,
        **dict.fromkeys(("relay_mean", "relay_p50"), STAY if loop.relays else np.nan),
        "relay_p99": _tail(np.full(n, STAY), 0.99) if loop.relays else np.nan,
        "relay_back_mean": BACK if loop.relays else np.nan,
        "under_way": n * loop.service / int(answered[-1] - sent[0]),
    }  # fmt: skip


def _tail(order: NDArray[Any], q: float) -> float:
    place = int(np.ceil(q * order.size)) - 1
    if not order.size or (q > 0.5 and place == order.size - 1):
        return float("nan")
    return float(order[place])


@made.once
def write(path: Path, loops: Sequence[Loop] = tuple(Loop(rate) for rate in RATES)) -> Path:
    """A point for each loop, sound to the last figure."""
    figures = [_figures(loop) for loop in loops]
    columns = native.described(schema.RATES, COLUMNS)
    return native.write(
        path,
        "open-loop",
        figures,
        columns,
        lambda point: _raw(loops[point]),
        _OWN,
        lambda point: _samples(loops[point]),
    )
