# SPDX-License-Identifier: BSD-3-Clause
"""A figure with the axes and the title that the user chose, in place of those from the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from a2aperf import curves
from a2aperf.chart import Axis, Chart, Figure, Floats
from a2aperf.errors import InputError


def as_asked(figure: Figure, options: curves.Options) -> Figure:
    """The same figure; InputError where it has no such axis."""
    charts = []
    for chart in figure.charts:
        x, y = chart.x, chart.y
        if options.x_scale or options.y_scale:
            if chart.heat is not None:
                raise InputError(f"a heat map has no such axis; {figure.kind} takes no --x or --y")
            x = _scaled(chart, "x", options.x_scale)
            y = _scaled(chart, "y", options.y_scale)
        charts.append(replace(chart, x=x, y=y))
    return replace(figure, charts=tuple(charts), heading=options.title)


def _scaled(chart: Chart, which: Literal["x", "y"], scale: str) -> Axis:
    axis = chart.x if which == "x" else chart.y
    if not scale or axis.log == (scale == "log"):
        return axis
    if scale == "linear":
        return replace(axis, log=False, limits=None, from_zero=which == "y")
    drawn = [curve.x if which == "x" else curve.y for curve in chart.curves]
    values = np.concatenate([values[np.isfinite(values)] for values in drawn])
    if axis.unit == "date" or not values.size or values.min() <= 0:
        what = "dates" if axis.unit == "date" else "values that are not above 0"
        raise InputError(f"--{which} log: '{axis.label}' has {what}")
    ends = np.concatenate([values, *_beside(chart, which)])
    limits = curves.with_air(ends[np.isfinite(ends) & (ends > 0)], log=True)
    return replace(axis, log=True, limits=limits, from_zero=False)


def _beside(chart: Chart, which: Literal["x", "y"]) -> list[Floats]:
    """What the axis is to reach beside the values: ends of bars, and lines that have a name."""
    if which == "x":
        return [bound.x for bound in chart.bounds]
    bars = [end for curve in chart.curves for end in (curve.low, curve.high) if end is not None]
    return [*bars, *(bound.y for bound in chart.bounds)]
