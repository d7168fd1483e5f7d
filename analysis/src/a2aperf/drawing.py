# SPDX-License-Identifier: BSD-3-Clause
"""Charts on paper: a `chart.Figure` becomes a matplotlib figure."""

from __future__ import annotations

import io
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from a2aperf import bound_names, lettering, output, style
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure, Floats, Heat, shown
from a2aperf.legend import Legend, curve_style

_PANELS_PER_ROW = 3
_PAD = 0.03  # inches between a panel, its labels included, and the edge of the page
_BESIDE = 0.62
"""Inches of a panel beside its axes: the label on the left and the numbers."""
_NOTE_ROW = 0.105
_HEADING_ROW = 0.18
_ON_SCREEN = 150
"""Dots per inch in a notebook."""


class Page(Canvas):
    """A figure that a notebook shows by itself, whether or not pyplot is in use."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        save(self, stream, "png", dpi=_ON_SCREEN)
        return stream.getvalue()


def draw(figure: Figure, width: float | None = None, notes: bool = True) -> Page:
    """The figure at its printed size. `width` in inches; default: as wide as its panels need."""
    figure = shown(figure)
    count = len(figure.charts)
    columns = min(count, 2 if count in (2, 4) else _PANELS_PER_ROW)
    square = any(chart.heat is not None and chart.heat.names for chart in figure.charts)
    if square and width is not None and width < style.PAGE_WIDTH:
        columns = 1
    rows = -(-count // columns)
    if width is None:
        width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    with style.applied():
        legend = Legend(figure.charts, width)
        heading = textwrap.wrap(figure.heading, int(width * 13))
        head = len(heading) * _HEADING_ROW
        said = textwrap.wrap(" · ".join(figure.said), int(width * 25)) if notes else []
        foot = len(said) * _NOTE_ROW + 0.04 if said else 0.0
        panel = 0.84 * width / columns if square else min(0.55 * width / columns + 0.4, 2.3)
        panel += 0.0 if square else max(_under(chart.x) for chart in figure.charts)
        lines = max(len(_subtitle(chart, width / columns)) for chart in figure.charts)
        further = max(_title(chart, width / columns).count("\n") for chart in figure.charts)
        below = max(_x_label(chart, width / columns).count("\n") for chart in figure.charts)
        above = 0.11 * (lines + below) + 0.13 * further
        height = rows * (panel + above) + legend.height + foot + head
        page = Page(figsize=(width, height), layout="constrained")
        inside = (0, foot / height, 1, 1 - (foot + legend.height + head) / height)
        pad = 0.07 if square else _PAD  # room for what _settle moves
        page.get_layout_engine().set(rect=inside, h_pad=_PAD, w_pad=pad)  # type: ignore[union-attr, call-arg]
        panels = [page.add_subplot(rows, columns, i + 1) for i in range(count)]
        for axes, chart in zip(panels, figure.charts, strict=True):
            _draw_chart(axes, chart, width / columns, lines)
        _settle(page)
        for axes, chart in zip(panels, figure.charts, strict=True):
            bound_names.draw(page, axes, chart)
        legend.draw(page, head)
        for row, line in enumerate(heading):
            y = 1 - (row + 0.5) * _HEADING_ROW / height
            page.text(0.5, y, line, fontsize=9, weight="bold", ha="center", va="center")
        for row, line in enumerate(reversed(said)):
            y = (row * _NOTE_ROW + 0.04) / height
            page.text(0.04 / width, y, line, fontsize=5.5, color=style.GREY, va="bottom")
    return page


def _under(axis: Axis) -> float:
    """Inches that upright names take below the axes."""
    return 0.055 * max(len(text) for _, text in axis.ticks) if axis.upright and axis.ticks else 0.0


def _settle(page: Page) -> None:
    """Lay the panels out once, at round places: the solver's last bits differ from run to run."""
    page.draw_without_rendering()
    page.set_layout_engine("none")
    right = _cut_off(page) / page.get_figwidth()
    for axes in page.axes:
        left, low, width, height = (round(float(side), 5) for side in axes.get_position().bounds)
        axes.set_position((round(left + right, 5), low, width, height))


def _cut_off(page: Page) -> float:
    """Inches of a label that stand out of the page on its left.

    The solver takes a panel that stays square to be wider than it is, and its label to be nearer.
    """
    boxes = [box for axes in page.axes if (box := axes.get_tightbbox()) is not None]
    least = min((float(box.x0) for box in boxes), default=0.0) / page.dpi
    return _PAD - least if least < _PAD / 2 else 0.0


def _title(chart: Chart, width: float) -> str:
    """In lines no wider than the panel (`width`, in inches), broken at blanks and behind commas."""
    breaks = lettering.AT_COMMAS_TOO
    return "\n".join(lettering.wrapped(chart.title, 7.5, width - _BESIDE, True, breaks))


