# SPDX-License-Identifier: BSD-3-Clause
"""Made-up launches with known effects, raw samples included: to test statistics and draw examples.

The op time follows T = α + (R−1)(o + B·g), times the effects asked for. Files say that they are
synthetic in `origin`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from a2aperf import datasets, derived, schema, writer
from a2aperf.raw_ops import RawOps
from support import made

_PORT = "hfi1_0/1/counters/port_xmit_wait"

TABLE_SIZES = (*range(1000, 15001, 1000), *range(20000, 60001, 5000))


@dataclass(frozen=True)
class Effects:
    """What is true of a made-up launch; the defaults are a quiet, well-behaved machine."""

    slowdown: float = 1.0
    """Factor on every op time."""
    launch_spread: float = 0.0
    """Standard deviation of the logarithm of one factor per launch."""
    noise: float = 0.02
    """Standard deviation of the logarithm of the op time within a launch."""
    autocorrelation: float = 0.0
    """Lag-1 autocorrelation of that noise (AR(1))."""
    bimodal: tuple[float, float] | None = None
    """(share of ops, factor) of a second, slower mode."""
    timer: tuple[float, float] | None = None
    """(share of ops, delay in ns) of a delay that size and scale do not change."""
    drift: float = 0.0
    """Relative change of the op time from the first to the last op of the launch."""
    straggler: tuple[int, float] | None = None
    """(rank, share of ops in which it finishes last, a tenth after the others)."""
    late_share: float = 0.0
    """Share of attempts that are invalid because a rank began late (clock start only)."""
    steps: Mapping[int, float] = field(default_factory=dict)
    """Factor on the op time from a message size on (a protocol switch)."""
    modes: Mapping[str, float] = field(default_factory=dict)
    """Factor on the op time of a mode."""
    modes_at: Mapping[tuple[str, int], float] = field(default_factory=dict)
    """The same of a mode at one message size."""
    descheduled: tuple[int, ...] = ()
    """Ranks with many involuntary context switches."""
    slow_pair: tuple[int, int, float, float] | None = None
    """(source, destination, share of ops, factor): its message ends the op that much later."""


@dataclass(frozen=True)
class Setup:
    """One launch to make up: N nodes of `ppn` ranks each."""

    nodes: int = 4
    ppn: int = 2
    sizes: Sequence[int] = (1000, 8000, 16000, 60000)
    ops: int = 100
    seed: int = 0
    effects: Effects = Effects()
    environment: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    attachments: Mapping[str, str] = field(default_factory=dict)
    node_facts: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    provider: str = "psm2"
    modes: Sequence[str] = ("tagged",)
    schedules: Sequence[str] = ("shift",)
    window: int = 0
    sync: str = "clock"
    link_rate_gbps: float = 100.0
    started: datetime = datetime(2025, 6, 15, tzinfo=UTC)
    baseline: bool = False
    """Add rows of MPI_Alltoall, 1.2 times slower, as partners."""
    trace: bool = False
    """Say when each message came (`/raw/arrival`)."""
    sentinel: bool = False
    """Add a first and a last point of one size that shows drift."""
    alpha_ns: float = 12_000.0
    per_message_ns: float = 300.0
    port_gbps: float = 80.0
    """What the node's ports carry at best; ppn ranks share it."""

    @property
    def ranks(self) -> int:
        """R."""
        return self.nodes * self.ppn


def attributes_of(setup: Setup, what: str, source: str) -> dict[str, str]:
    """Those of a made-up file: what it seems to hold, and the module that made it."""
    return {
        "title": f"synthetic {what}, {setup.ranks} ranks on {setup.nodes} nodes",
        "source": source,
        "created": setup.started.isoformat(),
        "origin": "synthetic",
    }


