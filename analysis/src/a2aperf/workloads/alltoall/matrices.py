# SPDX-License-Identifier: BSD-3-Clause
"""Who sends how much to whom where traffic is not uniform: the group `/matrices`, and what it asks.

Matrices are [source, destination]; bytes and bounds are those of one op.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from a2aperf.datasets import Described
from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.schema import UNKNOWN
from a2aperf.workloads.alltoall import forwarding
from a2aperf.workloads.workload import Arrays, Group, Joining, Remaking, Steps

TRAFFIC: Final = "traffic"
UNIFORM: Final = "uniform"
_INDEX: Final = "traffic_matrix"
DRAWS: Final = "traffic_draws"
COLUMNS: Final = frozenset(
    {TRAFFIC, _INDEX, "traffic_digest", DRAWS, "largest_message", "imbalance"}
    | {"node_imbalance", "busiest", "busiest_index", "bound", "bound_share"}
)
"""Of the points of an all-to-all; older files lack them."""
_WEIGHT: Final = "weight"
_MOST_BYTES = 1 << 30  # of all matrices of a merged file


def _as_read(arrays: Arrays, steps: Steps, ranks: int, by_index: bool) -> dict[str, NDArray[Any]]:
    """No sample tells a matrix: what was read, else one that says nothing."""
    return {_WEIGHT: arrays.get(_WEIGHT, np.zeros((1, ranks, ranks), np.int64))}


def _unknown(arrays: Arrays) -> dict[str, NDArray[Any]]:
    return {_WEIGHT: np.zeros_like(arrays[_WEIGHT])}


def _joined(parts: Sequence[Arrays]) -> tuple[dict[str, NDArray[Any]], list[int]]:
    """Those of fewer ranks are the first rows and columns; files that have the same share them."""
    ranks = max(one[_WEIGHT].shape[-1] for one in parts)
    begins: dict[tuple[tuple[int, ...], bytes], int] = {}
    stacks, offsets, total = [], [], 0
    for one in parts:
        weight = one[_WEIGHT]
        key = weight.shape, hashlib.sha256(weight.tobytes()).digest()
        if key not in begins:
            begins[key] = total
            total += len(weight)
            if 8 * total * ranks**2 > _MOST_BYTES:
                raise MemoryError(f"{total} matrices of {ranks} ranks")
            stacks.append(weight)
        offsets.append(begins[key])
    joined = np.zeros((total, ranks, ranks), np.int64)
    for stack, begin in zip(stacks, begins.values(), strict=True):
        own = stack.shape[-1]
        joined[begin : begin + len(stack), :own, :own] = stack
    return {_WEIGHT: joined}, offsets


GROUP: Final = Group(
    "matrices",
    {
        _WEIGHT: Described(
            "share of the bytes from source to destination; 0 = no message",
            ("matrix", "source", "destination"),
        )
    },
    "the matrices of its own traffic",
    Remaking(_as_read, _unknown, "the matrices of its traffic"),
    optional=True,
    joining=Joining(_INDEX, _joined),
)


def is_uniform(row: Mapping[str, Any] | pd.Series) -> bool:
    """Whether every rank sends the same to all others; so it was before there was a column."""
    return row.get(TRAFFIC, UNIFORM) in (UNIFORM, "")


def are_uniform(points: pd.DataFrame) -> pd.Series[bool]:
    """`is_uniform` of each point."""
    if TRAFFIC not in points:
        return pd.Series(True, index=points.index)
    return points[TRAFFIC] == UNIFORM


def have_equal_ranks(points: pd.DataFrame) -> pd.Series[bool]:
    """Whether all ranks and nodes have the same to do: leaders that forward have more."""
    return are_uniform(points) & ~forwarding.are_forwarded(points)


def weights(results: Results, row: pd.Series) -> NDArray[np.int64] | None:
    """The matrix of a point; None where its traffic is uniform, or the file has lost the matrix.

    That of the first op where each has one of its own.
    """
    of_ops = in_turn(results, row)
    return None if of_ops is None else of_ops[0]


def in_turn(results: Results, row: pd.Series) -> NDArray[np.int64] | None:
    """The matrices that the ops of a point take in turn, [draw, source, destination]; as above."""
    if is_uniform(row) or pd.isna(row.get(_INDEX)):
        return None
    index, ranks, count = int(row[_INDEX]), int(row["ranks"]), draws(row)
    stored = results.group(str(row["file"]), GROUP.name, GROUP.datasets, _sound)
    if not 0 <= index <= len(stored) - count or stored.shape[1] < ranks:
        return None
    of_ops = stored[index : index + count]
    if of_ops[:, ranks:].any() or of_ops[:, :, ranks:].any():  # of another number of ranks
        return None
    of_ops = of_ops[:, :ranks, :ranks]
    return of_ops if of_ops.any(axis=(1, 2)).all() else None


def goes_one_way(ops: NDArray[np.int64]) -> bool:
    """Whether a message of such matrices goes to a rank from which no way leads back.

    On ways that lead back what ranks begin apart cancels out; on others it is in the op's time.
    """
    from scipy.sparse import csgraph  # takes a while, and is seldom asked for

    for sent in ops > 0:
        _, part = csgraph.connected_components(sent, directed=True, connection="strong")
        source, destination = np.nonzero(sent)
        if (part[source] != part[destination]).any():
            return True
    return False


def draws(row: Mapping[str, Any] | pd.Series) -> int:
    """How many matrices the ops take in turn; older files have one."""
    count = row.get(DRAWS, 1)
    return 1 if pd.isna(count) else max(int(count), 1)


def _sound(arrays: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    stored = arrays[_WEIGHT]
    if stored.ndim != 3 or stored.shape[1] != stored.shape[2] or (stored < 0).any():
        raise ValueError("/matrices/weight is not square, or a share is below 0")
    if any(one.diagonal().any() for one in stored):
        raise ValueError("/matrices/weight: a rank sends to itself")
    return stored


def bytes_of(matrix: NDArray[np.int64], message_size: int) -> NDArray[np.int64]:
    """To the nearest, by the formula of docs/file-format.md; what has a share has a byte."""
    ranks, whole = len(matrix), matrix.astype(object)
    total = int(whole.sum())
    exact = (whole * (ranks * (ranks - 1) * message_size) + total // 2) // total
    return np.where(matrix > 0, np.maximum(exact.astype(np.int64), 1), 0)


@dataclass(frozen=True)
class Busiest:
    """Who has most to move, in which direction."""

    kind: str = "none"
    index: int = UNKNOWN
    amount: float = 0.0

    @property
    def words(self) -> str:
        """`rank 3 receives`."""
        who, _, does = self.kind.partition("-")
        return f"{who} {self.index} {does}" if does else ""


def link_rates(launch: Launch) -> tuple[float, float]:
    """What the adapters of a rank carry, and those of a node, in Gbit/s; NaN or below 0: unknown.

    Of a rank older files know one.
    """
    rails, of_rank, rate = (
        float(launch.attributes[name]) for name in ("rails", "rank_rails", "link_rate_gbps")
    )
    return max(of_rank, 1.0) * rate, rails * rate


def _most(sent: NDArray[Any], received: NDArray[Any], who: str) -> Busiest:
    if sent.max() >= received.max():
        return Busiest(f"{who}-sends", int(sent.argmax()), float(sent.max()))
    return Busiest(f"{who}-receives", int(received.argmax()), float(received.max()))


@dataclass(frozen=True)
class Loads:
    """What an op asks of ranks, nodes and their links; `across`: what passes between nodes."""

    total: float
    messages: int
    largest: int
    rank: Busiest
    rank_across: Busiest
    node: Busiest
    left: NDArray[np.float64]
    """Bytes that leave each node, [N]."""
    halves: float
    """One way between the halves of the node list, the larger way."""

    @staticmethod
    def of(sizes: NDArray[np.int64], node_of_rank: ArrayLike) -> Loads:
        """`sizes` [source, destination] in bytes."""
        node = np.asarray(node_of_rank)
        nodes = int(node.max()) + 1
        crossing = np.where(node[:, None] != node[None, :], sizes, 0)
        by_node = np.zeros((nodes, nodes))
        np.add.at(by_node, (node[:, None], node[None, :]), crossing)
        lower = np.arange(nodes) < nodes // 2
        ways = by_node[lower][:, ~lower].sum(), by_node[~lower][:, lower].sum()
        return Loads(
            float(sizes.sum()),
            int(np.count_nonzero(sizes)),
            int(sizes.max()),
            _most(sizes.sum(axis=1), sizes.sum(axis=0), "rank"),
            _most(crossing.sum(axis=1), crossing.sum(axis=0), "rank"),
            _most(by_node.sum(axis=1), by_node.sum(axis=0), "node"),
            by_node.sum(axis=1),
            float(max(ways)),
        )

    def rank_imbalance(self, ranks: int) -> float:
        """What the busiest rank sends or receives, over the mean of all."""
        return self.rank.amount / (self.total / ranks)

    def node_imbalance(self) -> float:
        """The same of nodes and what passes between them; NaN where nothing does."""
        across = float(self.left.sum())
        return self.node.amount / (across / len(self.left)) if across > 0 else np.nan

    def bound(self, rank_gbps: float, node_gbps: float) -> tuple[float, Busiest]:
        """The shortest time in ns that the links allow, and who asks for it; NaN where unknown."""
        found = np.nan, Busiest()
        for busiest, gbps in ((self.node, node_gbps), (self.rank_across, rank_gbps)):
            if gbps > 0 and busiest.amount > 0:
                time = 8 * busiest.amount / gbps  # 1 Gbit/s = 1 bit/ns
                if not found[0] >= time:
                    found = time, busiest
        return found
