# SPDX-License-Identifier: BSD-3-Clause
"""Charts on screen: a `chart.Figure` becomes what plotly's script draws, and a legend of buttons.

Nothing here needs plotly's Python side: the script reads plain JSON.
"""

from __future__ import annotations

import base64
import html
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from a2aperf import labels, style
from a2aperf.chart import Axis, Bound, Chart, Curve, Entry, Figure, Floats, Heat, entries, shown

_ROWS = 160
"""Rows of a heat map on screen; more are merged, and the note says so."""
_MANY = 500
"""Arrays longer than this are written as base64 of float32."""


@dataclass(frozen=True)
class Key:
    """One button of the legend: what it is called and how its line looks.

    A trace is shown when the buttons of all names in its `meta` are on.
    """

    name: str
    color: str
    dash: str
    marker: str
    """Name of the marker, or "" for a bare line, or "band"."""
    hollow: bool
    group: str = ""
    """Of which panels it is, where others have the same look for other names."""


@dataclass(frozen=True)
class Drawn:
    """A figure for the page: one `traces`/`layout` pair per chart, and the legend they share."""

    charts: tuple[dict[str, Any], ...]
    keys: tuple[Key, ...]
    notes: tuple[str, ...]


def spec(figure: Figure) -> Drawn:
    """Traces, layouts and legend of a figure."""
    figure = shown(figure)
    keys: dict[str, Key] = {}
    groups, others = entries(figure.charts)
    for group in groups:
        title = group.title if len(groups) > 1 else ""
        for entry in group.entries:
            keys.setdefault(entry.name, _key(entry, title))
    for entry in others:
        keys.setdefault(entry.name, _key(entry))
    notes = list(figure.said)
    heats = [chart.heat for chart in figure.charts if chart.heat is not None]
    if any(heat.z.shape[0] > _ROWS and not heat.names for heat in heats):
        notes.append("on screen each row of the heat map is the worst of several ops")
    charts = tuple(_chart(chart) for chart in figure.charts)
    return Drawn(charts, tuple(keys.values()) if len(keys) > 1 else (), tuple(notes))


_MARKERS = {
    "band": "band",
    "bars": "band",
    "dots": "circle",
    "stems": "circle",
    "crosses": "x",
    "step": "",
}


def _key(entry: Entry, group: str = "") -> Key:
    curve = entry.curve
    if curve is None:
        return Key(entry.name, style.GREY, "1 3", "", hollow=False)
    look = style.look(curve.look)
    dash = look.dash if curve.variant is None else style.VARIANTS[curve.variant][1]
    lined = curve.form in ("line", "step")
    return Key(
        name=entry.name,
        color=style.GREY if entry.any_colour else look.color,
        dash=" ".join(f"{2 * part:g}" for part in dash) if lined else "none",
        marker=_MARKERS.get(curve.form, "circle" if entry.any_colour else look.symbol),
        hollow=_is_hollow(curve),
        group=group,
    )


def _chart(chart: Chart) -> dict[str, Any]:
    traces = [trace for curve in chart.curves for trace in _curve(curve, chart)]
    traces += [_bound(bound, chart) for bound in chart.bounds]
    if chart.heat is not None:
        traces.insert(0, _heat(chart.heat))
    square = chart.heat is not None and bool(chart.heat.names)
    layout: dict[str, Any] = {
        "xaxis": _axis(chart.x),
        "yaxis": _axis(chart.y) | ({"autorange": "reversed"} if chart.heat is not None else {}),
        "shapes": [
            _division(place, upright)
            for place in chart.divisions
            for upright in ((True, False) if square else (True,))
        ],
        "annotations": [_bound_name(b, chart) for b in chart.bounds if b.look is None],
    }
    if square and chart.heat is not None:
        names = [_plain(name) for name in chart.heat.names]
        for which, axis in (("xaxis", chart.x), ("yaxis", chart.y)):
            layout[which] = {
                "title": {"text": _plain(axis.label)},
                "type": "category",
                "categoryorder": "array",
                "categoryarray": names,
                "showgrid": False,
                **({"tickangle": -90} if axis.upright else {}),
            }
        layout["yaxis"] |= {"autorange": "reversed"}
        for curve, trace in zip(chart.curves, traces[1:], strict=False):
            trace |= {"x": [names[int(x)] for x in curve.x], "y": [names[int(y)] for y in curve.y]}
            trace["hoverinfo"] = "skip"  # the cell tells
            del trace["hovertemplate"]
    named = ": ".join(part for part in (chart.title, chart.subtitle) if part)
    return {
        "traces": traces,
        "layout": layout,
        "name": named,
        "is_square": square,
        "title": chart.title,
        "subtitle": chart.subtitle,
    }


