# SPDX-License-Identifier: BSD-3-Clause
"""Results files of open loops: every figure is that of its samples, and messages were due when they should be."""

import math
from pathlib import Path

import checksums
import h5py
import numpy as np
from flow_files import require_true_histogram
from results import NO_MOMENT, Results

SECOND = 1_000_000_000
TAILS = {"time_p90": 0.9, "time_p99": 0.99, "time_p999": 0.999}


def columns_of(path: Path, point: int) -> dict[str, np.ndarray]:
    """What is kept of each round trip of a point [trip, rank]."""
    names = ("request_due", "round_trip", "request_wait", "held_up")
    with h5py.File(path) as file:
        return {name: file[f"raw/{name}"][point, : file["ticks"][point]] for name in names}


def even(rate: int, count: int, pair: int = 0, pairs: int = 1) -> list[int]:
    """When messages are due, ns after the start."""
    return [SECOND * (2 * k * pairs + 2 * pair + 1) // (2 * pairs * rate) for k in range(count)]


def nearest(times: np.ndarray, q: float) -> float:
    """NaN where it would be the longest, of those above the median."""
    if not times.size:
        return math.nan
    index = math.ceil(round(q * times.size, 9)) - 1
    return math.nan if q > 0.5 and index == times.size - 1 else float(np.sort(times)[index])


def waits_by_lindley(arrivals: np.ndarray, service: int) -> np.ndarray:
    """How long each waits where one is served at a time: as it is played, in whole ns."""
    waits, free = [], 0
    for moment in arrivals.tolist():
        waits.append(max(free - moment, 0))
        free = max(free, moment) + service
    return np.array(waits)


def require_true_relays(path: Path, results: Results, point: int) -> None:
    """What relays say is that of their samples, and none sent a message on before its service was over."""
    columns, raw = results.columns, results.raw
    of_rank = {name: raw[name][point, 0] for name in ("relayed", "relay_time", "relayed_back", "relay_back_time")}
    own = columns_of(path, point)
    arrivals, stays = own["request_due"], own["request_wait"]
    there = (stays != NO_MOMENT) & (own["round_trip"] == NO_MOMENT)
    ranks = arrivals.shape[1]
    is_relay = np.arange(ranks) >= ranks - columns["relays"][point]
    assert all((values[~is_relay] == 0).all() for values in of_rank.values()) and not there[:, ~is_relay].any()
    for mean, count, time in (("relay_mean", "relayed", "relay_time"), ("relay_back_mean", "relayed_back", "relay_back_time")):
        known = of_rank[count].sum()
        np.testing.assert_equal(columns[mean][point], of_rank[time].sum() / known if known else math.nan)
    for name, q in {"relay_p50": 0.5, "relay_p99": 0.99}.items():
        np.testing.assert_equal(columns[name][point], nearest(stays[there], q))
    assert not is_relay.any() or of_rank["relayed_back"].sum() >= columns["round_trips"][point] > 0
    for relay in np.flatnonzero(is_relay):
        came, stay = arrivals[there[:, relay], relay], stays[there[:, relay], relay]
        if came.size == of_rank["relayed"][relay]:
            assert stay.sum() == of_rank["relay_time"][relay]
        service, order = int(columns["asked_relay_time"][point]), np.argsort(came, kind="stable")
        assert (stay[order] >= waits_by_lindley(came[order], service) + service - 1).all()  # rounded


def require_true_loops(path: Path, clients: list[int]) -> None:
    """Every figure of every point is that of its samples."""
    results = Results(path)
    columns, raw = results.columns, results.raw
    for point in range(len(results)):
        own = columns_of(path, point)
        there = own["round_trip"] != NO_MOMENT
        asks = np.arange(there.shape[1]) < there.shape[1] - columns["relays"][point]
        assert not there[:, ~asks].any()
        assert all(((values != NO_MOMENT) == there)[:, asks].all() for values in own.values())
        trips, waits = own["round_trip"][there], own["request_wait"][there]
        require_true_histogram(path, point, raw)
        assert (waits >= 0).all() and (trips >= waits).all() and (own["request_due"][there] >= 0).all()
        count = int(columns["round_trips"][point])
        if is_kept := columns["ticks_lost"][point] == 0:
            assert trips.size == count == columns["ops"][point]
            for name, q in {"time_p50": 0.5, **TAILS}.items():
                np.testing.assert_equal(columns[name][point], nearest(trips, q))
            ends = (trips.min(), trips.max()) if trips.size else (np.nan, np.nan)
            np.testing.assert_equal((columns["time_min"][point], columns["time_max"][point]), ends)
        total = {name: values[point, 0] for name, values in raw.items() if values.ndim == 3 and name not in own}
        if is_kept:
            assert (total["trip_time"] == np.where(there, own["round_trip"], 0).sum(axis=0)).all()
            assert (total["wait_time"] == np.where(there, own["request_wait"], 0).sum(axis=0)).all()
        under_way = total["trip_time"] - total["wait_time"]
        filled = under_way + total["idle_time"] + total["open_time"]
        assert (filled == total["trip_places"] * total["trip_span"])[clients].all()
        assert columns["littles_law"][point] == 1
        np.testing.assert_allclose(columns["under_way"][point], (under_way / np.maximum(total["trip_span"], 1))[clients].mean())
        due, time = int(total["messages_due"].sum()), int(total["due_time"].max())
        np.testing.assert_allclose(columns["offered_rate"][point], SECOND * due / time)
        until = max(time, int(raw["recv_done"][point, 0, clients].max()))
        np.testing.assert_allclose(columns["achieved_rate"][point], SECOND * count / until)
        np.testing.assert_allclose(columns["gbps"][point], 8 * count * columns["message_size"][point] / until)
        assert columns["unanswered"][point] == due - count >= 0
        assert columns["backlog"][point] == total["most_behind"].max() >= 0
        paced = own["request_wait"][own["held_up"] == 0]
        assert columns["paced"][point] == paced.size
        for name, q in {"pacing_p50": 0.5, "pacing_p99": 0.99, "pacing_p999": 0.999}.items():
            np.testing.assert_equal(columns[name][point], nearest(paced, q))
        require_true_relays(path, results, point)
        np.testing.assert_equal(columns["pacing_max"][point], float(paced.max()) if paced.size else math.nan)
    checksums.require_right(path)
