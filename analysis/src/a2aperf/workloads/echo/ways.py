# SPDX-License-Identifier: BSD-3-Clause
"""The two ways of round trips apart: there, at the server, and back; where the clocks tell them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import grouping, schema
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, us
from a2aperf.labels import count_text, size_text
from a2aperf.results import Results
from a2aperf.round_trips import verify
from a2aperf.round_trips.verify import Values

KIND: Final = "ways"
TOLD: Final = ("request_came", "answer_begin")
"""Moments that the server told its client, on the common clock; older files lack them."""
BOUND: Final = "way_bound"
LARGEST_BOUND: Final = 0.05
"""Of the median round trip: with more no way is told."""
_QUANTILES: Final = {"min": 0.0, "p50": 0.5, "p90": 0.9, "p99": 0.99}
_CLOCKS: Final = (0, 1, 2)
"""Clocks of a pair that may be off the common one, each by `clock_error`."""


def parts(values: Values) -> dict[str, NDArray[np.int64]]:
    """`there`, `server` and `back` in ns of every kept round trip whose server told of it."""
    there = values["request_came"] != schema.NO_MOMENT
    begin, trip, came, answer = (
        values[name][there] for name in ("request_begin", "round_trip", *TOLD)
    )
    return {"there": came - begin, "server": answer - came, "back": begin + trip - answer}


def figures(row: pd.Series[Any], values: Values) -> dict[str, float]:
    """What the columns of a point are by its samples, and by its bound as it is stored."""
    if not values.keys() >= {*TOLD} or np.isnan(row.get(BOUND, np.nan)):
        return {}
    part = parts(values)
    found = {"way_trips": part["there"].size, "server_p50": verify.percentile(part["server"], 0.5)}
    bound = float(row[BOUND])
    for way in ("there", "back"):
        for name, q in _QUANTILES.items():
            time = verify.percentile(part[way], q) if are_told(bound, row["time_p50"]) else np.nan
            found[f"way_{way}_{name}"] = time if time > bound else np.nan
    return found


def are_told(bound: Any, trip_p50: Any) -> Any:
    """Whether such bounds of the clocks are small enough."""
    return bound <= LARGEST_BOUND * trip_p50


def faults(row: pd.Series[Any], values: Values) -> Iterator[str]:
    """What samples of servers, and the bound, contradict whatever the clocks were."""
    if BOUND in row and not np.isnan(row[BOUND]):
        yield from _of_bound(row)
    if not values.keys() >= {*TOLD}:
        return
    if (parts(values)["server"] < 0).any():
        yield "an answer was sent before its request came, by the server's own clock"


def _of_bound(row: pd.Series[Any]) -> Iterator[str]:
    """It is none, or that of one clock or of two."""
    error = float(np.nan_to_num(row["clock_error"]))
    if not any(np.isclose(row[BOUND], clocks * error) for clocks in _CLOCKS):
        yield f"{BOUND} is {row[BOUND]:g}, and that of a clock is {error:g}"


def find(found: Results) -> list[Finding]:
    """The medians of each part at each size, or why they are not told."""
    points = found.points
    if BOUND not in points or points[BOUND].isna().all():
        return []
    points = points[points[BOUND].notna()]
    points = points.assign(setting=grouping.setting_labels(found, points))
    findings: list[Finding] = []
    for line, rows in points.groupby(["launch", "operation", "setting"], sort=False):
        where = ", ".join(dict.fromkeys(map(str, filter(None, line))))
        findings += _of_setting(where, rows.sort_values("message_size"))
    return findings


def _of_setting(where: str, rows: pd.DataFrame) -> Iterator[Finding]:
    told = rows[are_told(rows[BOUND], rows["time_p50"])]
    if len(told):
        bound = float(told[BOUND].max())
        text = (
            f"medians there, at the server and back: "
            f"{'; '.join(_words(row) for _, row in told.iterrows())} (the clocks of both ends are "
            f"{f'within {us(bound)} of each other' if bound else 'one'})"
        )
        trips = int(told["way_trips"].sum())
        yield Finding(KIND, text, where, trips, "round trips", numbers={"bound": bound})
    if len(told) < len(rows):
        lost = rows.drop(index=told.index)
        text = (
            f"at {count_text(len(lost), 'point')} the ways are not told apart: the clocks may "
            f"differ by {us(float(lost[BOUND].max()))}, more than 5 % of the median round trip "
            f"({us(float(lost['time_p50'].min()))})"
        )
        yield Finding(KIND, text, where, len(lost), "points", abstains=True)


def _words(row: pd.Series[Any]) -> str:
    names = ("way_there_p50", "server_p50", "way_back_p50")
    times = (us(row[name]) if not pd.isna(row[name]) else "not known" for name in names)
    return f"{size_text(row['message_size'])} {', '.join(times)}"
