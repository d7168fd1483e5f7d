# SPDX-License-Identifier: BSD-3-Clause
"""The rate of a stream in each interval: what a mean over a second hides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import courses, curves, labels, schema, style
from a2aperf.chart import Axis, Chart, Figure, Floats
from a2aperf.curves import RATE, Option, Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.stream import drawn

_QUANTITIES: Final = {"gbps": RATE, "share": "% of the point's mean rate"}
_TITLES: Final = {"gbps": "Rate", "share": "Share of the mean rate"}
OPTIONS: Final = (
    Option("what", "quantity of the lines. Default: gbps, beside share.", tuple(_QUANTITIES)),
)
_BINS: Final = 100
"""Of a point that was traced: an interval there is one look at the queue."""
_COLUMNS: Final = ("tick_end", "tick_received", "messages_received")


@dataclass(frozen=True)
class Intervals:
    """Of one point: where each ends, in s from the start, and the messages that came in it."""

    ends: NDArray[np.float64]
    messages: NDArray[np.float64]
    mean: float = np.nan
    """Messages/s of the whole point."""
    is_cut: bool = False
    """Later ones had no room in the file."""

    @property
    def rates(self) -> NDArray[np.float64]:
        """Messages/s."""
        return self.messages / np.diff(self.ends, prepend=0.0)

    def values(self, quantity: str, size: int) -> NDArray[np.float64]:
        """Of each interval, in the unit of that quantity."""
        return self.rates * (size * 8e-9 if quantity == "gbps" else 100 / self.mean)


def figure(results: Results, options: Options) -> Figure:
    """A panel per setting, a line per size, thin where launches share it."""
    points, left_out = drawn.points(results, options)
    known = {index: of(results, row) for index, row in points.iterrows()}
    short = points.index[[known[index] is None for index in points.index]]
    if len(short):
        many = labels.count_text(len(short), "point")
        left_out += (f"{many} without two intervals not drawn",)
        points = points.drop(index=short)
    if points.empty:
        raise InputError(f"intervals: nothing to draw: {'; '.join(left_out)}")
    quantities = tuple(_QUANTITIES)
    most = max(options.most, style.MOST_LINES), drawn.most_settings(options, quantities)
    points, fewer = curves.thinned(points, "message_size", *most)
    panels, without = drawn.panels(points, options, quantities)
    sizes = sorted(points["message_size"].unique())
    charts = [_chart(name, rows, sizes, known, quantity) for name, quantity, rows in panels]
    said = drawn.sample(points, ["setting", "message_size"], "one line each")
    cut = sum(1 for index in points.index if (one := known[index]) and one.is_cut)
    if cut:
        many = labels.count_text(cut, "point")
        without += (f"{many} drawn to where the file has no more intervals (--max-samples)",)
    last = "what came after the end of a stream that its time ended is not drawn"
    title = "Streams: rate in each interval"
    all_left_out = (*left_out, *fewer, *without)
    return Figure("intervals", title, curves.alike(charts), (*said, last), all_left_out)


def of(results: Results, row: pd.Series) -> Intervals | None:
    """None where there are no two of them, or the file has none."""
    file, point = str(row["file"]), int(row["point"])
    columns = results.own_columns(file)
    if not row["has_raw"] or not set(_COLUMNS) <= set(columns):
        return None
    ends, messages, whole = (results.own(file, point, columns[name]) for name in _COLUMNS)
    there = ends != schema.NO_MOMENT
    receives = whole[0] > 0
    if not receives.any() or not there[:, receives].any(axis=0).all():
        return None
    ends, messages, there = ends[:, receives], messages[:, receives], there[:, receives]
    last = len(there) - 1 - np.argmax(there[::-1], axis=0)
    is_cut = np.where(there, messages, 0).sum(axis=0) < whole[0, receives]
    if row["stop_rule"] != "messages":  # the last has what came after the end, where it is kept
        there[last[~is_cut], np.flatnonzero(~is_cut)] = False
    is_traced = row.get("traced") == "yes"
    if is_cut.any() and is_traced:  # to the moment from which on one of them is not known
        there &= ends <= ends[last, np.arange(len(last))][is_cut].min()
    elif is_cut.any():
        there[last[is_cut].min() + 1 :] = False
    made = _binned if is_traced else _as_they_are
    found = made(ends, np.where(there, messages, 0), there)
    if pd.isna(row["stream_time"]):  # not carried: nothing is a share of its rate
        return None
    rate = float(row["messages"] / row["stream_time"] * 1e9)
    return found and replace(found, mean=rate, is_cut=bool(is_cut.any()))


def _as_they_are(
    ends: NDArray[np.int64], messages: NDArray[np.int64], there: NDArray[np.bool_]
) -> Intervals | None:
    """All receivers together: theirs of one number end at the same time, up to a late look."""
    used = there.any(axis=1)
    mean = np.where(there, ends, 0).sum(axis=1)[used] / there.sum(axis=1)[used] / 1e9
    begins = np.flatnonzero(np.diff(mean, prepend=0.0) > 0)  # held up, some end at one moment
    if len(begins) < 2:
        return None
    counted = np.add.reduceat(messages.sum(axis=1)[used], begins)
    return Intervals(mean[np.append(begins[1:], len(mean)) - 1], counted.astype(float))


def _binned(
    ends: NDArray[np.int64], messages: NDArray[np.int64], there: NDArray[np.bool_]
) -> Intervals | None:
    """Of equal length, each with what was seen in it."""
    if there.sum() < 2:
        return None
    edges = np.linspace(0, float(ends[there].max()), min(_BINS, int(there.sum())) + 1)
    counted, _ = np.histogram(ends[there], edges, weights=messages[there])
    return Intervals(edges[1:] / 1e9, counted)


def has_intervals(results: Results) -> bool:
    """Whether some stream has more than a few, so that there is a course to see."""
    found = results.measured(drawn.ROLES)
    return any(
        (made := of(found, row)) is not None and len(made.ends) >= 5
        for _, row in found.points.iterrows()
    )


def _chart(
    setting: str,
    rows: pd.DataFrame,
    sizes: list[int],
    known: dict[object, Intervals | None],
    quantity: str,
) -> Chart:
    def course(index: Any, size: int) -> tuple[Floats, Floats]:
        made = known[index]
        assert made is not None
        return np.insert(made.ends, 0, 0.0), made.values(quantity, size)

    return Chart(
        title=_TITLES[quantity],
        subtitle=setting,
        x=Axis("Time from the start (s)", from_zero=True),
        y=Axis(_QUANTITIES[quantity], from_zero=True),
        curves=courses.lines(rows, sizes, course),
        legend="Message size",
    )
