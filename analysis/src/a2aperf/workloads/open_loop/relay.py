# SPDX-License-Identifier: BSD-3-Clause
"""Messages over a relay: its own time, by its own clock, and what a constant service would make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import schema
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, us
from a2aperf.labels import size_text
from a2aperf.results import Results
from a2aperf.round_trips.verify import Values
from a2aperf.workloads.open_loop import rates

TOTALS: Final = ("relayed", "relay_time", "relayed_back", "relay_back_time")
"""Of each rank, 0 where it is no relay; files that are older lack them."""


def waits(arrivals: NDArray[Any], service: float) -> NDArray[np.float64]:
    """How long each waits where one at a time is served, for `service` each: Lindley's recursion.

    W(k + 1) = max(0, W(k) + service - gap), from the first, which does not wait.
    """
    steps = service - np.diff(np.asarray(arrivals, dtype=np.float64))
    walk = np.concatenate([[0.0], np.cumsum(steps)])
    return walk - np.minimum.accumulate(walk)


def faults(values: Values) -> Iterator[str]:
    """What the samples of relays contradict in one another."""
    if "relayed" not in values:
        return
    for rank in np.flatnonzero(values["relayed"] > 0):
        waits_there = values["request_wait"][:, rank]
        there = waits_there != schema.NO_MOMENT
        if ((values["request_due"][:, rank] != schema.NO_MOMENT) != there).any():
            yield f"/raw/request_due of the relay {rank} has not a value for each request_wait"
        elif there.sum() == values["relayed"][rank]:
            stored, total = values["relay_time"][rank], waits_there[there].sum()
            if total != stored:
                yield f"relay_time of rank {rank} is {stored}, its messages say {total}"


def means(values: Values) -> dict[str, float]:
    """Of a request and of an answer in a relay; NaN where there is none."""
    if "relayed" not in values:
        return {}
    pairs = {"relay_mean": TOTALS[:2], "relay_back_mean": TOTALS[2:]}
    found = {}
    for name, (count, time) in pairs.items():
        all_of_them = int(values[count].sum())
        found[name] = int(values[time].sum()) / all_of_them if all_of_them else np.nan
    return found


def stays(values: Values) -> NDArray[np.float64]:
    """Of the requests that are kept of all relays, which have no round trips."""
    own = values["request_wait"]
    is_relays = (own != schema.NO_MOMENT) & (values["round_trip"] == schema.NO_MOMENT)
    return np.asarray(own[is_relays], dtype=np.float64)


def relayed(found: Results) -> list[Finding]:
    """Where the mean latency is: at the client, in the relay on both ways, and the rest."""
    findings = []
    for launch, size, rows in _by_launch(over_relays(found)):
        told = [one for _, row in rows.iterrows() if (one := _split(found, row))]
        if not told:
            continue
        text = "of the mean latency, " + "; ".join(words for words, _ in told)
        numbers = told[-1][1]
        where = ", ".join(filter(None, (launch, size_text(size))))
        findings.append(Finding("relay", text, where, len(told), "points", 0.0, numbers))
    return findings


def over_relays(found: Results) -> pd.DataFrame:
    """Points whose messages went over a relay."""
    if "relays" not in found.points or "relay_mean" not in found.points:
        return found.points.iloc[:0]
    return found.points[(found.points["relays"] > 0) & found.points["relay_mean"].notna()]


def _by_launch(points: pd.DataFrame) -> Iterator[tuple[str, int, pd.DataFrame]]:
    for (launch, _), rows in points.groupby(["launch", "message_size"], sort=False):
        yield str(launch), int(rows["message_size"].iloc[0]), rows.sort_values("offered_rate")


@dataclass(frozen=True)
class Parts:
    """Of the mean latency of a point, each in ns."""

    client: float
    """Before the send."""
    there: float
    """In the relay, on the way to the server."""
    back: float
    """In the relay, with the answer."""
    rest: float
    """Both hops, there and back, and the server."""

    @property
    def whole(self) -> float:
        """The mean latency."""
        return self.client + self.there + self.back + self.rest


def parts(found: Results, row: pd.Series[Any]) -> Parts | None:
    """None where messages have no answer: then not the same ones are in all of the means."""
    columns = found.own_columns(str(row["file"]))
    if row["unanswered"] > 0 or not row["has_raw"] or "wait_time" not in columns:
        return None
    waited = found.own(str(row["file"]), int(row["point"]), columns["wait_time"])[0].sum()
    client = float(waited) / float(row["round_trips"])
    there, back = float(row["relay_mean"]), float(row["relay_back_mean"])
    return Parts(client, there, back, float(row["time_mean"]) - client - there - back)


def _split(found: Results, row: pd.Series[Any]) -> tuple[str, dict[str, float | int | str]] | None:
    part = parts(found, row)
    if part is None:
        return None
    words = (
        f"{us(row['time_mean'])} at {rates.text(row['offered_rate'])}, {us(part.client)} were "
        f"before the send, {us(part.there)} in the relay, {us(part.back)} there with the answer, "
        f"and {us(part.rest)} on the way and at the server"
    )
    numbers: dict[str, float | int | str] = {
        "client": part.client, "relay": part.there, "back": part.back, "rest": part.rest,
    }  # fmt: skip
    expected = _expected(found, row)
    if expected is not None:
        words += (
            f" (a service of {us(row['asked_relay_time'])} with the arrivals as they were makes "
            f"{us(expected)} in the relay, by Lindley's recursion)"
        )
        numbers["expected"] = expected
    return words, numbers


def _expected(found: Results, row: pd.Series[Any]) -> float | None:
    """The mean time in the relays by their arrivals; None where not all of them are kept."""
    columns = found.own_columns(str(row["file"]))
    if row["asked_relay_time"] <= 0:
        return None
    file, point = str(row["file"]), int(row["point"])
    arrivals = found.own(file, point, columns["request_due"])
    count = found.own(file, point, columns["relayed"])[0]
    service = float(row["asked_relay_time"])
    total, seen = 0.0, 0
    for rank in np.flatnonzero(count > 0):
        own = np.sort(arrivals[arrivals[:, rank] != schema.NO_MOMENT, rank])
        if own.size != count[rank]:
            return None
        total += float((waits(own, service) + service).sum())
        seen += own.size
    return total / seen if seen else None
