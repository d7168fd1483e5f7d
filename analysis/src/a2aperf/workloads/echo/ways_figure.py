# SPDX-License-Identifier: BSD-3-Clause
"""The medians of the ways of round trips against the size of the answer."""

from __future__ import annotations

from typing import Final

import numpy as np

from a2aperf import curves, labels, setting_order
from a2aperf.chart import Axis, Chart, Curve, Figure
from a2aperf.curves import Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.echo import ways

_PARTS: Final = {
    "way_there_p50": "way there",
    "server_p50": "at the server",
    "way_back_p50": "way back",
}
_WAYS: Final = ("way_there_p50", "way_back_p50")


def figure(results: Results, options: Options) -> Figure:
    """A panel for each setting, a line for each part; where launches are several, their median."""
    points = _told(results)
    if points.empty:
        raise InputError(
            "ways: no round trips here are told apart: their servers told nothing, or the clocks "
            f"of both ends may differ by more than {100 * ways.LARGEST_BOUND:.0f} % of the median"
        )
    found = results.complete(("echo",))
    points = setting_order.with_settings(found, points, options.by, scaled=True)
    left_out: tuple[str, ...] = ()
    if without := len(found.points) - len(points):
        left_out += (f"{labels.count_text(without, 'point')} not told apart, not drawn",)
    drawn = points[points["message_size"] > 0]
    if len(drawn) < len(points):
        left_out += (curves.NO_PLACE,)
    if drawn.empty:
        raise InputError(f"ways: nothing to draw: {left_out[-1]}")
    drawn, fewer = curves.at_most(drawn, "setting", curves.MOST_PANELS, "settings")
    charts = [
        _chart(str(name), drawn[drawn["setting"] == name]) for name in setting_order.in_order(drawn)
    ]
    title = "Round trips: there, at the server, and back"
    return Figure("ways", title, curves.alike(charts), _said(drawn), left_out + fewer)


def is_there(results: Results) -> bool:
    """Whether any point has a way by itself, and more than one size to draw."""
    points = _told(results)
    return bool(points.loc[points["message_size"] > 0, "message_size"].nunique() > 1)


def _told(results: Results) -> pd.DataFrame:
    points = results.measured(("echo",)).points
    if any(name not in points for name in _PARTS):
        return points.iloc[:0]
    return points[points[[*_WAYS]].notna().any(axis=1)]


def _chart(setting: str, rows: pd.DataFrame) -> Chart:
    medians = rows.groupby("message_size", sort=True)[[*_PARTS]].median() / 1000
    x = medians.index.to_numpy(dtype=np.float64)
    lines = tuple(
        Curve(text, x, medians[name].to_numpy(dtype=np.float64), look=look)
        for look, (name, text) in enumerate(_PARTS.items())
    )
    return Chart(
        title=setting or "Round trips",
        x=Axis("Size of the answer (B)", log=True, unit="B"),
        y=Axis("Median (µs)", from_zero=True, unit="µs"),
        curves=lines,
        legend="Part of the round trip",
    )


def _said(points: pd.DataFrame) -> tuple[str, ...]:
    bound = float(points[ways.BOUND].max())
    clocks = f"may differ by {labels.number_text(bound / 1000)} µs" if bound else "are one"
    trips = labels.range_text(points["way_trips"])
    return (
        f"medians of n\u00a0=\u00a0{trips} round trips of a point",
        f"the clocks of both ends {clocks}",
    )
