# SPDX-License-Identifier: BSD-3-Clause
"""The pairs of a matrix as rows: for the terminal, for machines, for the report."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from a2aperf import labels, layouts, schema
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results
from a2aperf.schema import Kind
from a2aperf.tables import Column, Table
from a2aperf.workloads.pairs import links, model
from a2aperf.workloads.pairs.links import Links
from a2aperf.workloads.pairs.stored import GROUP
from a2aperf.workloads.workload import Listing

FEW_RANKS: Final = 8
"""Up to so many every pair has a line."""
SLOWEST: Final = 20
"""Lines of a larger matrix."""


SHOWN: Final = {
    "gbps": Column("Gbit/s", lambda rate: f"{rate:.3f}" if rate < 1 else f"{rate:.2f}", of="gbps"),
    "isolated_gbps": Column("alone Gbit/s", layouts.gbps, of="isolated_gbps"),
    "expected_share": Column(
        "% of expected", lambda share: f"{100 * share:.0f}", of="expected_share"
    ),
}


def _stored(name: str) -> schema.Column:
    table = GROUP.datasets[name]
    kind: Kind = "int64" if name in ("message_size", "ops") else "float64"
    return schema.Column(name, kind, table.long_name, table.units, better=table.better)


COLUMNS: Final = {
    column.name: column
    for column in (
        schema.Column("file", "string", ""),
        schema.Column("source", "int32", "rank that sends"),
        schema.Column("destination", "int32", "rank that receives"),
        schema.Column("source_host", "string", "its node"),
        schema.Column("destination_host", "string", "its node"),
        *(_stored(name) for name in ("message_size", "ops", "time_p50", "time_min", "gbps")),
        schema.Column(
            "expected_gbps", "float64", "what both reach with others", "Gbit/s", better="higher"
        ),
        _stored("isolated_gbps"),
    )
}


def frame(results: Results) -> pd.DataFrame:
    """Every measured pair of ranks of every file, with the columns of COLUMNS.

    `expected_gbps` is what the source and the destination reach with others, for pairs that the
    model was fitted to: those between nodes, or all where there is one node. NaN where they have
    too few others for that.
    """
    parts = []
    for file in links.files(results):
        of = links.read(results, file)
        sizes = set(results.points.loc[results.points["file"] == file, "message_size"])
        for index, size in enumerate(of.pairs.message_size):
            if int(size) in sizes:
                parts.append(_of_size(of, index))
    empty = pd.DataFrame({name: [] for name in COLUMNS})
    return pd.concat(parts, ignore_index=True) if parts else empty


def _of_size(of: Links, index: int) -> pd.DataFrame:
    looked = of.pairs
    source, destination = np.nonzero(looked.ops[index] > 0)
    at = index, source, destination
    hosts = np.array(of.launch.nodes or [""], dtype=object)[of.node]
    view = of.between(index)
    expected = np.exp(model.fit(view.times).expected)[view.row[source], view.row[destination]]
    judged = np.isfinite(view.times[view.row[source], view.row[destination]])
    size = int(looked.message_size[index])
    alone = np.full(looked.ops[index].shape, np.nan)
    hit = looked.suspect_size == index
    alone[looked.suspect_source[hit], looked.suspect_destination[hit]] = looked.isolated_gbps[hit]
    return pd.DataFrame(
        {
            "file": of.file,
            "source": source,
            "destination": destination,
            "source_host": hosts[source],
            "destination_host": hosts[destination],
            "message_size": size,
            "ops": looked.ops[at],
            "time_p50": looked.time_p50[at],
            "time_min": looked.time_min[at],
            "gbps": looked.gbps[at],
            "expected_gbps": np.where(judged, 8 * size / expected, np.nan),
            "isolated_gbps": alone[source, destination],
        }
    )


def _chosen(found: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows worth a line, and a note on what is left out (empty where nothing is).

    Of a large matrix the slowest pairs between nodes at its largest message size.
    """
    parts, left_out = [], 0
    for _, rows in found.groupby("file", sort=False):
        if int(rows[["source", "destination"]].to_numpy().max()) < FEW_RANKS:
            parts.append(rows)
            continue
        largest = rows[rows["message_size"] == rows["message_size"].max()]
        slowest = largest.sort_values("gbps", kind="stable").head(SLOWEST)
        left_out += len(rows) - len(slowest)
        parts.append(slowest)
    note = f"the {SLOWEST} slowest pairs of the largest messages; --csv and --json have all"
    return pd.concat(parts), f"{note} {len(found)}" if left_out else ""


def _table(found: pd.DataFrame, caption: str = "") -> Table:
    """A row per pair; a column that says nothing is left out."""
    several = found["source_host"].nunique() > 1 or found["destination_host"].nunique() > 1
    names = ["source", "destination", "message_size", "ops", "time_min", "time_p50", "gbps"]
    if found["expected_gbps"].notna().any():
        names.append("expected_share")
    if found["isolated_gbps"].notna().any():
        names.append("isolated_gbps")
    if found["file"].nunique() > 1:
        names.insert(0, "file")
    made = {name: SHOWN.get(name) or layouts.shown(name, COLUMNS) for name in names}
    for end in ("source", "destination"):
        made[end] = replace(made[end], left=True)
        if several:
            made[end] = Column(end, partial(_placed, end), left=True, by=end)
    data = found.assign(expected_share=found["gbps"] / found["expected_gbps"])
    return Table.of(list(made.values()), data, caption)


def _placed(end: str, row: Any) -> str:
    """A rank and its node."""
    return f"{row[end]} {row[f'{end}_host']}"


def _slowest(results: Results) -> Table | None:
    """The slowest pairs of the largest messages, for the report; None without a matrix."""
    found = frame(results)
    if found.empty:
        return None
    largest = found.groupby("file")["message_size"].transform("max")
    shown = found[found["message_size"] == largest].sort_values("gbps", kind="stable")
    size = labels.size_text(float(shown["message_size"].max()))
    told = shown.head(SLOWEST)["expected_gbps"].notna().any()
    expected = "; expected: what source and destination reach with others" if told else ""
    return _table(
        shown.head(SLOWEST),
        f"The slowest of {labels.count_text(len(shown), 'pair')} at {size}. Times in µs, rates in "
        f"Gbit/s{expected}.",
    )


def _listed(found: pd.DataFrame) -> tuple[Table, str]:
    rows, note = _chosen(found)
    return _table(rows), note


LISTING: Final = Listing(
    "a matrix of pairs",
    "pairs",
    "no pair is measured yet",
    COLUMNS,
    frame,
    _listed,
    "Slowest pairs",
    _slowest,
)
