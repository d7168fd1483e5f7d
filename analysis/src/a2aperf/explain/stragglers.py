# SPDX-License-Identifier: BSD-3-Clause
"""The rank that finishes last significantly more often than expected of equal ranks.

"Last" needs a common clock: with a barrier start every rank counts from its own exit, and the one
that leaves the barrier first has the longest time, whoever finished last. Points whose exits were
not kept on that clock, or whose clocks err by too much, are not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd
from a2aperf.explain import equal
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.launch import Launch
from a2aperf.results import Results

Ends = list[tuple[Any, NDArray[np.int64]]]
"""Row of the point and the ends of its valid ops [ops, R], ns."""

_ERROR: Final = 0.005  # half of the 1 % promised: blocks forget each other but nearly
_MATTERS: Final = 0.02
"""Of the median op time: what ops would gain without the rank, beyond any other rank."""


@dataclass(frozen=True)
class Last:
    """A rank that is last `times` in all, and what the ops of its worst point lose by it, ns."""

    rank: int
    times: int
    chance: float
    lost: float
    worst: Any


def find(found: Results) -> list[Finding]:
    """Ranks that finish last too often, all points of a launch together."""
    points = found.points
    points = points[points["has_raw"] & (points["ranks"] > 1) & points["last_rank"].notna()]
    launches = [
        (facts, ends)
        for launch, rows in points.groupby("launch")
        if (ends := _ends(found, facts := found.launches[str(launch)], rows))
    ]
    findings = []
    for facts, ends in launches:
        time = equal.correlation_time([one for _, one in ends])
        ops = min(len(one) for _, one in ends)
        if ops / time < equal.FEWEST and time > 1:
            why = "a rank that is late stays late for a while"
            findings.append(_abstains(facts, why, ops, "ops of a point", time, equal.FEWEST))
            continue
        total = sum(len(one) for _, one in ends)
        run = longest_run(ends)
        time = max(time, equal.time_of_runs(run))
        if run > 1 and total < equal.FEWEST_RUNS * run and last(ends, 1.0, len(launches)):
            why = f"a rank that is last stays so for up to {run} ops"
            findings.append(_abstains(facts, why, total, "ops", run, equal.FEWEST_RUNS))
            continue
        findings += [_told(facts, one, total) for one in last(ends, time, len(launches))]
    return findings


def _ends(found: Results, facts: Launch, rows: pd.DataFrame) -> Ends:
    """Ends on the common clock, of the points for which there is one."""
    ends: Ends = []
    for _, row in rows.iterrows():
        raw = found.raw(str(row["file"]), int(row["point"]))
        if raw.exit is not None:
            ends.append((row, (raw.end + raw.exit)[raw.valid]))
        elif facts.attributes.get("sync") == "clock":
            ends.append((row, raw.end[raw.valid]))
    return ends


def longest_run(ends: Ends) -> int:
    """Ops for which a rank stays last, beyond what independent ops give, in any point."""
    return max(equal.longest_run(one.argmax(axis=1), one.shape[1]) for _, one in ends)


def last(ends: Ends, time: float, launches: int = 1) -> list[Last]:
    """Ranks that are last significantly more often than expected, and whose lateness matters."""
    ranks = ends[0][1].shape[1]
    counts = np.concatenate(
        [equal.counted(one.argmax(axis=1), equal.blocks(len(one), time), ranks) for _, one in ends]
    )
    times = counts.sum(axis=0)
    found = []
    chances = equal.chances(counts, times) * launches
    for rank in np.argsort(-times):
        chance = float(chances[rank])
        if chance >= _ERROR:
            break
        lost = [_lost(one, int(rank)) for _, one in ends]
        share = [  # what the clocks' error may be is no loss
            0.0 if x <= row["clock_error"] else x / float(np.median(one.max(axis=1)))
            for x, (row, one) in zip(lost, ends, strict=True)
        ]
        worst = int(np.argmax(share))
        row = ends[worst][0]
        if share[worst] >= _MATTERS:
            found.append(Last(int(rank), int(times[rank]), chance, lost[worst], row))
    return found


def _lost(ends: NDArray[np.int64], rank: int) -> float:
    """How much earlier the mean op would end without the rank, less than that of other ranks, ns.

    One op counts at most as the median op time.
    """
    ordered = np.sort(ends, axis=1)
    gain = np.minimum(ordered[:, -1] - ordered[:, -2], np.median(ordered[:, -1]))
    who = ends.argmax(axis=1)
    others = float(gain[who != rank].sum()) / (ends.shape[1] - 1)
    return float(gain[who == rank].sum() - others) / len(ends)


def _abstains(
    facts: Launch, why: str, ops: int, of_what: str, time: float, needed: float
) -> Finding:
    """Where ops that depend on each other for a `time` (in ops) count as fewer than needed."""
    return Finding(
        "stragglers",
        f"not judged: {why}, so that {ops} {of_what} count as {ops / time:.2g} (insufficient "
        f"samples: {needed:g} are needed)",
        facts.id,
        ops,
        abstains=True,
    )


def _told(facts: Launch, one: Last, ops: int) -> Finding:
    share, expected = one.times / ops, 1 / int(one.worst["ranks"])
    return Finding(
        "stragglers",
        f"rank {one.rank} ({facts.host_of(one.rank)}) finished last in {one.times} of {ops} ops "
        f"({percent(share)}), significantly more often than expected ({percent(expected)}; "
        f"p = {max(one.chance, 1e-12):.1g} at most); without it ops at "
        f"{one.worst['message_size']} B would end {us(one.lost)} "
        f"({percent(one.lost / float(one.worst['time_p50']))} of their median) earlier in the mean",
        facts.id,
        ops,
        weight=share / expected,
        numbers={
            "rank": one.rank,
            "share": share,
            "chance": one.chance,
            "lost_ns": one.lost,
        },
    )
