# SPDX-License-Identifier: BSD-3-Clause
"""A rank that was not there when an op of all others began."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.explain.finding import Finder, Finding, us
from a2aperf.labels import count_text
from a2aperf.launch import Launch
from a2aperf.results import Results

_LONG: Final = 100_000_000
"""ns: more than a busy machine takes a core from a process for."""
_ALONE: Final = 0.1
"""Of its lateness: what that of all others is at most."""

Late = dict[int, list[tuple[int, Any]]]
"""By rank: how late, ns, and the row of the point, for each such op."""


def find(found: Results) -> list[Finding]:
    """Per launch and rank, all ops with a common start together."""
    points = found.points
    points = points[points["has_raw"] & points["late_limit"].notna() & (points["ranks"] > 1)]
    findings = []
    for launch, rows in points.groupby("launch"):
        late: Late = {}
        for _, row in rows.iterrows():
            raw = found.raw(str(row["file"]), int(row["point"]))
            for rank, by in absent(raw.begin[~raw.valid]):
                late.setdefault(rank, []).append((by, row))
        ops = int(rows["attempts"].sum())
        facts = found.launches[str(launch)]
        findings += [_told(facts, rank, of_rank, ops) for rank, of_rank in late.items()]
    return findings


def absent(begin: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Each op for which one rank alone was long late: the rank, and by how much, ns.

    begin: from the common start, of the ops that do not count [ops, R], ns.
    """
    latest = begin.max(axis=1, initial=0)
    others = np.partition(begin, -2, axis=1)[:, -2] if len(begin) else latest
    alone = (latest >= _LONG) & (others <= _ALONE * latest)
    return [(int(op.argmax()), int(op.max())) for op in begin[alone]]


def _told(facts: Launch, rank: int, late: list[tuple[int, Any]], ops: int) -> Finding:
    by, row = max(late, key=lambda one: one[0])
    return Finding(
        "late",
        f"rank {rank} ({facts.host_of(rank)}) began {us(by)} after the common start of an op at "
        f"{row['message_size']} B, when all others had long begun"
        + (f", and was late like that for {count_text(len(late), 'op')} in all" if late[1:] else "")
        + f": {'these ops do' if late[1:] else 'that op does'} not count",
        facts.id,
        ops,
        weight=by * 1e-9,
        numbers={"rank": rank, "ops": len(late), "late_ns": by},
    )


FINDER: Final = Finder(
    "late",
    "A rank that was not there at the start",
    "All others had begun an op, and by the common clock it came much later.",
    find,
    blames=True,
)
