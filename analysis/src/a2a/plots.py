# SPDX-License-Identifier: BSD-3-Clause
"""The figures: one function and one row of `KINDS` each.

A function takes results and options and says what is to be seen (`chart.Figure`); `drawing` and
`interactive` make it visible. Functions read raw samples only for the points that they show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from a2a import compare as comparing
from a2a import contrasts, curves, grouping, labels, matrix, style, trends
from a2a.chart import Axis, Bound, Chart, Curve, Figure, Floats, Heat
from a2a.curves import RATE, Options
from a2a.errors import InputError
from a2a.results import Results


def scaling(results: Results, options: Options) -> Figure:
    """Rate per node and per rank against the number of nodes, a line per message size."""
    everything = curves.measured(results, options)
    scale, name = curves.scale_of(everything)
    points, notes = curves.chosen(everything, "message_size", options.most)
    if everything[scale].nunique() == 1:
        notes += (f"one {name[:-1]} count only: files of others make this a scaling curve",)
    looks = curves.Looks.of(points, "message_size", labels.size_text)
    charts: list[Chart] = []
    for metric, where in (("gbps_node_net", "node"), ("gbps_rank", "rank")):
        known = points[points[metric].notna()]
        if known.empty:
            if where == "node":
                notes += (_why_no_node_rate(points),)
            continue
        for title, rows in curves.panels(known):
            drawn = looks.curves(rows, scale, metric)
            ideals = tuple(
                Bound("rate of the smallest scale kept", c.x[[0, -1]], c.y[[0, 0]], look=c.look)
                for c in drawn
                if c.x.size > 1 and not c.variant
            )
            rate = f"{RATE} per {where}" + (", one way" if where == "node" else "")
            charts.append(
                Chart(
                    title=f"Per {where}",
                    subtitle=title,
                    x=curves.scale_axis(known, scale, name),
                    y=Axis(rate, from_zero=True, unit=RATE),
                    curves=tuple(drawn),
                    bounds=ideals + curves.link_bounds(rows, scale, metric),
                    legend="Message size per pair of ranks",
                )
            )
    return Figure(
        "scaling",
        f"Bandwidth against {name}",
        tuple(charts),
        notes + curves.said(points) + curves.link_note(points),
    )


def _why_no_node_rate(points: pd.DataFrame) -> str:
    if (points["nodes"] == 1).sum() == len(points):
        return "one node: nothing crosses the network, so there is no rate per node"
    return "rate per node not shown: ranks per node unknown"


def sizes(results: Results, options: Options) -> Figure:
    """Rate against message size, a line per node count."""
    everything = curves.measured(results, options)
    scale, name = curves.scale_of(everything)
    points, notes = curves.chosen(everything, scale, options.most)
    metric, where = (
        ("gbps_node_net", "node")
        if points["gbps_node_net"].notna().all()
        else ("gbps_rank", "rank")
    )
    looks = curves.Looks.of(points, scale, lambda count: labels.count_text(int(count), name[:-1]))
    only = looks.text(looks.majors[0]) if len(looks.majors) == 1 else ""
    charts = []
    for title, rows in curves.panels(points):
        drawn = looks.curves(rows, "message_size", metric)
        charts.append(
            Chart(
                title=only,
                subtitle=title,
                x=curves.size_axis(points),
                y=Axis(
                    f"{RATE} per {where}" + (", one way" if where == "node" else ""),
                    from_zero=True,
                    unit=RATE,
                ),
                curves=tuple(drawn),
                bounds=curves.link_bounds(rows, "message_size", metric) if where == "node" else (),
            )
        )
    return Figure(
        "sizes",
        "Bandwidth against message size",
        tuple(charts),
        notes + curves.said(points) + curves.link_note(points),
    )


def latency(results: Results, options: Options) -> Figure:
    """Op time against message size: the median, and the band up to p90 and p99."""
    everything = curves.measured(results, options)
    scale, name = curves.scale_of(everything)
    points, notes = curves.chosen(everything, scale, 4)
    settings = grouping.values_in_order(points["setting"])
    groups = [
        (labels.count_text(int(count), name[:-1]), str(setting), rows)
        for count in sorted(points[scale].unique())
        for setting in settings
        if len(rows := points[(points[scale] == count) & (points["setting"] == setting)])
    ]
    if len(groups) > options.most:
        notes += (f"{options.most} of {len(groups)} groups shown",)
    groups = groups[: options.most]
    shown = pd.concat([rows for *_, rows in groups])
    x = replace(curves.size_axis(shown), limits=_limits(shown["message_size"]))
    times = shown[["time_p50", "time_p90", "time_p99"]] / 1000
    y = Axis("Op time (µs)", log=True, unit="µs", limits=_limits(times.melt()["value"]))
    charts = tuple(_latency_chart(title, setting, x, y, rows) for title, setting, rows in groups)
    if shown["p99_is_max"].any():
        notes += ("p99\u00a0=\u00a0max: too few ops for a p99 of its own",)
    return Figure("latency", "Op time against message size", charts, notes + curves.said(shown))


def _limits(values: pd.Series[float]) -> tuple[float, float]:
    """Limits of a logarithmic axis: the data and a little air."""
    low, high = float(values.min()), float(values.max())
    air = max((high / low) ** 0.04, 1.03)
    return low / air, high * air


def _latency_chart(title: str, setting: str, x: Axis, y: Axis, points: pd.DataFrame) -> Chart:
    p50, p90, p99 = (
        grouping.line(points, "message_size", f"time_{q}") for q in ("p50", "p90", "p99")
    )
    us = {"p50": p50.y / 1000, "p90": p90.y / 1000, "p99": p99.y / 1000}
    capped = points.groupby("message_size")["p99_is_max"].any()
    is_max = np.array([bool(capped[size]) for size in p99.x])
    hover = np.array(list(curves.hover_texts(p99)), dtype=object)
    drawn = [
        Curve("p50 to p90", p50.x, us["p50"], us["p50"], us["p90"], look=0, form="band"),
        Curve("p90 to p99", p90.x, us["p90"], us["p90"], us["p99"], look=5, form="band"),
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
            us["p50"],
            p50.low / 1000,
            p50.high / 1000,
            look=0,
            hover=tuple(curves.hover_texts(p50)),
        ),
    ]
    filled = tuple(curve for curve in drawn if curve.x.size)
    return Chart(title=title, subtitle=setting, x=x, y=y, curves=filled)


def cdf(results: Results, options: Options) -> Figure:
    """Distribution of op times, a panel per message size, a line per launch."""
    everything = _with_raw(results, curves.measured(results, options))
    scale, name = curves.scale_of(everything)
    points, notes = curves.chosen(everything, "message_size", min(options.most, 4))
    points, more = curves.chosen(
        points, scale, 3 if points["setting"].nunique() > 1 else options.most
    )
    several = points[scale].nunique() > 1
    texts = points["setting"]
    if several:
        counts = points[scale].map(lambda count: labels.count_text(int(count), name[:-1]))
        texts = counts.where(texts == "", counts + ", " + texts)
    ordered = points.assign(text=texts).sort_values([scale], kind="stable")["text"]
    names = grouping.values_in_order(ordered)
    if len(names) > style.MOST_LINES:
        more += (f"{style.MOST_LINES} of {len(names)} groups shown",)
    charts = []
    for size, rows in points.groupby("message_size"):
        drawn: list[Curve] = []
        for index, text in enumerate(names[: style.MOST_LINES]):
            group = rows[texts[rows.index] == text]
            thin = len(group) > 1
            for first, row in enumerate(group.to_dict("records")):
                times = results.op_times(row["file"], row["point"]) / 1000
                x, y = steps(times)
                hover = (f"launch {row['launch']}, n\u00a0=\u00a0{times.size}",)
                drawn.append(
                    Curve(
                        str(text) or "op times",
                        x,
                        y,
                        look=index,
                        form="step",
                        faint=thin,
                        hover=hover,
                        listed=first == 0,
                    )
                )
        spread = [c.x for c in drawn if c.x.size]
        log = bool(spread) and max(x.max() for x in spread) > 8 * min(
            x[x > 0].min() for x in spread
        )
        charts.append(
            Chart(
                title=labels.size_text(float(size)),  # type: ignore[arg-type]
                x=Axis("Op time (µs)", log=log, unit="µs"),
                y=Axis("Share of ops at most this long", from_zero=True),
                curves=tuple(drawn),
                notes=(
                    f"n\u00a0=\u00a0{labels.range_text(int(n) for n in rows['ops'])} ops per line",
                    "a line per launch",
                ),
            )
        )
    return Figure("cdf", "Distribution of op times", tuple(charts), notes + more)


def steps(times: Floats, most: int = 400) -> tuple[Floats, Floats]:
    """The empirical distribution function as steps (x, share of values ≤ x) that start at 0.

    More than `most` values are thinned in the middle and kept whole in the last hundred, the tail.
    """
    ordered = np.sort(times)
    n = ordered.size
    if n == 0:
        return np.empty(0), np.empty(0)
    index = np.arange(n)
    if n > most:
        tail = min(100, most // 4)
        index = np.unique(
            np.concatenate([np.linspace(0, n - 1, most - tail).astype(int), index[-tail:]])
        )
    x = np.concatenate([[ordered[0]], ordered[index]])
    y = np.concatenate([[0.0], (index + 1) / n])
    return x, y


def ops(results: Results, options: Options) -> Figure:
    """Every op of one launch over time: drift, periodic interference, invalid ops."""
    points = _one_launch(results, options)
    chosen, notes = curves.chosen(points, "message_size", min(options.most, 4))
    chosen = chosen.drop_duplicates(["message_size"], keep="first")
    charts = tuple(_ops_chart(results, row) for row in chosen.to_dict("records"))
    return Figure("ops", "Ops over time", charts, (*notes, f"launch {points['launch'].iloc[0]}"))


def _ops_chart(results: Results, row: dict[Any, Any]) -> Chart:
    raw = results.raw(row["file"], row["point"])
    time = raw.op_times() / 1000
    since = (raw.start - raw.start[0]) / 1e6 if raw.start.size else raw.start.astype(float)
    unit = "s" if since.size and since.max() > 10_000 else "ms"
    since /= 1000 if unit == "s" else 1
    valid = raw.valid
    drawn = [Curve("valid op", since[valid], time[valid], form="dots")]
    if (~valid).any():
        drawn.append(
            Curve(
                "invalid op (a rank was late)", since[~valid], time[~valid], look=1, form="crosses"
            )
        )
    median = float(np.median(time[valid])) if valid.any() else float("nan")
    spread = time[valid].max() / max(time[valid].min(), 1e-9) if valid.any() else 1.0
    return Chart(
        title=labels.size_text(row["message_size"]),
        x=Axis(f"Time since the first op ({unit})", unit=unit),
        y=Axis("Op time (µs)", log=bool(spread > 8), unit="µs"),
        curves=tuple(drawn),
        bounds=(Bound("p50", np.array([since.min(), since.max()]), np.array([median, median])),)
        if valid.any()
        else (),
        notes=(f"n\u00a0=\u00a0{int(valid.sum())} valid of {valid.size} ops",),
    )


def ranks(results: Results, options: Options) -> Figure:
    """Who is last: how late after the op's median rank, and how often the last of all."""
    points = _one_launch(results, options)
    row = points.sort_values(["ranks", "message_size"]).iloc[-1]
    raw = results.raw(row["file"], int(row["point"]))
    ends = raw.end[raw.valid] / 1000.0
    if not ends.size:
        raise InputError(f"{row['launch']}: no valid op at {labels.size_text(row['message_size'])}")
    late = ends - np.median(ends, axis=1, keepdims=True)
    n, count = late.shape
    launch = results.launches[row["launch"]]
    edges = np.flatnonzero(np.diff(launch.node_of_rank[:count])) + 0.5
    rank = np.arange(count, dtype=float)
    top = max(float(np.quantile(late, 0.99)), 1e-3)
    axis = Axis("Rank", ticks=labels.count_ticks(rank.tolist()) if count <= 32 else ())
    heat = Chart(
        title="How late each rank ended",
        x=axis,
        y=Axis("Op"),
        heat=Heat(
            np.maximum(late, 0),
            rank,
            np.arange(n, dtype=float),
            "µs after the op's median rank",
            top,
        ),
        divisions=tuple(edges) if 0 < edges.size <= 64 else (),
        notes=("white lines: node boundaries",) if 0 < edges.size <= 64 else (),
    )
    share = np.bincount(ends.argmax(axis=1), minlength=count) / n
    chance = 1 / count
    limit = float(stats.binom.ppf(1 - 0.05 / count, n, chance)) / n
    shares = Chart(
        title="How often each rank was last",
        x=axis,
        y=Axis("Share of ops", from_zero=True),
        curves=(Curve("share of ops in which the rank finished last", rank, share, form="stems"),),
        bounds=(
            Bound(f"chance 1/R = {chance:.3g}", rank[[0, -1]], np.array([chance, chance])),
            Bound(
                f"limit of chance {limit:.3g}",
                rank[[0, -1]],
                np.array([limit, limit]),
            ),
        ),
        notes=(
            f"n\u00a0=\u00a0{n} ops",
            "limit of chance: with no straggler all ranks stay below it in 95\u00a0% of runs",
        ),
    )
    place = f"{labels.size_text(row['message_size'])}, {count} ranks, launch {row['launch']}"
    return Figure("ranks", "Who is last", (heat, shares), (place,))


