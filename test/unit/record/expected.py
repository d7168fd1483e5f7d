# SPDX-License-Identifier: BSD-3-Clause
"""What test/support/synthetic.cpp writes, computed a second time."""

import numpy as np
from numpy.typing import NDArray


def attempts_of(point: int, most: int) -> int:
    """Attempts that the writer makes for a point."""
    return 1 + (point * 37 + most - 1) % most


def is_skipped(point: int, points: int) -> bool:
    """Whether the plan gives a reason to skip the point."""
    return 0 < point < points - 1 and point % 2 == 1 and point % 7 == 0


def samples_of(point: int, attempts: int, ranks: int) -> dict[str, NDArray[np.int64]]:
    """begin, send_done, recv_done [attempts, ranks]; start, valid [attempts]."""
    a = np.arange(attempts)[:, None]
    r = np.arange(ranks)[None, :]
    begin = a + r + point
    return {
        "begin": begin,
        "send_done": begin + 1000 + (7 * a + 3 * r) % 101,
        "recv_done": begin + 1000 + (5 * a + 11 * r) % 103,
        "start": 1_000_000 * np.arange(attempts),
        "valid": np.array([not (i > 0 and i % 10 == 0) for i in range(attempts)], dtype=np.int64),
    }


def median_of(point: int, attempts: int, ranks: int) -> float:
    """p50 of T by nearest rank, in ns."""
    samples = samples_of(point, attempts, ranks)
    ends = np.maximum(samples["send_done"], samples["recv_done"]).max(axis=1)
    valid = np.sort(ends[samples["valid"] == 1])
    return float(valid[-(-len(valid) // 2) - 1])
