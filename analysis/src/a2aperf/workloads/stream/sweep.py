# SPDX-License-Identifier: BSD-3-Clause
"""Streams against message size: bandwidth and message rate, each with what bounds it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from a2aperf import curves, grouping, labels, setting_order, style
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure
from a2aperf.curves import RATE, Options
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results
from a2aperf.workloads.stream import drawn, rates

BOUNDS = "bounds: highest message rate, highest bandwidth"
_MILLIONS = "Million messages/s"


def figure(results: Results, options: Options) -> Figure:
    """Two panels, a line per setting; of more settings than there are colours further panels."""
    points, left_out = drawn.points(results, options)
    points = points.assign(millions=points["msg_rate"] / 1e6)
    settings = setting_order.in_order(points)
    charts: list[Chart] = []
    without: list[str] = []
    for title, rows, legend in curves.panels(points, settings, 1):
        here = setting_order.in_order(rows)
        lines = {str(name): rows[rows["setting"] == name] for name in here}
        roofs = {name: _bounds(of) for name, of in lines.items()}
        without += [name for name, roof in roofs.items() if roof is None]
        for metric, label in (("gbps", RATE), ("millions", _MILLIONS)):
            charts.append(_chart(title, legend, lines, roofs, metric, label))
    notes = drawn.sample(points, ["setting", "message_size"])
    if len(without) < len(settings):
        notes += ("dotted: what the highest message rate and the highest bandwidth allow",)
    if without:
        which = labels.list_text([name for name in without if name]) or "the line"
        notes += (f"no bounds of {which}: these sizes do not show both",)
    title = "Streams against message size"
    limited = tuple(_limited(chart) for chart in charts)
    return Figure("rates", title, curves.alike(limited), notes, left_out)


def _bounds(rows: pd.DataFrame) -> rates.Bounds | None:
    bandwidth, messages = (
        grouping.line(rows, "message_size", name, "messages") for name in ("gbps", "msg_rate")
    )
    return rates.bounds(bandwidth.x, bandwidth.y, messages.y)


def _chart(
    title: str,
    legend: str,
    lines: dict[str, pd.DataFrame],
    roofs: dict[str, rates.Bounds | None],
    metric: str,
    label: str,
) -> Chart:
    drawn_curves, bounds = [], []
    for index, (name, rows) in enumerate(lines.items()):
        look = index % style.MOST_LINES
        line = grouping.line(rows, "message_size", metric, "messages")
        told = tuple(curves.hover_texts(line, "messages"))
        drawn_curves.append(
            Curve(name or "stream", line.x, line.y, line.low, line.high, look, hover=told)
        )
        if roof := roofs[name]:
            bounds.append(_bound(roof, line.x, metric, look))
    sizes = pd.concat([*lines.values()])
    return Chart(
        title="Bandwidth" if metric == "gbps" else "Message rate",
        subtitle=title,
        x=replace(curves.size_axis(sizes), label="Message size"),
        y=Axis(label, log=True, unit=label),
        curves=tuple(drawn_curves),
        bounds=tuple(bounds),
        legend=legend,
    )


def _bound(roof: rates.Bounds, sizes: rates.Floats, metric: str, look: int) -> Bound:
    """The lower of both bounds, with its corner."""
    x = np.unique(np.append(sizes, roof.crossing))
    x = x[(x >= sizes.min()) & (x <= sizes.max())]
    messages = np.minimum(roof.messages, roof.gbps * 1e9 / 8 / x)
    y = messages * x * 8e-9 if metric == "gbps" else messages / 1e6
    return Bound(BOUNDS, x, y, look=look)


def _limited(chart: Chart) -> Chart:
    values = [curve.y for curve in chart.curves] + [bound.y for bound in chart.bounds]
    limits = curves.with_air(np.concatenate(values), log=True)
    return replace(chart, y=replace(chart.y, limits=limits))
