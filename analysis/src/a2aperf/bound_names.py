# SPDX-License-Identifier: BSD-3-Clause
"""Where the names of limits stand in a printed figure: beside their line, inside the axes, apart.

Of several places the first one is taken where the name covers least of the lines and other names.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Page
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from a2aperf import lettering, style
from a2aperf.chart import Bound, Chart, Floats

_SIZE = 5.5
_ROW = 1.25 * _SIZE / 72
"""Inches, as all lengths and places here, from the lower left corner of the page."""
_AIR = 0.02
_STEPS = 60
"""Places of a piece of a line at which it is looked whether a name covers it."""
_MANY = 200
"""A line of more places is taken at these alone."""
_NEVER = 10**7

_Box = tuple[float, float, float, float]
"""Left, low, right, top."""


def draw(page: Page, axes: Axes, chart: Chart) -> None:
    """The names of the chart's limits; once the axes lie where they stay."""
    named = [bound for bound in chart.bounds if bound.look is None and bound.name.strip()]
    if not named:
        return
    width, height = page.get_size_inches()
    left, low, wide, high = axes.get_position().bounds
    # Not on the axis itself, which a name would hide.
    frame = left * width + _AIR, low * height, (left + wide) * width, (low + high) * height
    drawn = np.concatenate([_along(page, line) for line in axes.lines])
    taken: list[_Box] = []
    for bound in named:
        told = lettering.wrapped(bound.name, _SIZE, frame[2] - frame[0])
        size = max(lettering.width(line, _SIZE) for line in told), len(told) * _ROW
        ends = np.column_stack([bound.x, bound.y])[[0, -1]]
        start, end = np.asarray(axes.transData.transform(ends), dtype=float) / page.dpi
        if bound.x.size == 1:  # as wide as the panel
            start[0], end[0] = frame[0], frame[2]
        places = [_inside(box, frame) for box in _places(bound, start, end, size)]
        box = min(places, key=lambda place: _covered(place, frame, drawn, taken))  # the first one
        taken.append(box)
        axes.text(
            round((box[0] - frame[0]) / (frame[2] - frame[0]), 4),
            round((box[1] - frame[1]) / (frame[3] - frame[1]), 4),
            "\n".join(told),
            transform=axes.transAxes,
            fontsize=_SIZE,
            color=style.BOUND,
            va="bottom",
            linespacing=1.1,
            zorder=4,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )


def _along(page: Page, line: Line2D) -> Floats:
    """Places of a line or of marks, close to each other."""
    places = np.asarray(line.get_transform().transform(line.get_xydata()), dtype=float) / page.dpi
    if 1 < len(places) <= _MANY and line.get_linestyle() != "None":
        share = np.linspace(0, 1, _STEPS)[:, None, None]
        places = (places[:-1] + share * (places[1:] - places[:-1])).reshape(-1, 2)
    return places[np.isfinite(places).all(axis=1)]


def _places(bound: Bound, start: Floats, end: Floats, size: tuple[float, float]) -> Iterator[_Box]:
    """At the end and at the start of the line, above and below it."""
    sides = (-1, 1) if bound.is_named_below else (1, -1)
    for place, leans in ((end, -1), (start, 1), (end, 1), (start, -1)):
        for side in sides:
            left = place[0] if leans > 0 else place[0] - size[0]
            low = place[1] + _AIR if side > 0 else place[1] - _AIR - size[1]
            yield left, low, left + size[0], low + size[1]


def _inside(box: _Box, frame: _Box) -> _Box:
    """The place, moved sideways into the axes."""
    shift = max(frame[0] - box[0], 0.0) - max(box[2] - frame[2], 0.0)
    return box[0] + shift, box[1], box[2] + shift, box[3]


def _covered(box: _Box, frame: _Box, drawn: Floats, taken: list[_Box]) -> int:
    """How many of the drawn places lie under the name; far more where it leaves the axes."""
    outside = box[1] < frame[1] or box[3] > frame[3] + _ROW
    over = any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
        for other in taken
    )
    x, y = drawn.T
    under = (box[0] < x) & (x < box[2]) & (box[1] < y) & (y < box[3])
    return _NEVER * (int(outside) + int(over)) + int(under.sum())
