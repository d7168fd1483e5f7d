# SPDX-License-Identifier: BSD-3-Clause
"""Results files of streams and round trips: every figure is that of its samples."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import checksums
import h5py
import numpy as np
from results import COMPLETE, NO_MOMENT, Results

QUANTILES = {"time_p50": 0.5, "time_p90": 0.9, "time_p99": 0.99, "time_p999": 0.999}


def require_true_streams(path: Path, pairs: Sequence[tuple[int, int]], messages: int) -> None:
    """All points were measured; each pair (source, destination) moved so many messages at each."""
    results = Results(path)
    columns, raw = results.columns, {name: values[:, 0] for name, values in results.raw.items()}
    assert set(columns["state"]) == {COMPLETE}
    for rank in range(columns["ranks"][0]):
        sent, received = (raw[f"messages_{way}"][:, rank] for way in ("sent", "received"))
        assert (sent == messages * sum(source == rank for source, _ in pairs)).all()
        assert (received == messages * sum(destination == rank for _, destination in pairs)).all()
    assert (columns["messages"] == messages * len(pairs)).all()
    assert (columns["bytes"] == columns["messages"] * columns["message_size"]).all()
    first = raw["begin"][:, [source for source, _ in pairs]].min(axis=1)
    last = raw["recv_done"][:, [destination for _, destination in pairs]].max(axis=1)
    assert (columns["stream_time"] == last - first).all()
    rates = 1e9 * columns["messages"] / columns["stream_time"]
    assert np.allclose(columns["msg_rate"], rates)
    assert np.allclose(columns["gbps"], 8e-9 * rates * columns["message_size"])
    checksums.require_right(path)


def trips(path: Path, point: int) -> np.ndarray:
    """Round trips that are kept of a point, in ns, with NO_MOMENT where a rank has no more [trip, rank]."""
    with h5py.File(path) as file:
        return file["raw/round_trip"][point, : file["ticks"][point]]


def require_true_ways(path: Path, clients: list[int]) -> None:
    """Of ranks with one clock: each kept round trip is there, the server and back, and none of them goes back in time."""
    columns = Results(path).columns
    names = ("request_begin", "request_came", "answer_begin", "round_trip")
    for point in range(len(columns["state"])):
        with h5py.File(path) as file:
            stored = [file[f"raw/{name}"][point, : file["ticks"][point]] for name in names]
        there = stored[3] != NO_MOMENT
        assert not there[:, [rank for rank in range(there.shape[1]) if rank not in clients]].any()
        for values in stored:
            assert ((values != NO_MOMENT) == there).all()
        begin, came, answer, trip = (values[there] for values in stored)
        parts = {"there": came - begin, "server": answer - came, "back": begin + trip - answer}
        assert all((part >= 0).all() for part in parts.values())
        assert (sum(parts.values()) == trip).all()
        assert columns["way_trips"][point] == there.sum() > 0
        assert columns["way_bound"][point] == 0
        for way, q in itertools.product(("there", "back"), (0, 0.5, 0.9, 0.99)):
            times = np.sort(parts[way])
            index = max(math.ceil(round(q * len(times), 9)) - 1, 0)
            absent = (index == len(times) - 1 and q > 0.5) or times[index] == 0
            name = f"way_{way}_{f'p{100 * q:.0f}' if q else 'min'}"
            np.testing.assert_equal(columns[name][point], math.nan if absent else float(times[index]))
        middle = np.sort(parts["server"])[(there.sum() + 1) // 2 - 1]
        assert columns["server_p50"][point] == middle


def width_of(begin: int) -> int:
    """Of a bucket of a histogram: 1 ns below 2048, then 1024 of them to each power of two."""
    return 1 << max(begin.bit_length() - 11, 0)


def histogram(path: Path, point: int) -> list[dict[int, int]]:
    """Round trips of each rank by the beginning of their bucket, in ns."""
    with h5py.File(path) as file:
        count = file["buckets"][point]
        begins, trips = (file[f"raw/bucket_{name}"][point, :count] for name in ("begin", "trips"))
    assert ((begins == NO_MOMENT) == (trips == NO_MOMENT)).all()
    there = begins != NO_MOMENT
    ranks = range(begins.shape[1])
    return [dict(zip(begins[there[:, r], r].tolist(), trips[there[:, r], r].tolist(), strict=True)) for r in ranks]


def by_histogram(path: Path, point: int, q: float) -> float:
    """The nearest rank among all round trips, as the middle of its bucket."""
    pooled = sum((Counter(of_rank) for of_rank in histogram(path, point)), Counter())
    index = max(math.ceil(round(q * sum(pooled.values()), 9)) - 1, 0)
    for begin in sorted(pooled):
        if index < pooled[begin]:
            return begin + (width_of(begin) - 1) // 2
        index -= pooled[begin]
    raise AssertionError("no round trip")


def require_true_histogram(path: Path, point: int, raw: dict[str, np.ndarray]) -> None:
    """It has every round trip of each client, those that are kept among them."""
    kept = trips(path, point)
    for rank, buckets in enumerate(histogram(path, point)):
        assert sum(buckets.values()) == raw["round_trips"][point, 0, rank]
        assert all(count > 0 for count in buckets.values())
        if not buckets:
            continue
        begins = sorted(buckets)
        for begin, name in ((begins[0], "shortest_trip"), (begins[-1], "longest_trip")):
            assert begin <= raw[name][point, 0, rank] < begin + width_of(begin)
        left = Counter(buckets)
        for time in kept[kept[:, rank] != NO_MOMENT, rank].tolist():
            left[time - time % width_of(time)] -= 1
        assert min(left.values()) >= 0
        assert set(left) == set(buckets)


def require_true_trips(path: Path, clients: list[int], pairs: tuple[str, ...] = ()) -> None:
    """Every figure of every point is that of its samples."""
    results = Results(path)
    columns, raw = results.columns, results.raw
    for point in range(len(results)):
        kept = trips(path, point)
        times = np.sort(kept[kept != NO_MOMENT])
        require_true_histogram(path, point, raw)
        count = int(columns["round_trips"][point])
        is_kept = columns["ticks_lost"][point] == 0
        assert is_kept == (len(times) == count)
        assert columns["ops"][point] == count > 0
        assert columns["attempts"][point] == 1
        for name, q in QUANTILES.items():
            index = math.ceil(round(q * count, 9)) - 1
            absent = index == count - 1 and name != "time_p50"
            middle = by_histogram(path, point, q)
            told = times[index] if is_kept else np.clip(middle, columns["time_min"][point], columns["time_max"][point])
            np.testing.assert_equal(columns[name][point], math.nan if absent else told)
            np.testing.assert_allclose(told, middle, rtol=1e-3)
        np.testing.assert_allclose(columns["time_mean"][point], raw["trip_time"][point, 0].sum() / count)
        if is_kept:
            np.testing.assert_allclose(columns["time_mean"][point], times.mean())
        assert columns["time_min"][point] == raw["shortest_trip"][point, 0, clients].min() <= times[0]
        assert columns["time_max"][point] == raw["longest_trip"][point, 0, clients].max() >= times[-1]
        count = raw["round_trips"][point, 0]
        assert count.sum() == count[clients].sum() == columns["round_trips"][point]
        span = raw["recv_done"][point, 0, clients].max() - raw["begin"][point, 0, clients].min()
        rate = 1e9 * count.sum() / span
        np.testing.assert_allclose(columns["trip_rate"][point], rate)
        np.testing.assert_allclose(columns["byte_rate"][point], rate * columns["message_size"][point])
        np.testing.assert_allclose(columns["gbps"][point], 8e-9 * rate * columns["message_size"][point])
        under_way = (raw["trip_time"][point, 0, clients] / raw["trip_span"][point, 0, clients]).mean()
        np.testing.assert_allclose(columns["under_way"][point], under_way)
        servers = [sum(pair.split(":")[0] == str(rank) for pair in pairs) or 1 for rank in clients]
        assert list(raw["trip_places"][point, 0, clients]) == [columns["outstanding"][point] * count for count in servers]
        assert columns["under_way"][point] <= columns["outstanding"][point] * max(servers)
        assert columns["littles_law"][point] == 1
    checksums.require_right(path)
