# SPDX-License-Identifier: BSD-3-Clause
"""The rank that finishes last significantly more often than expected."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from scipy import stats

from a2a.explain import series
from a2a.explain.finding import Finding, listed, percent
from a2a.results import Results

_ERROR: Final = 0.01


def chance(last: int, ops: int, ranks: int) -> float:
    """Chance that any of R equal ranks is last in `last` or more of n independent ops (at most)."""
    return float(min(1.0, ranks * stats.binom.sf(last - 1, ops, 1 / ranks)))


def find(found: Results) -> list[Finding]:
    """Ranks that finish last too often, all points of a launch together (Bonferroni)."""
    points = found.points
    known = points[
        (points["last_rank"].notna()) & points["last_rank_share"].notna() & (points["ops"] > 0)
    ]
    if known.empty:
        return []
    known = known.assign(
        times_last=np.rint(known["last_rank_share"] * known["ops"]).astype(int),
    )
    known["chance"] = [
        chance(int(last), int(ops), int(ranks)) * len(known)
        for last, ops, ranks in zip(known["times_last"], known["ops"], known["ranks"], strict=True)
    ]
    beyond = known[known["chance"] < _ERROR]
    findings = []
    for launch, rank in beyond[["launch", "last_rank"]].drop_duplicates().itertuples(index=False):
        rows = beyond[(beyond["launch"] == launch) & (beyond["last_rank"] == rank)]
        of = int((known["launch"] == launch).sum())
        findings.append(_told(found, str(launch), int(rank), rows, of))
    return findings


def _told(found: Results, launch: str, rank: int, rows: pd.DataFrame, of: int) -> Finding:
    facts = found.launches[launch]
    worst = series.most(rows, rows["last_rank_share"])
    host = facts.host_of(rank)
    ops = int(rows["ops"].sum())
    sizes = listed(f"{size} B" for size in sorted(set(rows["message_size"])))
    return Finding(
        "stragglers",
        f"rank {rank} ({host}) is last in {int(rows['times_last'].sum())} of {ops} ops in "
        f"{len(rows)} of {of} points, where {percent(1 / int(worst['ranks']))} would be its share; "
        f"most: {percent(worst['last_rank_share'])} at {worst['message_size']} B "
        f"(chance below {max(worst['chance'], 1e-12):.1g}, all {of} points counted)",
        f"{launch}: {sizes}",
        ops,
        weight=float(worst["last_rank_share"]) * int(worst["ranks"]),
        numbers={
            "rank": rank,
            "share": float(worst["last_rank_share"]),
            "chance": float(worst["chance"]),
        },
    )
