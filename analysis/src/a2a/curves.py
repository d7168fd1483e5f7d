# SPDX-License-Identifier: BSD-3-Clause
"""From points to curves: what the figures of `plots` have in common.

Which points are drawn, which of many values stand for all, how a value and a setting look, what
the axes and the notes say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from a2a import grouping, labels, metrics, style
from a2a.chart import Axis, Bound, Curve
from a2a.results import Results

RATE = "Gbit/s"
FAR = 2.5
"""A bound so many times above the highest point is told in words."""


@dataclass(frozen=True)
class Options:
    """What the user may choose about a figure; the defaults choose from the data."""

    by: tuple[str, ...] = ()
    """Names that tell lines apart; default: all that differ."""
    most: int = 6
    """Lines or panels of one kind before a figure chooses."""
    what: str = ""
    """Of a matrix: the quantity; default: the rate of the largest messages."""
    arrange: str = ""
    """Of a matrix: the order of its rows; default: by switch where they are known."""
    topology: Path | None = None
    """Of a matrix: a file that says which node hangs on which switch."""


def measured(results: Results, options: Options) -> pd.DataFrame:
    """Complete points worth a line: the measured ones and the baseline's."""
    found = results.complete(("measure", "baseline"))
    points = found.points.assign(p99_is_max=p99_is_max(found, found.points))
    return points.assign(setting=grouping.setting_labels(found, points, options.by))


def p99_is_max(results: Results, points: pd.DataFrame) -> list[bool]:
    """For each point, whether its p99 is the maximum because n is too small."""
    rules = points["file"].map(lambda file: results.attributes[file].get("percentile_rule", "rank"))
    return [
        bool(pd.notna(n)) and n > 0 and metrics.percentile_is_maximum(int(n), 0.99, rule)
        for n, rule in zip(points["ops"], rules, strict=True)
    ]


def scale_of(points: pd.DataFrame) -> tuple[str, str]:
    """The column that says how large the machine is, and its name: nodes where all are known."""
    if points["nodes"].isna().any() or points["nodes"].nunique() == 1 < points["ranks"].nunique():
        return "ranks", "ranks"
    return "nodes", "nodes"


