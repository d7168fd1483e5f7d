# SPDX-License-Identifier: BSD-3-Clause
"""The pair whose message the slow ops wait for, from an all-to-all that was traced.

Which message comes last depends on the schedule: those of the last step do. So a pair is held
against the pairs of its own distance, of which equal ones would each be last in one of R ops at
most. Who is behind it, the pair or one of its ends, is told by the messages next to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.explain import equal, series
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.launch import Launch
from a2aperf.results import Results

_ERROR: Final = 0.01
_SLOWEST: Final = 0.25
"""Share of the ops that are looked at."""
_FEWEST, _MOST = 8, 100  # ops, whatever that share is; R² messages of each are read
_LATE: Final = 0.1
"""Of the median op time: what the last message must come later than the others'."""
_OWN: Final = 0.5
"""Of that lateness: what the next message of the same rank must not share."""


@dataclass(frozen=True)
class Last:
    """A pair whose message is last in `times` of `ops` slow ops.

    `late` is how long after the last message of the other destinations, ns; `chance` is that of
    any pair to be last so often; `own` names who is behind it: pair, source or destination.
    """

    source: int
    destination: int
    times: int
    ops: int
    late: float
    chance: float
    own: str


def find(found: Results) -> list[Finding]:
    """The pair of each traced point, Bonferroni over all traced points."""
    points = found.points[found.points["has_raw"] & (found.points["ranks"] > 2)]
    points = points[points["file"].isin([f for f in points["file"].unique() if found.is_traced(f)])]
    told: list[tuple[Any, Last, bool]] = []
    traced = 0
    for _, row in points.iterrows():
        file, point = str(row["file"]), int(row["point"])
        raw = found.raw(file, point)
        chosen = slowest(raw.op_times(), raw.valid)
        ends = raw.end if raw.exit is None else raw.end + raw.exit
        block = _blocks(ends[raw.valid], np.flatnonzero(raw.valid), chosen)
        arrival = found.arrival(file, point, chosen) if chosen.size else None
        if arrival is None:
            continue
        traced += 1
        on_a_clock = found.launches[str(row["launch"])].attributes.get("sync") == "clock"
        if raw.exit is not None:
            on_a_clock = True
            arrival = np.where(arrival < 0, arrival, arrival + raw.exit[chosen][:, :, None])
        one = last(arrival, float(row["time_p50"]), block)
        # Who leaves the barrier first has all its messages late, counted from there.
        if one is not None and (on_a_clock or one.own != "destination"):
            told.append((row, one, on_a_clock))
    return [
        _told(found.launches[str(row["launch"])], row, one, one.chance * traced, on_a_clock)
        for row, one, on_a_clock in told
        if one.chance * traced < _ERROR
    ]


def slowest(times: NDArray[np.float64], valid: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Places of the slow ops among all attempts, ascending; none where there are too few."""
    ops = np.flatnonzero(valid)
    if ops.size < _FEWEST:
        return np.empty(0, np.int64)
    count = min(max(_FEWEST, round(_SLOWEST * ops.size)), _MOST)
    return np.sort(ops[np.argsort(-times[ops], kind="stable")[:count]])


def _blocks(
    ends: NDArray[np.int64], ops: NDArray[np.int64], chosen: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """The block of each chosen op, of the ends [ops, R] of all; None where none depends on another.

    A path that is busy for a while makes one rank the last in all ops of that while: such a run
    counts as one, too.
    """
    if not chosen.size:
        return None
    run = equal.longest_run(ends.argmax(axis=1), ends.shape[1])
    time = max(equal.correlation_time([ends]), equal.time_of_runs(run))
    return equal.blocks(int(ops[-1]) + 1, time)[chosen] if time > 1 else None


def last(
    slow: NDArray[np.int64], typical: float, block: NDArray[np.int64] | None = None
) -> Last | None:
    """The pair that is last most often in slow ops; None where it is hardly later than others.

    `slow` [ops, destination, source] ns, negative where there is no message; `typical` is the
    median op time, ns; `block` of each op where ops depend on those before.
    """
    count, ranks, _ = slow.shape
    flat = slow.reshape(count, -1)
    at = np.bincount(flat.argmax(axis=1), minlength=ranks * ranks)
    destination, source = divmod(int(at.argmax()), ranks)
    often = int(at.max())
    chosen = slow[flat.argmax(axis=1) == at.argmax()].astype(np.float64)
    when = chosen[:, destination, source]
    others = np.delete(chosen, destination, axis=1).max(axis=2)
    late = when - np.median(others, axis=1)
    if np.median(late) < _LATE * typical:
        return None
    to_it = np.delete(chosen[:, destination, :], source, axis=1).max(axis=1)
    from_it = np.delete(chosen[:, :, source], destination, axis=1).max(axis=1)
    own = "pair"
    if np.median(when - to_it) < _OWN * np.median(late):
        own = "destination"
    elif np.median(when - from_it) < _OWN * np.median(late):
        own = "source"
    chance = _chance(flat.argmax(axis=1) == at.argmax(), ranks, block)
    return Last(source, destination, often, count, float(np.median(late)), chance, own)


def _chance(its: NDArray[np.bool_], ranks: int, block: NDArray[np.int64] | None) -> float:
    """Chance that any pair of equal ranks is last in so many of the slow ops, `its` [ops].

    In blocks of ops that depend on each other a pair is last in half of the ops or more with a
    chance of 2/R at most (Markov), however they depend.
    """
    trials, times, share = len(its), int(its.sum()), 1 / ranks
    if block is not None:
        votes = [its[block == one].mean() >= 0.5 for one in np.unique(block)]
        trials, times, share = len(votes), int(sum(votes)), min(1.0, 2 / ranks)
    return float(min(1.0, ranks * (ranks - 1) * laws.binomial_sf(times - 1, trials, share)))


def _told(facts: Launch, row: Any, one: Last, chance: float, on_a_clock: bool) -> Finding:
    source, destination = (_named(facts, rank) for rank in (one.source, one.destination))
    story = {
        "pair": "others of its source and to its destination are not late: the pair is slow",
        "source": f"others of {source} are late, too: it sends slowly",
        "destination": f"others to {destination} are late, too: it receives slowly",
    }[one.own]
    return Finding(
        "slow-pair",
        f"{source} → {destination} is the last message in {one.times} of the {one.ops} slowest "
        f"ops (expected in {percent(1 / int(row['ranks']))}; p = {max(chance, 1e-12):.1g} at "
        f"most), {us(one.late)} after the last message of the other ranks"
        f"{'' if on_a_clock else ', each counted from its own start'}; {story}",
        f"{facts.id}: {series.place(row)}",
        one.ops,
        weight=one.late / float(row["time_p50"]),
        numbers={
            "source": one.source,
            "destination": one.destination,
            "times": one.times,
            "late_ns": one.late,
            "chance": chance,
            "behind": one.own,
        },
    )


def _named(facts: Launch, rank: int) -> str:
    placed = rank < len(facts.node_of_rank)
    return (
        f"rank {rank} ({facts.nodes[int(facts.node_of_rank[rank])]})" if placed else f"rank {rank}"
    )
