# SPDX-License-Identifier: BSD-3-Clause
"""The pairs of one file, with the names of their nodes and switches, by rank or by node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf import switches
from a2aperf.errors import InputError
from a2aperf.labels import range_count_text
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.workloads.pairs import model, stored
from a2aperf.workloads.pairs.model import Floats, Ints, Weak
from a2aperf.workloads.pairs.stored import Pairs

ROLE: Final = "pair"
"""Of its points, which are steps of an all-to-all and no figures of one."""
Level = Literal["rank", "node"]
_FEWEST_NODES: Final = 4
"""With fewer, senders and receivers are told apart by rank, or not at all."""
_DISAGREE: Final = 2.0
"""A time counts as longer when it is by so many clock errors."""


@dataclass(frozen=True)
class View:
    """A square matrix of times and rates, row for row with `names`, `nodes` and `switches`."""

    level: Level
    index: int
    """Of the message size."""
    message_size: int
    names: list[str]
    nodes: list[str]
    switches: list[str]
    row: Ints
    """Row of each rank [R]."""
    times: Floats
    gbps: Floats

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.names)

    @property
    def has_steps(self) -> bool:
        """Whether row r + d mod R is what r sent to in step d: rows are ranks in their order."""
        return (
            bool((self.row == np.arange(self.size)).all()) if len(self.row) == self.size else False
        )


@dataclass(frozen=True)
class Links:
    """All that a file of `a2aperf pairs` says."""

    file: str
    launch: Launch
    pairs: Pairs
    switch_of: dict[str, str]
    """Leaf switch of each node; empty where nobody knows."""

    @property
    def ranks(self) -> int:
        """R."""
        return int(self.pairs.gbps.shape[1])

    @property
    def node(self) -> Ints:
        """Node of each rank [R], an index into the launch's nodes."""
        placed = self.launch.node_of_rank
        return placed.astype(np.int64) if placed.size == self.ranks else np.zeros(self.ranks, int)

    def index_of(self, sizes: set[int], smallest: bool = False) -> int:
        """Of the largest (or smallest) of these message sizes, or of all where none is there."""
        known = self.pairs.message_size
        asked = [i for i, size in enumerate(known) if int(size) in sizes] or range(known.size)
        choose = min if smallest else max
        return choose(asked, key=lambda i: int(known[i]))

    def view(self, index: int, level: Level) -> View:
        """The pairs of one message size. By node: the median over the pairs of their ranks."""
        times, gbps, node = self.pairs.time_p50[index], self.pairs.gbps[index], self.node
        size = int(self.pairs.message_size[index])
        hosts = self.launch.nodes or ["?"]
        on = switches.of_nodes(hosts, self.switch_of)
        if level == "node" or len(set(node)) == self.ranks:
            row = node
            times, gbps = (_by_node(values, node, len(hosts)) for values in (times, gbps))
            names, nodes, switched = list(hosts), list(hosts), on
        else:
            row = np.arange(self.ranks)
            nodes = [hosts[n] for n in node]
            single = len(set(nodes)) == 1
            names = [f"{r}" if single else f"{r} ({host})" for r, host in enumerate(nodes)]
            names = [f"rank {name}" for name in names]
            switched = [on[n] for n in node]
        return View(level, index, size, names, nodes, switched, row, times, gbps)

    def between(self, index: int) -> View:
        """What is judged: pairs of nodes where there are enough of them, else of ranks.

        Of ranks on several nodes only pairs between nodes, for inside a node memory is measured.
        """
        used = len(set(self.node))
        if used >= _FEWEST_NODES:
            return self.view(index, "node")
        return self.by_rank(index)

    def by_rank(self, index: int) -> View:
        """Pairs of ranks, those inside a node left out where there are several nodes."""
        view = self.view(index, "rank")
        if len(set(self.node)) in (1, self.ranks):
            return view
        inside = self.node[:, None] == self.node[None, :]
        return replace(view, times=np.where(inside, np.nan, view.times))

    def inside(self, index: int) -> Floats:
        """Median time of the pairs inside each node [N], ns; NaN where there is none."""
        times = self.pairs.time_p50[index]
        node = self.node
        hosts = len(self.launch.nodes)
        same = node[:, None] == node[None, :]
        medians = np.full(hosts, np.nan)
        for host in range(hosts):
            values = times[same & (node == host)[:, None]]
            values = values[np.isfinite(values)]
            if values.size:
                medians[host] = np.median(values)
        return medians

    def weak(self, view: View) -> list[Weak]:
        """What stands out in a view."""
        names = sorted({switch for switch in view.switches if switch})
        groups = np.array([names.index(s) if s else -1 for s in view.switches], np.int64)
        return model.weak(
            view.times,
            groups if names else None,
            self._resolution(view),
            has_steps=view.has_steps,
        )

    def _resolution(self, view: View) -> float:
        """Difference of times that clocks which disagree can make, ns.

        With a barrier start a rank's clock begins when it leaves the barrier. Whatever lies between
        two such moments is added one way and taken off the other: it shows in their difference.
        """
        if self.launch.attributes.get("sync") == "clock":
            error = float(self.launch.attributes.get("clock_error_ns", np.nan))
            return _DISAGREE * error if np.isfinite(error) else 0.0
        apart = np.abs(view.times - view.times.T) / 2
        known = apart[np.isfinite(apart)]
        return _DISAGREE * float(np.median(known)) / 0.6745 if known.size else 0.0

    def suspects(self, index: int) -> list[tuple[int, int]]:
        """Pairs of ranks that had a second look at this size."""
        at = self.pairs.suspect_size == index
        found = zip(self.pairs.suspect_source[at], self.pairs.suspect_destination[at], strict=True)
        return [(int(s), int(d)) for s, d in found if s >= 0 and d >= 0]

    def alone(self, view: View, source: int, destination: int) -> tuple[float, int]:
        """Rate of a pair of rows while all others were silent, Gbit/s, and the ops behind it.

        (NaN, 0) where nobody looked.
        """
        looked = self.pairs
        hit = (looked.suspect_size == view.index) & (looked.suspect_source >= 0)
        hit &= view.row[np.maximum(looked.suspect_source, 0)] == source
        hit &= view.row[np.maximum(looked.suspect_destination, 0)] == destination
        hit &= np.isfinite(looked.isolated_gbps)
        if not hit.any():
            return float("nan"), 0
        return float(np.median(looked.isolated_gbps[hit])), int(
            (looked.isolated_time[hit] >= 0).sum()
        )

    def notes(self, index: int) -> list[str]:
        """What is to be said of the figures: n, and pairs that are left out on purpose."""
        ops = self.pairs.ops[index][np.isfinite(self.pairs.gbps[index])]
        said = []
        if ops.size:
            said.append(f"n\u00a0=\u00a0{range_count_text(map(int, ops), 'op')} per pair")
        wanted = self.ranks * (self.ranks - 1)
        if ops.size < wanted:
            said.append(f"{ops.size} of {wanted} pairs measured")
        return said


