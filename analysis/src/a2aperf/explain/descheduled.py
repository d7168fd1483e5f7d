# SPDX-License-Identifier: BSD-3-Clause
"""Ranks whose core something else had while an op was timed, and threads that share the poller's.

A rank that yields while it waits (`poll`) gives its core away by itself, and the kernel counts that
among the involuntary context switches: of such a launch nothing is said of preemption alone.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from a2aperf import preemption
from a2aperf.explain.finding import Finder, Finding, listed
from a2aperf.labels import number_text
from a2aperf.launch import Launch
from a2aperf.oversubscription import oversubscription, yields
from a2aperf.results import Results
from a2aperf.schema import Counters

_SHARED_PER_OP: Final = 0.2  # the same, voluntary ones too, where threads share a CPU


def finder(*roles: str) -> Finder:
    """The row of a workload whose points have these roles."""
    meaning = "The kernel ran something else on a rank's core while it was timed."
    title = "Ranks that were preempted or yielded their core"
    return Finder("descheduled", title, meaning, find, roles)


def find(found: Results) -> list[Finding]:
    """Per launch: involuntary context switches while it was timed, and shared single CPUs."""
    findings = []
    for launch, points in found.points[found.points["has_raw"]].groupby("launch"):
        facts = found.launches[str(launch)]
        read = []
        if found.judged.has_ops:  # with which the switches alone are read, too
            read = [
                (int(row["attempts"]), counters)
                for _, row in points.iterrows()
                if (counters := found.counters(str(row["file"]), int(row["point"])))
            ]
        findings += _switches(found, facts)
        findings += _shared(facts, read) if read else []
    return findings


def _switches(found: Results, facts: Launch) -> list[Finding]:
    of = preemption.of_launch(found, facts.id)
    if of is None or not (of.rate > of.limit).any():
        return []
    hit = np.flatnonzero(of.rate > of.limit)
    worst = int(np.argmax(of.rate))
    crowded = oversubscription(facts)
    median = number_text(float(np.median(of.rate)), 2)
    words, kind = preemption.words(yields(facts))
    return [
        Finding(
            "descheduled",
            f"{len(hit)} of {len(of.rate)} ranks {words}: up to {number_text(of.rate[worst], 2)} "
            f"{kind} per {of.unit} (rank {worst}, {facts.host_of(worst)}: "
            f"{of.switches[worst]} in {of.during}); median rank {median}"
            + (f"; {crowded}" if crowded else ""),
            f"{facts.id}: ranks {listed(hit.tolist())}",
            of.n,
            of.counted,
            weight=float(of.rate[worst] / of.limit),
            numbers={"ranks": len(hit), f"largest_per_{of.unit.split()[0]}": float(of.rate[worst])},
        )
    ]


def _shared(facts: Launch, read: list[tuple[int, Counters]]) -> list[Finding]:
    """Ranks that switch while all their threads are bound to one CPU.

    Who runs there meanwhile is not recorded.
    """
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
            f"{pinned[0]}: {len(first)} threads on CPU {first[0]}), and something takes turns with "
            "the polling one: a helper thread, or another process",
            f"{facts.id}: ranks {listed(pinned)}",
            ops,
            weight=len(pinned) / len(lists),
            numbers={"ranks": len(pinned), "threads": len(first)},
        )
    ]
