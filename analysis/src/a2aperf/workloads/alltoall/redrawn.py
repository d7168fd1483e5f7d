# SPDX-License-Identifier: BSD-3-Clause
"""Traffic that is drawn anew for each op: what the ops of a point ask, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import metrics
from a2aperf.launch import Launch
from a2aperf.metrics import Rule
from a2aperf.raw_ops import RawOps
from a2aperf.workloads.alltoall import matrices


@dataclass(frozen=True)
class Asked:
    """What each draw asks of ranks, nodes and links."""

    loads: list[matrices.Loads]
    ranks: int
    bounds: NDArray[np.float64]
    """ns; NaN where unknown."""

    @staticmethod
    def of(stack: NDArray[np.int64], size: int, launch: Launch) -> Asked:
        """`stack`: matrices, [draw, source, destination]."""
        loads = [
            matrices.Loads.of(matrices.bytes_of(one, size), launch.node_of_rank) for one in stack
        ]
        rates = matrices.link_rates(launch)
        bounds = np.array([one.bound(*rates)[0] for one in loads])
        return Asked(loads, stack.shape[1], bounds)


def of_ops(raw: RawOps, draws: int) -> NDArray[np.intp]:
    """Which draw each valid op had: the first attempt has the first, and they begin again."""
    return np.flatnonzero(raw.valid) % draws


def figures(asked: Asked, raw: RawOps, rule: Rule) -> dict[str, Any]:
    """What the traffic alone asks, by column: means of the valid ops, and a median of shares."""
    draw = of_ops(raw, len(asked.loads))
    bounds = asked.bounds[draw]
    shares = bounds / raw.op_times()[raw.valid]
    known = shares[~np.isnan(shares)]
    imbalance = np.array([one.rank_imbalance(asked.ranks) for one in asked.loads])
    nodes = np.array([one.node_imbalance() for one in asked.loads])
    return {
        "largest_message": max(one.largest for one in asked.loads),
        "imbalance": _mean_of_known(imbalance[draw]),
        "node_imbalance": _mean_of_known(nodes[draw]),
        "busiest": "none",
        "busiest_index": np.nan,
        "bound": _mean_of_known(bounds),
        "bound_share": metrics.percentile(known, 0.5, rule) if known.size else np.nan,
    }


def _mean_of_known(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
