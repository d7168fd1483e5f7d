# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons as figures: how much faster, how sure, and from which rate to which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import curves, grouping, labels, style, verdicts
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure
from a2aperf.compare import Comparison, Verdict
from a2aperf.curves import RATE
from a2aperf.deferred import pandas as pd

READS = "Above 1 the candidate is faster; a bar that leaves the grey band is more than the margin."
"""How to read the figure."""
_SIZE = "message_size"
_FAR = 4.0
"""Times: what an axis spans beyond which a linear one hides the small ones."""
_TOLD_BY_SCALE = ("ranks", "nodes", "ppn", _SIZE)


def figure(made: Sequence[Comparison], most: int) -> Figure:
    """Two panels per comparison: relative speed with its interval, and both sides' rates."""
    charts: list[Chart] = []
    left_out: tuple[str, ...] = ()
    for one in made:
        sized = one.cells[one.cells[_SIZE] > 0]
        if len(sized) < len(one.cells):
            left_out += (curves.NO_PLACE,)
        if sized.empty:
            continue
        kept, fewer = _chosen(_named(one, sized), most)
        left_out += fewer
        charts += [_speed(one, kept), _rates(one, kept)]
    return Figure("compare", "Comparison", tuple(charts), _said(made), left_out)


def _named(one: Comparison, cells: pd.DataFrame) -> pd.DataFrame:
    """Adds `group`, the words that tell lines apart, and `scale`."""
    own = list(cells.columns[: cells.columns.get_loc("launches_baseline")])
    others = [c for c in own if c not in _TOLD_BY_SCALE and cells[c].nunique(dropna=False) > 1]
    names = []
    for cell in cells.to_dict("records"):
        words = [grouping.scale_text(cell["ranks"], cell.get("nodes"))]
        names.append(
            ", ".join(words + [grouping.column_text(one.columns.get(c), cell[c]) for c in others])
        )
    return cells.assign(group=names)


