# SPDX-License-Identifier: BSD-3-Clause
"""The rank behind the slow ops: it pauses now and then, and the median knows nothing of it.

A rank that pauses before it has sent makes all others late and is in time itself, by its own
clock; one that pauses after that is late alone. Both point at it. Ops in which several ranks, but
not all, are late, or all are, point at nobody. A pause that lasts several ops counts once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.explain import equal, series
from a2aperf.explain.finding import Finding, ms, percent
from a2aperf.launch import Launch
from a2aperf.results import Results

_SLOW: Final = 2.0  # times the median
_SHARE: Final = 0.5  # of the slow ops that point at a rank
_FEWEST: Final = 5  # of them
_ERROR: Final = 0.01
_ONE_PAUSE: Final = 2
"""Ops between two that point at the same rank: no more than that, and it is one pause."""


def find(found: Results) -> list[Finding]:
    """Per launch and rank, the point in which most slow ops point at it."""
    points = found.points[found.points["has_raw"] & (found.points["ranks"] > 2)]
    findings = []
    for launch, of_launch in points.groupby("launch"):
        best: dict[int, tuple[int, NDArray[np.int64], NDArray[np.float64], Any]] = {}
        ends = []
        for _, row in of_launch.iterrows():
            raw = found.raw(str(row["file"]), int(row["point"]))
            ends.append(raw.end[raw.valid])
        time = equal.correlation_time(ends)
        for (_, row), one in zip(of_launch.iterrows(), ends, strict=True):
            op, who, times = blamed(one)
            block = equal.blocks(len(one), time)[op]
            rank = most_blamed(op, who, block, int(row["ranks"]), len(points))
            count = int((who == rank).sum())
            if rank is not None and (rank not in best or count > best[rank][0]):
                best[rank] = count, who, times, row
        facts = found.launches[str(launch)]
        findings += [
            _told(facts, rank, who, times, row, len(of_launch))
            for rank, (_, who, times, row) in best.items()
        ]
    return findings


def blamed(
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Each slow op that points at a rank: its number, that rank, and the op's T.

    ends: of every op and rank [ops, R], ns.
    """
    ops, ranks = ends.shape
    if not ops or ranks < 3:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    times = ends.max(axis=1).astype(np.float64)
    median = float(np.median(times))
    slow = times > _SLOW * median
    late = ends[slow] > ((median + times[slow]) / 2)[:, None]
    number = late.sum(axis=1)
    alone, spared = number == 1, number == ranks - 1
    who = np.where(alone, late.argmax(axis=1), late.argmin(axis=1))
    points_at_one = alone | spared
    op = np.flatnonzero(slow)[points_at_one]
    return op, who[points_at_one], times[op]


def most_blamed(
    op: NDArray[np.int64],
    who: NDArray[np.int64],
    block: NDArray[np.int64],
    ranks: int,
    points: int,
) -> int | None:
    """The rank that most of them point at, beyond chance, `points` looked at; or nobody.

    `block` of each op, from `equal.blocks`.
    """
    if len(who) < _FEWEST:
        return None
    rank = int(np.bincount(who, minlength=ranks).argmax())
    if (who == rank).sum() < _SHARE * len(who):
        return None
    again = np.zeros(len(op), dtype=np.bool_)
    again[1:] = (np.diff(op) <= _ONE_PAUSE) & (np.diff(who) == 0)
    own = np.unique(block[~again], return_inverse=True)[1]
    counts = np.minimum(1, equal.counted(who[~again], own, ranks))
    times = int(counts[:, rank].sum())
    if times < _FEWEST or equal.chance(counts, times) * points >= _ERROR:
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
        f"rank (expected: {percent(1 / int(row['ranks']))} of them): it is late alone, or "
        f"all others are; they last {ms(float(np.median(its)))} (median; up to "
        f"{ms(float(its.max()))}) against {ms(float(row['time_p50']))}; most at "
        f"{series.place(row)}",
        f"{facts.id}: {row['message_size']} B, {points} points looked at",
        int(row["ops"]),
        weight=len(its) / len(who),
        numbers={"rank": rank, "ops": len(its), "slow": len(who)},
    )
