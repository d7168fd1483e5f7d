# SPDX-License-Identifier: BSD-3-Clause
"""Messages that go by way of one rank of each node, its leader (`--schedule node-aware`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd

FORWARDED: Final = "forwarded_bytes"
_SCHEDULE: Final = "node-aware"


def is_forwarded(row: Mapping[str, Any] | pd.Series) -> bool:
    """Whether the messages of a point go by way of leaders."""
    return bool(row["schedule"] == _SCHEDULE)


def are_forwarded(points: pd.DataFrame) -> pd.Series[bool]:
    """The same of each point."""
    if "schedule" not in points:
        return pd.Series(False, index=points.index)
    return points["schedule"] == _SCHEDULE


def forwarded(node_of_rank: NDArray[np.integer[Any]], size: int) -> int:
    """Bytes of an op that leaders take from ranks of their node or give to them for others.

    On a node of k ranks each but the leader has R - k messages for other nodes, and gets as many.
    """
    on_node = np.bincount(node_of_rank)
    return int(2 * ((on_node - 1) * (len(node_of_rank) - on_node)).sum()) * size


def largest(node_of_rank: NDArray[np.integer[Any]], size: int) -> int:
    """The largest message, in bytes: between two leaders, or from a rank to its own.

    To its leader a rank sends what it has for other nodes and for the leader itself.
    """
    on_node = np.bincount(node_of_rank)
    most = np.sort(on_node)[::-1]
    between = int(most[0] * most[1]) if len(most) > 1 else int(most[0])
    within = [len(node_of_rank) - int(count) + 1 for count in on_node if count > 1]
    return max([between, *within]) * size