def _chosen(cells: pd.DataFrame, most: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    names = grouping.values_in_order(cells["group"])
    if len(names) <= most:
        return cells, ()
    places = np.unique(np.linspace(0, len(names) - 1, most).round().astype(int))
    kept = cells[cells["group"].isin([names[place] for place in places])]
    return kept, curves.fitting(len(names), most, "groups")


def _x(one: Comparison, cells: pd.DataFrame) -> tuple[str, Axis]:
    """Message size, or ranks where there is a single size."""
    if cells["message_size"].nunique() == 1 < cells["ranks"].nunique():
        return "ranks", curves.scale_axis(cells, "ranks", "ranks")
    axis = curves.size_axis(cells)
    return "message_size", axis if one.judged.has_ops else replace(axis, label="Message size")


def _lines(cells: pd.DataFrame, x: str) -> list[tuple[str, pd.DataFrame]]:
    if x == "ranks":
        return [(labels.size_text(float(cells[_SIZE].iloc[0])), cells.sort_values(x))]
    names = grouping.values_in_order(cells["group"])
    return [(str(name), cells[cells["group"] == name].sort_values(x)) for name in names]


def _speed(one: Comparison, cells: pd.DataFrame) -> Chart:
    x, axis = _x(one, cells)
    span = cells[x].agg(["min", "max"]).to_numpy(dtype=float)
    equal = np.ones(2)
    edges = equal / (1 + one.margin), equal * (1 + one.margin)
    band = f"within ±{100 * one.margin:g}\u00a0%"
    drawn = [Curve(band, span, equal, *edges, look=6, form="band")]
    for look, (name, rows) in enumerate(_lines(cells, x)):
        place, ratio = (rows[c].to_numpy(dtype=float) for c in (x, "ratio"))
        low, high = (rows[c].to_numpy(dtype=float) for c in ("ratio_low", "ratio_high"))
        told = tuple(_told(one, cell) for cell in rows.to_dict("records"))
        parts = (name, "")
        drawn.append(
            Curve(name, place, ratio, low, high, look=look, variant=0, parts=parts, hover=told)
        )
        open_ = (rows["verdict"] == Verdict.UNDECIDED).to_numpy()
        if open_.any():
            over = Curve(name, place[open_], ratio[open_], look=look, form="hollow", listed=False)
            drawn.append(over)
    return Chart(
        title="Speed of the candidate",
        subtitle=f"{one.candidate} against {one.baseline}",
        x=axis,
        y=Axis(_ratio(one.judged.at), log=_wide(cells), unit="times"),
        curves=tuple(drawn),
        bounds=(Bound("equal", span, equal, dashed=False),),
    )


def _ratio(at: str) -> str:
    return f"Speed ratio, {at}s" if at else "Speed ratio"


def _wide(cells: pd.DataFrame) -> bool:
    """Whether ratios and intervals span so much that a linear axis would hide the small ones."""
    values = cells[["ratio", "ratio_low", "ratio_high"]].to_numpy(dtype=float)
    return _spans(np.append(values, 1.0))


def _spans(values: NDArray[np.float64]) -> bool:
    known = values[np.isfinite(values) & (values > 0)]
    return bool(known.size and known.max() > _FAR * known.min())


def _told(one: Comparison, cell: dict[Any, Any]) -> str:
    n = f"{cell['launches_candidate']} against {cell['launches_baseline']} launches"
    words = str(cell["verdict"])
    if np.isfinite(cell["ratio_low"]):
        low, high = (labels.number_text(cell[f"ratio_{end}"]) for end in ("low", "high"))
        words += f", {_interval(one)} {low} to {high}"
    return f"{words}, {n}"


def _interval(one: Comparison) -> str:
    return verdicts.interval(one.level).replace(" %", "\u00a0%")


def _rates(one: Comparison, cells: pd.DataFrame) -> Chart:
    x, axis = _x(one, cells)
    drawn = []
    is_alone = cells[x].nunique() == 1  # where there is no line a dash tells nothing
    for look, (name, rows) in enumerate(_lines(cells, x)):
        for side, variant in (("baseline", style.BASELINE), ("candidate", 0)):
            place, rate = (rows[c].to_numpy(dtype=float) for c in (x, f"rate_{side}"))
            parts = (name, side)
            curve = Curve(f"{name}, {side}", place, rate, look=look, variant=variant, parts=parts)
            drawn.append(replace(curve, form="crosses") if variant and is_alone else curve)
    # Sides so far apart that one of them would lie on the axis.
    is_apart = any(_spans(np.array([ratio, 1.0])) for ratio in cells["ratio"])
    baseline = f"baseline{' (crosses)' if is_alone else ''}: {one.baseline}"
    return Chart(
        title="Rates of both",
        subtitle=f"{one.candidate}; {baseline}",
        x=axis,
        y=Axis(one.judged.label, log=is_apart, from_zero=not is_apart, unit=RATE),
        curves=tuple(drawn),
    )


def _said(made: Sequence[Comparison]) -> tuple[str, ...]:
    cells = pd.concat([one.cells for one in made])
    launches = cells[["launches_candidate", "launches_baseline"]]
    fewest, most = int(launches.min().min()), int(launches.max().max())
    n = labels.range_text((fewest, most))
    notes = [f"n\u00a0=\u00a0{n} {'launch' if most == 1 else 'launches'} a side"]
    notes += dict.fromkeys(note for one in made for note in one.notes if "unknown" in note)
    if cells["ratio_low"].notna().any():
        kinds = [*dict.fromkeys(map(_interval, made))]
        notes.append(f"bars: {labels.list_text(kinds)} of the ratio of launches")
    else:
        reasons = dict.fromkeys(one.reason for one in made if one.reason)
        notes += reasons or ["insufficient samples for an interval"]
    if (cells["verdict"] == Verdict.UNDECIDED).any():
        notes.append("hollow: undecided, by the test and not by the bar")
    return tuple(notes)
