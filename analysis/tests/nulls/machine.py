# SPDX-License-Identifier: BSD-3-Clause
"""A machine that is never written to disk: results in memory, with a truth that is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.signal import lfilter

from a2aperf import derived, schema
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results

Floats = NDArray[np.float64]
Shape = Literal["normal", "heavy"]

LINK: float = 100.0  # Gbit/s
SIZES = (1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000)


@dataclass(frozen=True)
class Truth:
    """What is true of the machine. Spreads are standard deviations relative to the op time.

    The default is a perfect network: the same share of the link at any size and scale.
    """

    nodes: tuple[int, ...] = (4,)
    ppn: int = 2
    sizes: tuple[int, ...] = SIZES
    link: float = 0.85  # share of it that ops carry
    ops: int = 100
    launches: int = 1  # at each number of nodes
    launch_spread: float = 0.0
    at_largest: tuple[int, float] | None = None  # launches and their spread at the most nodes
    cell_spread: float = 0.0  # of one point, however many ops it has
    noisy: tuple[int, float] = (0, 0.0)  # sizes next to each other whose points differ by more
    noise: float = 0.03  # of an op, alike on all ranks
    lateness: float = 0.03  # of a rank in an op
    of_nodes: float = 0.0  # the same of all ranks of a node together
    memory: float = 0.0  # autocorrelation of noise and lateness, from op to op (AR(1))
    shape: Shape = "normal"  # of the shocks; heavy: Student's t with 2 degrees of freedom
    slow: tuple[float, float] = (0.0, 0.0)  # spread of noise that all ranks share, and its ops
    drift: float = 0.0  # from the first to the last op of a launch
    offsets: float = 0.0  # spread of what a rank is always late by, in units of `lateness`
    jitter: float = 0.0  # ns, mean of an exponential delay of every op
    alpha: float = 0.0  # ns per op
    steps: tuple[tuple[int, float], ...] = ()  # factor on the time from a size on
    straggler: tuple[float, float] = (0.0, 0.0)  # share of ops, and how late rank 1 is in them
    timer: tuple[float, float] = (0.0, 0.0)  # share of ops, delay in ns
    modes: tuple[float, float] = (0.0, 1.0)  # share of ops, factor
    pauses: tuple[float, float] = (0.0, 0.0)  # share of ops in which rank 1 pauses; × T
    bursts: float = 0.0  # share of ops in which some rank begins to pause
    burst: int = 10  # ops that such a pause lasts
    lost: float = 1.0  # factor on the time at the largest number of nodes
    receives: float = 1.0  # factor on the time of rank 1
    sentinels: bool = False
    extra: dict[str, Any] = field(default_factory=dict)  # attributes of the launches


class InMemory(Results):
    """Results whose samples are held here."""

    samples: dict[tuple[str, int], RawOps]

    def raw(self, file: str, point: int) -> RawOps:
        return self.samples[file, point]

    def op_times(self, file: str, point: int) -> Floats:
        raw = self.samples[file, point]
        return raw.op_times()[raw.valid]

    def is_traced(self, file: str) -> bool:
        return False

    def counters(self, file: str, point: int) -> schema.Counters | None:
        return None

    def select(self, mask: pd.Series[bool]) -> Results:
        return held(super().select(mask), self.samples)


def held(found: Results, samples: dict[tuple[str, int], RawOps]) -> InMemory:
    """The same results with their samples in memory."""
    kept = InMemory(found.points, found.launches, found.files, found.attributes)
    object.__setattr__(kept, "samples", samples)
    return kept


def measured(truth: Truth, rng: np.random.Generator) -> InMemory:
    """A study: every launch of every scale."""
    rows: list[dict[str, Any]] = []
    launches: dict[str, Launch] = {}
    samples: dict[tuple[str, int], RawOps] = {}
    for nodes in truth.nodes:
        count, spread = truth.launches, truth.launch_spread
        if truth.at_largest and nodes == max(truth.nodes):
            count, spread = truth.at_largest
        here = replace(truth, launch_spread=spread)
        for number in range(count):
            file = f"{nodes}-{number}.h5"
            launches[f"{file}#0"] = _launch(file, nodes, truth)
            for point, (cell, raw) in enumerate(_points(here, nodes, rng)):
                samples[file, point] = raw
                rows.append(_row(truth, nodes, file, point, cell, raw))
    files = {launch.path.name: launch.path for launch in launches.values()}
    attributes = {file: {"percentile_rule": "rank"} for file in files}
    return held(Results(pd.DataFrame(rows), launches, files, attributes), samples)


def _launch(file: str, nodes: int, truth: Truth) -> Launch:
    ranks = nodes * truth.ppn
    return Launch(
        id=f"{file}#0",
        path=Path(file),
        segment=0,
        attributes={
            **schema.SEGMENT_ATTRIBUTES,
            "sync": "clock",
            "clock_error_ns": 50.0,
            **truth.extra,
        },
        environment={},
        labels={},
        attachments={},
        nodes=[f"node{i + 1:03}" for i in range(nodes)],
        node_of_rank=np.repeat(np.arange(nodes, dtype=np.int32), truth.ppn),
        node_facts={"cores_usable": ["64"] * nodes},
        rank_facts={"binding": [str(rank % truth.ppn) for rank in range(ranks)]},
    )


def _points(truth: Truth, nodes: int, rng: np.random.Generator) -> list[tuple[Any, RawOps]]:
    """Role, size and samples of each point; noise remembers from point to point."""
    cells = [("measure", size) for size in truth.sizes]
    if truth.sentinels:
        cells = [("sentinel", truth.sizes[-1]), *cells, ("sentinel", truth.sizes[-1])]
    ranks, n = nodes * truth.ppn, truth.ops * len(cells)
    together = truth.noise * _shocks(truth, rng, (n,)) + truth.drift * np.linspace(0, 1, n)
    if truth.slow[0]:
        slow = replace(truth, memory=float(np.exp(-1 / truth.slow[1])))
        together += truth.slow[0] * _shocks(slow, rng, (n,))
    alone = truth.lateness * _shocks(truth, rng, (n, ranks))
    alone += truth.lateness * truth.offsets * rng.normal(0, 1, ranks)
    if truth.of_nodes:
        alone += np.repeat(truth.of_nodes * _shocks(truth, rng, (n, nodes)), truth.ppn, axis=1)
    factor = np.exp(truth.launch_spread * rng.normal())
    spread = dict.fromkeys(truth.sizes[2 : 2 + truth.noisy[0]], truth.noisy[1])
    points = []
    for index, (role, size) in enumerate(cells):
        part = slice(index * truth.ops, (index + 1) * truth.ops)
        base = factor * np.exp(spread.get(size, truth.cell_spread) * _shocks(truth, rng, (1,))[0])
        base *= _ideal(truth, nodes, size)
        times = base * np.exp(together[part])
        points.append(((role, size), _samples(truth, times, alone[part], rng)))
    return points


def _ideal(truth: Truth, nodes: int, size: int) -> float:
    """T of the machine without noise, ns."""
    k = truth.ppn
    time = truth.alpha + 8.0 * size * k * (nodes * k - k) / (truth.link * LINK)
    for at, change in truth.steps:
        time *= change if size >= at else 1.0
    return time * (truth.lost if nodes == max(truth.nodes) and len(truth.nodes) > 1 else 1.0)


def _shocks(truth: Truth, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Of standard deviation 1, with the memory asked for along the first axis."""
    white = rng.normal(0, 1, shape) if truth.shape == "normal" else rng.standard_t(2, shape)
    white = np.clip(white, -20, 20)
    rho = truth.memory
    if not rho or shape[0] == 1:
        return white
    white[1:] *= np.sqrt(1 - rho**2)
    return np.asarray(lfilter([1], [1, -rho], white, axis=0), dtype=np.float64)