def compare(results: Results, options: Options) -> Figure:
    """A setting's values held against each other: relative speed and rates."""
    names = list(options.by)
    if not names:
        points = results.points
        found = grouping.setting_names(results, points[points["role"] == "measure"], ())
        names = [name for name in found if name not in ("ppn",)] or found
    if len(names) != 1:
        what = f"what differs here: {', '.join(names)}" if names else "nothing differs here"
        raise InputError(f"a comparison needs --by NAME; {what}")
    engines = {"engine", "role"} & set(names)
    measured = results.measured(("measure", "baseline") if engines else ("measure",))
    return contrasts.figure(comparing.by_setting(measured, names), options.most)


def _with_raw(results: Results, points: pd.DataFrame) -> pd.DataFrame:
    kept = points[points["has_raw"]]
    if kept.empty:
        raise InputError(
            "only summaries without raw samples here; this figure needs files of a2aperf"
        )
    return kept


def _one_launch(results: Results, options: Options) -> pd.DataFrame:
    """The measured points of the first launch that has raw samples."""
    points = _with_raw(results, curves.measured(results, options))
    points = points[points["role"] == "measure"] if (points["role"] == "measure").any() else points
    first = points["launch"] == points["launch"].iloc[0]
    return pd.DataFrame(points[first])


