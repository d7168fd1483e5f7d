# SPDX-License-Identifier: BSD-3-Clause
"""The pairs of a matrix as rows: for the terminal, for machines, for the report."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
import pandas as pd

from a2aperf import columns, labels, layouts, links, pairs, tables
from a2aperf.links import Links
from a2aperf.results import Results

FEW_RANKS: Final = 8
"""Up to so many every pair has a line."""
SLOWEST: Final = 20
"""Lines of a larger matrix."""
UNITS: Final = {
    "file": "",
    "source": "",
    "destination": "",
    "source_host": "",
    "destination_host": "",
    "message_size": "B",
    "ops": "",
    "time_p50": "ns",
    "time_min": "ns",
    "gbps": "Gbit/s",
    "expected_gbps": "Gbit/s",
    "isolated_gbps": "Gbit/s",
}
_HEADS: Final = (
    "source",
    "destination",
    "msg B",
    "ops",
    "min µs",
    "p50 µs",
    "Gbit/s",
    "expected %",
)
_LEFT: Final = (True, True, False, False, False, False, False, False)


def frame(results: Results) -> pd.DataFrame:
    """Every measured pair of ranks of every file, with the columns of UNITS.

    `expected_gbps` is what the source and the destination reach with others, for pairs that the
    model was fitted to: those between nodes, or all where there is one node.
    """
    parts = []
    for file in results.with_pairs:
        of = links.read(results, file)
        sizes = set(results.points.loc[results.points["file"] == file, "message_size"])
        for index, size in enumerate(of.pairs.message_size):
            if int(size) in sizes:
                parts.append(_of_size(of, index))
    empty = pd.DataFrame({name: [] for name in UNITS})
    return pd.concat(parts, ignore_index=True) if parts else empty


def _of_size(of: Links, index: int) -> pd.DataFrame:
    looked = of.pairs
    source, destination = np.nonzero(looked.ops[index] > 0)
    at = index, source, destination
    hosts = np.array(of.launch.nodes or [""], dtype=object)[of.node]
    view = of.between(index)
    expected = np.exp(pairs.fit(view.times).expected)[view.row[source], view.row[destination]]
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


def chosen(found: pd.DataFrame) -> tuple[pd.DataFrame, str]:
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


def _cells(row: dict[Any, Any], several: bool) -> list[tuple[str, str]]:
    """Text and sorting key of each column."""

    def figure(value: float, text: str) -> tuple[str, str]:
        return (text, f"{value:.9g}") if np.isfinite(value) else (layouts.UNKNOWN, "")

    def place(which: str) -> tuple[str, str]:
        host, rank = str(row[f"{which}_host"]), int(row[which])
        return (f"{rank} {host}" if several else f"{rank}"), f"{rank}"

    share = row["gbps"] / row["expected_gbps"]
    return [
        place("source"),
        place("destination"),
        (f"{row['message_size']}", f"{row['message_size']}"),
        (f"{row['ops']}", f"{row['ops']}"),
        figure(row["time_min"], layouts.microseconds(row["time_min"])),
        figure(row["time_p50"], layouts.microseconds(row["time_p50"])),
        figure(row["gbps"], f"{row['gbps']:.3f}" if row["gbps"] < 1 else f"{row['gbps']:.2f}"),
        figure(share, f"{100 * share:.0f}"),
    ]


def _rows(found: pd.DataFrame) -> tuple[list[str], list[bool], list[list[tuple[str, str]]]]:
    """Headings, which of them are words, and the cells; a column that says nothing is left out."""
    several = found["source_host"].nunique() > 1 or found["destination_host"].nunique() > 1
    records: list[dict[Any, Any]] = found.to_dict("records")
    rows = [_cells(row, several) for row in records]
    heads, left = list(_HEADS), list(_LEFT)
    if found["isolated_gbps"].notna().any():
        heads.append("alone Gbit/s")
        left.append(False)
        for row, record in zip(rows, records, strict=True):
            value = record["isolated_gbps"]
            known = np.isfinite(value)
            row.append((f"{value:.2f}", f"{value:.9g}") if known else (layouts.UNKNOWN, ""))
    if found["file"].nunique() > 1:
        heads.insert(0, "file")
        left.insert(0, True)
        for row, record in zip(rows, records, strict=True):
            row.insert(0, (str(record["file"]), str(record["file"])))
    return heads, left, rows


def text(found: pd.DataFrame) -> list[str]:
    """Aligned lines, the heading first."""
    heads, left, rows = _rows(found)
    return columns.aligned([heads, *([cell for cell, _ in row] for row in rows)], left)


def as_json(found: pd.DataFrame) -> str:
    """An object with `columns` (units) and `rows`; unknown is null."""
    rows = json.loads(found.to_json(orient="records", double_precision=15))
    units = {name: {"units": unit} if unit else {} for name, unit in UNITS.items()}
    return json.dumps({"columns": units, "rows": rows}, indent=1, ensure_ascii=False)


def table(results: Results) -> tables.Table | None:
    """The slowest pairs of the largest messages, for the report; None without a matrix."""
    found = frame(results)
    if found.empty:
        return None
    largest = found.groupby("file")["message_size"].transform("max")
    shown = found[found["message_size"] == largest].sort_values("gbps", kind="stable")
    heads, left, rows = _rows(shown.head(SLOWEST))
    size = labels.size_text(float(shown["message_size"].max()))
    return tables.Table(
        f"The slowest of {labels.count_text(len(shown), 'pair')} at {size}. Times in µs, rates in "
        "Gbit/s; expected: what source and destination reach with others.",
        heads,
        left,
        [[tables.Cell(*cell) for cell in row] for row in rows],
    )
