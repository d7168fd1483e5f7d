# SPDX-License-Identifier: BSD-3-Clause
"""Whether the figures of round trips are what their samples say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, metrics, schema
from a2aperf.deferred import pandas as pd
from a2aperf.metrics import Rule
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.round_trips import histogram
from a2aperf.round_trips.histogram import Histogram

Check = Callable[["pd.Series[Any]", RawOps], Iterator[str]]
Values = Mapping[str, NDArray[Any]]
"""Columns of a point's samples by name: [R], or of each round trip that is kept [ticks, R]."""

WAITED: Final = "wait_time"
"""How long requests of a rank were due before they were sent, where they have a rate."""
_TAILS = {"time_p90": 0.9, "time_p99": 0.99, "time_p999": 0.999}
_TOTALS = (
    "round_trips",
    "trip_time",
    "idle_time",
    "open_time",
    "trip_span",
    "shortest_trip",
    "longest_trip",
)

_MOST_OPS = 2**31 - 1
"""That the column `ops` has room for."""
_PLACES = "trip_places"
"""Of each client; older files lack it, and a client had one server."""


@dataclass(frozen=True)
class Own:
    """What one workload has beside the samples and figures of all round trips."""

    rate: str
    """Its column of round trips per second."""
    per_second: Callable[[Values, RawOps], float]
    """The same of its samples."""
    totals: tuple[str, ...] = ()
    trips: tuple[str, ...] = ()
    figures: Callable[[pd.Series[Any], Values], dict[str, Any]] = lambda row, values: {}
    """Further figures of a point, of its samples."""
    later: tuple[str, ...] = ()
    """Totals that older files lack: the first is above 0 at ranks that pass messages on alone."""
    faults: Callable[[pd.Series[Any], Values], Iterator[str]] = lambda row, values: iter(())
    """What these contradict in one another."""
    told: tuple[str, ...] = ()
    """Of each round trip, what its server told; files that are older lack it, some of it or all."""


def percentile(times: NDArray[Any], q: float) -> float:
    """By nearest rank, 0 is the shortest; above the median none that would be the longest."""
    if not times.size or (q > 0.5 and metrics.percentile_is_maximum(times.size, q, "rank")):
        return np.nan
    if q == 0:
        return float(times.min())
    return metrics.percentile(times.astype(np.float64), q, "rank")


def verifier(own: Own, found: Results, file: str) -> Check:
    """What compares a point with its round trips."""
    return partial(_point, own, found, file, found.attributes[file].get("percentile_rule", "rank"))


def _point(
    own: Own, found: Results, file: str, rule: Rule, row: pd.Series[Any], raw: RawOps
) -> Iterator[str]:
    columns = found.own_columns(file)
    needed = (*_TOTALS, *own.totals, "round_trip", *own.trips)
    if missing := [name for name in needed if name not in columns]:
        yield f"/raw has no {missing[0]}"
        return
    point = int(row["point"])
    totals = {
        name: found.own(file, point, columns[name])[0]
        for name in (*_TOTALS, *own.totals, *own.later, _PLACES)
        if name in columns
    }
    along = ("round_trip", *own.trips, *(name for name in own.told if name in columns))
    trips = {name: found.own(file, point, columns[name]) for name in along}
    there = trips["round_trip"] != schema.NO_MOMENT
    kept = _one_after_the_other(trips["round_trip"])
    clients = totals["round_trips"] > 0
    if not kept.size or not clients.any():
        yield "complete, and there is no round trip in /raw"
        return
    asks = np.ones(clients.size, dtype=bool)
    if own.later and own.later[0] in totals:
        asks = totals[own.later[0]] == 0
    for name, values in trips.items():
        if name in own.told and (values == schema.NO_MOMENT).all():
            continue
        if ((values != schema.NO_MOMENT) != there)[:, asks].any():
            yield f"/raw/{name} has not a value for each round trip"
            return
    stored_buckets = histogram.of_clients(found, file, point)
    faults: list[str] = []
    if stored_buckets is not None:
        faults = [*histogram.faults(stored_buckets, totals, trips["round_trip"])]
        yield from faults
    if stored_buckets is None or kept.size == totals["round_trips"].sum():
        times = _times_as_stored(row, trips["round_trip"], rule)
    else:
        all_of_them = histogram.pooled(stored_buckets)
        times = {} if faults else _times_of_all(all_of_them, totals, clients, rule)
    per_second = own.per_second(totals, raw)
    rates = {own.rate: per_second} | _payload(per_second, int(row["message_size"]))
    more = own.figures(row, totals | trips)
    yield from own.faults(row, totals | trips)
    again = times | rates | _all(totals, clients, row) | more
    for name, stored, value in derived.contradicted(row, again):
        shown = value if isinstance(value, str) else f"{value:g}"
        yield f"{name} is {stored}, its round trips say {shown}"


