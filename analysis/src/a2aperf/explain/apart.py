# SPDX-License-Identifier: BSD-3-Clause
"""The rank or node that has all its messages long after the others, or long before them.

In an all-to-all whoever receives slowly is late; who sends slowly makes all others late and is
the only one in time, for nobody waits for its own messages. With two ranks the two cases look
alike, and nothing is said. Ranks of a node share what it has: where no rank is apart by itself,
nodes are looked at by the median of their ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.explain import equal, series
from a2aperf.explain.finding import Finding, listed, percent
from a2aperf.labels import count_text
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results

_APART: Final = 1.25
"""Factor between it and the nearest of the others: equal links end within a tenth."""
_SHARE: Final = 0.9  # of the ops
_FEWEST: Final = 10  # ops, all points of a launch together
_CLEAR: Final = 10.0  # median absolute deviations of a rank's lateness
_ERROR: Final = 0.05
_POINTS: Final = 2
"""Of two others alone, that count as independent of each other at most."""
_BARRIER_NS: Final = 1e6
"""A barrier ends on all ranks within this, where each has a core: by less nobody is apart."""

Apart = tuple[int, str, float, int]
"""Rank or node, "receives" or "sends", median factor, ops."""


def find(found: Results) -> list[Finding]:
    """Per launch, who ends apart in nine of ten ops of a point, all such points."""
    findings = []
    points = found.points[found.points["has_raw"] & (found.points["ranks"] > 2)]
    for launch, of_launch in points.groupby("launch"):
        facts = found.launches[str(launch)]
        rows = [row for _, row in of_launch.iterrows()]
        received = [_received(found.raw(str(row["file"]), int(row["point"]))) for row in rows]
        told = _of_view(facts, "rank", rows, received)
        if not told and len(set(facts.node_of_rank)) < len(facts.node_of_rank):
            by_node = [_by_node(times, facts.node_of_rank) for times in received]
            told = _of_view(facts, "node", rows, by_node)
        findings += told
    return findings


def _received(raw: RawOps) -> NDArray[np.int64]:
    """When each rank had its last message, after its begin [ops, R], ns."""
    return np.asarray(raw.recv_done[raw.valid] - raw.begin[raw.valid])


def _by_node(received: NDArray[np.int64], node_of_rank: NDArray[np.int32]) -> NDArray[np.int64]:
    """The median of the ranks of each node that has any [ops, N], ns."""
    own = [received[:, node_of_rank == node] for node in np.unique(node_of_rank)]
    return np.stack([np.median(times, axis=1) for times in own], axis=1).astype(np.int64)


def _of_view(
    facts: Launch, kind: str, rows: list[Any], received: list[NDArray[np.int64]]
) -> list[Finding]:
    """Of the ranks or nodes (`kind`) of a launch, whose points are `rows`."""
    least = 0.0 if facts.attributes.get("sync") == "clock" else _BARRIER_NS
    seen: dict[tuple[int, str], list[tuple[Any, float, int]]] = {}
    clear = False
    for row, times in zip(rows, received, strict=True):
        for one, what, factor, ops in apart(times, least):
            seen.setdefault((one, what), []).append((row, factor, ops))
            clear |= _clear(times, what)
    time = equal.correlation_time(received) if seen else 1.0
    findings = []
    for (one, what), at in seen.items():
        ops = sum(ops for _, _, ops in at)
        lasts = clear or ops / time >= equal.FEWEST
        if ops >= _FEWEST and lasts and _beyond_others(received, one):
            findings.append(_told(facts, (kind, one), what, at, len(rows)))
    return findings


def apart(received: NDArray[np.int64], least: float = 0.0) -> list[Apart]:
    """Who is apart in the times at which each had its last message [ops, R], ns; at most one.

    `least`: the difference that counts, ns.
    """
    ops, ranks = received.shape
    if not ops or ranks < 3:
        return []
    ordered = np.sort(received, axis=1).astype(np.float64)
    for who, low, high, what in (
        (received.argmax(axis=1), ordered[:, -2], ordered[:, -1], "receives"),
        (received.argmin(axis=1), ordered[:, 0], ordered[:, 1], "sends"),
    ):
        factor = high / np.maximum(low, 1)
        rank = int(np.bincount(who, minlength=ranks).argmax())
        its = (who == rank) & (factor >= _APART) & (high - low >= least)
        if its.mean() >= _SHARE:
            return [(rank, what, float(np.median(factor[its])), int(its.sum()))]
    return []


def _clear(received: NDArray[np.int64], what: str) -> bool:
    """Whether the rank is further apart than lateness that lasts for long could make it."""
    ordered = np.sort(received, axis=1)
    apart = ordered[:, -1] - ordered[:, -2] if what == "receives" else ordered[:, 1] - ordered[:, 0]
    return bool(np.median(apart) > _CLEAR * np.median(np.abs(equal.lateness(received))))


def _beyond_others(received: Sequence[NDArray[np.int64]], one: int) -> bool:
    """Whether the others are so alike that equal ones would hardly have one so far from them.

    What makes a rank late for a while may outlast all ops of a point, and then no op is evidence
    of its own. But it would make others late as well, at other points if not at this one: of each
    rank and point there is one value, its lateness as a share of the op, and one of them must be
    beyond Student's limit of the others' spread, for all ranks and points together.
    """
    others = np.delete(np.arange(received[0].shape[1]), one)
    points = [times for times in received if len(times)]
    shares = np.array([_shares(times, others) for times in points])  # [points, R]
    its, rest = shares[:, one], shares[:, others]
    freedom = max(len(others) - 1, min(len(points), _POINTS))
    spread = math.sqrt(float((rest - rest.mean(axis=1, keepdims=True)).var(axis=1, ddof=1).mean()))
    limit = float(laws.t_isf(_ERROR / (2 * shares.size), freedom))
    return bool(np.abs(its).max() > limit * spread)


def _shares(received: NDArray[np.int64], others: NDArray[np.intp]) -> NDArray[np.float64]:
    """The median lateness of each rank behind the median of the others, as a share of it [R]."""
    usual = np.maximum(1.0, np.median(received[:, others], axis=1, keepdims=True))
    return np.asarray(np.median((received - usual) / usual, axis=0))


def _told(
    facts: Launch,
    who: tuple[str, int],
    what: str,
    at: list[tuple[Any, float, int]],
    points: int,
) -> Finding:
    kind, number = who
    name = f"rank {number} ({facts.host_of(number)})"
    if kind == "node":
        number = int(np.unique(facts.node_of_rank)[number])
        ranks = int((facts.node_of_rank == number).sum())
        name = f"node {facts.nodes[number]} (median of its {count_text(ranks, 'rank')})"
    row, factor, _ = max(at, key=lambda one: one[1])
    ops = sum(count for _, _, count in at)
    sizes = listed(f"{one['message_size']} B" for one, _, _ in at)
    if what == "receives":
        story = (
            f"has its last message up to {factor:.2g} times as late as any other {kind}: it "
            "receives slowly, or one of the others sends slowly to it"
        )
    else:
        story = (
            f"has all its messages while the others take up to {factor:.2g} times as long: they "
            "wait for it, so it sends slowly"
        )
    return Finding(
        "apart",
        f"{name} {story}; in {ops} ops of {len(at)} of {points} points "
        f"({percent(_SHARE)} of their ops or more); most at {series.place(row)}",
        f"{facts.id}: {sizes}",
        ops,
        weight=factor,
        numbers={kind: number, "side": what, "factor": factor},
        nodes=(facts.nodes[number],) if kind == "node" else (),
    )
