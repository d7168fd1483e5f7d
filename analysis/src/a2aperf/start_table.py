# SPDX-License-Identifier: BSD-3-Clause
"""How long the start of each launch took, phase by phase."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.schema import Column
from a2aperf.tables import BLANK, Cell, Table, missing
from a2aperf.tables import Column as TableColumn

COLUMNS: Final = {
    one.name: one
    for one in (
        Column("phase", "string", "of the start, in the order of the phases"),
        Column("meaning", "string", "what is done in it"),
        Column("waits", "string", "yes where ranks wait for one another in it"),
        Column(
            "took",
            "int64",
            "what it cost the launch: least where ranks wait for one another, otherwise most",
            "ns",
        ),
        Column("least", "int64", "of the rank that spent least in it", "ns"),
        Column("median", "float64", "of all ranks", "ns"),
        Column("most", "int64", "of the rank that spent most in it", "ns"),
        Column("most_at", "string", "the first rank that spent most in it"),
        Column("whole", "int64", "of the start, of the rank that took longest", "ns"),
    )
}


def frame(found: Results) -> pd.DataFrame:
    """A row for each phase of each launch: its place, then `COLUMNS`.

    Raises InputError where no launch here has them.
    """
    files = {str(path): name for name, path in found.files.items()}
    rows = [
        {"file": files[str(launch.path)], "launch": name, **place, **row}
        for name, launch in found.launches.items()
        for place in [_place(launch)]
        for row in _of(launch)
    ]
    if not rows:
        raise InputError(
            "no launch here has the times of its start: older files and imports lack them"
        )
    return pd.DataFrame(rows)


def _place(launch: Launch) -> dict[str, Any]:
    return {
        "provider": launch.attributes["provider"],
        "nodes": len(launch.nodes),
        "ranks": len(launch.node_of_rank),
    }


def _of(launch: Launch) -> Iterator[dict[str, Any]]:
    times = launch.start_times
    if times is None or not times.time.size:
        return
    for index, took in enumerate(times.took):
        spent = times.time[index]
        rank = int(spent.argmax())
        yield {
            "phase": times.phases[index],
            "meaning": times.meanings[index],
            "waits": "yes" if times.waits[index] else "no",
            "took": int(took),
            "least": int(spent.min()),
            "median": float(np.median(spent)),
            "most": int(spent[rank]),
            "most_at": f"rank {rank} ({launch.host_of(rank)})" if spent[rank] else "",
            "whole": times.whole,
        }


def left_out(found: Results, made: pd.DataFrame) -> str:
    """How many launches have no row in `made`, in words; empty where all have."""
    lacking = len(found.launches) - made["launch"].nunique()
    launches = count_text(lacking, "launch", "launches")
    return f"left out: {launches} without times of the start" if lacking else ""


# As text -----------------------------------------------------------------------------------------

_SECONDS: Final = ("took", "least", "median", "most")


def table(made: pd.DataFrame) -> Table:
    """The phases that took any time, each launch with its whole start in the last line."""
    place = "launch" if made["launch"].nunique() > made["file"].nunique() else "file"
    heads = [
        TableColumn(place, left=True),
        TableColumn("phase", left=True),
        *(TableColumn(f"{name} s") for name in _SECONDS),
        TableColumn("most at", left=True),
        TableColumn("what", left=True),
    ]
    rows: list[list[Cell]] = []
    for _, launch in made.groupby(["file", "launch"], sort=False):
        phases = launch[launch["most"] > 0].to_dict("records")
        name = str(launch[place].iloc[0])
        rows += [
            [Cell(name if first is row else ""), *_cells(row)]
            for first in phases[:1]
            for row in phases
        ]
        whole = _seconds(launch["whole"].iloc[0])
        blank = [Cell("")] * (len(_SECONDS) - 1)
        rows.append(
            [Cell(""), Cell("all"), whole, *blank, Cell(""), Cell("of the rank that took longest")]
        )
    return Table(heads, rows)


def _cells(row: dict[Any, Any]) -> list[Cell]:
    waits = " (ranks wait for one another)" if row["waits"] == "yes" else ""
    return [
        Cell(row["phase"]),
        *(_seconds(row[name]) for name in _SECONDS),
        BLANK if missing(row["most_at"]) or waits else Cell(row["most_at"]),
        Cell(f"{row['meaning']}{waits}"),
    ]


def _seconds(nanoseconds: float) -> Cell:
    return Cell(f"{nanoseconds / 1e9:.3f}")
