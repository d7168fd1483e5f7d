# SPDX-License-Identifier: BSD-3-Clause
"""The rank behind the slow ops: it pauses now and then, and the median knows nothing of it.

A rank that pauses before it has sent makes all others late and is in time itself, by its own
clock; one that pauses after that is late alone. Both point at it. Ops in which several ranks, but
not all, are late, or all are, point at nobody. A pause that lasts several ops counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.explain import equal, series
from a2aperf.explain.finding import Finding, ms, percent
from a2aperf.launch import Launch
from a2aperf.results import Results

SLOW: Final = (2.0, 4.0, 8.0)
"""Times the median: many ranks with ops of twice the median hide who is behind the slowest."""
_SHARE: Final = 0.5  # of the slow ops that point at a rank
_FEWEST: Final = 5  # of them
_ERROR: Final = 0.01
_ONE_PAUSE: Final = 2
"""Ops between two that point at the same rank: no more than that, and it is one pause."""


@dataclass(frozen=True)
class Behind:
    """A rank that most of the `slow` ops of a point point at, and the T of these, ns."""

    rank: int
    times: NDArray[np.float64]
    slow: int
    beyond: float  # medians: what slow is
    row: Any


def find(found: Results) -> list[Finding]:
    """Per launch and rank, the point in which most slow ops point at it."""
    points = found.points[found.points["has_raw"] & (found.points["ranks"] > 2)]
    findings = []
    for launch, of_launch in points.groupby("launch"):
        ends = []
        for _, row in of_launch.iterrows():
            raw = found.raw(str(row["file"]), int(row["point"]))
            ends.append(raw.end[raw.valid])
        time = equal.correlation_time(ends)
        best: dict[int, Behind] = {}
        for (_, row), one in zip(of_launch.iterrows(), ends, strict=True):
            blocks = equal.blocks(len(one), time)
            for slow in SLOW:
                op, who, times = blamed(one, slow)
                looks = len(points) * len(SLOW)
                rank = most_blamed(op, who, blocks[op], int(row["ranks"]), looks)
                if rank is None:
                    continue
                named = Behind(rank, times[who == rank], len(who), slow, row)
                if rank not in best or len(named.times) > len(best[rank].times):
                    best[rank] = named
        facts = found.launches[str(launch)]
        findings += [_told(facts, named, len(of_launch)) for named in best.values()]
    return findings


def blamed(
    ends: NDArray[np.int64], slow: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Each op of more than `slow` medians that points at a rank: its number, that rank, its T.

    ends: of every op and rank [ops, R], ns.
    """
    ops, ranks = ends.shape
    if not ops or ranks < 3:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    times = ends.max(axis=1).astype(np.float64)
    median = float(np.median(times))
    is_slow = times > slow * median
    late = ends[is_slow] > ((median + times[is_slow]) / 2)[:, None]
    number = late.sum(axis=1)
    alone, spared = number == 1, number == ranks - 1
    who = np.where(alone, late.argmax(axis=1), late.argmin(axis=1))
    points_at_one = alone | spared
    op = np.flatnonzero(is_slow)[points_at_one]
    return op, who[points_at_one], times[op]


def most_blamed(
    op: NDArray[np.int64],
    who: NDArray[np.int64],
    block: NDArray[np.int64],
    ranks: int,
    looks: int,
) -> int | None:
    """The rank that most of them point at, beyond chance, of so many looks; or nobody.

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
    if times < _FEWEST or equal.chance(counts, times) * looks >= _ERROR:
        return None
    return rank


def _told(facts: Launch, one: Behind, points: int) -> Finding:
    count, row = len(one.times), one.row
    host = facts.host_of(one.rank)
    return Finding(
        "behind",
        f"rank {one.rank} ({host}) is behind {count} of the {one.slow} slow ops (more than "
        f"{one.beyond:g} times the median) that point at a rank (expected: "
        f"{percent(1 / int(row['ranks']))} of them): it is late alone, or all others are; they "
        f"last {ms(float(np.median(one.times)))} (median; up to {ms(float(one.times.max()))}) "
        f"against {ms(float(row['time_p50']))}; most at {series.place(row)}",
        f"{facts.id}: {row['message_size']} B, {points} points looked at",
        int(row["ops"]),
        weight=count / one.slow,
        numbers={"rank": one.rank, "ops": count, "slow": one.slow, "beyond": one.beyond},
    )
