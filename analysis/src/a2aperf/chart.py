# SPDX-License-Identifier: BSD-3-Clause
"""What a figure shows, free of any drawing library.

`plots` makes charts from results, `drawing` puts them on paper with matplotlib, `interactive` on
screen with plotly. Both show the same numbers because both read these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf.visible import visible_lines

Floats = NDArray[np.float64]
Form = Literal["line", "step", "dots", "crosses", "points", "stems", "hollow", "band", "bars"]


@dataclass(frozen=True)
class Axis:
    """`label` names quantity and unit. `ticks` are (position, text); empty: the library chooses."""

    label: str
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    from_zero: bool = False
    limits: tuple[float, float] | None = None
    """The same on all panels that are to be compared; None: the data decide."""
    upright: bool = False
    """Its labels stand upright: they are names."""
    unit: str = ""
    """Of the values; "B" and "date" (days since 1970) are written as sizes and dates."""


@dataclass(frozen=True)
class Curve:
    """One line. Arrays share their length; `low`/`high` hold NaN where there is no interval.

    A `band` is filled from `low` to `high` between its places, `bars` stand at them.
    """

    name: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    look: int = 0
    variant: int | None = None
    """Which of several settings this is: told by dash and filling where colour is taken."""
    parts: tuple[str, str] = ("", "")
    """What colour and variant say; with a variant the legend lists both once."""
    form: Form = "line"
    faint: bool = False
    """Thin: one of many of the same name, or what matters less."""
    hover: tuple[str, ...] = ()
    """Plain text per point (n, launches, interval), or one text for all points."""
    listed: bool = True
    """Has a row in the legend."""


@dataclass(frozen=True)
class Bound:
    """A limit or an ideal to compare the curves with: a thin grey line with its name on it."""

    name: str
    x: Floats
    y: Floats
    look: int | None = None
    """The curve's look whose ideal this is; None: grey, for all."""
    dashed: bool = True
    """Not where a dash tells curves apart."""
    named_below: bool = False
    """Where another one may run just above it."""

    @property
    def is_named_below(self) -> bool:
        """A line that falls has its name below its end, too, where it does not run."""
        return self.named_below or bool(self.y[0] > 1.03 * self.y[-1])


@dataclass(frozen=True)
class Heat:
    """A matrix `z` [y, x] over the extents of `x` and `y`; `label` names quantity and unit."""

    z: Floats
    x: Floats
    y: Floats
    label: str
    top: float
    """The value of the last colour; above it the colour stays."""
    low: float = 0.0
    """The value of the first colour, likewise."""
    names: tuple[str, ...] = ()
    """Of rows and columns alike: the matrix is square, and NaN is what nobody measured."""
    dark_is_high: bool = False
    """Else bright. In a matrix what is slow is dark: of times the high values, of rates the low."""
    hover: str = "rank {x}, op {y}: {z} µs late"
    """What is told under the pointer."""

    @property
    def extends(self) -> Literal["neither", "both", "min", "max"]:
        """On which side there are values beyond the colours."""
        known = self.z[np.isfinite(self.z)]
        low, high = (known < self.low).any(), (known > self.top).any()
        return "both" if low and high else "min" if low else "max" if high else "neither"


@dataclass(frozen=True)
class Chart:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    subtitle: str = ""
    curves: tuple[Curve, ...] = ()
    bounds: tuple[Bound, ...] = ()
    heat: Heat | None = None
    divisions: tuple[float, ...] = ()
    """Thin lines across the heat map along x: where one node ends and the next begins.

    Of a square matrix: along both, where one switch or node ends.
    """
    notes: tuple[str, ...] = ()
    legend: str = ""
    """What the curves' names are: a title over those of all charts that have the same."""

    @property
    def empty(self) -> bool:
        """True when there is nothing at all to see."""
        return self.heat is None and not any(np.isfinite(c.y).any() for c in self.curves)


@dataclass(frozen=True)
class Figure:
    """Charts that belong together, and what is said under them once."""

    kind: str
    title: str
    charts: tuple[Chart, ...]
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """What the results hold and the figure does not show; also told on stderr."""
    heading: str = ""
    """The user's own title, above all."""

    @property
    def empty(self) -> bool:
        """True when no chart has anything to see."""
        return all(chart.empty for chart in self.charts)

    @property
    def said(self) -> list[str]:
        """All notes, each once: what is left out, n, what bars and marks mean."""
        own = [note for c in self.charts for note in c.notes]
        return list(dict.fromkeys([*self.left_out, *self.notes, *own]))


def shown(part: Any) -> Any:
    """A figure, or a part of one, in whose texts every character is seen.

    XML has no place for others, and no font.
    """
    if isinstance(part, str):
        return visible_lines(part)
    if isinstance(part, tuple):
        return tuple(shown(one) for one in part)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{one.name: shown(getattr(part, one.name)) for one in fields(part)})
    return part


@dataclass(frozen=True)
class Entry:
    """A name in a legend, and the curve that shows how its line looks."""

    name: str
    curve: Curve | None
    """None: the ideal that a curve is compared with."""
    any_colour: bool = False
    """Stands for a setting, which lines of every colour may have."""


@dataclass(frozen=True)
class Group:
    """Names whose looks are theirs alone: all of a legend, or those of the panels with a title."""

    title: str
    entries: list[Entry]


def entries(charts: Sequence[Chart]) -> tuple[list[Group], list[Entry]]:
    """What the legend of these charts lists, each name once: colours; then settings and ideals.

    Panels whose looks stand for other things than in others differ in their `legend`, and so have
    a group of their own.
    """
    curves = [curve for chart in charts for curve in chart.curves if curve.listed]
    groups = [
        Group(title, _colours([chart for chart in charts if chart.legend == title]))
        for title in dict.fromkeys(chart.legend for chart in charts)
    ]
    others: dict[tuple[str, bool], Entry] = {}
    for curve in sorted(curves, key=lambda curve: curve.variant or 0):
        name = curve.parts[1]
        if curve.variant is not None and name:
            others.setdefault((name, True), Entry(name, curve, any_colour=True))
    for bound in (bound for chart in charts for bound in chart.bounds if bound.look is not None):
        others.setdefault((bound.name, False), Entry(bound.name, None))
    return [group for group in groups if group.entries], list(others.values())


def _colours(charts: Sequence[Chart]) -> list[Entry]:
    curves = [curve for chart in charts for curve in chart.curves if curve.listed]
    if all(curve.parts[0] for curve in curves):
        curves.sort(key=lambda curve: (curve.look, curve.variant or 0))
    colours: dict[str, Entry] = {}
    for curve in curves:
        name = curve.name if curve.variant is None else curve.parts[0]
        plain = curve if curve.variant is None else replace(curve, variant=0)
        colours.setdefault(name, Entry(name, plain))
    return list(colours.values())
