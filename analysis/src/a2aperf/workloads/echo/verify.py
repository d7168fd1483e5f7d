# SPDX-License-Identifier: BSD-3-Clause
"""Whether the figures of round trips are what their samples say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from a2aperf import derived, metrics
from a2aperf.metrics import Rule
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.echo import histogram
from a2aperf.workloads.echo.histogram import Histogram
from a2aperf.workloads.workload import Verify

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


def verifier(found: Results, file: str) -> Verify:
    """What compares a point with its round trips."""
    return partial(_point, found, file, found.attributes[file].get("percentile_rule", "rank"))


def _point(
    found: Results, file: str, rule: Rule, row: pd.Series[Any], raw: RawOps
) -> Iterator[str]:
    columns = found.own_columns(file)
    if missing := [name for name in (*_TOTALS, "round_trip") if name not in columns]:
        yield f"/raw has no {missing[0]}"
        return
    point = int(row["point"])
    totals = {
        name: found.own(file, point, columns[name])[0]
        for name in (*_TOTALS, _PLACES)
        if name in columns
    }
    told = columns["round_trip"].marked(found.own(file, point, columns["round_trip"]))
    kept = np.asarray(told[~np.isnan(told.astype(float))], dtype=np.float64)
    clients = totals["round_trips"] > 0
    if not kept.size or not clients.any():
        yield "complete, and there is no round trip in /raw"
        return
    stored_buckets = histogram.of_clients(found, file, point)
    faults: list[str] = []
    if stored_buckets is not None:
        of_rank = found.own(file, point, columns["round_trip"])
        faults = [*histogram.faults(stored_buckets, totals, of_rank)]
        yield from faults
    if stored_buckets is None or kept.size == totals["round_trips"].sum():
        times = _times(kept, rule)
    else:
        all_of_them = histogram.pooled(stored_buckets)
        times = {} if faults else _times_of_all(all_of_them, totals, clients, rule)
    again = times | _all(totals, clients, row, raw)
    for name, stored, value in derived.contradicted(row, again):
        shown = value if isinstance(value, str) else f"{value:g}"
        yield f"{name} is {stored}, its round trips say {shown}"


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
    totals: dict[str, NDArray[Any]], clients: NDArray[np.bool_], row: pd.Series[Any], raw: RawOps
) -> dict[str, Any]:
    """Of all of them, by what each client has added up."""
    count = int(totals["round_trips"].sum())
    span = int(raw.recv_done[0, clients].max() - raw.begin[0, clients].min())
    rate = count / span * 1e9 if span > 0 else np.nan
    under_way = totals["trip_time"][clients] / np.maximum(totals["trip_span"][clients], 1)
    places = totals.get(_PLACES, np.full(clients.size, int(row["outstanding"])))
    told = totals["trip_time"] + totals["idle_time"] + totals["open_time"]
    return {
        "round_trips": count,
        "time_min": int(totals["shortest_trip"][clients].min()),
        "time_max": int(totals["longest_trip"][clients].max()),
        "trip_rate": rate,
        "byte_rate": rate * int(row["message_size"]),
        "gbps": rate * int(row["message_size"]) * 8e-9,
        "under_way": float(under_way.mean()),
        "littles_law": int((told == places * totals["trip_span"])[clients].all()),
    }
