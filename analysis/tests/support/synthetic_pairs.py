# SPDX-License-Identifier: BSD-3-Clause
"""Made-up files of `a2aperf pairs` with known weak links, raw samples included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, schema, writer
from a2aperf.raw_ops import RawOps
from a2aperf.workloads.pairs import stored
from support import made, synthetic
from support.synthetic import Setup

_ATTEMPTS_ALONE = 10


@dataclass(frozen=True)
class Truth:
    """What is true of a made-up machine: factors on the time; nodes and switches by number."""

    noise: float = 0.02
    """Standard deviation of the logarithm of an op's time."""
    node_spread: float = 0.01
    """The same of each node's sending and receiving, which no two have alike."""
    senders: Mapping[int, float] = field(default_factory=dict)
    receivers: Mapping[int, float] = field(default_factory=dict)
    pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)
    crowded: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """Pairs that are slow only while all others talk, too."""
    blocks: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """From one switch to another."""
    copying: Mapping[int, float] = field(default_factory=dict)
    """Nodes that are slow inside."""
    steps: Mapping[int, float] = field(default_factory=dict)
    """Distances that were measured at a bad time."""
    per_switch: int = 0
    """Nodes per switch; 0: one switch for all."""
    hop: float = 1.0
    """Factor on the time between switches."""
    sampled: int = 0
    """Every so many distances are measured; 0: all."""


def topology(nodes: int, per_switch: int) -> str:
    """What `scontrol show topology` would say of such a machine."""
    edge = range(0, nodes, per_switch)
    lines = [
        f"SwitchName=leaf{i} Level=0 LinkSpeed=1 "
        f"Nodes=node[{first + 1:03}-{min(first + per_switch, nodes):03}]"
        for i, first in enumerate(edge)
    ]
    top = f"SwitchName=top Level=1 LinkSpeed=1 Nodes=node[001-{nodes:03}] Switches=leaf[0-"
    return "\n".join([*lines, f"{top}{len(edge) - 1}]"]) + "\n"


@made.once
def write_pairs(path: Path, setup: Setup, truth: Truth | None = None) -> Path:
    """Write one made-up file; `setup` says how large, `links` what is weak. Returns the path."""
    pairs = _Pairs(setup, truth or Truth())
    document = writer.Document(
        attributes=synthetic.attributes_of(setup, "pairs", __name__),
        columns=writer.columns_of(pairs.rows),
        segments=[synthetic.segment_of(setup, pairs.clock_ns, "pairs")],
        raw=pairs.raw.get,
        own={stored.GROUP.name: (stored.GROUP.datasets, asdict(pairs.pairs()))},
    )
    writer.write(path, document, force=True)
    return path