def _axis(axis: Axis) -> dict[str, Any]:
    out: dict[str, Any] = {"title": {"text": _plain(axis.label)}}
    if axis.log:
        out["type"] = "log"
    if axis.ticks:
        out |= {
            "tickvals": [p for p, _ in axis.ticks],
            "ticktext": [_plain(t) for _, t in axis.ticks],
        }
    if axis.upright:
        out["tickangle"] = -90
    if axis.limits:
        out["range"] = [math.log10(v) if axis.log else v for v in axis.limits]
    elif axis.from_zero and not axis.log:
        out["rangemode"] = "tozero"
    return out


def _curve(curve: Curve, chart: Chart) -> list[dict[str, Any]]:
    look = style.look(curve.look)
    meta = [curve.name] if curve.variant is None else [part for part in curve.parts if part]
    base = {"type": "scatter", "name": _plain(curve.name), "meta": meta, "x": _numbers(curve.x)}
    if curve.form == "band":
        fill = {"mode": "lines", "line": {"width": 0, "color": look.color}, "hoverinfo": "skip"}
        low = base | fill | {"y": _numbers(curve.low)}
        color = f"{look.color}4d"
        return [
            low,
            base | fill | {"y": _numbers(curve.high), "fill": "tonexty", "fillcolor": color},
        ]
    if curve.form == "bars":
        return [_bars(curve, base)]
    trace: dict[str, Any] = base | {"y": _numbers(curve.y)} | _strokes(curve)
    if len(curve.hover) == curve.x.size:
        trace |= {"text": _hover(curve, chart), "hovertemplate": "%{text}<extra></extra>"}
    else:
        parts = [
            f"<b>{_plain(curve.name)}</b>",
            f"{_plain(chart.y.label)}: %{{y:.4~g}}",
            f"{_plain(chart.x.label)}: %{{x:.4~g}}",
            *(_plain(text).replace("%{", "% {") for text in curve.hover),
        ]
        trace["hovertemplate"] = "<br>".join(parts) + "<extra></extra>"
    has_bars = curve.form in ("line", "points", "hollow")
    if has_bars and curve.low is not None and curve.high is not None:
        above, below = curve.high - curve.y, curve.y - curve.low
        if np.isfinite(above).any():
            trace["error_y"] = {
                "type": "data",
                "symmetric": False,
                "array": _numbers(above),
                "arrayminus": _numbers(below),
                "thickness": 1.2,
                "width": 3,
                "color": look.color,
            }
    return [trace]


def _bars(curve: Curve, base: dict[str, Any]) -> dict[str, Any]:
    """One line with a gap after each bar."""
    assert curve.low is not None
    assert curve.high is not None
    gap = np.full(curve.x.size, np.nan)
    x, y = (
        np.column_stack(three).ravel()
        for three in ((curve.x, curve.x, gap), (curve.low, curve.high, gap))
    )
    line = {"color": f"{style.look(curve.look).color}73", "width": 5 if curve.faint else 9}
    strokes = {"mode": "lines", "line": line, "hoverinfo": "skip"}
    return base | strokes | {"x": _numbers(x), "y": _numbers(y)}


def _is_hollow(curve: Curve) -> bool:
    return curve.form == "hollow" or style.VARIANTS[curve.variant or 0][0] != "full"


def _strokes(curve: Curve) -> dict[str, Any]:
    look = style.look(curve.look)
    dash = (
        look.plotly_dash
        if curve.variant is None
        else style.plotly_dash(style.VARIANTS[curve.variant][1])
    )
    hollow = _is_hollow(curve)
    marker = {
        "symbol": look.symbol,
        "size": 7,
        "color": "#ffffff" if hollow else look.color,
        "line": {"width": 1.5, "color": look.color},
    }
    line = {"color": look.color, "width": 2, "dash": dash}
    if curve.form == "step":
        return {"mode": "lines", "line": line | {"shape": "hv", "width": 1.2 if curve.faint else 2}}
    if curve.form == "dots":
        return {"mode": "markers", "marker": {"size": 4, "color": look.color, "opacity": 0.7}}
    if curve.form == "crosses":
        return {
            "mode": "markers",
            "marker": {"size": 7, "symbol": "x-thin", "line": {"width": 1.5, "color": look.color}},
        }
    if curve.form == "stems":
        return {"type": "bar", "marker": {"color": look.color}}
    if curve.form in ("points", "hollow"):
        return {"mode": "markers", "marker": marker}
    return {"mode": "lines+markers", "line": line, "marker": marker}


