# SPDX-License-Identifier: BSD-3-Clause
"""Ranks whose core something else had while an op was timed, and threads that share the poller's.

A rank that yields while it waits (`poll`) gives its core away by itself, and the kernel counts that
among the involuntary context switches: of such a launch nothing is said of preemption alone.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.explain.finding import Finding, listed
from a2aperf.labels import number_text
from a2aperf.launch import Launch
from a2aperf.oversubscription import oversubscription, yields
from a2aperf.results import Results
from a2aperf.schema import Counters

_PER_OP: Final = 0.05  # involuntary context switches per op that are worth a word
_SHARED_PER_OP: Final = 0.2  # the same, voluntary ones too, where threads share a CPU


def find(found: Results) -> list[Finding]:
    """Per launch: involuntary context switches during the timed ops, and shared single CPUs."""
    findings = []
    for launch, points in found.points[found.points["has_raw"]].groupby("launch"):
        facts = found.launches[str(launch)]
        read = [
            (int(row["attempts"]), counters)
            for _, row in points.iterrows()
            if (counters := found.counters(str(row["file"]), int(row["point"])))
        ]
        if read:
            findings += _switches(facts, read) + _shared(facts, read)
    return findings


def _switches(facts: Launch, read: list[tuple[int, Counters]]) -> list[Finding]:
    switches: NDArray[np.int64] = sum(
        (counters.per_rank["involuntary_switches"] for _, counters in read),
        start=np.zeros_like(read[0][1].per_rank["involuntary_switches"]),
    )
    ops = sum(attempts for attempts, _ in read)
    rate = switches / ops
    hit = np.flatnonzero(rate > _PER_OP)
    if not len(hit):
        return []
    worst = int(np.argmax(rate))
    ranks = len(rate)
    crowded = oversubscription(facts)
    median = number_text(float(np.median(rate)), 2)
    words, kind = ("were preempted", "involuntary context switches")
    if yields(facts):
        words, kind = ("yielded their core or were preempted", "context switches")
    return [
        Finding(
            "descheduled",
            f"{len(hit)} of {ranks} ranks {words}: up to {number_text(rate[worst], 2)} "
            f"{kind} per op (rank {worst}, {facts.host_of(worst)}: "
            f"{switches[worst]} in {ops} ops); median rank {median}"
            + (f"; {crowded}" if crowded else ""),
            f"{facts.id}: ranks {listed(hit.tolist())}",
            ops,
            weight=float(rate[worst]),
            numbers={"ranks": len(hit), "largest_per_op": float(rate[worst])},
        )
    ]


def _shared(facts: Launch, read: list[tuple[int, Counters]]) -> list[Finding]:
    """Ranks that switch while all their threads are bound to one CPU: they take turns there."""
    ops = sum(attempts for attempts, _ in read)
    switches = sum(
        counters.per_rank["voluntary_switches"] + counters.per_rank["involuntary_switches"]
        for _, counters in read
    )
    lists = [text.rstrip("…;").split(";") for text in read[-1][1].thread_affinity]
    pinned = [
        rank
        for rank, (cpus, number) in enumerate(zip(lists, np.atleast_1d(switches), strict=True))
        if len(cpus) > 1
        and len(set(cpus)) == 1
        and cpus[0].isdigit()
        and number > _SHARED_PER_OP * ops
    ]
    if not pinned:
        return []
    first: Any = lists[pinned[0]]
    return [
        Finding(
            "descheduled",
            f"in {len(pinned)} of {len(lists)} ranks all threads are bound to one CPU (rank "
            f"{pinned[0]}: {len(first)} threads on CPU {first[0]}) and take turns there: a "
            "helper thread competes with the polling one",
            f"{facts.id}: ranks {listed(pinned)}",
            ops,
            weight=len(pinned) / len(lists),
            numbers={"ranks": len(pinned), "threads": len(first)},
        )
    ]