def _by_node(values: Floats, node: NDArray[np.int64], count: int) -> Floats:
    """Median over the ranks of two nodes [N, N]; NaN on the diagonal and where none is known."""
    most = int(np.bincount(node, minlength=count).max(initial=1))
    place = np.full((count, most), len(node))  # the rank after the last has no values
    for host in range(count):
        own = np.flatnonzero(node == host)
        place[host, : own.size] = own
    padded = np.pad(values, (0, 1), constant_values=np.nan)
    blocks = padded[place[:, None, :, None], place[None, :, None, :]]
    out = model.medians(blocks.reshape(count, count, -1), axis=2)
    np.fill_diagonal(out, np.nan)
    return out


def files(results: Results) -> list[str]:
    """Files that hold a matrix of pairs and have a complete point of it here."""
    return results.files_with((ROLE,))


def read(results: Results, file: str, topology: Path | None = None) -> Links:
    """The pairs of a file; switches from `topology` or from what is attached to its launch.

    Raises InputError where the file has no matrix or says nothing of who measured it.
    """
    rows = results.points[(results.points["file"] == file) & results.points["launch"].notna()]
    if rows.empty:
        raise InputError(f"{results.files[file]}: no pair is measured yet")
    launch = results.launches[str(rows["launch"].iloc[-1])]
    pairs_of = stored.read(results, file)
    known = switches.read(topology) if topology else switches.attached(launch.attachments)
    if topology and not any(switches.of_nodes(launch.nodes, known)):
        raise InputError(
            f"{topology}: names none of the nodes of {results.files[file]}, such as "
            f"{launch.nodes[0] if launch.nodes else '?'}"
        )
    return Links(file, launch, pairs_of, known)
