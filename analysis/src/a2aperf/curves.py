# SPDX-License-Identifier: BSD-3-Clause
"""From points to curves: what the figures of `plots` have in common.

Which points are drawn, which of many values stand for all, how a value and a setting look, what
the axes and the notes say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import numpy as np

from a2aperf import grouping, labels, setting_order, style
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure, Floats
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.maxima import are_maxima
from a2aperf.results import ALIASES, Results

RATE = "Gbit/s"
NO_PLACE = "messages of 0\u00a0B are not drawn: a logarithmic axis has no place for them"
AT_MEDIAN = "at the median"
"""A rate is that of the median op."""
MOST_PANELS = 12
_NAMES = {"message_size": "message sizes", "ranks": "rank counts", "nodes": "node counts"}
FAR = 2.5
"""A bound so many times above the highest point is told in words."""
_AROUND: Final = np.array([0.94, 1.06])  # a place, for what holds there alone


@dataclass(frozen=True)
class Options:
    """What the user may choose about a figure; the defaults choose from the data."""

    by: tuple[str, ...] = ()
    """Names that tell lines apart; default: all that differ."""
    most: int = 6
    """Lines or panels of one kind before a figure chooses."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """What the kind alone has, by name (`Kind.options`); what is not given is not in it."""
    x_scale: str = ""
    """linear or log; default: from the data."""
    y_scale: str = ""
    title: str = ""
    """Above the figure."""


def given(own: Mapping[str, Any]) -> dict[str, Any]:
    """`Options.own` of what the user may have left at its default."""
    return {name: value for name, value in own.items() if value not in ("", None)}


@dataclass(frozen=True)
class Option:
    """What the user may choose about some kinds of figures alone."""

    name: str
    says: str
    """For the help text; default included."""
    values: tuple[str, ...] = ()
    """All that it may be; empty: whatever `metavar` says."""
    metavar: str = ""
    is_file: bool = False


WHAT: Final = Option("what", "any column of numbers. Default: the rate.", metavar="COLUMN")
"""Of figures that can draw another quantity."""


@dataclass(frozen=True)
class Kind:
    """One kind of figure: a row of its workload."""

    make: Callable[[Results, Options], Figure]
    says: str
    """What it shows, for the help text."""
    reads: str
    """How to read it, for the report."""
    needs_raw: bool = False
    one_launch: bool = False
    options: tuple[Option, ...] = ()
    """What it has beside those that all figures have."""
    in_report: Callable[[Results], bool] = lambda results: True
    """Whether it tells anything of these results to who has not asked for it."""

    def option(self, name: str) -> Option | None:
        """Its option of that name."""
        return next((one for one in self.options if one.name == name), None)


DRAWN: Final = ("measure", "baseline")
"""Roles of points worth a line."""


def measured(results: Results, options: Options) -> pd.DataFrame:
    """Complete points worth a line."""
    found = results.complete(DRAWN)
    points = found.points.assign(p99_is_max=are_maxima(found, found.points, 0.99))
    return setting_order.with_settings(found, points, options.by)


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
    left_out = (f"{len(kept)} of {len(places)} {_NAMES[column]} shown",)
    return points[points[column].isin(kept)], left_out


def thinned(
    points: pd.DataFrame, column: str, most: int, most_settings: int = MOST_PANELS
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The same as `chosen`, of no more settings than there are panels for."""
    kept, _ = at_most(points, "setting", most_settings, "settings")
    kept, left_out = chosen(kept, column, most)
    shown, total = kept[column].nunique(), points[column].nunique()
    if shown < total:
        left_out = (f"{shown} of {total} {_NAMES[column]} shown",)
    settings = kept["setting"].nunique(), points["setting"].nunique()
    if settings[0] < settings[1]:
        left_out += (f"{settings[0]} of {settings[1]} settings shown",)
    return kept, left_out


class Panel(NamedTuple):
    """What of a figure's points one panel shows."""

    title: str
    points: pd.DataFrame
    legend: str = ""
    """Over the names of its curves, where they have looks that mean others in other panels."""


def panels(points: pd.DataFrame, settings: Sequence[object], majors: int) -> list[Panel]:
    """The figure's settings in as few panels as tell them apart; `majors` colours are taken.

    Where colour and symbol are free they tell settings apart; else up to as many share a panel as
    there are fillings and dashes; more get a panel each.
    """
    most = style.MOST_LINES if majors == 1 else style.MOST_VARIANTS
    if len(settings) <= most:
        return [Panel("", points)]
    if majors == 1:
        found = []
        for first in range(0, len(settings), most):
            part = settings[first : first + most]
            span = f"settings {first + 1} to {first + len(part)}"
            title = span if len(part) > 1 else f"setting {first + 1}"
            of = points[points["setting"].isin(part)]
            found += [Panel(title, of, title.capitalize())] if len(of) else []
        return found
    here = [name for name in settings if (points["setting"] == name).any()]
    return [Panel(str(name), points[points["setting"] == name]) for name in here]