def chosen(points: pd.DataFrame, column: str, most: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The rows of at most `most` representative values, and a note on what is left out."""
    other = "ranks" if column == "message_size" else "message_size"
    places = points.groupby(column)[[other, "setting"]].apply(
        lambda rows: len(rows.drop_duplicates())
    )
    kept = grouping.representative(dict(zip(places.index, places, strict=True)), most)
    if len(kept) == len(places):
        return points, ()
    what = {"message_size": "message sizes", "ranks": "rank counts", "nodes": "node counts"}[column]
    return points[points[column].isin(kept)], (f"{len(kept)} of {len(places)} {what} shown",)


def panels(points: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """One panel for up to as many settings as share a colour; else one panel per setting."""
    settings = grouping.values_in_order(points["setting"])
    if len(settings) <= len(style.VARIANTS):
        return [("", points)]
    return [
        (str(name), points[points["setting"] == name]) for name in settings[: style.MOST_LINES - 1]
    ]


@dataclass(frozen=True)
class Looks:
    """Which look a value of `major` and a setting have, the same in all panels of a figure."""

    major: str
    majors: list[float]
    settings: list[object]
    text: Callable[[float], str]

    @classmethod
    def of(cls, points: pd.DataFrame, major: str, text: Callable[[float], str]) -> Looks:
        """Looks for all values of `major`, written by `text`, and all settings of the points."""
        return cls(
            major, sorted(points[major].unique()), grouping.values_in_order(points["setting"]), text
        )

    def curves(self, points: pd.DataFrame, x: str, metric: str) -> list[Curve]:
        """A curve per value of `major` and setting that the points have."""
        several = len(self.majors) > 1, len(self.settings) > 1
        two_way = all(several) and points["setting"].nunique() <= len(style.VARIANTS)
        curves = []
        for value, setting in itertools.product(self.majors, self.settings):
            rows = points[(points[self.major] == value) & (points["setting"] == setting)]
            line = grouping.line(rows, x, metric)
            if not line.x.size:
                continue
            index = self.settings.index(setting)
            parts = (self.text(value), str(setting))
            names = [part for part, many in zip(parts, several, strict=True) if many and part]
            curves.append(
                Curve(
                    name=", ".join(names) or parts[0],
                    x=line.x,
                    y=line.y,
                    low=line.low,
                    high=line.high,
                    look=self.majors.index(value) if several[0] else index,
                    variant=index
                    if two_way and len(self.settings) <= len(style.VARIANTS)
                    else None,
                    parts=parts,
                    hover=tuple(hover_texts(line)),
                )
            )
        return curves


def hover_texts(line: grouping.Line) -> Iterator[str]:
    """One text per value of a line: launches, n, interval."""
    for ops, launches, low, high in zip(line.ops, line.launches, line.low, line.high, strict=True):
        text = f"n\u00a0=\u00a0{labels.range_text(ops)} ops"
        if launches > 1:
            text = f"{launches} launches, {text} each"
        if np.isfinite(low) and np.isfinite(high):
            kind = "range of launches" if launches > 1 else "95 % interval"
            text += f", {kind} {labels.number_text(low)} to {labels.number_text(high)}"
        yield text


def said(points: pd.DataFrame) -> tuple[str, ...]:
    """What every figure of lines says about its sample."""
    place = ["message_size", "ranks", "nodes", "setting"]
    launches = points.groupby(place, dropna=False)["launch"].nunique()
    n = labels.range_text(int(n) for n in points["ops"])
    notes = [f"n\u00a0=\u00a0{n} ops per point and launch"]
    if launches.max() > 1:
        notes.append(f"median of {labels.range_text(launches)} launches, bars: their range")
    elif points["time_p50_low"].notna().any():
        notes.append("bars: 95\u00a0% interval of the median")
    elif not points["has_raw"].any():
        notes.append("imported without raw samples, so without intervals")
    return tuple(notes)


def size_axis(points: pd.DataFrame) -> Axis:
    """Message sizes, logarithmic."""
    ticks = labels.size_ticks(points["message_size"])
    return Axis("Message size per pair of ranks", log=True, ticks=ticks, unit="B")


def scale_axis(points: pd.DataFrame, scale: str, name: str) -> Axis:
    """Counts of nodes or ranks; logarithmic where they span more than a decade."""
    counts = sorted(set(points[scale].astype(float)))
    log = len(counts) > 1 and counts[-1] / counts[0] > 12
    return Axis(name.capitalize(), log=log, ticks=labels.count_ticks(counts), unit=name)


def link_bounds(points: pd.DataFrame, x: str, metric: str) -> tuple[Bound, ...]:
    """The link's physical rate over `x`: per node as it is, per rank as the ranks share it.

    gbps_node_net ≤ L is, by their formulas, gbps_rank ≤ L·(R−1) / (k·(R−k)). A rate far above
    everything measured would flatten the figure: `link_note` says it instead.
    """
    per_node = metric == "gbps_node_net"
    known = points[
        points["link_rate_gbps"].notna() & points["nodes"].notna() & (points["nodes"] > 1)
    ]
    if known.empty:
        return ()
    rails = known["rails"].fillna(1).clip(lower=1).astype(float)
    limit = known["link_rate_gbps"].astype(float) * rails
    if not per_node:
        ranks, k = known["ranks"].astype(float), known["ppn"].astype(float)
        limit = limit * (ranks - 1) / (k * (ranks - k))
    limits = pd.DataFrame({"x": known[x].astype(float), "ppn": known["ppn"], "limit": limit})
    bounds = []
    for ppn, group in limits.groupby("ppn"):
        line = group.groupby("x")["limit"].max()
        name = "link rate" if per_node else "link rate, shared by the node's ranks"
        if not per_node and limits["ppn"].nunique() > 1:
            name = f"link rate at {ppn:g} per node"
        places, y = line.index.to_numpy(dtype=float), line.to_numpy(dtype=float)
        if y.min() > FAR * points[metric].max():
            continue
        if per_node:
            places, y = limits["x"].agg(["min", "max"]).to_numpy(), np.array([y[0], y[0]])
        bounds.append(Bound(name, places, y))
    return tuple({(b.name, float(b.y[-1])): b for b in bounds}.values())


def link_note(points: pd.DataFrame) -> tuple[str, ...]:
    """The physical limit in words, with how close the best point came to it."""
    known = points[points["efficiency"].notna()]
    if known.empty:
        return ()
    best = known.sort_values("efficiency").iloc[-1]
    limit = float(best["gbps_node_net"]) / float(best["efficiency"])
    share = f"{100 * best['efficiency']:.0f}\u00a0%"
    return (f"link rate {labels.rate_text(limit)} per node; best point {share} of it",)
