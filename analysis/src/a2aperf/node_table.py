# SPDX-License-Identifier: BSD-3-Clause
"""A row for each node over all launches of a study: `a2a table --nodes`, and the report."""

from __future__ import annotations

from typing import Any, Final

from a2aperf import layouts, workloads
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text, list_text
from a2aperf.nodes.study import ERROR, Node, Study
from a2aperf.results import Results
from a2aperf.schema import Column
from a2aperf.tables import Column as Heading
from a2aperf.tables import Table

COLUMNS: Final = {
    one.name: one
    for one in (
        Column("node", "string", "name of the node"),
        Column("stands_out", "string", "late or early, beyond chance and by what matters"),
        Column("launches", "int64", "launches that it took part in"),
        Column("placements", "int64", "places of its ranks among all: launches alike count once"),
        Column("late_in", "int64", "launches in which its ranks were late beyond the other nodes"),
        Column("early_in", "int64", "launches in which its ranks were early beyond the others"),
        Column(
            "expected",
            "float64",
            "mean late_in of the others; of an early node, early_in",
        ),
        Column("p", "float64", "chance of it, over all nodes and both sides, if they were equal"),
        Column("ranks", "int64", "ranks of the launches that the times are of"),
        Column("message_size", "int64", "message size that the times are of", "B"),
        Column("late", "float64", "after the middle node, mean of an op, median of launches", "ns"),
        Column("late_low", "float64", "lower quartile of the launches", "ns"),
        Column("late_high", "float64", "upper quartile of the launches", "ns"),
        Column("late_in_these", "float64", "median of the launches of late_in, or early_in", "ns"),
    )
}
HEADING: Final = "Each node over all launches"
_MOST: Final = 20
"""Rows as text; who stands out is told in any case."""


def study(found: Results) -> Study:
    """Of the workload whose launches say something of their nodes; InputError where none does."""
    said = workloads.study_of_nodes(found)
    if said is None:
        raise InputError(
            "nothing here tells nodes apart: all-to-alls on 4 nodes or more, with equally many "
            "ranks each, with samples and a common clock do"
        )
    return said


def frame(of: Study) -> pd.DataFrame:
    """A row for each node, who stands out first."""
    return pd.DataFrame([_row(one) for one in of.nodes], columns=list(COLUMNS))


def _row(one: Node) -> dict[str, Any]:
    """What is early is negative."""
    sign = 1.0 if one.side == "late" else -1.0
    low, high = sorted(sign * end for end in (one.over_all.low, one.over_all.high))
    return {
        "node": one.name,
        "stands_out": one.side if one.stands_out else "",
        "launches": one.launches,
        "placements": one.placements,
        "late_in": one.times["late"],
        "early_in": one.times["early"],
        "expected": one.expected,
        "p": one.p,
        "ranks": one.cell[0],
        "message_size": one.cell[1],
        "late": sign * one.over_all.ns,
        "late_low": low,
        "late_high": high,
        "late_in_these": sign * one.in_these.ns if one.in_these else float("nan"),
    }


def table(of: Study) -> tuple[Table, list[str]]:
    """The nodes worth a line, and what there is to say of all."""
    rows = frame(of)
    shown = rows[(rows["stands_out"] != "") | (rows.index < _MOST)]
    notes = [*_notes(of), *of.notes]
    if len(shown) < len(rows):
        notes.append(f"{count_text(len(rows) - len(shown), 'node')} more; --csv has all")
    return Table.of(_headings(), shown, "; ".join(notes)), notes


def _headings() -> list[Heading]:
    return [
        Heading("node", left=True, of="node"),
        Heading("stands out", left=True, of="stands_out"),
        Heading("late in", lambda row: f"{row['late_in']} of {row['launches']}"),
        Heading("early in", lambda row: f"{row['early_in']} of {row['launches']}"),
        Heading("p", lambda p: f"{max(p, 1e-12):.2g}", of="p"),
        Heading("ranks", of="ranks"),
        layouts.shown("message_size"),
        Heading("late µs", layouts.microseconds, of="late"),
        Heading(
            "middle half",
            lambda row: " to ".join(
                layouts.microseconds(row[name]) for name in ("late_low", "late_high")
            ),
        ),
        Heading("in these µs", layouts.microseconds, of="late_in_these"),
    ]


def _notes(of: Study) -> list[str]:
    ways = [
        f"{count_text(of.launches, 'launch', 'launches')}, in which ranks were placed "
        f"{count_text(of.placements, 'time')}; ops start by {of.sync}; µs: mean of an op, median "
        "of launches"
    ]
    if of.placements < of.needed and not any(one.stands_out for one in of.nodes):
        few = f"insufficient samples: {of.needed} placements are needed for a node to stand out"
        ways.append(f"{few} ({100 * ERROR:g} % error over all nodes)")
    if of.confounded:
        who = list_text([name for name, *_ in of.confounded])
        ways.append(f"{who} would, but cannot be told from the ranks that it held")
    return ways
