# SPDX-License-Identifier: BSD-3-Clause
"""The mean latency of the messages that were due in each second, or in shorter intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import courses, curves, labels, setting_order, style
from a2aperf.chart import Axis, Chart, Figure, Floats
from a2aperf.curves import Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.open_loop import findings, rates

_SECOND: Final = 10**9
_LEAST: Final = 5
"""Intervals of a point whose course is worth a look."""
_LENGTHS: Final = (_SECOND, 10**8, 10**7, 10**6)


@dataclass(frozen=True)
class Means:
    """Of one point: intervals from its start, each with the mean latency in µs, or NaN."""

    length: int
    """Of an interval, ns."""
    means: NDArray[np.float64]
    is_cut: bool
    """Not all round trips are kept: it ends with the last second of which all are."""

    @property
    def edges(self) -> NDArray[np.float64]:
        """In s."""
        return np.arange(self.means.size + 1, dtype=np.float64) * (self.length / _SECOND)


def of(found: Results, row: pd.Series[Any], least: int = _LEAST) -> Means | None:
    """None where the file has no round trips of it, or they make no `least` intervals."""
    times = findings.round_trips(found, row)
    if times is None or not times.due.size:
        return None
    is_cut = bool(row["ticks_lost"] > 0)
    end = _last_whole(found, row) if is_cut else int(times.due.max()) + 1
    for length in _LENGTHS:
        count = end // length if is_cut else -(-end // length)
        if count >= least:
            break
    else:
        return None
    place = times.due // length
    there = (place >= 0) & (place < count)
    n = np.bincount(place[there], minlength=count)
    total = np.bincount(place[there], weights=times.trip[there], minlength=count)
    with np.errstate(invalid="ignore"):
        return Means(length, total / n / 1000, is_cut)


def _last_whole(found: Results, row: pd.Series[Any]) -> int:
    """Of clients with more round trips than are kept, the first whose kept ones end.

    Kept are those that were answered first, nearly in the order in which they were due.
    """
    file, point = str(row["file"]), int(row["point"])
    columns = found.own_columns(file)
    due = found.own(file, point, columns["request_due"])
    trips = found.own(file, point, columns["round_trips"])[0]
    there = due >= 0
    lost = trips > there.sum(axis=0)
    return int(np.where(there, due, 0).max(axis=0)[lost].min())


def figure(results: Results, options: Options) -> Figure:
    """A panel per setting, a line per size."""
    found = results.complete(rates.ROLES)
    points = setting_order.with_settings(found, found.points, options.by)
    points, left_out = curves.thinned(points, "message_size", max(options.most, style.MOST_LINES))
    known = {index: of(found, row) for index, row in points.iterrows()}
    short = [index for index, means in known.items() if means is None]
    if short:
        many = labels.count_text(len(short), "point")
        left_out += (f"{many} whose samples make no {_LEAST} intervals not drawn",)
        points = points.drop(index=short)
    if points.empty:
        raise InputError(f"seconds: nothing to draw: {'; '.join(left_out)}")
    settings = setting_order.in_order(points)
    sizes = sorted(points["message_size"].unique())
    charts = [
        _chart(str(name), points[points["setting"] == name], sizes, known) for name in settings
    ]
    drawn = [means for index in points.index if (means := known[index])]
    if cut := sum(means.is_cut for means in drawn):
        many = labels.count_text(cut, "point")
        left_out += (f"{many} drawn to where the file keeps all round trips (--max-samples)",)
    lengths = sorted({means.length for means in drawn})
    words = labels.list_text([f"{length / _SECOND:g} s" for length in lengths])
    notes = (
        *rates.said(points),
        f"means of the messages that were due in each {words} and answered",
    )
    title = "Mean latency over time"
    return Figure("seconds", title, curves.alike(charts), notes, left_out)


def has_course(results: Results) -> bool:
    """Whether some point lasted for seconds, so that there is a course to see."""
    found = results.measured(rates.ROLES)
    return any(
        (means := of(found, row)) is not None and means.length == _SECOND
        for _, row in found.points.iterrows()
    )


def _chart(
    setting: str, rows: pd.DataFrame, sizes: list[int], known: dict[Any, Means | None]
) -> Chart:
    def course(index: Any, _size: int) -> tuple[Floats, Floats]:
        means = known[index]
        assert means is not None
        return means.edges, means.means

    return Chart(
        title=setting or "Open loop",
        x=Axis("Due, from the start (s)", from_zero=True),
        y=Axis("Mean latency (µs)", from_zero=True),
        curves=courses.lines(rows, sizes, course),
        legend="Message size",
    )
