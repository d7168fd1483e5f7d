# SPDX-License-Identifier: BSD-3-Clause
"""What is said of each node over the launches of a study: equal nodes, and one that is not.

A truth here has ranks that are shuffled over the nodes anew in each launch, one a node; the first
rank is late wherever it lies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.signal import lfilter

from a2aperf import schema
from a2aperf.launch import Launch
from a2aperf.nodes import lateness, study
from a2aperf.nodes.seen import Cells, Seen
from a2aperf.raw_ops import RawOps
from nulls.row import Outcome, Row

LATE: Final = "node002"
_TYPICAL: Final = 1e6  # ns
_SIZES: Final = (8000, 64000)
_MEMORIES: Final = (0.0, 0.5, 0.8, 0.95)
_NODES: Final = (8, 20, 80, 320)


@dataclass(frozen=True)
class Truth:
    """Spreads and lateness are shares of the op time."""

    scales: tuple[int, ...] = (8,)  # numbers of nodes
    launches: int = 8  # on each
    ops: int = 20
    spread: float = 0.02  # of what a node is late by in a launch
    jitter: float = 0.05  # of a rank in an op
    memory: float = 0.0  # autocorrelation of that
    heavy: bool = False  # Student's t with 2 degrees of freedom
    first: float = 0.05  # what rank 0 is late by
    late: float = 0.0  # what node002 is late by, in the first `late_in` launches
    late_in: int = 1000
    paused: float = 0.0  # share of ops in which it pauses there, for 30 times the op
    shuffled: bool = True


def launches(truth: Truth, rng: np.random.Generator) -> list[Seen]:
    """A study: every launch on every number of nodes."""
    return [
        _launch(truth, nodes, number < truth.late_in, rng)
        for nodes in truth.scales
        for number in range(truth.launches)
    ]


def _launch(truth: Truth, nodes: int, is_late: bool, rng: np.random.Generator) -> Seen:
    node_of_rank = np.arange(nodes, dtype=np.int32)
    if truth.shuffled:
        rng.shuffle(node_of_rank)
    facts = Launch(
        id=f"{rng.integers(2**62)}",
        path=Path("run.h5"),
        segment=0,
        attributes={
            **schema.SEGMENT_ATTRIBUTES,
            "sync": "clock", "shuffle_ranks": int(truth.shuffled), "seed": int(rng.integers(2**31))
        },
        environment={}, labels={}, attachments={}, node_facts={}, rank_facts={},
        nodes=[f"node{at + 1:03}" for at in range(nodes)],
        node_of_rank=node_of_rank,
    )  # fmt: skip
    own = rng.normal(0, truth.spread, nodes)
    cells: Cells = {}
    for size in _SIZES:
        late = truth.jitter * _shocks(truth, rng, nodes) + own[node_of_rank]
        late[:, 0] += truth.first
        if is_late:
            late[:, node_of_rank == 1] += truth.late
            late[rng.random(truth.ops) < truth.paused, np.flatnonzero(node_of_rank == 1)] += 30
        ends = (_TYPICAL * (1 + late)).astype(np.int64)
        nothing, every = np.zeros_like(ends), np.ones(truth.ops, dtype=np.bool_)
        raw = RawOps(nothing, ends, ends, np.zeros(truth.ops, np.int64), every)
        cells[nodes, size] = [(lateness.of_point(raw, node_of_rank, _TYPICAL), _TYPICAL, 50.0)]
    return Seen.of(facts, cells)


def _shocks(truth: Truth, rng: np.random.Generator, nodes: int) -> Any:
    shape = (truth.ops, nodes)
    white = np.clip(rng.standard_t(2, shape), -20, 20) if truth.heavy else rng.normal(0, 1, shape)
    white[1:] *= np.sqrt(1 - truth.memory**2)
    return lfilter([1], [1, -truth.memory], white, axis=0)


def _row(name: str, nodes: tuple[int, ...], true: float | None = None, **changes: Any) -> Row:
    """A number of nodes and a memory of ops by chance in each study."""

    def draw(rng: np.random.Generator) -> dict[str, Outcome]:
        chosen = Truth(scales=(int(rng.choice(nodes)),), memory=float(rng.choice(_MEMORIES)))
        said = study.over(launches(replace(chosen, **changes), rng))
        named = {(one.name, one.side) for one in said.nodes if one.stands_out}
        others = named - ({(LATE, "late")} if true else set())
        claims = {"another": bool(others), "the late node": (LATE, "late") in named}
        return {x: Outcome.CALLED if so else Outcome.SILENT for x, so in claims.items()}

    return Row(f"nodes: {name}", draw, {"another": 0.05}, {"the late node": true} if true else {})


ROWS: Final = (
    _row("equal, 8 launches", _NODES),
    _row("equal, 3 launches, heavy tails", _NODES, launches=3, heavy=True),
    _row("equal, several scales", (8,), scales=(8, 16, 32), launches=4),
    _row("late by 6 % in each of 8 launches", (8, 20, 80), 0.9, late=0.06, memory=0.5),
    _row("pauses in 7 of 16 launches", (8, 20, 80), 0.9, launches=16, late_in=7, paused=0.1),
)
