# SPDX-License-Identifier: BSD-3-Clause
"""The figures of paths that share a link: shares over time stacked, share against weight."""

from __future__ import annotations

import textwrap
from typing import Final

import numpy as np

from a2aperf import curves, style
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure
from a2aperf.curves import Kind, Options
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.results import Results
from a2aperf.shares import Shared
from a2aperf.workloads.qos import experiments
from a2aperf.workloads.qos.experiments import Experiment

_NOT_RECORDED = "whether the senders always had something to send is not recorded"
_LONGEST: Final = 240  # characters of what was asked for, above a panel


def over_time(results: Results, options: Options) -> Figure:
    """A panel per experiment: what each path got of each interval, one upon the other."""
    every = list(experiments.of(results))
    found = [one for one in every if len(one.rows) > 1]
    drawn = [(one, part) for one in found if (part := one.shared) and part.bytes.sum() > 0]
    if not drawn:
        raise InputError("no experiment of several paths with an interval in which all could send")
    parts = {
        "of one path": len(every) - len(found),
        "without an interval in which all paths could send": len(found) - len(drawn),
        "with paths that had nothing under way": sum(bool(one.idle) for one, _ in drawn),
    }
    drawn = [(one, part) for one, part in drawn if not one.idle]
    left_out = _not_drawn(parts)
    if not drawn:
        raise InputError(f"nothing to draw: {'; '.join(left_out)}")
    charts = [_stacked(one, part) for one, part in drawn[: curves.MOST_PANELS]]
    fewer = curves.fitting(len(drawn), curves.MOST_PANELS, "experiments")
    notes = ["intervals in which every path could send"]
    if any(np.isnan(part.idle).any() for _, part in drawn):
        notes.append(_NOT_RECORDED)
    return Figure(
        "shares",
        "What each path got, in each interval",
        tuple(charts),
        tuple(notes),
        (*left_out, *fewer),
    )


def _not_drawn(parts: dict[str, int]) -> tuple[str, ...]:
    """How many experiments a figure leaves out, by the reason."""
    return tuple(
        f"{count_text(count, 'experiment')} {why} not drawn"
        for why, count in parts.items()
        if count
    )


def _stacked(one: Experiment, part: Shared) -> Chart:
    ends = (part.begin + part.length) / 1e9
    x = np.ravel(np.column_stack([part.begin / 1e9, ends]))
    whole = part.bytes.sum(axis=0)
    with np.errstate(invalid="ignore"):
        shares = np.where(whole > 0, 100 * part.bytes / whole, 0.0)
    tops = np.cumsum(shares, axis=0)
    lines = []
    for path in range(len(one.rows)):
        top = np.repeat(tops[path], 2)
        low = np.repeat(tops[path] - shares[path], 2)
        look, name = path % style.MOST_LINES, f"path {path}"
        lines.append(Curve(name, x, top, low, top, look=look, form="band", listed=False))
        lines.append(
            Curve(name, x, top, look=look, form="step", hover=(f"{one.name(path)}: upper edge",))
        )
    return Chart(
        title=f"{one.launch.id}, point {one.point}",
        subtitle=textwrap.shorten(str(one.row["path_list"]), _LONGEST, placeholder=" …"),
        x=Axis("Time from the start (s)", from_zero=True),
        y=Axis("% of what all paths carry", limits=(0.0, 103.0)),
        curves=tuple(lines),
        legend="Path",
    )


def against_weight(results: Results, options: Options) -> Figure:
    """Measured share against the one that arbitration says, a mark per path."""
    every = list(experiments.of(results))
    shared = [one for one in every if one.has_shares]
    found = [one for one in shared if one.expected]
    left_out = _not_drawn(
        {
            "without shares": len(every) - len(shared),
            "of which nothing says what arbitration gives": len(shared) - len(found),
        }
    )
    if not found:
        raise InputError(
            "no shares beside what arbitration says: a launch needs its tables (SL2VL and VLArb, "
            "attached or imported) or the label weights=CLASS:WEIGHT,…"
        )
    names = list(dict.fromkeys(x for one in found for x in one.classes))
    lines = []
    for look, name in enumerate(names):
        marks = []
        for one in found:
            assert one.expected is not None
            for path, of in enumerate(one.classes):
                mine = one.shares[path]
                if of == name and np.isfinite(mine.value):
                    said = f"{one.where}: {one.name(path)}"
                    marks.append((one.expected.shares[path], mine.value, mine.low, mine.high, said))
        if not marks:
            continue
        x, y, low, high = (100 * np.array([m[i] for m in marks], dtype=float) for i in range(4))
        hover = tuple(str(mark[4]) for mark in marks)
        look %= style.MOST_LINES
        lines.append(
            Curve(name or "no class", x, y, low, high, look=look, form="points", hover=hover)
        )
    chart = Chart(
        title="Share against what arbitration says",
        x=Axis("Share by its weight (% of what all paths carry)", limits=(0.0, 103.0)),
        y=Axis("Measured share (%)", limits=(0.0, 103.0)),
        curves=tuple(lines),
        bounds=(Bound("as arbitration says", np.array([0.0, 100.0]), np.array([0.0, 100.0])),),
        legend="Class",
    )
    sources = sorted({one.expected.source for one in found if one.expected})
    bars = "bars: 95\u00a0% interval over the intervals, where there are 10 or more"
    return Figure(
        "weights",
        "Shares and weights",
        (chart,),
        (f"weights by {' and '.join(sources)}", bars),
        left_out,
    )


KINDS: dict[str, Kind] = {
    "shares": Kind(
        over_time,
        "share of each path in each interval, stacked",
        "A band that keeps its width has a steady share; one that narrows to nothing starves.",
    ),
    "weights": Kind(
        against_weight,
        "measured share of each path against what arbitration says",
        "On the line a path gets what its weight says; above it, more.",
    ),
}