class _Pairs:
    def __init__(self, setup: Setup, truth: Truth) -> None:
        self.setup, self.truth = setup, truth
        self.random = np.random.default_rng(setup.seed)
        self.node = np.repeat(np.arange(setup.nodes), setup.ppn)
        self.clock_ns = 0
        self.raw: dict[int, schema.Raw] = {}
        self.rows: list[dict[str, Any]] = []
        shape = (len(setup.sizes), setup.ranks, setup.ranks)
        self.p50 = np.full(shape, np.nan)
        self.shortest = np.full(shape, np.nan)
        self.ops = np.zeros(shape, np.int32)
        self.alone, self.together = self._factors()
        for distance in range(1, setup.ranks, max(truth.sampled, 1)):
            for index, size in enumerate(setup.sizes):
                self._measure(distance, index, size)

    def _factors(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Factor on each pair's time, alone and while all talk [R, R]."""
        truth, random, node = self.truth, self.random, self.node
        nodes = self.setup.nodes
        sender, receiver = np.exp(random.normal(0, truth.node_spread, (2, nodes)))
        for who, factor in truth.senders.items():
            sender[who] *= factor
        for who, factor in truth.receivers.items():
            receiver[who] *= factor
        between = np.outer(sender, receiver)
        switch = np.arange(nodes) // (truth.per_switch or nodes)
        between[switch[:, None] != switch[None, :]] *= truth.hop
        for (a, b), factor in truth.blocks.items():
            between[np.ix_(switch == a, switch == b)] *= factor
        for at, factor in truth.pairs.items():
            between[at] *= factor
        between[np.diag_indices(nodes)] = [0.4 * truth.copying.get(i, 1.0) for i in range(nodes)]
        crowded = between.copy()
        for at, factor in truth.crowded.items():
            crowded[at] *= factor
        return between[np.ix_(node, node)], crowded[np.ix_(node, node)]

    def _base(self, size: int) -> float:
        return 1500 + 8.0 * size / self.setup.port_gbps

    def _measure(self, distance: int, index: int, size: int) -> None:
        setup, random, ranks = self.setup, self.random, self.setup.ranks
        source = np.arange(ranks)
        destination = (source + distance) % ranks
        typical = self._base(size) * self.together[source, destination]
        typical *= self.truth.steps.get(distance, 1.0)
        noise = np.exp(random.normal(0, self.truth.noise, (setup.ops, ranks)))
        took = (typical * noise).astype(np.int64)
        begin = random.integers(20, 300, (setup.ops, ranks))
        recv_done = np.empty_like(begin)
        recv_done[:, destination] = begin + took
        sent = np.maximum(begin, (0.9 * (begin + took)).astype(np.int64))
        gaps = np.cumsum(recv_done.max(axis=1) + 50_000)
        start = self.clock_ns + np.concatenate(([0], gaps[:-1]))
        self.clock_ns += int(gaps[-1]) + 1_000_000
        valid = np.ones(setup.ops, np.bool_)
        raw = schema.Raw(begin, sent, recv_done, start, valid)
        point = len(self.rows)
        self.raw[point] = raw
        at = index, source, destination
        ordered = np.sort(took, axis=0)
        self.p50[at] = ordered[-(-setup.ops // 2) - 1]
        self.shortest[at] = ordered[0]
        self.ops[at] = setup.ops
        self.rows.append(self._row(point, distance, size, raw))

    def _row(self, point: int, distance: int, size: int, raw: schema.Raw) -> dict[str, Any]:
        setup = self.setup
        ops = RawOps(raw.begin, raw.send_done, raw.recv_done, raw.start, raw.valid)
        per_node = np.full(setup.nodes, setup.ppn)
        found = derived.derive(ops, size, per_node, setup.link_rate_gbps, True)
        return {
            "engine": "a2aperf",
            "role": "pair",
            "provider": setup.provider,
            "mode": setup.modes[0],
            "schedule": "shift",
            "message_size": size,
            **{name: value for name, value in found.items() if name not in schema.WHOLE},
            "distance": distance,
            "window": setup.window,
            "ranks": setup.ranks,
            "nodes": setup.nodes,
            "ranks_per_node": float(setup.ppn),
            "post": "before",
            "state": schema.STATES.index("complete"),
            "segment": 0,
            "order": point,
            "stop_rule": schema.STOP_RULES.index("ops"),
            "inject": int(size <= 64),
            "buffer_slots": setup.ranks,
            "started": synthetic.origin_ns(setup) + int(raw.start[0]),
            "duration": int(raw.start[-1] - raw.start[0]) + 1_000_000,
            "late_limit": 1000,
            "warmup_p50": found["time_p50"],
            "interval_kind": schema.INTERVAL_KINDS.index(found["interval_kind"]),
        }

    def pairs(self) -> stored.Pairs:
        """The matrices, and a second look at the pairs that are weak by themselves."""
        sizes = np.array(self.setup.sizes, np.int64)
        first = np.searchsorted(self.node, np.arange(self.setup.nodes))
        weak = [*self.truth.pairs, *self.truth.crowded]
        suspects = [(int(first[a]), int(first[b])) for a, b in weak]
        last = len(sizes) - 1
        alone = self._alone(suspects, int(sizes[last]))
        with np.errstate(invalid="ignore"):
            gbps = 8.0 * sizes[:, None, None] / self.p50
        source, destination = (
            (np.array(x, np.int32) for x in zip(*suspects, strict=True))
            if (suspects)
            else (np.empty(0, np.int32), np.empty(0, np.int32))
        )
        return stored.Pairs(
            sizes,
            self.p50,
            self.shortest,
            gbps,
            self.ops,
            source,
            destination,
            np.full(len(suspects), last, np.int32),
            alone,
            8.0 * sizes[last] / np.median(alone, axis=1) if suspects else np.empty(0),
        )

    def _alone(self, suspects: Sequence[tuple[int, int]], size: int) -> NDArray[np.int64]:
        typical = np.array([self._base(size) * self.alone[pair] for pair in suspects])
        noise = np.exp(self.random.normal(0, self.truth.noise, (len(suspects), _ATTEMPTS_ALONE)))
        return np.asarray(typical[:, None] * noise, np.int64).reshape(-1, _ATTEMPTS_ALONE)
