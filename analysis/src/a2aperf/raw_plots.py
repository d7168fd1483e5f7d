# SPDX-License-Identifier: BSD-3-Clause
"""Figures of raw samples: how op times are distributed, their course, and which rank is behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import curves, grouping, labels, setting_order, style
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure, Floats, Heat
from a2aperf.curves import Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.oversubscription import oversubscription
from a2aperf.results import Results

_MOST_SIZES = 4
_MOST_SCALES = 3

Limit = Callable[[NDArray[np.intp], int], float | None]
"""By who is behind in each op [ops], and R: the share of ops that is no chance; None: not known."""


def cdf(results: Results, options: Options) -> Figure:
    """Distribution of op times, a panel per message size, a line per launch."""
    everything = _with_raw(curves.measured(results, options))
    scale, name = curves.scale_of(everything)
    points, left_out = curves.chosen(everything, "message_size", min(options.most, _MOST_SIZES))
    most = _MOST_SCALES if points["setting"].nunique() > 1 else options.most
    points, more = curves.chosen(points, scale, most)
    texts = points["setting"]
    if points[scale].nunique() > 1:
        counts = points[scale].map(lambda count: labels.count_text(int(count), name[:-1]))
        texts = counts.where(texts == "", counts + ", " + texts)
    points = points.assign(text=texts)
    points = points.sort_values([scale, setting_order.PLACE], kind="stable")
    points, fewer = curves.at_most(points, "text", style.MOST_LINES, "groups")
    names = grouping.values_in_order(points["text"])
    charts = [
        _cdf_chart(results, float(str(size)), rows, names)
        for size, rows in points.groupby("message_size")
    ]
    n = labels.range_count_text((int(n) for n in points["ops"]), "op")
    # A launch measures the baseline beside every mode, schedule and window.
    several = points.duplicated(["launch", "text", "message_size"]).any()
    notes = (f"n\u00a0=\u00a0{n} per line", f"a line per {'point' if several else 'launch'}")
    return Figure("cdf", "Distribution of op times", tuple(charts), notes, left_out + more + fewer)


def _cdf_chart(results: Results, size: float, rows: pd.DataFrame, names: list[Any]) -> Chart:
    drawn: list[Curve] = []
    for index, text in enumerate(names):
        group = rows[rows["text"] == text]
        for first, row in enumerate(group.to_dict("records")):
            times = results.op_times(row["file"], row["point"]) / 1000
            x, y = steps(times)
            drawn.append(
                Curve(
                    str(text) or "op times",
                    x,
                    y,
                    look=index,
                    form="step",
                    faint=len(group) > 1,
                    hover=(f"launch {row['launch']}, n\u00a0=\u00a0{times.size}",),
                    listed=first == 0,
                )
            )
    spread = [c.x for c in drawn if c.x.size]
    log = bool(spread) and max(x.max() for x in spread) > 8 * min(x[x > 0].min() for x in spread)
    return Chart(
        title=labels.size_text(size),
        x=Axis("Op time (µs)", log=log, unit="µs"),
        y=Axis("Share of ops at most this long", from_zero=True),
        curves=tuple(drawn),
    )


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
    points, left_out = _one_launch(results, options)
    chosen, more = curves.chosen(points, "message_size", min(options.most, _MOST_SIZES))
    one_each = chosen.drop_duplicates(["message_size"], keep="first")
    more += _others(one_each, chosen)
    made = [_ops_chart(results, row, len(one_each) > 1) for row in one_each.to_dict("records")]
    charts = _on_one_scale(made)
    launch = str(points["launch"].iloc[0])
    crowded = oversubscription(results.launches[launch])
    n = labels.range_text(int(n) for n in one_each["ops"])
    of = labels.range_text(int(n) for n in one_each["attempts"])
    valid = f"n\u00a0=\u00a0{n} valid ops of {of} per panel"
    notes = tuple(filter(None, (crowded, f"launch {launch}", valid)))
    return Figure("ops", "Ops over time", charts, notes, left_out + more)


def _others(shown: pd.DataFrame, points: pd.DataFrame) -> tuple[str, ...]:
    """What is left out of the points, by the words that tell settings apart."""
    if len(shown) == len(points):
        return ()
    settings = setting_order.in_order(points)
    without = [str(name) for name in settings if name not in set(shown["setting"])]
    words = f"{len(shown)} of {len(points)} points of these message sizes shown"
    return (f"{words}, without {'; '.join(without)}" if without else words,)


def _ops_chart(results: Results, row: dict[Any, Any], relative: bool) -> Chart:
    """Op times over time; `relative` to the median, so that panels can share one axis."""
    raw = results.raw(row["file"], row["point"])
    time = raw.op_times() / 1000
    since = (raw.start - raw.start[0]) / 1e6 if raw.start.size else raw.start.astype(float)
    unit = "s" if since.size and since.max() > 10_000 else "ms"
    since /= 1000 if unit == "s" else 1
    valid = raw.valid
    median = row["time_p50"] / 1000 if relative else 1.0
    drawn = [Curve("valid op", since[valid], time[valid] / median, form="dots")]
    if (~valid).any():  # below the others
        late = since[~valid], time[~valid] / median
        drawn.insert(0, Curve("invalid op (a rank was late)", *late, look=1, form="crosses"))
    level = np.full(2, row["time_p50"] / 1000 / median)
    p50 = f"p50 {labels.time_text(row['time_p50'])}"
    return Chart(
        title=labels.size_text(row["message_size"]),
        subtitle=str(row["setting"]),
        x=Axis(f"Time since the first op ({unit})", unit=unit),
        y=Axis("Op time / p50" if relative else "Op time (µs)", unit="× p50" if relative else "µs"),
        curves=tuple(drawn),
        bounds=(Bound(p50, np.array([since.min(), since.max()]), level),) if valid.any() else (),
    )


def _on_one_scale(charts: list[Chart]) -> tuple[Chart, ...]:
    """One y-axis for all panels, from the valid ops; invalid ones beyond it stand at its edge."""
    valid = np.concatenate([chart.curves[-1].y for chart in charts])
    if not valid.size:
        return tuple(charts)
    log = bool(valid.max() > 8 * max(valid.min(), 1e-9)) and valid.min() > 0
    low, high = curves.with_air(valid, log)
    axis = replace(charts[0].y, log=log, limits=(low if log else max(low, 0.0), high))
    out = []
    for chart in charts:
        beyond = any((c.y > high).any() or (c.y < low).any() for c in chart.curves[:-1])
        edge = axis.limits or (low, high)
        drawn = [replace(c, y=np.clip(c.y, *edge)) for c in chart.curves[:-1]]
        drawn.append(chart.curves[-1])
        note = ("crosses at the edge: invalid ops beyond the axis",) if beyond else ()
        out.append(replace(chart, y=axis, curves=tuple(drawn), notes=chart.notes + note))
    return tuple(out)


def ranks(results: Results, options: Options, limit: Limit) -> Figure:
    """Which rank is behind: who finished last on a common clock, or who took longest without."""
    points, left_out = _one_launch(results, options)
    row = points.sort_values(["message_size"], kind="stable", ascending=False).iloc[0]
    if len(points) > 1:
        left_out += (f"1 of {len(points)} points of the launch shown",)
    raw = results.raw(row["file"], int(row["point"]))
    ends = raw.end[raw.valid] / 1000.0
    if not ends.size:
        raise InputError(f"{row['launch']}: no valid op at {labels.size_text(row['message_size'])}")
    launch = results.launches[row["launch"]]
    barrier = launch.attributes["sync"] != "clock"
    on_clock = bool(pd.notna(row["last_rank"])) and (not barrier or raw.exit is not None)
    if on_clock and raw.exit is not None:
        ends += raw.exit[raw.valid] / 1000.0
    count = ends.shape[1]
    edges = np.flatnonzero(np.diff(launch.node_of_rank[:count])).astype(np.float64) + 0.5
    rank = np.arange(count, dtype=float)
    axis = Axis("Rank", ticks=labels.count_ticks(rank.tolist()) if count <= 32 else ())
    charts = (
        _late_chart(ends, axis, edges, on_clock),
        _share_chart(ends, axis, on_clock, limit),
    )
    setting = f", {row['setting']}" if row["setting"] else ""
    size = labels.size_text(row["message_size"])
    notes = [f"{size}{setting}, {count} ranks, launch {row['launch']}"]
    if not on_clock and barrier:
        notes.append(
            "barrier start: each rank's time counts from its own exit of the barrier, so the "
            "longest need not be the last to end"
        )
    elif not on_clock:
        notes.append("the clocks agree too loosely to tell which rank finished last")
    title = "Which rank finished last" if on_clock else "Which rank took longest"
    return Figure("ranks", title, charts, tuple(notes), left_out)


def _late_chart(ends: Floats, axis: Axis, edges: Floats, on_clock: bool) -> Chart:
    late = ends - np.median(ends, axis=1, keepdims=True)
    n, count = late.shape
    divided = 0 < edges.size <= 64
    return Chart(
        title="How late each rank ended" if on_clock else "How much longer each rank took",
        x=axis,
        y=Axis("Op", ticks=_whole(n)),
        heat=Heat(
            np.maximum(late, 0),
            np.arange(count, dtype=float),
            np.arange(n, dtype=float),
            f"µs {'after' if on_clock else 'more than'} the median of the op's ranks",
            max(float(np.quantile(late, 0.99)), 1e-3),
            hover="rank {x}, op {y}: {z} µs " + ("late" if on_clock else "more"),
        ),
        divisions=tuple(edges) if divided else (),
        notes=("white lines: node boundaries",) if divided else (),
    )


def _whole(n: int) -> tuple[tuple[float, str], ...]:
    """Ticks for so many ops: numbers of ops, of which there are no halves."""
    step = next(x * 10**power for power in range(10) for x in (1, 2, 5) if n <= 6 * x * 10**power)
    return tuple((float(op), labels.number_text(op, 1)) for op in range(0, n, step))


def _share_chart(ends: Floats, axis: Axis, on_clock: bool, limit: Limit) -> Chart:
    """How often each rank was behind, and up to where that can be luck."""
    n, count = ends.shape
    rank = np.arange(count, dtype=float)
    behind = ends.argmax(axis=1)
    share = np.bincount(behind, minlength=count) / n
    equal = 1 / count
    said = f"equal shares, 1/R = {equal:.3g}"
    bounds = [Bound(said, rank[[0, -1]], np.full(2, equal), named_below=True)]
    notes = [f"n\u00a0=\u00a0{labels.count_text(n, 'op')}"]
    luck = limit(behind, count)
    if luck is not None:
        bounds.append(
            Bound(f"significantly more often: above {luck:.3g}", rank[[0, -1]], np.full(2, luck))
        )
        notes.append(
            "significantly more often: equal ranks with independent ops all stay below it in "
            "95\u00a0% of launches"
        )
    else:
        notes.append(
            "no limit of significance is drawn: which rank is behind depends on earlier ops"
        )
    what = "finished last" if on_clock else "took longest"
    return Chart(
        title="How often each rank finished last"
        if on_clock
        else "How often each rank took longest",
        x=axis,
        y=Axis("Share of ops", from_zero=True),
        curves=(Curve(f"share of ops in which the rank {what}", rank, share, form="stems"),),
        bounds=tuple(bounds),
        notes=tuple(notes),
    )


def _with_raw(points: pd.DataFrame) -> pd.DataFrame:
    kept = points[points["has_raw"]]
    if kept.empty:
        raise InputError(
            "only summaries without raw samples here; this figure needs files of a2aperf"
        )
    return kept


def _one_launch(results: Results, options: Options) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The measured points of the first launch with raw samples, and what that leaves out."""
    points = _with_raw(curves.measured(results, options))
    points, left_out = curves.at_most(points, "launch", 1, "launches")
    # The baseline's points last: what is drawn of one message size is the first.
    return points.sort_values("role", key=lambda r: r != "measure", kind="stable"), left_out
