# SPDX-License-Identifier: BSD-3-Clause
"""The rate that a perfect network keeps when ranks are added, and with it the one to judge it by.

A rank's own rate must fall where its node's link is the limit: k ranks send to R − k others over
it, and (R−1) / (k (R−k)) of the link is what each of them gets, 47 % less at 16 nodes of 16 ranks
than at 2. What leaves a node can stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from a2aperf.deferred import pandas as pd

WORDS = {
    "gbps_node_net": "the rate per node through its network ports",
    "gbps_node_total": "the node's rate",
    "gbps_compat": "the rate per rank as the 2019 table counts it (with a message to self)",
    "gbps_rank": "the rate per rank",
}


def judged_by(points: pd.DataFrame) -> str:
    """Column of the rate that a perfect machine keeps, for points that are compared over scale.

    Through the ports where there are several nodes; the node's total on a single one. Where nodes
    are not recorded it is the rate per rank, to be compared with `excused`.
    """
    nodes = points["nodes"].astype("Float64")
    if nodes.isna().any():
        foreign = not points["has_raw"].any() and points["gbps_compat"].notna().all()
        return "gbps_compat" if foreign else "gbps_rank"
    return "gbps_node_total" if (nodes == 1).all() else "gbps_node_net"


def rank_share(ranks: ArrayLike, k: ArrayLike) -> NDArray[np.float64]:
    """What each of a node's k ranks gets of its link, gbps_rank ÷ link: (R−1) / (k (R−k))."""
    total, own = np.asarray(ranks, dtype=np.float64), np.asarray(k, dtype=np.float64)
    return np.asarray((total - 1) / (own * (total - own)))


def excused(column: str, few: int, many: int) -> float:
    """The least share of `few` ranks' rate that a perfect network may leave to `many`.

    1 for rates of nodes. For those of ranks on unknown nodes it is that of two nodes at the start,
    the most that sharing links can do; `many` ranks then share links with k = few / 2.
    """
    if column in ("gbps_node_net", "gbps_node_total"):
        return 1.0
    k = few / 2
    share = float(rank_share(many, k) / rank_share(few, k))
    if column == "gbps_compat":
        share *= many / (many - 1) / (few / (few - 1))
    return min(1.0, share)
