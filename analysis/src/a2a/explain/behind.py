# SPDX-License-Identifier: BSD-3-Clause
"""The rank behind the slow ops: it pauses now and then, and the median knows nothing of it.

A rank that pauses before it has sent makes all others late and is in time itself, by its own
clock; one that pauses after that is late alone. Both point at it. Ops in which several ranks, but
not all, are late, or all are, point at nobody.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2a.explain import series
from a2a.explain.finding import Finding, ms, percent
from a2a.explain.stragglers import chance
from a2a.results import Launch, Results

_SLOW: Final = 2.0  # times the median
_SHARE: Final = 0.5  # of the slow ops that point at a rank
_FEWEST: Final = 5  # of them
_ERROR: Final = 0.01


def find(found: Results) -> list[Finding]:
    """Per launch and rank, the point in which most slow ops point at it."""
    points = found.points[found.points["has_raw"] & (found.points["ranks"] > 2)]
    findings = []
    for launch, of_launch in points.groupby("launch"):
        best: dict[int, tuple[int, NDArray[np.int64], NDArray[np.float64], Any]] = {}
        for _, row in of_launch.iterrows():
            raw = found.raw(str(row["file"]), int(row["point"]))
            ends = raw.end[raw.valid]
            who, times = blamed(ends)
            rank = most_blamed(who, int(row["ranks"]), len(of_launch))
            count = int((who == rank).sum())
            if rank is not None and (rank not in best or count > best[rank][0]):
                best[rank] = count, who, times, row
        facts = found.launches[str(launch)]
        findings += [
            _told(facts, rank, who, times, row, len(of_launch))
            for rank, (_, who, times, row) in best.items()
        ]
    return findings


def blamed(ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each slow op that points at a rank: that rank, and the op's T.

    ends: of every op and rank [ops, R], ns.
    """
    ops, ranks = ends.shape
    if not ops or ranks < 3:
        return np.empty(0, np.int64), np.empty(0)
    times = ends.max(axis=1).astype(np.float64)
    median = float(np.median(times))
    slow = times > _SLOW * median
    late = ends[slow] > ((median + times[slow]) / 2)[:, None]
    number = late.sum(axis=1)
    alone, spared = number == 1, number == ranks - 1
    who = np.where(alone, late.argmax(axis=1), late.argmin(axis=1))
    points_at_one = alone | spared
    return who[points_at_one], times[slow][points_at_one]


def most_blamed(who: NDArray[np.int64], ranks: int, points: int) -> int | None:
    """The rank that most of them point at, beyond chance, `points` looked at; or nobody."""
    if len(who) < _FEWEST:
        return None
    counts = np.bincount(who, minlength=ranks)
    rank = int(counts.argmax())
    count = int(counts[rank])
    if count < _SHARE * len(who) or chance(count, len(who), ranks) * points >= _ERROR:
        return None
    return rank


def _told(
    facts: Launch,
    rank: int,
    who: NDArray[np.int64],
    times: NDArray[np.float64],
    row: Any,
    points: int,
) -> Finding:
    its = times[who == rank]
    host = facts.host_of(rank)
    return Finding(
        "behind",
        f"rank {rank} ({host}) is behind {len(its)} of the {len(who)} slow ops that point at a "
        f"rank, where {percent(1 / int(row['ranks']))} would be its share: it is late alone, or "
        f"all others are; they last {ms(float(np.median(its)))} (median; up to "
        f"{ms(float(its.max()))}) against {ms(float(row['time_p50']))}; most at "
        f"{series.place(row)}",
        f"{facts.id}: {row['message_size']} B, {points} points looked at",
        int(row["ops"]),
        weight=len(its) / len(who),
        numbers={"rank": rank, "ops": len(its), "slow": len(who)},
    )
