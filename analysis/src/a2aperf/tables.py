# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the report: cells that are read one way and sorted another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from a2aperf import grouping, labels, layouts, verdicts
from a2aperf.compare import Comparison
from a2aperf.maxima import are_maxima
from a2aperf.results import Results

COLUMNS = (
    "ranks nodes ranks_per_node message_size gbps_node_net gbps_rank gbps_sustained efficiency "
    "ops invalid time_min time_p50 time_p50_low time_p50_high time_p90 time_p99 time_max msg_rate"
).split()


@dataclass(frozen=True)
class Cell:
    """One cell: what is read, what it sorts by, and a caveat in a word."""

    text: str
    key: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """A table that sorts. `left` tells which columns are words."""

    caption: str
    heads: Sequence[str]
    left: Sequence[bool]
    rows: Sequence[Sequence[Cell]]


def points(results: Results) -> Table:
    """One row per point that is done; what is unknown everywhere has no column."""
    done = results.select(results.points["state"].isin(["complete", "skipped", "failed"]))
    points = done.points
    names = [
        n
        for n in layouts.columns_for(done, COLUMNS)
        if n in ("ranks", "message_size") or points[n].notna().any()
    ]
    data = layouts.frame(done, names)
    setting = grouping.setting_labels(results, points)
    capped = are_maxima(results, points, 0.99)
    looks = [layouts.shown(name, done.columns) for name in names]
    heads, left = [look.heading for look in looks], [look.left for look in looks]
    rows = []
    for index in range(len(points)):
        row = [cell(x, data[n].iloc[index]) for n, x in zip(data.columns, looks, strict=True)]
        if "time_p99" in names and capped[index]:
            place = names.index("time_p99")
            row[place] = Cell(row[place].text, row[place].key, "max")
        state = str(points["state"].iloc[index])
        reason = str(points["skip_reason"].iloc[index])
        if state != "complete":
            row.append(Cell(f"{state}: {reason}" if reason else state))
        else:
            row.append(Cell(""))
        rows.append([Cell(str(setting.iloc[index])), *row] if setting.any() else row)
    if setting.any():
        heads, left = ["setting", *heads], [True, *left]
    noted = any(row[-1].text for row in rows)
    if not noted:
        rows = [row[:-1] for row in rows]
    return Table(
        "Every point of every launch. Rates in Gbit/s, one way, times in µs.",
        [*heads, "note"] if noted else heads,
        [*left, True] if noted else left,
        rows,
    )


def cell(look: layouts.Shown, value: Any, unknown: str = "–") -> Cell:
    """One value as its column writes it."""
    if layouts.missing(value):
        return Cell(unknown, "")
    return Cell(look.write(value), str(value))


def comparison(one: Comparison) -> Table:
    """One row per cell of a comparison, the verdict first."""
    cells = one.cells.rename(columns={"ppn": "ranks_per_node"})
    own = list(cells.columns[: cells.columns.get_loc("launches_baseline")])
    shape = ("ranks", "nodes", "ranks_per_node", "message_size")
    names = [n for n in own if n in shape or cells[n].nunique(dropna=False) > 1]
    looks = [layouts.shown(n) for n in names]
    heads = [look.heading for look in looks] + ["verdict", "ratio", "95 % interval", "p"]
    heads += ["launches", "Gbit/s", "baseline Gbit/s", "µs", "baseline µs"]
    rows = []
    for of in cells.to_dict("records"):
        row = [cell(look, of[n]) for n, look in zip(names, looks, strict=True)]
        row += [Cell(verdicts.words(of)), _figure(of["ratio"], 4), _interval(of)]
        launches = of["launches_candidate"], of["launches_baseline"]
        count = Cell(f"{launches[0]} : {launches[1]}", str(min(launches)))
        row += [_figure(of["p"], 2), count]
        row += [_figure(of[f"rate_{side}"]) for side in ("candidate", "baseline")]
        row += [_figure(of[f"time_{side}"] / 1e3, 4) for side in ("candidate", "baseline")]
        rows.append(row)
    left = [look.left for look in looks] + [True] + [False] * 8
    caption = f"{one.candidate} against {one.baseline} (baseline), cell by cell."
    return Table(caption, heads, left, rows)


def _figure(value: float, digits: int = 3) -> Cell:
    return Cell(labels.number_text(value, digits), "" if value != value else f"{value:.9g}")


def _interval(cell: dict[Any, Any]) -> Cell:
    low, high = cell["ratio_low"], cell["ratio_high"]
    if pd.isna(low):
        return Cell("–")
    return Cell(f"{labels.number_text(low)} to {labels.number_text(high)}", f"{low:.9g}")
