# SPDX-License-Identifier: BSD-3-Clause
"""Latency against the offered rate: level, and from the knee on steep."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from a2aperf import curves, labels, setting_order, style
from a2aperf.chart import Axis, Chart, Curve, Figure
from a2aperf.curves import Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.round_trips import histogram
from a2aperf.workloads.open_loop import rates

_QUANTILES: Final = {"time_p50": "p50", "time_p99": "p99"}


def figure(results: Results, options: Options) -> Figure:
    """A panel per setting and percentile, a line per size; hollow: the rate was not kept."""
    found = results.complete(rates.ROLES)
    points = found.points.assign(is_kept=rates.kept(found.points))
    points = setting_order.with_settings(found, points, options.by, axes=("rate",), scaled=True)
    points = points[points["offered_rate"].notna()]
    if points.empty:
        raise InputError("hockey: no point here has a rate")
    most = max(options.most, style.MOST_LINES), curves.MOST_PANELS // len(_QUANTILES)
    shown, left_out = curves.thinned(points, "message_size", *most)
    sizes = sorted(shown["message_size"].unique())
    charts = [
        _chart(str(name), shown[shown["setting"] == name], quantile, sizes)
        for name in setting_order.in_order(shown)
        for quantile in _QUANTILES
        if shown.loc[shown["setting"] == name, quantile].notna().any()
    ]
    if not charts:
        raise InputError("hockey: no point here has a percentile")
    limits = curves.with_air(
        np.concatenate([curve.y for chart in charts for curve in chart.curves]), log=True
    )
    charts = [replace(chart, y=replace(chart.y, limits=limits)) for chart in charts]
    title = "Latency against the offered rate"
    return Figure("hockey", title, curves.alike(charts), _said(shown), left_out)


def _chart(setting: str, rows: pd.DataFrame, quantile: str, sizes: list[float]) -> Chart:
    drawn = []
    for look, size in enumerate(sizes):
        mine = rows[(rows["message_size"] == size) & rows[quantile].notna()]
        if mine.empty:
            continue
        line = _line(mine, quantile)
        name, look = labels.size_text(size), look % style.MOST_LINES
        drawn.append(Curve(name, line.x, line.y, line.low, line.high, look, hover=line.hover))
        lost = ~line.is_kept
        if lost.any():
            hollow = Curve(name, line.x[lost], line.y[lost], look=look, form="hollow")
            drawn.append(replace(hollow, listed=False))
    return Chart(
        title=f"{_QUANTILES[quantile]} from the due time",
        subtitle=setting,
        x=Axis("Offered rate (messages/s)", log=True, unit="messages/s"),
        y=Axis("Latency (µs)", log=True, unit="µs"),
        curves=tuple(drawn),
        legend="Message size",
    )


class _Line:
    """Of each rate that was asked for: the median of launches, and their range."""

    def __init__(self, rows: pd.DataFrame, quantile: str) -> None:
        groups = [of for _, of in rows.groupby("rate", sort=True)]
        self.x = np.array([float(of["offered_rate"].median()) for of in groups])
        self.y = np.array([float(of[quantile].median()) / 1000 for of in groups])
        several = np.array([len(of) > 1 for of in groups])
        low, high = (
            np.array([float(getattr(of[quantile], end)()) / 1000 for of in groups])
            for end in ("min", "max")
        )
        self.low, self.high = (np.where(several, end, np.nan) for end in (low, high))
        self.is_kept = np.array([bool(of["is_kept"].mean() >= 0.5) for of in groups])
        self.hover = tuple(
            f"achieved {rates.text(float(of['achieved_rate'].median()))}" for of in groups
        )


def _line(rows: pd.DataFrame, quantile: str) -> _Line:
    return _Line(rows, quantile)


def _said(points: pd.DataFrame) -> tuple[str, ...]:
    notes = list(rates.said(points))
    many = points.groupby(["setting", "message_size", "rate"])["point"].size()
    if many.max() > 1:
        notes.append(f"median of {labels.range_text(many)} launches, bars: their range")
    else:
        notes.append("one launch, so no interval: how much launches differ is not known")
    if not points["is_kept"].all():
        least = round(100 * rates.KEPT)
        notes.append(
            f"hollow: less than {least} % of the offered rate was achieved; latencies there grow "
            "with the length of the point, unless the last answers alone were late"
        )
    return (*notes, *filter(None, [histogram.words(points)]))
