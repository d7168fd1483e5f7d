# SPDX-License-Identifier: BSD-3-Clause
"""A legend above the axes, packed into rows like words on a line.

Matplotlib's own legend has columns of one width, so that one long name costs a narrow figure half
of its height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.figure import Figure as Page
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from a2aperf import lettering, style
from a2aperf.chart import Chart, Curve, Entry, Group, entries

ROW = 0.135
"""Inches from one row to the next."""
_HANDLE, _GAP, _BETWEEN, _SIZE = 0.26, 0.05, 0.16, 6.5


@dataclass(frozen=True)
class _Handle:
    name: str
    line: dict[str, Any]
    patch: bool = False

    @property
    def width(self) -> float:
        return (_HANDLE + _GAP if self.line else 0.0) + lettering.width(self.name, _SIZE)


class Legend:
    """Names of the curves of several charts; nothing at all where one name would say nothing."""

    def __init__(self, charts: Sequence[Chart], width: float) -> None:
        """`width`: of the figure in inches."""
        groups, others = entries(charts)
        count = sum(len(group.entries) for group in groups) + len(others)
        handles = [_handles(group) for group in groups if count > 1 or group.title]
        handles.append([_handle(entry) for entry in others])
        self._rows = [row for part in handles for row in _pack(part, width)]

    @property
    def height(self) -> float:
        """Inches that it needs above the axes."""
        return len(self._rows) * ROW + (0.04 if self._rows else 0.0)

    def draw(self, page: Page, below: float = 0.0) -> None:
        """Put it at the upper edge, or `below` it by so many inches, each row centred."""
        width, height = page.get_size_inches()
        for index, row in enumerate(self._rows):
            total = sum(entry.width for entry in row) + _BETWEEN * (len(row) - 1)
            x, y = (width - total) / 2, height - below - (index + 0.62) * ROW
            for entry in row:
                _draw_entry(page, entry, x, y)
                x += entry.width + _BETWEEN


def _handles(group: Group) -> list[_Handle]:
    title = [_Handle(f"{group.title}:", {})] if group.title else []
    return title + [_handle(entry) for entry in group.entries]


def _cut(entry: _Handle, width: float) -> list[_Handle]:
    """The entry, in parts below each other where its name is wider than the figure."""
    if entry.width <= width:
        return [entry]
    first, *more = lettering.wrapped(entry.name, _SIZE, width - _HANDLE - _GAP)
    return [replace(entry, name=first), *(_Handle(text, {}) for text in more)]


def _pack(entries: Sequence[_Handle], width: float) -> list[list[_Handle]]:
    rows: list[list[_Handle]] = []
    used = 0.0
    for entry in [part for whole in entries for part in _cut(whole, width - 0.1)]:
        if not rows or used + _BETWEEN + entry.width > width - 0.1:
            rows.append([])
            used = -_BETWEEN
        rows[-1].append(entry)
        used += _BETWEEN + entry.width
    return rows


def _draw_entry(page: Page, entry: _Handle, x: float, y: float) -> None:
    unit = page.dpi_scale_trans
    if entry.patch:
        box = Rectangle((x, y - 0.035), _HANDLE, 0.07, transform=unit, **entry.line)
        page.add_artist(box)
    elif entry.line:
        place = (
            [x + _HANDLE / 2]
            if entry.line.get("linestyle") == "none"
            else [x, x + _HANDLE / 2, x + _HANDLE]
        )
        drawn = Line2D(place, [y] * len(place), transform=unit, **entry.line)
        drawn.set_markevery([len(place) // 2])
        page.add_artist(drawn)
    text = x + (_HANDLE + _GAP if entry.line else 0)
    page.text(
        text, y, entry.name, transform=unit, fontsize=_SIZE, va="center_baseline", color=style.INK
    )


def _handle(entry: Entry) -> _Handle:
    curve, name = entry.curve, entry.name
    if curve is None:
        return _Handle(name, {"color": style.GREY, "linewidth": 0.8, "linestyle": ":"})
    color = style.look(curve.look).color
    if curve.form in ("band", "bars"):
        return _Handle(name, {"facecolor": color, "alpha": 0.3}, patch=True)
    if curve.form == "dots":
        return _Handle(name, {"linestyle": "none", "marker": ".", "color": color})
    line = curve_style(curve)
    if entry.any_colour:
        line |= {"color": style.GREY} | ({} if curve.form == "crosses" else {"marker": "o"})
        line["markerfacecolor"] = "white" if line["fillstyle"] == "none" else style.GREY
    return _Handle(name, line)


def curve_style(curve: Curve) -> dict[str, Any]:
    """How matplotlib draws a curve of any form but a band: colour, dash and marker."""
    look = style.look(curve.look)
    filling, dash = ("full", look.dash) if curve.variant is None else style.VARIANTS[curve.variant]
    line: dict[str, Any] = {
        "color": look.color,
        "linestyle": (0, dash) if dash else "-",
        "marker": look.marker,
        "fillstyle": filling,
        "markerfacecoloralt": "white",
        "markerfacecolor": "white" if filling == "none" else look.color,
    }
    if curve.form in ("step", "stems"):
        line |= {"marker": "", "linewidth": 0.6 if curve.faint else 1.0}
    elif curve.form in ("points", "hollow"):
        line |= {"linestyle": "none"}
    elif curve.form == "crosses":
        line |= {"linestyle": "none", "marker": "x", "markersize": 2.6, "markeredgewidth": 0.6}
    if curve.form == "hollow":
        line |= {"markerfacecolor": "white"}
    return line
