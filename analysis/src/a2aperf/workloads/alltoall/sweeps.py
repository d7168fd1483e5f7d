# SPDX-License-Identifier: BSD-3-Clause
"""Figures of rates and times against the scale and the message size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from a2aperf import curves, grouping, labels, setting_order
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure
from a2aperf.curves import RATE, Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.alltoall import one_way

IDEAL = "ideal scaling"


def scaling(results: Results, options: Options) -> Figure:
    """Rate per node and per rank against the number of nodes, a line per message size."""
    everything, without = _with_figures(results, options)
    scale, name = curves.scale_of(everything)
    points, left_out = curves.thinned(everything, "message_size", options.most)
    left_out += without
    notes: tuple[str, ...] = ()
    if everything[scale].nunique() == 1:
        notes += (f"one {name[:-1]} count only: files of others make this a scaling curve",)
    looks = curves.Looks.of(points, "message_size", labels.size_text)
    axis = curves.scale_axis(points, scale, name)
    if what := options.own.get("what"):
        column, y = curves.quantity(results, what)
        charts = _of_quantity(looks, points, axis, scale, column, y)
        title = f"{y.label} against {name}"
        return Figure(
            "scaling", title, curves.alike(charts), notes + curves.said(points, charts), left_out
        )
    are_settings = len(looks.majors) == 1 < len(looks.settings)
    if are_settings:
        notes += (f"messages of {looks.text(looks.majors[0])} per pair of ranks",)
    charts = []
    for metric, where in (("gbps_node_net", "node"), ("gbps_rank", "rank")):
        known = points[points[metric].notna()]
        if where == "node":
            notes, left_out = _without_node_rate(points, known, notes, left_out)
        if known.empty:
            continue
        for title, rows, legend in curves.panels(known, looks.settings, len(looks.majors)):
            drawn = looks.curves(rows, scale, metric)
            charts.append(
                Chart(
                    title=f"Per {where}",
                    subtitle=title,
                    x=axis,
                    y=_rate_axis(where),
                    curves=tuple(drawn),
                    bounds=_ideals(looks, rows, scale, drawn, per_node=where == "node")
                    + curves.link_bounds(rows, scale, metric, float(known[metric].max())),
                    legend=legend if are_settings else "Message size per pair of ranks",
                )
            )
    if any(bound.name == IDEAL for chart in charts for bound in chart.bounds):
        notes += (f"{IDEAL}: the rate per node of the smallest scale, kept",)
    notes += curves.said(points, charts) + curves.link_note(points)
    return Figure("scaling", f"Bandwidth against {name}", curves.alike(charts), notes, left_out)


def _with_figures(results: Results, options: Options) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The points that have a rate, where no other column is drawn, and what was left out."""
    points = curves.measured(results, options)
    untold = one_way.are_untold(results.complete(curves.DRAWN))
    if options.own.get("what", one_way.LEFT_OUT[0]) not in one_way.LEFT_OUT or not untold.any():
        return points, ()
    without = one_way.said(int(untold.sum()))
    if untold.all():
        raise InputError(f"nothing to draw: {without}")
    return points[~untold], (without,)


def _of_quantity(
    looks: curves.Looks, points: pd.DataFrame, x: Axis, place: str, name: str, y: Axis
) -> list[Chart]:
    """Charts of any column of numbers against a column of places."""
    return [
        Chart(
            title=looks.text(looks.majors[0]) if len(looks.majors) == 1 else "",
            subtitle=title,
            x=x,
            y=y,
            curves=tuple(looks.curves(rows, place, name)),
            legend=legend,
        )
        for title, rows, legend in curves.panels(
            points[points[name].notna()], looks.settings, len(looks.majors)
        )
    ]


def _rate_axis(where: str) -> Axis:
    way = ", one way" if where == "node" else ""
    return Axis(f"{RATE} per {where}{way}, {curves.AT_MEDIAN}", from_zero=True, unit=RATE)


def _ideals(
    looks: curves.Looks, points: pd.DataFrame, scale: str, drawn: list[Curve], per_node: bool
) -> tuple[Bound, ...]:
    """What each curve would be if a node kept the rate through its ports of the smallest scale.

    Never a rate per rank that is kept: on a perfect network it falls, as ever more of what a rank
    sends leaves its node. gbps_rank / gbps_node_net depends on ranks and nodes alone.
    """
    between = points[points["gbps_node_net"].notna()]
    node = {c.name: c for c in looks.curves(between, scale, "gbps_node_net")}
    ideals = []
    for curve in drawn:
        own = node.get(curve.name)
        if own is None or own.x.size < 2:
            continue
        kept = np.full(own.x.size, own.y[0])
        if not per_node:
            ranks = dict(zip(curve.x, curve.y, strict=True))
            kept *= np.array([ranks[x] for x in own.x]) / own.y
        ideals.append(Bound(IDEAL, own.x, kept, look=curve.look))
    return tuple(ideals)


