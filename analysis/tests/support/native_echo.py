# SPDX-License-Identifier: BSD-3-Clause
"""Files as `a2aperf echo` writes them: two clients of four ranks, one with fewer round trips."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, metrics, schema
from a2aperf.schema import Column
from support import made, native
from support.native import RANKS

TRIPS = 1200
SIZES = (100, 1024)
_TOTALS = (
    *("round_trips", "trip_time", "idle_time", "open_time", "trip_span"),
    *("shortest_trip", "longest_trip", "trip_places"),
)
_RATES = {"trip_rate": "1/s", "byte_rate": "B/s", "gbps": "Gbit/s"}
_ASKED = ("request_size", "outstanding")
_WHOLE = ("ticks", "ticks_lost", "round_trips", "littles_law")
COLUMNS = (
    Column("operation", "string", "what one round trip does", result=False),
    Column("echo_pairs", "string", "which client asks which server", result=False),
    *(Column(name, "int64", name, result=False) for name in _ASKED),
    *(Column(name, "int64", name) for name in _WHOLE),
    Column("time_p999", "float64", "99.9th percentile of the round trip", "ns"),
    *(Column(name, "float64", name, unit) for name, unit in _RATES.items()),
    Column("under_way", "float64", "requests of a client under way on average"),
)
_OWN = native.own_columns(_TOTALS, ("request_begin", "round_trip"))
_OF_WAYS = {"min": 0.0, "p50": 0.5, "p90": 0.9, "p99": 0.99}


def _trips(point: int) -> NDArray[np.int64]:
    """[TRIPS, RANKS]; ranks 0 and 1 ask, and rank 1 has half as many."""
    none = np.full((TRIPS, RANKS), schema.NO_MOMENT)
    place = np.arange(TRIPS)
    none[:, 0] = 5000 + place * 7 % TRIPS + 1000 * point
    none[: TRIPS // 2, 1] = 6000 + place[: TRIPS // 2] * 11 % 601
    return none


def _samples(point: int) -> dict[str, NDArray[np.int64]]:
    """One request at a time, with 100 ns between an answer and the next request."""
    trips = _trips(point)
    there = trips != schema.NO_MOMENT
    times = np.where(there, trips, 0)
    count = there.sum(axis=0)
    idle = 100 * np.maximum(count - 1, 0)
    begins = np.cumsum(times + 100, axis=0) - times
    own = {
        "round_trips": count,
        "trip_time": times.sum(axis=0),
        "idle_time": idle,
        "open_time": np.zeros(RANKS, np.int64),
        "trip_span": times.sum(axis=0) + idle,
        "shortest_trip": np.where(there, trips, 10**9).min(axis=0) * (count > 0),
        "longest_trip": times.max(axis=0),
        "trip_places": (count > 0).astype(np.int64),
    }
    found = {name: values[None, :] for name, values in own.items()}
    found["request_begin"] = np.where(there, begins, schema.NO_MOMENT)
    found["round_trip"] = trips
    return found


def _raw(point: int) -> schema.Raw:
    span = _samples(point)["trip_span"]
    begin = np.where(span > 0, 100, 0)
    done = begin + span
    return schema.Raw(begin, done, done, np.array([10]), np.array([True]), np.zeros_like(begin))


def _figures(point: int, size: int) -> dict[str, Any]:
    own = _samples(point)
    of_clients = own["round_trip"].T  # one after the other
    kept = of_clients[of_clients != schema.NO_MOMENT].astype(float)
    order = np.sort(kept)
    count, span = int(own["round_trips"].sum()), int(own["trip_span"].max())
    rate = count / span * 1e9
    found: dict[str, Any] = metrics.time_statistics(kept) | derived.quantile_intervals(kept)
    kind = schema.INTERVAL_KINDS.index(found["interval_kind"])
    clients = own["round_trips"][0] > 0
    under_way = own["trip_time"][0, clients] / own["trip_span"][0, clients]
    return found | {
        "schedule": "", "window": 0, "message_size": size, "echo_pairs": "halves",
        "operation": "echo", "request_size": 30, "outstanding": 1, "littles_law": 1,
        "attempts": 1, "invalid": 0, "stop_rule": 1, "ticks": TRIPS, "ticks_lost": 0,
        "time_p999": order[int(np.ceil(0.999 * kept.size)) - 1],
        "ops": kept.size,
        "autocorrelation": metrics.autocorrelation(kept),
        "interval_kind": kind,
        "round_trips": count,
        "trip_rate": rate,
        "byte_rate": rate * size,
        "gbps": rate * size * 8e-9,
        "under_way": float(under_way.mean()),
    }  # fmt: skip


@made.once
def write(path: Path) -> Path:
    """A point for each of SIZES, sound to the last figure."""
    figures = [_figures(point, size) for point, size in enumerate(SIZES)]
    columns = native.described(schema.RATES, COLUMNS)
    return native.write(path, "echo", figures, columns, _raw, _OWN, _samples)


KEPT = 90
"""Round trips of a client that are kept where more were made."""
_COUNTED = (*COLUMNS, Column("buckets", "int64", "buckets of the histogram in /raw"))
_WITH_BUCKETS = native.own_columns(
    _TOTALS, ("request_begin", "round_trip"), ("bucket_begin", "bucket_trips")
)


def bucket_of(time: int) -> int:
    """Where the bucket begins in which this time is: said otherwise than the program says it."""
    width = 1
    while time >= 2048 * width:
        width *= 2
    return time - time % width


def _buckets(point: int) -> dict[str, NDArray[np.int64]]:
    """[buckets, RANKS], ascending of each rank."""
    of_rank = []
    for column in _trips(point).T:
        times = column[column != schema.NO_MOMENT]
        of_rank.append(Counter(bucket_of(int(time)) for time in times))
    most = max(map(len, of_rank))
    begins = np.full((most, RANKS), schema.NO_MOMENT)
    trips = begins.copy()
    for rank, counter in enumerate(of_rank):
        found = sorted(counter)
        begins[: len(found), rank] = found
        trips[: len(found), rank] = [counter[begin] for begin in found]
    return {"bucket_begin": begins, "bucket_trips": trips}


def _counted(point: int, kept: int) -> dict[str, NDArray[np.int64]]:
    own = _samples(point)
    along = {name: own[name][:kept] for name in ("request_begin", "round_trip")}
    return own | along | _buckets(point)


def _counted_figures(point: int, size: int, kept: int) -> dict[str, Any]:
    found = _figures(point, size)
    trips = _trips(point)
    times = np.sort(trips[trips != schema.NO_MOMENT])
    found |= {"buckets": len(_buckets(point)["bucket_begin"]), "ticks": kept}
    if kept >= TRIPS:
        return found
    middles = []
    for time in times:
        begin = bucket_of(int(time))
        width = next(w for w in (1, 2, 4, 8, 16) if time < 2048 * w)
        middles.append(begin + (width - 1) // 2)
    for name, q in {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}.items():
        found[f"time_{name}"] = float(middles[int(np.ceil(q * times.size)) - 1])
    for name in ("p50_low", "p50_high", "p99_low", "p99_high"):
        found[f"time_{name}"] = np.nan
    squares = ((np.array(middles) - times.mean()) ** 2).sum()
    return found | {
        "ticks_lost": TRIPS - kept, "interval_kind": 0, "autocorrelation": np.nan,
        "time_stddev": np.sqrt(squares / (times.size - 1)),
    }  # fmt: skip


@made.once
def write_counted(path: Path, kept: int = KEPT) -> Path:
    """The same with a histogram of all round trips of each client, of which so many are kept."""
    figures = [_counted_figures(point, size, kept) for point, size in enumerate(SIZES)]
    columns = native.described(schema.RATES, _COUNTED)
    return native.write(
        path, "echo", figures, columns, _raw, _WITH_BUCKETS, lambda p: _counted(p, kept)
    )


_WAYS = tuple(f"way_{way}_{name}" for way in ("there", "back") for name in _OF_WAYS)
_WITH_WAYS = (
    *COLUMNS,
    Column("way_trips", "int64", "round trips that are kept, of which the ways are"),
    *(Column(name, "float64", name, "ns") for name in ("way_bound", "server_p50", *_WAYS)),
)
_TOLD = native.own_columns(_TOTALS, ("request_begin", "round_trip", "request_came", "answer_begin"))
_SERVER = 200


def _told(point: int, is_old: bool = False) -> dict[str, NDArray[np.int64]]:
    """The way there takes 1000 ns and more, the server 200 ns, the way back the rest."""
    own = _samples(point)
    there = own["round_trip"] != schema.NO_MOMENT
    way = 1000 + np.arange(TRIPS)[:, None] * 13 % 501
    came = np.where(there & (not is_old), own["request_begin"] + way, schema.NO_MOMENT)
    answer = np.where(came != schema.NO_MOMENT, came + _SERVER, schema.NO_MOMENT)
    return own | {"request_came": came, "answer_begin": answer}


def _told_figures(point: int, size: int, bound: float) -> dict[str, Any]:
    found = _figures(point, size)
    own = _told(point)
    there = own["round_trip"] != schema.NO_MOMENT
    begin, trip, came = (own[n][there] for n in ("request_begin", "round_trip", "request_came"))
    found |= {"way_trips": int(there.sum()), "way_bound": bound, "clock_error": bound}
    found["server_p50"] = _SERVER
    is_told = bound <= found["time_p50"] / 20
    for way, times in (("there", came - begin), ("back", begin + trip - came - _SERVER)):
        for name, q in _OF_WAYS.items():
            time = np.sort(times)[max(int(np.ceil(q * times.size)) - 1, 0)]
            found[f"way_{way}_{name}"] = float(time) if is_told and time > bound else np.nan
    return found


@made.once
def write_told(path: Path, bound: float = 0.0, is_old: bool = False) -> Path:
    """The same with what servers told, by clocks with that bound; or nothing yet."""
    figures = [_told_figures(point, size, bound) for point, size in enumerate(SIZES)]
    if is_old:
        unknown = dict.fromkeys(("way_bound", "server_p50", *_WAYS), np.nan) | {"way_trips": -1}
        figures = [one | unknown for one in figures]
    columns = native.described(schema.RATES, _WITH_WAYS)
    return native.write(path, "echo", figures, columns, _raw, _TOLD, lambda p: _told(p, is_old))
