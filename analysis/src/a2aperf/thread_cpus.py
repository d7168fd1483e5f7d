# SPDX-License-Identifier: BSD-3-Clause
"""The CPUs that the threads of each rank might run on after a point."""

from __future__ import annotations

from typing import Final

from a2aperf import counter_table
from a2aperf.counter_table import Phase
from a2aperf.explain.finding import listed
from a2aperf.labels import count_text
from a2aperf.results import Results
from a2aperf.tables import Cell, Column, Table

_MOST: Final = 20  # rows
_CUT: Final = "…"


def text(cpus: str) -> str:
    """A list of the file in short: `0-1;0-1;0` is `2 × 0-1, 1 × 0`, the first thread's first."""
    threads = cpus.rstrip(f"{_CUT};").split(";")
    if cpus.endswith(_CUT) and not cpus.endswith(f";{_CUT}"):
        threads.pop()  # it is a part of that thread's
    each = [f"{threads.count(one)} × {one}" for one in dict.fromkeys(threads)]
    return ", ".join([*each, _CUT] if cpus.endswith(_CUT) else each)


def table(found: Results) -> tuple[Table | None, str]:
    """A row for each list that a rank had at any point of a launch, and a note on what is left out.

    None where no point has such lists.
    """
    seen: dict[tuple[str, str], tuple[set[int], set[object]]] = {}
    for place, row in counter_table.points(found, Phase.TIMED):
        counters = found.counters(str(row["file"]), int(row["point"]))
        for rank, cpus in enumerate(counters.thread_affinity if counters else ()):
            if not cpus:
                continue
            ranks, points = seen.setdefault((str(place["launch"]), cpus), (set(), set()))
            ranks.add(rank)
            points.add(place["point"])
    if not seen:
        return None, ""
    heads = [
        Column("threads × CPUs that each may use", left=True),
        Column("ranks", left=True),
        Column("points"),
    ]
    rows = [
        [Cell(text(cpus)), Cell(listed(sorted(ranks))), Cell(f"{len(points)}")]
        for (_, cpus), (ranks, points) in seen.items()
    ]
    if len({launch for launch, _ in seen}) > 1:
        heads = [Column("launch", left=True), *heads]
        rows = [[Cell(launch), *row] for (launch, _), row in zip(seen, rows, strict=True)]
    more = len(rows) - _MOST
    lists = count_text(more, "list")
    note = f"left out: {lists} of CPUs; --values --csv has all" if more > 0 else ""
    return Table(heads, rows[:_MOST]), note
