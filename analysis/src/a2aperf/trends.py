# SPDX-License-Identifier: BSD-3-Clause
"""A history as a figure: the rate of every launch over the months, and where it changed."""

from __future__ import annotations

import numpy as np

from a2aperf import curves, dates, labels, setting_order
from a2aperf.chart import Axis, Bound, Chart, Figure
from a2aperf.curves import RATE, Options
from a2aperf.errors import InputError
from a2aperf.history import History
from a2aperf.results import Results

_DAY_NS = 86_400 * 10**9
_PANELS = 4


def figure(results: Results, options: Options, found: History) -> Figure:
    """A panel per scale, a line per message size, a dashed line where something changed."""
    judged = results.to_judge()
    points = setting_order.with_settings(judged, judged.points, options.by)
    is_dated = (points["started"] > 0).fillna(False).astype(bool)
    without = int((~is_dated).sum())
    points = points[is_dated]
    if points.empty:
        raise InputError("no point tells when it was measured")
    begun = points.groupby("launch")["started"].transform("min").astype(float)
    points = points.assign(day=begun / _DAY_NS)
    scale, name = curves.scale_of(points)
    points, notes = curves.chosen(points, "message_size", options.most)
    points, more = curves.chosen(points, scale, _PANELS)
    changes = [
        (change.time / _DAY_NS, _named([x.name for x in change.differences.between]))
        for change in found.changes
    ]
    looks = curves.Looks.of(points, "message_size", labels.size_text)
    axis = dates.axis(points["day"], "launch")
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
                legend=legend,
            )
            for title, of, legend in curves.panels(rows, looks.settings, len(looks.majors))
        ]
    if without:
        more += (f"{labels.count_text(without, 'point')} without a date not drawn",)
    more += curves.fitting(len(charts), curves.MOST_PANELS, "panels")
    charts = charts[: curves.MOST_PANELS]
    said = _searched(found)
    launches = labels.count_text(points["launch"].nunique(), "launch", "launches")
    each = curves.said(points.assign(setting=points["launch"]), charts)  # launches side by side
    told = (launches, said, *each)
    return Figure(
        "history", "History", curves.alike(charts), told, (*judged.unjudged, *notes, *more)
    )


def _searched(found: History) -> str:
    """What became of the search for change points, and whether there could be one."""
    if found.lacking:
        unit, have = found.sought
        return f"{labels.count_text(have, unit)}: for change points {found.lacking}"
    count = labels.count_text(len(found.changes), "change point")
    return f"{count} (1\u00a0% error in a history without one)"


def _named(names: list[str]) -> str:
    """That there is a change, and in a few words what else changed there."""
    words = [name.removeprefix("node ").removeprefix("variable ") for name in names]
    return f"change, with {labels.list_text(words, 1)}" if words else "change"