def fitting(count: int, most: int, what: str) -> tuple[str, ...]:
    """What is left out where there are more than `most`; nothing where all are shown."""
    return (f"{most} of {count} {what} shown",) if count > most else ()


def at_most(
    points: pd.DataFrame, column: str, most: int, what: str
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The rows of the first values of a column, and a note on what is left out."""
    is_setting = column == "setting"
    values = (
        setting_order.in_order(points) if is_setting else grouping.values_in_order(points[column])
    )
    kept = pd.DataFrame(points[points[column].isin(values[:most])])
    return kept, fitting(len(values), most, what)


_TICKS: Final = {
    "B": labels.size_ticks,
    "nodes": labels.count_ticks,
    "ranks": labels.count_ticks,
}
"""By unit of an axis whose ticks are what was measured."""


def alike(charts: Sequence[Chart]) -> tuple[Chart, ...]:
    """The same charts with axes by which they can be compared.

    All panels of one quantity have one x-scale; those whose y-axis has the same label, one y-scale.
    Each has ticks where it has data.
    """
    drawn: list[Curve | Bound] = []
    for chart in charts:
        drawn += [*chart.curves, *chart.bounds]
    xs = np.concatenate([line.x for line in drawn] or [np.empty(0)])
    out = []
    for chart in charts:
        same = [other for other in charts if other.y.label == chart.y.label]
        x, y = chart.x, chart.y
        if x.limits is None and xs.size:
            x = replace(x, limits=with_air(xs, x.log))
        if x.ticks and x.unit in _TICKS and chart.curves:
            x = replace(x, ticks=_TICKS[x.unit](np.concatenate([c.x for c in chart.curves])))
        if y.limits is None and len(same) > 1 and not y.log:
            y = replace(y, limits=(0.0, 1.1 * max(_top(other) for other in same)))
        out.append(replace(chart, x=x, y=y))
    return tuple(out)


def _top(chart: Chart) -> float:
    known = [c.y for c in chart.curves] + [c.high for c in chart.curves if c.high is not None]
    known += [bound.y for bound in chart.bounds]
    return float(max(np.nanmax(values) for values in known if np.isfinite(values).any()))


def with_air(values: Floats, log: bool) -> tuple[float, float]:
    """Limits of an axis: the data and a little air."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if log:
        air = max((high / low) ** 0.04, 1.03 if high > low else 1.5)
        return low / air, high * air
    air = 0.04 * (high - low) or 0.5
    return low - air, high + air


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
        return cls(major, sorted(points[major].unique()), setting_order.in_order(points), text)

    def curves(self, points: pd.DataFrame, x: str, metric: str) -> list[Curve]:
        """A curve per value of `major` and setting that the points have."""
        apart = self.settings if len(self.majors) == 1 else points["setting"].unique()
        several = len(self.majors) > 1, len(apart) > 1
        two_way = all(several) and len(self.settings) <= style.MOST_VARIANTS
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
                    look=self.majors.index(value) if several[0] else index % style.MOST_LINES,
                    variant=index if two_way else None,
                    parts=parts,
                    hover=tuple(hover_texts(line)),
                )
            )
        return curves


def hover_texts(line: grouping.Line, unit: str = "ops") -> Iterator[str]:
    """One text per value of a line: launches, n, interval."""
    for ops, launches, low, high in zip(line.ops, line.launches, line.low, line.high, strict=True):
        text = f"n\u00a0=\u00a0{labels.range_text(ops) or 'unknown'} {unit}"
        if launches > 1:
            text = f"{launches} launches, {text} each"
        if np.isfinite(low) and np.isfinite(high):
            kind = "range of launches" if launches > 1 else "95 % interval"
            text += f", {kind} {labels.number_text(low)} to {labels.number_text(high)}"
        yield text