def _subtitle(chart: Chart, width: float) -> list[str]:
    return lettering.wrapped(chart.subtitle, 6, width - _BESIDE)


def _x_label(chart: Chart, width: float) -> str:
    return "\n".join(lettering.wrapped(chart.x.label, 7, width - _BESIDE))


def _draw_chart(axes: Axes, chart: Chart, width: float, lines: int) -> None:
    """`width`: of the panel, in inches; `lines`: of the longest subtitle in the figure."""
    subtitle = _subtitle(chart, width)
    # Letters that are not seen keep the place of the subtitle, which the layout does not heed.
    title = _title(chart, width)
    axes.set_title(title or "M", pad=4 + 8 * lines, alpha=1.0 if title else 0.0)
    if subtitle:
        said = axes.annotate(
            "\n".join(subtitle),
            (0, 1),
            xytext=(0, 1 + 8 * lines),
            va="top",
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=6,
            color=style.GREY,
            linespacing=1.1,
        )
        said.set_in_layout(False)
    if chart.heat is not None:
        _draw_heat(axes, chart.heat)
    for curve in chart.curves:
        _draw_curve(axes, curve, is_mark=chart.heat is not None)
    for bound in chart.bounds:
        _draw_bound(axes, bound)
    _set_axis(axes, "x", replace(chart.x, label=_x_label(chart, width)), width - 0.5)
    _set_axis(axes, "y", chart.y, 99.0)
    square = chart.heat is not None and bool(chart.heat.names)
    if square:
        axes.yaxis.set_inverted(True)  # the first source is on top, as in a table
    for place in chart.divisions:
        axes.axvline(place, color="white", linewidth=0.5 if square else 0.4, alpha=0.8)
        if square:
            axes.axhline(place, color="white", linewidth=0.5, alpha=0.8)


_FEWEST_TICKS: Final = 2
_THOUSANDS: Final = FuncFormatter(lambda value, _: f"{value:,.10g}".replace(",", "\u2009"))


def _set_axis(axes: Axes, which: str, axis: Axis, length: float) -> None:
    """`length`: inches that the tick labels can share."""
    line = axes.xaxis if which == "x" else axes.yaxis
    # Of a long label what follows the last comma has a line of its own.
    label = ",\n".join(axis.label.rsplit(", ", 1)) if which == "y" else axis.label
    axes.set(**{f"{which}label": label})
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
    if axis.limits:
        axes.set(**{f"{which}lim": axis.limits})
    if axis.log and not axis.ticks:
        low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
        line.set_major_locator(FixedLocator(_log_ticks(low, high)))
    line.set_major_formatter(_THOUSANDS)
    line.set_minor_formatter(NullFormatter())
    if axis.ticks:
        ticks = _thinned(axis, axes.get_xlim() if which == "x" else axes.get_ylim(), length)
        line.set_major_locator(FixedLocator([place for place, _ in ticks]))
        line.set_ticklabels([text for _, text in ticks])
        if axis.upright:
            axes.tick_params(axis=which, labelrotation=90)  # type: ignore[arg-type]
        seen = {place for place, _ in ticks}
        # What has no room for its text keeps its mark: something was measured there.
        line.set_minor_locator(FixedLocator([p for p, _ in axis.ticks if p not in seen]))
    if axis.from_zero and not axis.limits and not axis.log:
        top = (axes.get_xlim() if which == "x" else axes.get_ylim())[1]
        highest = float(axes.dataLim.intervalx[1] if which == "x" else axes.dataLim.intervaly[1])
        # Where all values are alike the margin, a share of their range, is none.
        axes.set(**{f"{which}lim": (0, top if not 0 < top < 1.02 * highest else 1.05 * highest)})