def _one_after_the_other(trips: NDArray[Any]) -> NDArray[np.float64]:
    """Those of [n, rank] that are there, client after client, each in its order."""
    return np.asarray(trips.T[trips.T != schema.NO_MOMENT], dtype=np.float64)


def _times_as_stored(row: pd.Series[Any], trips: NDArray[Any], rule: Rule) -> dict[str, Any]:
    """Of client after client; or of all clients in turn, as older files have what depends on it."""
    times = _times(_one_after_the_other(trips), rule)
    older = _times(trips[trips != schema.NO_MOMENT].astype(np.float64), rule)
    is_older = any(derived.contradicted(row, times)) and not any(derived.contradicted(row, older))
    return older if is_older else times


def _payload(per_second: float, size: int) -> dict[str, float]:
    return {"byte_rate": per_second * size, "gbps": per_second * size * 8e-9}


def _times(kept: NDArray[np.float64], rule: Rule) -> dict[str, Any]:
    """Of those that are kept; a percentile that would be the largest of them is absent."""
    figures: dict[str, Any] = metrics.time_statistics(kept, rule)
    figures["time_p999"] = metrics.percentile(kept, _TAILS["time_p999"], rule)
    for name, q in _TAILS.items():
        if metrics.percentile_is_maximum(kept.size, q, rule):
            figures[name] = np.nan
    return {
        **figures,
        **derived.quantile_intervals(kept),
        "ops": kept.size,
        "autocorrelation": metrics.autocorrelation(kept),
    }


def _times_of_all(
    pooled: Histogram, totals: dict[str, NDArray[Any]], clients: NDArray[np.bool_], rule: Rule
) -> dict[str, Any]:
    """Of more than are kept: what follows from their order in time is absent."""
    count = int(totals["round_trips"].sum())
    shortest = int(totals["shortest_trip"][clients].min())
    longest = int(totals["longest_trip"][clients].max())
    mean = float(totals["trip_time"].sum() / count)
    quantiles = {"time_p50": 0.5, **_TAILS}
    found = {name: pooled.percentile(q, rule) for name, q in quantiles.items()}
    ends = [f"time_{which}_{end}" for which in ("p50", "p99") for end in ("low", "high")]
    return {
        **{name: float(np.clip(time, shortest, longest)) for name, time in found.items()},
        **dict.fromkeys([*ends, "autocorrelation"], np.nan),
        "interval_kind": "none",
        "time_mean": mean,
        "time_stddev": pooled.deviation(mean),
        "ops": min(pooled.total, _MOST_OPS),
    }


def _all(
    totals: dict[str, NDArray[Any]], clients: NDArray[np.bool_], row: pd.Series[Any]
) -> dict[str, Any]:
    """Of all of them, by what each client has added up."""
    under_way = totals["trip_time"] - totals.get(WAITED, 0)  # once they were sent
    mean = under_way[clients] / np.maximum(totals["trip_span"][clients], 1)
    places = totals.get(_PLACES, np.full(clients.size, int(row["outstanding"])))
    told = under_way + totals["idle_time"] + totals["open_time"]
    return {
        "round_trips": int(totals["round_trips"].sum()),
        "time_min": int(totals["shortest_trip"][clients].min()),
        "time_max": int(totals["longest_trip"][clients].max()),
        "under_way": float(mean.mean()),
        "littles_law": int((told == places * totals["trip_span"])[clients].all()),
    }
