# SPDX-License-Identifier: BSD-3-Clause
"""A history as a figure: the rate of every launch over the months, and where it changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from a2aperf import curves, grouping, labels
from a2aperf.chart import Axis, Bound, Chart, Figure
from a2aperf.curves import RATE, Options
from a2aperf.errors import InputError
from a2aperf.history import Change
from a2aperf.results import Results

_DAY_NS = 86_400 * 10**9
_PANELS = 4


def figure(results: Results, options: Options, found: Sequence[Change]) -> Figure:
    """A panel per scale, a line per message size, a dashed line where something changed."""
    judged = results.to_judge()
    setting = grouping.setting_labels(judged, judged.points, options.by)
    points = judged.points.assign(setting=setting)
    points = points[points["started"] > 0]
    if points.empty:
        raise InputError("no point tells when it was measured")
    begun = points.groupby("launch")["started"].transform("min").astype(float)
    points = points.assign(day=begun / _DAY_NS)
    scale, name = curves.scale_of(points)
    points, notes = curves.chosen(points, "message_size", options.most)
    points, more = curves.chosen(points, scale, _PANELS)
    changes = [
        (change.time / _DAY_NS, _named([x.name for x in change.differences.between]))
        for change in found
    ]
    looks = curves.Looks.of(points, "message_size", labels.size_text)
    axis = Axis("Start of the launch (UTC)", ticks=_dates(points["day"]), unit="date")
    charts: list[Chart] = []
    for count, rows in points.groupby(scale):
        top = float(rows[judged.judged.rate].max())
        charts += [
            Chart(
                title=labels.count_text(int(str(count)), name[:-1]),
                subtitle=title,
                x=axis,
                y=Axis(judged.judged.label, from_zero=True, unit=RATE),
                curves=tuple(looks.curves(of, "day", judged.judged.rate)),
                bounds=tuple(
                    Bound(what, np.array([day, day]), np.array([0.0, 1.08 * top]))
                    for day, what in changes
                ),
            )
            for title, of in curves.panels(rows, looks.settings, len(looks.majors))
        ]
    more += curves.fitting(len(charts), curves.MOST_PANELS, "panels")
    charts = charts[: curves.MOST_PANELS]
    count = labels.count_text(len(changes), "change point")
    said = f"{count} (1\u00a0% error in a history without one)"
    launches = labels.count_text(points["launch"].nunique(), "launch", "launches")
    each = curves.said(points.assign(setting=points["launch"]), charts)  # launches side by side
    told = (launches, said, *each)
    return Figure(
        "history", "History", curves.alike(charts), told, (*judged.unjudged, *notes, *more)
    )


def _named(names: list[str]) -> str:
    """What else changed there, in a few words."""
    words = [name.removeprefix("node ").removeprefix("variable ") for name in names]
    return labels.list_text(words, 1) if words else "nothing else recorded"


def _dates(days: pd.Series[float]) -> tuple[tuple[float, str], ...]:
    """Dates at even distances; hours too where all is within two days."""
    low, high = float(days.min()), float(days.max())
    places = np.linspace(low, high, 6) if high > low else np.array([low])
    if high - low > 6:
        places = np.unique(places.round())
    return tuple((float(place), labels.date_text(place, hours=high - low < 2)) for place in places)
