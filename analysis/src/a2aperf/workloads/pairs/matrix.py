# SPDX-License-Identifier: BSD-3-Clause
"""The matrix of pairs as a figure: who sends to whom at what rate, by rank or by node."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import labels
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure, Form, Heat
from a2aperf.curves import AT_MEDIAN, MOST_PANELS, RATE, Option, Options, fitting
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.pairs import links, model, similar
from a2aperf.workloads.pairs.links import Links, View

LEVELS: Final = ("rank", "node")
QUANTITIES: Final = ("gbps", "latency")
ORDERS: Final = ("name", "switch", "cluster")
OPTIONS: Final = (
    Option(
        "what",
        "rate of the largest or time of the smallest messages. Default: gbps.",
        QUANTITIES,
    ),
    Option(
        "arrange",
        "rows by name, by switch, or by similarity. Default: switch where they are known.",
        ORDERS,
    ),
    Option(
        "topology",
        "text of 'scontrol show topology' or topology.conf. Default: what is attached to the "
        "results.",
        metavar="FILE",
        is_file=True,
    ),
)
_MOST_TICKS: Final = 20
_MOST_DIVISIONS: Final = 64
_MOST_MARKS: Final = 64
"""More points are drawn as dots."""
_SPARSE: Final = 0.02
"""A larger share of pairs that were not measured may hide the others."""
_BULK: Final = (0.001, 0.999)
"""Of the values: what lies beyond has the first or last colour."""

Judge = Callable[[Links, View], Sequence[model.Weak]]
"""Names what stands out in a view."""


@dataclass(frozen=True)
class _Shown:
    """A view in the order in which it is drawn."""

    order: NDArray[np.int64]
    names: tuple[str, ...]
    values: model.Floats
    groups: tuple[str, ...]
    """Switch of each row in the new order, or its node where rows are ranks; "" unknown."""
    grouped: str
    """What the lines divide: "switches", "nodes" or nothing."""


def figure(results: Results, options: Options, judge: Judge) -> Figure:
    """A heat map of source and destination for every file, and the medians beside a single one."""
    files = links.files(results)
    if not files:
        raise InputError(
            "no matrix of pairs here; 'a2aperf pairs' measures one, 'a2a plot ranks' shows which "
            "rank is last in an all-to-all"
        )
    level, what, order = _choices(options)
    topology = options.own.get("topology")
    charts: list[Chart] = []
    notes: list[str] = []
    for file in files[:MOST_PANELS]:
        found = links.read(results, file, Path(topology) if topology else None)
        sizes = set(results.points.loc[results.points["file"] == file, "message_size"])
        index = found.index_of(sizes, smallest=what == "latency")
        several = len(set(found.node)) > 1
        chosen: links.Level = "node" if level == "node" or (several and not level) else "rank"
        view = found.view(index, chosen)
        shown, said = _arranged(view, what, order)
        charts.append(_heat(view, shown, what, found, judge, file if len(files) > 1 else ""))
        if len(files) == 1:
            charts.append(_medians(view, shown, what))
        notes += [*said, *found.notes(index)]
    left_out = fitting(len(files), MOST_PANELS, "files")
    title = "Rate of every pair" if what == "gbps" else "Time of every pair"
    return Figure("matrix", title, tuple(charts), tuple(dict.fromkeys(notes)), left_out)


def _choices(options: Options) -> tuple[str, str, str]:
    """Level, quantity and order; an empty level or order is left to the data."""
    if len(options.by) > 1 or (options.by and options.by[0] not in LEVELS):
        raise InputError(f"--by {' --by '.join(options.by)}: a matrix is by rank or by node")
    what, order = (str(options.own.get(name, "")) for name in ("what", "arrange"))
    return "".join(options.by), what or "gbps", order


def _arranged(view: View, what: str, order: str) -> tuple[_Shown, list[str]]:
    natural = sorted(range(view.size), key=lambda i: labels.natural(view.names[i]))
    known = any(view.switches)
    order = order or ("switch" if known and len(set(view.switches)) > 1 else "name")
    if order == "switch":
        if not known:
            raise InputError(
                "--arrange switch: the file does not say which switch a node hangs on; give "
                "--topology FILE with the text of 'scontrol show topology'"
            )
        natural.sort(key=lambda i: (not view.switches[i], labels.natural(view.switches[i])))
    elif order == "cluster":
        natural = similar.order(view.times)
    values = view.gbps if what == "gbps" else view.times / 1000
    places = np.array(natural, np.int64)
    groups, grouped = ("",) * view.size, ""
    if order == "switch":
        groups, grouped = tuple(view.switches[i] for i in places), "switches"
    elif order == "name" and view.level == "rank" and 1 < len(set(view.nodes)) < view.size:
        groups, grouped = tuple(view.nodes[i] for i in places), "nodes"
    names = tuple(view.names[i] for i in places)
    said = {"name": "by name", "switch": "by switch", "cluster": "by similarity"}[order]
    return _Shown(places, names, values[np.ix_(places, places)], groups, grouped), [
        f"{view.level}s {said}"
    ]


def _filled(values: model.Floats, what: str) -> tuple[model.Floats, int]:
    """The matrix in cells of b × b pairs, each as slow as its slowest; b is 1 but for samples.

    Of a sample only some steps were measured: alone, their cells are too thin to be seen.
    """
    count = len(values)
    apart = ~np.eye(count, dtype=bool)
    slowest = np.fmin if what == "gbps" else np.fmax
    for side in range(1, max(count // 10, 1) + 1):
        edges = np.arange(0, count, side)
        coarse = slowest.reduceat(slowest.reduceat(values, edges, axis=0), edges, axis=1)
        out = np.repeat(np.repeat(coarse, side, axis=0), side, axis=1)[:count, :count]
        if np.isnan(out[apart]).mean() <= _SPARSE:
            return out, side
    return values, 1  # what is missing is no sample but a part


def _axis(view: View, shown: _Shown, name: str, upright: bool) -> Axis:
    count = len(shown.names)
    limits = (-0.5, count - 0.5)
    label = f"{name} ({shown.grouped})"
    if count > _MOST_TICKS and shown.grouped:
        ticks = []
        for group in dict.fromkeys(shown.groups):
            inside = [i for i, one in enumerate(shown.groups) if one == group]
            ticks.append((float(np.mean(inside)), group or "?"))
        if len(ticks) <= _MOST_TICKS:
            return Axis(label, ticks=tuple(ticks), limits=limits, upright=upright)
    step = -(-count // _MOST_TICKS)
    short = _short(shown.names)
    ticks = [(float(i), short[i]) for i in range(0, count, step)]
    return Axis(name, ticks=tuple(ticks), limits=limits, upright=upright)


def _short(names: tuple[str, ...]) -> list[str]:
    """Names without what follows a space or a dot where they differ without it, too."""
    for cut in (r"[ .].*", r"(?<=\S) .*"):
        short = [re.sub(cut, "", name) for name in names]
        if len(set(short)) == len(names):
            return short
    return [name.partition(" (")[0] for name in names]


def _divisions(shown: _Shown) -> tuple[float, ...]:
    edges = [
        i + 0.5
        for i, (a, b) in enumerate(zip(shown.groups, shown.groups[1:], strict=False))
        if a != b
    ]
    return tuple(edges) if len(edges) <= _MOST_DIVISIONS else ()


def _heat(view: View, shown: _Shown, what: str, found: Links, judge: Judge, file: str) -> Chart:
    nodes = np.array(view.nodes)[shown.order]
    between = np.isfinite(shown.values) & (nodes[:, None] != nodes[None, :])
    # Copies inside a node would take all the colours, where there is anything else to be seen.
    known = shown.values[between if between.any() else np.isfinite(shown.values)]
    if not known.size:
        raise InputError(f"{found.launch.path}: no pair is measured between two {view.level}s")
    middle = float(np.median(known))
    low, top = (float(q) for q in np.quantile(known, _BULK))
    low, top = min(low, 0.8 * middle), max(top, 1.05 * middle) or 1.0
    if what == "gbps" and float(known.min()) < 0.6 * middle:  # slow is seen against nothing at all
        low = 0.0
    unit = RATE if what == "gbps" else "µs"
    place = np.arange(len(shown.names), dtype=float)
    divisions = _divisions(shown)
    notes = [f"lines: between {shown.grouped}"] if divisions else []
    values, side = _filled(shown.values, what)
    if side > 1:
        notes.append(f"each cell the slowest of {side} × {side} pairs, for not all are measured")
    if np.isnan(values[~np.eye(len(place), dtype=bool)]).any():
        notes.append("hatched: not measured")
    elif np.isnan(values).any():
        notes.append("hatched: nothing is sent there, to oneself")
    size = labels.size_text(view.message_size)
    return Chart(
        title=f"From {view.level} to {view.level}, {size}",
        subtitle=file,
        x=_axis(view, shown, "Destination", upright=True),
        y=_axis(view, shown, "Source", upright=False),
        curves=_marks(view, shown, found, judge),
        heat=Heat(
            values,
            place,
            place,
            f"{unit}, median of the ops",
            top,
            low,
            shown.names,
            hover=f"{{y}} → {{x}}: {{z}} {unit}",
            dark_is_high=what == "latency",
        ),
        divisions=divisions,
        notes=tuple(notes),
    )


def _marks(view: View, shown: _Shown, found: Links, judge: Judge) -> tuple[Curve, ...]:
    """The pairs that were looked at alone, and those that are judged to stand out."""
    row_of = np.argsort(shown.order)
    again = {(int(view.row[s]), int(view.row[d])) for s, d in found.suspects(view.index)}
    hits = [one for one in judge(found, view) if one.kind == "pair"]
    named = {(one.source, one.destination) for one in hits}
    curves = []
    for name, cells, form in (
        ("measured again, alone", again, "hollow"),
        ("slow for its source and destination", named, "crosses"),
    ):
        at = np.array([(row_of[d], row_of[s]) for s, d in sorted(cells) if s != d], float)
        if at.size:
            x, y = at.T
            curves.append(Curve(name, x, y, look=1, form=form))  # type: ignore[arg-type]
    return tuple(curves)


def _medians(view: View, shown: _Shown, what: str) -> Chart:
    """What each sends and receives in the median, in the order of the matrix."""
    place = np.arange(len(shown.names), dtype=float)
    sent, received = model.medians(shown.values, axis=1), model.medians(shown.values, axis=0)
    middle = model.middle(shown.values, what == "gbps")
    unit = RATE if what == "gbps" else "µs"
    hover = tuple(shown.names)
    few = len(place) <= _MOST_MARKS
    forms: tuple[Form, Form] = ("points", "hollow") if few else ("dots", "dots")
    return Chart(
        title=f"Median of each {view.level}'s pairs",
        x=_axis(view, shown, view.level.capitalize(), upright=True),
        y=Axis(
            f"{unit}, {AT_MEDIAN}",
            limits=(0.0, 1.15 * float(np.nanmax([sent, received])) or 1.0),
            unit=unit,
        ),
        curves=(
            Curve("as source", place, sent, look=0, form=forms[0], hover=hover),
            Curve("as destination", place, received, look=4, form=forms[1], hover=hover),
        ),
        bounds=(Bound("median of all pairs", place[[0, -1]], np.array([middle, middle])),),
        notes=(f"{labels.count_text(int(np.isfinite(shown.values).sum()), 'pair')}",),
    )