@made.once
def write_launch(path: Path, setup: Setup) -> Path:
    """Write one made-up launch as a results file, or replace it; returns the path."""
    launch = _Launch(setup)
    document = writer.Document(
        attributes=attributes_of(setup, "all-to-all", __name__),
        columns=writer.columns_of(launch.rows),
        segments=[launch.segment()],
        raw=launch.raw.get,
        counters=launch.counters,
        arrival=launch.arrival.get if setup.trace else None,
    )
    writer.write(path, document, force=True)
    return path


def origin_ns(setup: Setup) -> int:
    """Start of the launch. A seed stands for its own launch: the nanoseconds keep two apart."""
    return int(setup.started.timestamp()) * 1_000_000_000 + setup.seed


class _Launch:
    """Samples and rows of one launch, in the order of measurement."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.random = np.random.default_rng(setup.seed)
        self.launch_factor = float(np.exp(self.random.normal(0, setup.effects.launch_spread)))
        self.clock_ns = 0
        self.raw: dict[int, schema.Raw] = {}
        self.arrival: dict[int, NDArray[np.int64]] = {}
        self.rows: list[dict[str, Any]] = []
        cells = self._cells()
        for index, cell in enumerate(cells):
            self._measure(index, cell, (index / len(cells), (index + 1) / len(cells)))
        for row in self.rows:
            if row.get("partner", schema.UNKNOWN) != schema.UNKNOWN:
                row["ratio"] = self.rows[row["partner"]]["time_p50"] / row["time_p50"]

    def _cells(self) -> list[dict[str, Any]]:
        setup = self.setup
        base = {"engine": "a2aperf", "role": "measure", "provider": setup.provider}
        cells: list[dict[str, Any]] = []
        for mode in setup.modes:
            for schedule in setup.schedules:
                for size in setup.sizes:
                    cell = {**base, "mode": mode, "schedule": schedule, "message_size": size}
                    if setup.baseline:
                        mpi = {
                            "role": "baseline",
                            "engine": "mpi",
                            "mode": "collective",
                            "schedule": "library",
                            "provider": "mpi",
                            "message_size": size,
                        }
                        offset = 2 * (len(cells) // 2) + int(setup.sentinel)
                        cells.append({**cell, "partner": offset + 1})
                        cells.append({**mpi, "partner": offset})
                    else:
                        cells.append(cell)
        if setup.sentinel:
            sentinel = {**cells[0], "role": "sentinel", "partner": -1}
            cells = [sentinel, *cells, sentinel]
        return cells

    def _model(self, cell: dict[str, Any], progress: NDArray[np.float64]) -> NDArray[np.float64]:
        """T [attempts] in ns; `progress` [attempts] is the share of the launch that is over."""
        setup, effects, random = self.setup, self.setup.effects, self.random
        size, n = int(cell["message_size"]), progress.size
        per_byte = 8.0 * setup.ppn / setup.port_gbps
        base = setup.alpha_ns + (setup.ranks - 1) * (setup.per_message_ns + size * per_byte)
        base *= effects.slowdown * self.launch_factor
        if cell["role"] == "baseline":
            base *= 1.2
        base *= effects.modes.get(cell["mode"], 1.0)
        base *= effects.modes_at.get((cell["mode"], cell["message_size"]), 1.0)
        for step, factor in sorted(effects.steps.items()):
            base *= factor if size >= step else 1.0
        shocks = random.normal(0, 1, n)
        if effects.autocorrelation:
            rho = effects.autocorrelation
            shocks[1:] *= np.sqrt(1 - rho**2)
            shocks = lfilter([1], [1, -rho], shocks)
        times = base * (1 + effects.drift * progress) * np.exp(effects.noise * shocks)
        if effects.bimodal:
            share, factor = effects.bimodal
            times = np.where(random.random(n) < share, times * factor, times)
        if effects.timer:
            share, delay = effects.timer
            times = np.where(random.random(n) < share, times + delay, times)
        return np.asarray(times, dtype=np.float64)

    def _measure(self, index: int, cell: dict[str, Any], part: tuple[float, float]) -> None:
        setup, effects, random = self.setup, self.setup.effects, self.random
        late_share = effects.late_share if setup.sync == "clock" else 0.0
        attempts = min(round(setup.ops / (1 - late_share)), 2 * setup.ops)
        invalid = attempts - setup.ops
        times = self._model(cell, np.linspace(*part, attempts))
        valid = np.ones(attempts, dtype=np.bool_)
        valid[random.choice(attempts, invalid, replace=False)] = False
        raw = self._samples(times, valid, cell["role"] == "baseline")
        if setup.trace or effects.slow_pair:
            raw, self.arrival[index] = self._traced(raw)
        if cell["mode"] == "read":  # the receivers fetch the messages
            raw = replace(raw, send_done=np.full_like(raw.send_done, schema.NO_MOMENT))
        self.raw[index] = raw
        started = origin_ns(setup) + int(raw.start[0])
        self.rows.append(self._row(index, cell, raw, started))

    def _samples(
        self, times: NDArray[np.float64], valid: NDArray[np.bool_], blocking: bool
    ) -> schema.Raw:
        setup, effects, random = self.setup, self.setup.effects, self.random
        attempts, ranks = times.size, setup.ranks
        late_limit = self._late_limit()
        begin = np.zeros((attempts, ranks), dtype=np.int64)
        if setup.sync == "clock":
            begin[:] = random.integers(20, 300, (attempts, ranks))
            begin[~valid, random.integers(ranks)] = 3 * late_limit
        last = random.integers(0, ranks, attempts)
        if effects.straggler:
            rank, share = effects.straggler
            late = random.random(attempts) < share
            last = np.where(late, rank, last)
        end = times[:, None] * (1 - 0.08 * random.random((attempts, ranks)))
        if effects.straggler:
            end[late] *= 0.9
        end[np.arange(attempts), last] = times
        recv_done = np.maximum(end.astype(np.int64), begin + 1)
        sent = recv_done if blocking else (recv_done * 0.97).astype(np.int64)
        gaps = np.cumsum(times + 50_000).astype(np.int64)
        start = self.clock_ns + np.concatenate(([0], gaps[:-1]))
        self.clock_ns += int(gaps[-1]) + 5_000_000
        return schema.Raw(
            begin, np.maximum(sent, begin), recv_done, start, valid, np.zeros_like(begin)
        )

    def _traced(self, raw: schema.Raw) -> tuple[schema.Raw, NDArray[np.int64]]:
        """The samples with the slow pair in them, and when each message came [attempts, R, R]."""
        attempts, ranks = raw.begin.shape
        step = (np.arange(ranks)[:, None] - np.arange(ranks)[None, :]) % ranks
        share = step / (ranks - 1) * self.random.uniform(0.97, 1.0, (attempts, ranks, ranks))
        share[:, step == ranks - 1] = 1.0  # the last to be sent is the last to come
        arrival = (share * raw.recv_done[:, :, None]).astype(np.int64)
        if self.setup.effects.slow_pair:
            source, destination, often, factor = self.setup.effects.slow_pair
            slow = self.random.random(attempts) < often
            arrival[slow, destination, source] = (factor * raw.recv_done[slow].max(axis=1)).astype(
                np.int64
            )
        arrival = np.maximum(arrival, raw.begin[:, :, None] + 1)
        recv_done = arrival.max(axis=2)
        arrival[:, step == 0] = schema.UNKNOWN
        return replace(raw, recv_done=recv_done), arrival

    def _late_limit(self) -> int:
        return 1000

    def _row(
        self, index: int, cell: dict[str, Any], raw: schema.Raw, started: int
    ) -> dict[str, Any]:
        setup = self.setup
        clock = setup.sync == "clock"
        size = int(cell["message_size"])
        ops = RawOps(raw.begin, raw.send_done, raw.recv_done, raw.start, raw.valid, exit=raw.exit)
        found = derived.derive(
            ops, size, np.full(setup.nodes, setup.ppn), setup.link_rate_gbps, clock
        )
        return {
            **cell,
            **found,
            "window": setup.window,
            "ranks": setup.ranks,
            "nodes": setup.nodes,
            "ranks_per_node": float(setup.ppn),
            "post": "inside" if setup.baseline else "before",
            "state": schema.STATES.index("complete"),
            "segment": 0,
            "order": index,
            "stop_rule": schema.STOP_RULES.index("ops"),
            "inject": int(size <= 64),
            "buffer_slots": setup.ranks,
            "started": started,
            "duration": int(raw.start[-1] - raw.start[0] + ops.op_times()[-1]) + 1,
            "late_limit": self._late_limit() if clock else schema.UNKNOWN,
            "warmup_p50": found["time_p50"],
            "interval_kind": schema.INTERVAL_KINDS.index(found["interval_kind"]),
        }

    def counters(self, point: int) -> schema.Counters:
        """Plausible counters: every rank alike but those that are descheduled."""
        setup = self.setup
        random = np.random.default_rng((setup.seed, point))
        ranks = setup.ranks
        busy = int(self.rows[point]["duration"])
        involuntary = random.poisson(2, ranks)
        for rank in setup.effects.descheduled:
            involuntary[rank] += 10 * setup.ops
        per_rank = {
            "voluntary_switches": random.poisson(3, ranks),
            "involuntary_switches": involuntary,
            "minor_faults": random.poisson(1, ranks),
            "major_faults": np.zeros(ranks),
            "user_time": np.full(ranks, int(busy * 0.8)),
            "system_time": np.full(ranks, int(busy * 0.1)),
            "wall_time": np.full(ranks, busy),
            "threads": np.full(ranks, 2),
            "resident_memory": np.full(ranks, 30_000_000),
            "locked_memory": np.full(ranks, 65_536),
        }
        return with_values(
            schema.Counters(
                verification=counted_untimed(setup, 1 + point),
                per_rank={name: values.astype(np.int64) for name, values in per_rank.items()},
                thread_affinity=[f"{rank % setup.ppn};0-15" for rank in range(ranks)],
                per_node={
                    **{
                        name: random.poisson(often, setup.nodes).astype(np.int64)
                        for name, often in zip(
                            datasets.COUNTED_PER_NODE, (40, 200, 9), strict=False
                        )
                    },
                    **{
                        f"node_{name}_time": np.full(setup.nodes, int(busy * share)).astype(
                            np.int64
                        )
                        for name, share in self._of_machine().items()
                    },
                },
                ports={_PORT: random.poisson(100, setup.nodes).astype(np.int64)},
            )
        )

    def _of_machine(self) -> dict[str, float]:
        """Of the time, on all CPUs: what the ranks use, and somebody else as much as one CPU."""
        ppn = self.setup.ppn
        used = {"user": 0.8 * ppn + 0.9, "system": 0.1 * ppn, "irq": 0.0, "softirq": 0.1}
        return {**used, "steal": 0.05, "idle": 0.1, "wall": 1.0}

    def segment(self) -> schema.Segment:
        """Provenance of this launch."""
        return segment_of(self.setup, self.clock_ns)


def with_values(counted: schema.Counters) -> schema.Counters:
    """With what was read before and after: of each rank a million before, of a node ten."""

    def at(is_after: bool, changes: dict[str, NDArray[np.int64]], base: int) -> dict[str, Any]:
        return {name: base + is_after * one for name, one in changes.items() if _has_value(name)}

    ranks = len(counted.per_rank["threads"])
    levels = {name: counted.per_rank[name] - 1 for name in datasets.LEVELS}
    values = []
    for is_after, mhz in ((False, 2100), (True, 3700)):
        of_ranks = at(is_after, counted.per_rank, 10**6)
        of_ranks[datasets.CPU_FREQUENCY] = 1000 * (mhz + np.arange(ranks))
        values.append(
            schema.Counters(
                per_rank=of_ranks if is_after else {**of_ranks, **levels},
                thread_affinity=[],
                per_node=at(is_after, counted.per_node, 10**7),
                ports={name: 10**8 + is_after * one for name, one in counted.ports.items()},
            )
        )
    return replace(counted, before=values[0], after=values[1])


def _has_value(name: str) -> bool:
    return name in datasets.VALUES


def counted_untimed(setup: Setup, by: int) -> schema.Counters:
    """What is counted outside of the timed ops: `by` more of each rank than of the one before."""
    return schema.Counters(
        per_rank={name: np.arange(setup.ranks) * by for name in datasets.CHANGED_PER_RANK},
        thread_affinity=[],
        per_node={name: np.full(setup.nodes, 3 * by) for name in datasets.COUNTED_PER_NODE},
        ports={_PORT: np.full(setup.nodes, 5 * by)},
    )


def start_times_of(ranks: int) -> schema.StartTimes:
    """Rank r spends r + 1 ms at its memory, and all wait until the last one is done."""
    own = 1_000_000 * np.arange(1, ranks + 1, dtype=np.int64)
    return schema.StartTimes(
        ["mpi_init", "memory", "addresses", "payload"],
        ["MPI_Init", "allocating the buffers", "exchanging addresses", "filling bytes"],
        np.array([True, False, True, False]),
        np.array([np.full(ranks, 250_000_000), own, own.max() - own + 5_000_000, 0 * own]),
    )


def segment_of(setup: Setup, lasted_ns: int, command: str = "alltoall") -> schema.Segment:
    """Provenance of a machine that does not exist."""
    facts = {
        "kernel": "6.1.0",
        "cpu_model": "synthetic CPU",
        "governor": "performance",
        "cores_usable": "16",
        "nic": "hfi1_0",
        "nic_driver": "hfi1",
        "nic_firmware": "1.27.0",
        "nic_numa_node": "0",
        "nic_link_rate": f"{setup.link_rate_gbps:g}",
        **setup.node_facts,
    }
    ranks, nodes = setup.ranks, setup.nodes
    return schema.Segment(
        attributes={
            "program_version": "1.0.0",
            "commit": "synthetic",
            "command_line": f"a2aperf {command} --provider {setup.provider}",
            "started": setup.started.isoformat(),
            "time_origin": origin_ns(setup),
            "provider": setup.provider,
            "provider_version": "1.17",
            "libfabric_version": "1.17.0",
            "mpi_version": "Open MPI 4.1.4",
            "hdf5_version": "1.10.8",
            "domain": "hfi1_0",
            "sync": setup.sync,
            "sync_reason": "synthetic",
            "poll": "spin",
            "order": "declared",
            "seed": setup.seed,
            "shuffle_ranks": 0,
            "warmup": 20,
            "clock_error_ns": 80.0,
            "link_rate_gbps": setup.link_rate_gbps,
            "rails": 1,
            **setup.attributes,
        },
        end_state="finished",
        ended=origin_ns(setup) + lasted_ns,
        nodes=[f"node{i + 1:03}" for i in range(nodes)],
        node_of_rank=np.repeat(np.arange(nodes, dtype=np.int32), setup.ppn),
        clock_domain_of_rank=np.repeat(np.arange(nodes, dtype=np.int32), setup.ppn),
        clock_offset=np.zeros(ranks),
        clock_drift=np.zeros(ranks),
        environment=dict(setup.environment),
        labels=dict(setup.labels),
        attachments=dict(setup.attachments),
        node_facts={name: [value] * nodes for name, value in facts.items()},
        rank_facts={
            "binding": [str(rank % setup.ppn) for rank in range(ranks)],
            "nic": ["hfi1_0"] * ranks,
            "nic_distance": ["10"] * ranks,
        },
        rank_order=np.arange(ranks, dtype=np.int32),
        start=counted_untimed(setup, 1000),
        start_times=start_times_of(ranks),
    )