def _without_node_rate(
    points: pd.DataFrame, known: pd.DataFrame, notes: tuple[str, ...], left_out: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Why there is no panel of it, or how many points it lacks."""
    if known.empty:
        return (*notes, _why_no_node_rate(points)), left_out
    unknown = points[points["gbps_node_net"].isna() & (points["nodes"] != 1).fillna(True)]
    if unknown.empty:  # points of one node have none by their nature
        return notes, left_out
    many = labels.count_text(len(unknown), "point")
    return notes, (*left_out, f"{many} without a rate per node drawn per rank alone")


def _why_no_node_rate(points: pd.DataFrame) -> str:
    if (points["nodes"] == 1).sum() == len(points):
        return "one node: nothing crosses the network, so there is no rate per node"
    return "rate per node not shown: ranks per node unknown"


def sizes(results: Results, options: Options) -> Figure:
    """Rate against message size, a line per node count."""
    everything, without = _with_figures(results, options)
    scale, name = curves.scale_of(everything)
    several = everything[scale].nunique() > 1  # else settings have colours, and panels of these
    thin = curves.thinned if several else curves.chosen
    points, left_out = thin(everything, scale, options.most)
    left_out += without
    metric, where = (
        ("gbps_node_net", "node")
        if points["gbps_node_net"].notna().all()
        else ("gbps_rank", "rank")
    )
    looks = curves.Looks.of(points, scale, lambda count: labels.count_text(int(count), name[:-1]))
    if what := options.own.get("what"):
        column, y = curves.quantity(results, what)
        charts = _of_quantity(looks, points, curves.size_axis(points), "message_size", column, y)
        title = f"{y.label} against message size"
        return Figure("sizes", title, curves.alike(charts), curves.said(points, charts), left_out)
    only = looks.text(looks.majors[0]) if len(looks.majors) == 1 else ""
    highest = float(points[metric].max())
    charts = [
        Chart(
            title=only,
            subtitle=title,
            x=curves.size_axis(points),
            y=_rate_axis(where),
            curves=tuple(looks.curves(rows, "message_size", metric)),
            bounds=curves.link_bounds(rows, "message_size", metric, highest)
            if where == "node"
            else (),
            legend=legend,
        )
        for title, rows, legend in curves.panels(points, looks.settings, len(looks.majors))
    ]
    return Figure(
        "sizes",
        "Bandwidth against message size",
        curves.alike(charts),
        curves.said(points, charts) + curves.link_note(points),
        left_out,
    )


def latency(results: Results, options: Options) -> Figure:
    """Op time against message size: the median, and bars up to p90 and p99."""
    everything, without = _with_medians(curves.measured(results, options))
    scale, name = curves.scale_of(everything)
    points, left_out = curves.chosen(everything, scale, 4)
    left_out += without
    settings = setting_order.in_order(points)
    groups = [
        (labels.count_text(int(count), name[:-1]), str(setting), rows)
        for count in sorted(points[scale].unique())
        for setting in settings
        if len(rows := points[(points[scale] == count) & (points["setting"] == setting)])
    ]
    left_out += curves.fitting(len(groups), curves.MOST_PANELS, "panels")
    groups = groups[: curves.MOST_PANELS]
    shown = pd.concat([rows for *_, rows in groups])
    y = Axis("Op time (µs)", log=True, unit="µs")
    x = curves.size_axis(shown)
    bars = ["time_p50", "time_p50_low", "time_p50_high", "time_p90", "time_p99"]
    times = shown[bars] / 1000
    y = replace(y, limits=curves.with_air(times.to_numpy(dtype=float), log=True))
    charts = [_latency_chart(title, setting, x, y, rows) for title, setting, rows in groups]
    notes: tuple[str, ...] = ()
    if shown["p99_is_max"].any():
        notes += ("p99\u00a0=\u00a0max: insufficient samples for a p99 of its own",)
    notes += curves.said(shown, charts)
    title = "Op time against message size"
    return Figure("latency", title, curves.alike(charts), notes, left_out)


def _with_medians(points: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The points whose median is known, and what was left out: an imported text may tell none."""
    known = points["time_p50"].notna()
    if known.all():
        return points, ()
    without = f"{labels.count_text(int((~known).sum()), 'point')} without a median time not drawn"
    if not known.any():
        raise InputError(f"nothing to draw: {without}")
    return points[known], (without,)


def _latency_chart(title: str, setting: str, x: Axis, y: Axis, points: pd.DataFrame) -> Chart:
    p50 = grouping.line(points, "message_size", "time_p50")
    names = ["time_p50", "time_p90", "time_p99"]
    tailed = points[points[names].notna().all(axis=1)]  # an imported point may lack some
    middle, p90, p99 = (grouping.line(tailed, "message_size", name) for name in names)
    us = {"p50": middle.y / 1000, "p90": p90.y / 1000, "p99": p99.y / 1000}
    capped = points.groupby("message_size")["p99_is_max"].any()
    is_max = np.array([bool(capped[size]) for size in p99.x], dtype=np.bool_)
    hover = np.array(list(curves.hover_texts(p99)), dtype=object)
    drawn = [
        Curve("p50 to p90", p90.x, us["p50"], us["p50"], us["p90"], look=0, form="bars"),
        replace(
            Curve("p90 to p99", p90.x, us["p90"], us["p90"], us["p99"], look=5, form="bars"),
            faint=True,
        ),
        Curve(
            "p99",
            p99.x[~is_max],
            us["p99"][~is_max],
            look=1,
            form="points",
            hover=tuple(hover[~is_max]),
        ),
        Curve(
            "p99 = max",
            p99.x[is_max],
            us["p99"][is_max],
            look=1,
            form="hollow",
            hover=tuple(hover[is_max]),
        ),
        Curve(
            "p50",
            p50.x,
            p50.y / 1000,
            p50.low / 1000,
            p50.high / 1000,
            look=0,
            hover=tuple(curves.hover_texts(p50)),
        ),
    ]
    filled = tuple(curve for curve in drawn if curve.x.size)
    return Chart(title=title, subtitle=setting, x=x, y=y, curves=filled)
