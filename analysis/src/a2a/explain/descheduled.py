# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that lost their CPU while an op was timed, and threads that share one with the poller."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2a.explain.finding import Finding, listed, percent
from a2a.results import Launch, Results
from a2a.schema import Counters

_PER_OP: Final = 0.05  # involuntary context switches per op that are worth a word


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
            findings += _switches(facts, read) + _shared(facts, read[-1][1])
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
    crowded = _crowded(facts)
    return [
        Finding(
            "descheduled",
            f"{len(hit)} of {ranks} ranks lose their CPU: up to {rate[worst]:.2g} involuntary "
            f"context switches per op (rank {worst}, {_host(facts, worst)}: {switches[worst]} in "
            f"{ops} ops); median rank {float(np.median(rate)):.2g}{crowded}",
            f"{facts.id}: ranks {listed(hit.tolist())}",
            ops,
            weight=float(rate[worst]),
            numbers={"ranks": len(hit), "largest_per_op": float(rate[worst])},
        )
    ]


def _crowded(facts: Launch) -> str:
    """Says so where a node has more ranks than usable cores."""
    cores = [int(value) for value in facts.node_facts.get("cores_usable", []) if value.isdigit()]
    if len(cores) != len(facts.nodes) or not cores:
        return ""
    load = np.bincount(facts.node_of_rank, minlength=len(cores))
    worst = int(np.argmax(load / np.array(cores)))
    if load[worst] <= cores[worst]:
        return ""
    return f"; {facts.nodes[worst]} has {load[worst]} ranks on {cores[worst]} usable cores"


def _shared(facts: Launch, counters: Counters) -> list[Finding]:
    """Ranks whose threads are all bound to one and the same CPU: the poller is in their way."""
    lists = [text.rstrip("…;").split(";") for text in counters.thread_affinity]
    pinned = [
        rank
        for rank, cpus in enumerate(lists)
        if len(cpus) > 1 and len(set(cpus)) == 1 and cpus[0].isdigit()
    ]
    if not pinned:
        return []
    first: Any = lists[pinned[0]]
    return [
        Finding(
            "descheduled",
            f"in {len(pinned)} of {len(lists)} ranks all threads are bound to one CPU (rank "
            f"{pinned[0]}: {len(first)} threads on CPU {first[0]}): a helper thread and the "
            f"polling thread take turns there ({percent(len(pinned) / len(lists))} of the ranks)",
            f"{facts.id}: ranks {listed(pinned)}",
            len(lists),
            "ranks",
            weight=len(pinned) / len(lists),
            numbers={"ranks": len(pinned), "threads": len(first)},
        )
    ]


def _host(facts: Launch, rank: int) -> str:
    return facts.nodes[int(facts.node_of_rank[rank])]