def said(points: pd.DataFrame, charts: Sequence[Chart]) -> tuple[str, ...]:
    """What every figure of lines says about its sample."""
    place = ["message_size", "ranks", "nodes", "setting"]
    launches = points.groupby(place, dropna=False)["launch"].nunique()
    drawn = [curve for chart in charts for curve in chart.curves]
    bars = "bars at the median" if any(curve.form == "bars" for curve in drawn) else "bars"
    notes = [labels.sample_text(points["ops"], "per point and launch")]
    if launches.max() > 1:
        notes.append(f"median of {labels.range_text(launches)} launches, {bars}: their range")
    elif any(_has_bars(curve) for curve in drawn):
        notes.append(f"{bars}: 95\u00a0% interval of the median")
    elif not points["has_raw"].any():
        notes.append("imported without raw samples, so without intervals")
    return tuple(notes)


def _has_bars(curve: Curve) -> bool:
    """Of an interval; those of the form "bars" stand for percentiles."""
    return curve.form != "bars" and curve.low is not None and bool(np.isfinite(curve.low).any())


def quantity(results: Results, name: str) -> tuple[str, Axis]:
    """Any column of numbers and its axis, as the file describes it; InputError where it is none."""
    values, name = results.values(name), ALIASES.get(name, name)
    if not pd.api.types.is_numeric_dtype(values):
        raise InputError(f"--what {name}: is not a number; expected a column of numbers")
    if values.isna().all():
        raise InputError(f"--what {name}: nothing is known of it here")
    column = results.columns.get(name)
    words = column.long_name if column and column.long_name else name.replace("_", " ")
    unit = column.units if column else ""
    return name, Axis(words[:1].upper() + words[1:] + (f" ({unit})" if unit else ""), unit=unit)


def size_axis(points: pd.DataFrame) -> Axis:
    """Message sizes, logarithmic."""
    ticks = labels.size_ticks(points["message_size"])
    return Axis("Message size per pair of ranks", log=True, ticks=ticks, unit="B")


def scale_axis(points: pd.DataFrame, scale: str, name: str) -> Axis:
    """Counts of nodes or ranks; logarithmic where they span more than a decade."""
    counts = sorted(set(points[scale].astype(float)))
    log = len(counts) > 1 and counts[-1] / counts[0] > 12
    return Axis(name.capitalize(), log=log, ticks=labels.count_ticks(counts), unit=name)


def link_bounds(points: pd.DataFrame, x: str, metric: str, highest: float) -> tuple[Bound, ...]:
    """The link's physical rate over `x`: per node as it is, per rank as the ranks share it.

    gbps_node_net ≤ L is, by their formulas, gbps_rank ≤ L·(R−1) / (k·(R−k)). A rate far above
    the `highest` of all panels would flatten the figure: `link_note` says it instead.
    """
    per_node = metric == "gbps_node_net"
    known = points[
        points["link_rate_gbps"].notna() & points["nodes"].notna() & (points["nodes"] > 1)
    ]
    if known.empty:
        return ()
    rails = known["rails"].fillna(1).clip(lower=1).astype(float)
    rate = known["link_rate_gbps"].astype(float) * rails
    limit, ppn = rate, 0 * rate
    if not per_node:
        ranks, ppn = known["ranks"].astype(float), known["ppn"].astype(float)
        limit = rate * (ranks - 1) / (ppn * (ranks - ppn))
    limits = pd.DataFrame({"x": known[x].astype(float), "ppn": ppn, "rate": rate, "limit": limit})
    differ = limits.groupby(["ppn", "x"])["rate"].nunique().max() > 1
    bounds = []
    for (k, of), group in limits.groupby(["ppn", limits["rate"] if differ else 0 * limits["rate"]]):
        line = group.groupby("x")["limit"].first()
        name = f"link rate {labels.rate_text(float(str(of)))}" if differ else "link rate"
        name += "" if per_node else ", shared by the node's ranks"
        if not per_node and limits["ppn"].nunique() > 1:
            name += f" ({k:g} per node)"
        places, y = line.index.to_numpy(dtype=float), line.to_numpy(dtype=float)
        if y.min() > FAR * highest:
            continue
        if len(places) == 1 and points[x].nunique() > 1:  # others have another one, or none
            places, y = places * _AROUND, np.repeat(y, 2)
        bounds.append(Bound(name, places, y))
    return tuple(bounds)


def link_note(points: pd.DataFrame) -> tuple[str, ...]:
    """The physical limit in words, with how close the best point came to it."""
    known = points[points["efficiency"].notna()]
    if known.empty:
        return ()
    best = known.sort_values("efficiency").iloc[-1]
    limit = float(best["gbps_node_net"]) / float(best["efficiency"])
    share = f"{100 * best['efficiency']:.0f}\u00a0%"
    return (f"link rate {labels.rate_text(limit)} per node; best point {share} of it",)