def _thinned(axis: Axis, limits: tuple[float, float], length: float) -> list[tuple[float, str]]:
    """The ticks whose labels do not touch; the ends stay, as they tell from where to where."""
    low, high = sorted(np.log(limits) if axis.log else limits)  # a heat map counts downwards
    spans = []
    for place, text in axis.ticks:
        where = ((np.log(place) if axis.log else place) - low) / (high - low) * length
        half = 0.05 if axis.upright else 0.032 * len(text) + 0.02
        spans.append((where - half, where + half))
    kept = [len(spans) - 1]
    for index in range(len(spans) - 2, 0, -1):
        if spans[index][1] <= spans[kept[-1]][0] and spans[0][1] <= spans[index][0]:
            kept.append(index)
    if len(spans) > 1 and spans[0][1] <= spans[kept[-1]][0]:
        kept.append(0)
    return [axis.ticks[index] for index in reversed(kept)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Round ticks, as many as a small axis can carry."""
    decades = np.log10(high / low)
    steps: tuple[float, ...] = (1, 1.5, 2, 3, 4, 5, 7) if decades < 0.7 else (1, 2, 5)
    if decades > 2.2:
        steps = (1,)
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    stride = max(1, round(decades / 6))
    ticks = [
        s * 10.0**p for p in powers if p % stride == 0 for s in steps if low <= s * 10.0**p <= high
    ]
    if len(ticks) < _FEWEST_TICKS:  # what lies between two of these is nearly linear
        found = MaxNLocator(4).tick_values(low, high)
        ticks = [float(tick) for tick in found if low <= tick <= high]
    return ticks


def _draw_curve(axes: Axes, curve: Curve, is_mark: bool = False) -> None:
    """`is_mark`: stands on a heat map, which is to be seen through it."""
    color = style.look(curve.look).color
    if curve.form == "band":
        assert curve.low is not None
        assert curve.high is not None
        axes.fill_between(curve.x, curve.low, curve.high, color=color, alpha=0.3, linewidth=0)
        return
    if curve.form == "bars" and curve.low is not None and curve.high is not None:
        wide = 1.6 if curve.faint else 3.2
        axes.vlines(curve.x, curve.low, curve.high, color=color, alpha=0.45, linewidth=wide)
        return
    if curve.low is not None and curve.high is not None:
        _draw_bars(axes, curve.x, curve.y, curve.low, curve.high, color)
    if curve.form == "step":
        line = curve_style(curve) | {"marker": ""}
        axes.step(curve.x, curve.y, where="post", alpha=0.6 if curve.faint else 1.0, **line)
    elif curve.form == "stems":
        axes.vlines(curve.x, 0, curve.y, color=color, linewidth=min(3.0, 90 / curve.x.size))
    elif curve.form == "dots":
        size = 1.8 if curve.x.size > 500 else 3.0
        dots = axes.plot(curve.x, curve.y, ".", color=color, markersize=size, alpha=0.7)
        dots[0].set(markeredgewidth=0, rasterized=curve.x.size > 2000)
    else:
        line = curve_style(curve)
        if is_mark:
            line |= {"markerfacecolor": "none", "markersize": 4.5}
        axes.plot(curve.x, curve.y, zorder=3, **line)


def _draw_bars(axes: Axes, x: Floats, y: Floats, low: Floats, high: Floats, color: str) -> None:
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(y)
    if not known.any():
        return
    reach = np.stack([np.maximum(y - low, 0)[known], np.maximum(high - y, 0)[known]])
    axes.errorbar(
        x[known],
        y[known],
        yerr=reach,  # one array: Matplotlib 3.8 takes a single bar of a pair for a number
        fmt="none",
        ecolor=color,
        elinewidth=0.7,
        capsize=1.5,
        capthick=0.7,
        zorder=2.5,
    )


def _draw_bound(axes: Axes, bound: Bound) -> None:
    if bound.look is not None:
        color = style.look(bound.look).color
        axes.plot(
            bound.x, bound.y, color=color, linewidth=0.7, linestyle=":", alpha=0.8, zorder=1.5
        )
        return
    line: dict[str, Any] = {
        "color": style.BOUND,
        "linewidth": 0.7,
        "linestyle": (0, (6, 2)) if bound.dashed else "-",
        "zorder": 1.6,
    }
    if bound.x.size == 1:
        axes.axhline(float(bound.y[0]), **line)
    axes.plot(bound.x, bound.y, **line)


def _draw_heat(axes: Axes, heat: Heat) -> None:
    square = bool(heat.names)
    image = axes.imshow(
        np.ma.masked_invalid(heat.z),
        aspect="equal" if square else "auto",
        origin="upper",
        interpolation="nearest",
        cmap=style.HEAT + ("_r" if heat.dark_is_high else ""),
        vmin=heat.low,
        vmax=heat.top,
        extent=(heat.x[0] - 0.5, heat.x[-1] + 0.5, heat.y[-1] + 0.5, heat.y[0] - 0.5),
    )
    axes.grid(visible=False)
    if square or np.isnan(heat.z).any():  # what was not measured has no colour of the map
        axes.patch.set(hatch="//////", facecolor="white", edgecolor=style.GRID)
    bar = axes.figure.colorbar(
        image,
        ax=axes,
        extend=heat.extends,
        pad=0.02,
        fraction=0.06,
        format=_THOUSANDS,
    )
    bar.set_label(heat.label, fontsize=6.5)
    bar.outline.set_visible(False)


def save(page: Canvas, stream: BinaryIO, form: str, dpi: float | None = None) -> None:
    """Write the figure as png, svg or pdf; the same data give the same bytes.

    `dpi` of a png; default: that of print.
    """
    dates: dict[str, dict[str, str | None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with style.applied():
        page.savefig(stream, format=form, metadata=dates.get(form), dpi=dpi)


def write(page: Canvas, path: Path) -> None:
    """Into a file whose suffix names the form; whole or not at all."""
    stream = io.BytesIO()
    save(page, stream, path.suffix[1:].lower())
    output.replace(path, stream.getvalue())