def _hover(curve: Curve, chart: Chart) -> list[str]:
    texts = []
    for x, y, more in zip(curve.x, curve.y, curve.hover, strict=True):
        parts = [
            f"<b>{_plain(curve.name)}</b>",
            f"{_where(chart.x, float(x))}: {labels.number_text(y, 4)} {_plain(chart.y.unit)}",
            _plain(more),
        ]
        texts.append("<br>".join(part for part in parts if part))
    return texts


def _where(axis: Axis, value: float) -> str:
    if axis.unit == "B":
        return labels.size_text(value)
    if axis.unit == "date":
        return labels.date_text(value, hours=True)
    return f"{value:.4g} {_plain(axis.unit)}"


def _bound(bound: Bound, chart: Chart) -> dict[str, Any]:
    own = bound.look is not None
    owners = {
        c.name if c.variant is None else c.parts[0] for c in chart.curves if c.look == bound.look
    }
    color = style.look(bound.look).color if bound.look is not None else style.BOUND
    dash = "dot" if own else "dash" if bound.dashed else "solid"
    x, y = bound.x, bound.y
    if x.size == 1:
        x, y = x * np.array([0.9, 1.1]), np.repeat(y, 2)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": _plain(bound.name),
        "x": _numbers(x),
        "y": _numbers(y),
        "line": {"color": color, "width": 1.2, "dash": dash},
        "opacity": 0.8,
        "meta": [bound.name, *owners],
        "hoverinfo": "skip",
    }


def _bound_name(bound: Bound, chart: Chart) -> dict[str, Any]:
    x, y = float(bound.x[-1]), float(bound.y[-1])
    return {
        "x": math.log10(x) if chart.x.log else x,
        "y": math.log10(y) if chart.y.log else y,
        "text": _plain(bound.name),
        "showarrow": False,
        "xanchor": "right",
        "yanchor": "top" if bound.is_named_below else "bottom",
        "font": {"size": 12, "color": style.BOUND},
        "bgcolor": "rgba(255,255,255,0.7)",
        "borderpad": 0,
        "yshift": -4 if bound.is_named_below else 2,
    }


def _heat(heat: Heat) -> dict[str, Any]:
    step = 1 if heat.names else -(-heat.z.shape[0] // _ROWS)
    starts = np.arange(0, heat.z.shape[0], step)
    z = np.maximum.reduceat(heat.z, starts, axis=0) if step > 1 else heat.z
    return {
        "type": "heatmap",
        "z": _packed(z),
        "x": [_plain(name) for name in heat.names] if heat.names else _numbers(heat.x),
        "y": [_plain(name) for name in heat.names] if heat.names else _numbers(heat.y[starts]),
        "colorscale": style.HEAT.capitalize(),
        "reversescale": heat.dark_is_high,
        "zmin": heat.low,
        "zmax": heat.top,
        "colorbar": {
            "title": {"text": _plain(heat.label), "side": "right", "font": {"size": 13}},
            "thickness": 12,
            "outlinewidth": 0,
        },
        "hoverongaps": False,
        "hovertemplate": heat.hover.format(x="%{x}", y="%{y}", z="%{z:.3~g}") + "<extra></extra>",
    }


def _division(place: float, upright: bool) -> dict[str, Any]:
    line = {"color": "rgba(255,255,255,0.8)", "width": 1}
    along, across = ("x", "y") if upright else ("y", "x")
    return {
        "type": "line",
        f"{along}ref": along,
        f"{across}ref": "paper",
        f"{along}0": place,
        f"{along}1": place,
        f"{across}0": 0,
        f"{across}1": 1,
        "line": line,
    }


def _numbers(values: Floats | None) -> Any:
    """JSON numbers of six figures; null where there is none; packed where they are many."""
    assert values is not None
    if values.size > _MANY:
        return _packed(values)
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values]


def _packed(values: Floats) -> dict[str, Any]:
    data = np.ascontiguousarray(values, dtype="<f4")
    out: dict[str, Any] = {"dtype": "f4", "bdata": base64.b64encode(data.tobytes()).decode()}
    if data.ndim > 1:
        out["shape"] = ",".join(str(n) for n in data.shape)
    return out


def _plain(text: str) -> str:
    """Text from a file for plotly, which would read tags in it."""
    return html.escape(text, quote=False)