@dataclass(frozen=True)
class Kind:
    """One row of the table of figures."""

    make: Callable[[Results, Options], Figure]
    says: str
    """What it shows, for the help text."""
    reads: str
    """How to read it, for the report."""
    needs_raw: bool = False


KINDS: dict[str, Kind] = {
    "scaling": Kind(
        scaling,
        "Gbit/s per node and per rank against nodes, a line per message size",
        "A line that stays flat scales; where it falls, the larger machine loses bandwidth.",
    ),
    "sizes": Kind(
        sizes,
        "Gbit/s against message size, a line per node count",
        "Small messages are message-rate-bound, large ones bandwidth-bound; "
        "a dip is a protocol switch.",
    ),
    "latency": Kind(
        latency,
        "op time against message size: median with the band up to p90 and p99",
        "The line is the median op; the band above it is what the slowest tenth takes, the tail.",
    ),
    "compare": Kind(
        compare,
        "a setting's values against each other: ratio with interval, and rates",
        "Above 1 the candidate is faster; a bar that leaves the grey band is more than the margin.",
    ),
    "history": Kind(
        trends.figure,
        "Gbit/s of every launch over the months, with change points",
        "Each mark is a launch; a dashed line is a change and names what else changed there.",
    ),
    "cdf": Kind(
        cdf,
        "distribution of op times, a line per launch",
        "A steep line is a steady op; a step half way up is a second mode, a flat end a tail.",
        needs_raw=True,
    ),
    "ops": Kind(
        ops,
        "every op over time: drift, interference, invalid ops",
        "Each dot is one op. A slope is drift, a second level another mode, a rhythm interference.",
        needs_raw=True,
    ),
    "ranks": Kind(
        ranks,
        "who is last: heat map of op and rank",
        "An op lasts until its last rank. A bright column is a rank that is late again and again.",
        needs_raw=True,
    ),
    "matrix": Kind(
        matrix.figure,
        "rate or time of every pair of a2aperf pairs: heat map of source and destination",
        "A dark row is a slow sender, a dark column a slow receiver, a dark cell a slow pair; a "
        "dark block is what lies between two switches.",
    ),
}
