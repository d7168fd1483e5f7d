# SPDX-License-Identifier: BSD-3-Clause
"""How late the ranks of each node are in the ops of a point, on the common clock.

A node is as late as the last of its ranks. Late is who ends after the middle node, or begins after
it: who was stopped before the op had the others wait, and ends with them. Who sends slowly is
early: the others wait for its messages, and it does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.raw_ops import RawOps

Floats = NDArray[np.float64]

_MOST: Final = 4.0
"""Median op times that an op may count as: one pause is not the whole launch."""


@dataclass(frozen=True)
class Lateness:
    """Of each node [N] the mean over the ops: whole in ns, or no op as more than some median ops.

    `late` and `early` are shares of the median op time.
    """

    late: Floats
    early: Floats
    late_ns: Floats
    early_ns: Floats


def of_point(raw: RawOps, node: NDArray[np.integer[Any]], typical: float) -> Lateness:
    """Of all attempts; an op that began late says that, and not how it ended.

    `node` of each rank [R], equally many a node; `typical` is the median op time, ns.
    """
    moved = np.int64(0) if raw.exit is None else raw.exit
    begins = _beside(raw.begin + moved, node)
    ends = _beside((raw.end + moved)[raw.valid], node)
    late = begins
    late[raw.valid] = np.maximum(late[raw.valid], ends)
    return Lateness(
        _mean(np.clip(late / typical, -_MOST, _MOST)),
        _mean(np.clip(-ends / typical, -_MOST, _MOST)),
        _mean(late),
        _mean(-ends),
    )


def _beside(moments: NDArray[np.int64], node: NDArray[np.integer[Any]]) -> Floats:
    """The last moment of each node's ranks after that of the middle node, ns [ops, N]."""
    order = np.argsort(node, kind="stable")
    count = int(node.max()) + 1
    last = moments[:, order].reshape(len(moments), count, -1).max(axis=2)
    return np.asarray(last - np.median(last, axis=1, keepdims=True), dtype=np.float64)


def _mean(values: Floats) -> Floats:
    return np.asarray(values.mean(axis=0)) if len(values) else np.zeros(values.shape[1])
