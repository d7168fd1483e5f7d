# SPDX-License-Identifier: BSD-3-Clause
"""Launches of the program on a cluster, sized for its links and read back from their file."""

import os
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import h5py
import numpy as np
from cluster import Cluster, payload_share
from processes import PATIENCE
from results import COMPLETE, Results

IS_VALIDATION = bool(os.environ.get("A2APERF_VALIDATION"))  # for docs/validation.md: all that a quiet machine can show
TRIES = 4  # where other work of this machine may disturb as much as the test does
OP_S = 1.0  # an op at the rate of the links: 200 bursts of the shaper


@cache
def words(program: Path, sync: str = "barrier", poll: str = "block") -> list[str]:
    """What every launch has in common. Ranks sleep while they wait, for they outnumber the cores."""
    offered = subprocess.run([program, "providers"], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    provider = "net" if re.search(r"^net ", offered, re.MULTILINE) else "tcp"  # its name before libfabric 1.18
    return [
        "--provider", provider, "--nic", "e0", "--poll", poll, "--sync", sync, "--no-sentinel", "--force", "-o", "a.h5",
    ]  # fmt: skip


def words_of_pairs(program: Path) -> list[str]:
    """The same for `a2aperf pairs`, which has no sentinel."""
    return [word for word in words(program) if word != "--no-sentinel"]


def size_for(mbit: float, hosts: int, ranks_per_host: int, seconds: float = OP_S) -> int:
    """Message size in bytes at which one host's link is busy for that long in an op."""
    ranks = hosts * ranks_per_host
    return int(mbit * 1e6 / 8 * seconds / (ranks_per_host * (ranks - ranks_per_host)))


def measure(
    cluster: Cluster, program: Path, folder: Path, ranks_per_host: int, *more: str, seconds: int = PATIENCE
) -> Results:
    """Whatever goes wrong is told by the program's own words."""
    ended = cluster.launch(ranks_per_host, [program, "alltoall", *words(program), *more], folder, seconds)
    assert ended.returncode == 0, ended.stderr
    results = Results(folder / "a.h5")
    assert results.states() == [COMPLETE] * len(results)
    return results


@dataclass(frozen=True)
class LinkCase:
    """Links of one rate; what they carry is known from TCP's and the shaper's framing."""

    mbit: float
    hosts: int
    ranks_per_host: int

    @property
    def size(self) -> int:
        return size_for(self.mbit, self.hosts, self.ranks_per_host)

    @property
    def expected_mbit(self) -> tuple[float, float]:
        """Least and largest payload rate of one host, one way."""
        low, high = payload_share()
        return self.mbit * low, self.mbit * high


@dataclass(frozen=True)
class LinkFigures:
    """What came out: payload rate by the program's file, and what the link's own counter says of it."""

    case: LinkCase
    ops: int
    net_mbit: float  # gbps_node_net
    wire_ratio: np.ndarray  # [hosts] bytes that the link's own counter added during the ops, for each of payload

    @property
    def error(self) -> float:
        """Relative, against the nearer end of what is known; 0 between the ends."""
        low, high = self.case.expected_mbit
        nearest = min(max(self.net_mbit, low), high)
        return self.net_mbit / nearest - 1


def measure_links(case: LinkCase, cluster: Cluster, program: Path, folder: Path, ops: int) -> LinkFigures:
    k = case.ranks_per_host
    results = measure(cluster, program, folder, k, "--sizes", str(case.size), "--ops", str(ops), "--warmup", "1")
    assert list(results.columns["nodes"]) == [case.hosts]
    with h5py.File(folder / "a.h5", "r") as file:
        names = [name.decode() for name in file["counters/port_names"]]
        counted = file["counters/port"][0, :, names.index("e0/statistics/tx_bytes")]
    moved = ops * case.size * k * (case.hosts - 1) * k
    return LinkFigures(case, ops, float(results.columns["gbps_node_net"][0]) * 1e3, counted / moved)


def last_ranks(results: Results, point: int = 0) -> np.ndarray:
    """The rank that ended last, of every valid op."""
    samples = results.samples(point)
    ends = np.maximum(samples["send_done"], samples["recv_done"])
    return ends.argmax(axis=1)[samples["valid"]]