def _samples(truth: Truth, times: Floats, alone: Floats, rng: np.random.Generator) -> RawOps:
    ops, ranks = alone.shape
    share, factor = truth.modes
    times = np.where(rng.random(ops) < share, times * factor, times)
    share, delay = truth.timer
    times = times + np.where(rng.random(ops) < share, delay, 0.0)
    if truth.jitter:
        times = times + rng.exponential(truth.jitter, ops)
    ends = times[:, None] * np.maximum(0.1, 1 + alone)
    ends[:, 1] *= truth.receives
    for share, late in (truth.straggler, truth.pauses):
        ends[:, 1] += np.where(rng.random(ops) < share, late * times, 0.0)
    for op in np.flatnonzero(rng.random(ops) < truth.bursts):
        its = slice(op, op + truth.burst)
        ends[its, rng.integers(ranks)] += 5 * times[its]
    recv_done = ends.astype(np.int64)
    begin = np.zeros((ops, ranks), dtype=np.int64)
    start = np.cumsum(recv_done.max(axis=1)) + 1
    return RawOps(begin, recv_done, recv_done, start, np.ones(ops, dtype=np.bool_))


def _row(truth: Truth, nodes: int, file: str, point: int, cell: Any, raw: RawOps) -> dict[str, Any]:
    role, size = cell
    return {
        "file": file,
        "point": point,
        "launch": f"{file}#0",
        **derived.derive(raw, size, np.full(nodes, truth.ppn), LINK, True),
        "role": role,
        "state": "complete",
        "engine": "a2aperf",
        "provider": "psm2",
        "mode": "tagged",
        "schedule": "shift",
        "window": 0,
        "post": "before",
        "message_size": size,
        "ranks": nodes * truth.ppn,
        "nodes": nodes,
        "ppn": float(truth.ppn),
        "ranks_per_node": float(truth.ppn),
        "link_rate_gbps": LINK,
        "rails": 1,
        "has_raw": True,
        "order": point,
        "partner": -1,
        "clock_error": 50.0,
    }
