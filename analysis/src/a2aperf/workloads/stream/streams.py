# SPDX-License-Identifier: BSD-3-Clause
"""How many streams run at once: a row has what all of them carry together."""

from __future__ import annotations

import pandas as pd

from a2aperf import labels

_HALVES = ("halves", "neighbours")
"""Pairings in which every rank is in one pair."""


def count(pairs: object, ranks: int) -> int:
    """Of `stream_pairs` at so many ranks; of what does not tell it one."""
    if pd.isna(pairs) or not pairs:  # type: ignore[call-overload]
        return 1
    return max(1, ranks // 2) if pairs in _HALVES else str(pairs).count(",") + 1


def at_once(points: pd.DataFrame) -> str:
    """`4 streams`, `1 to 4 streams`; empty where each point has one."""
    if "stream_pairs" not in points:
        return ""
    counts = {
        count(pairs, int(ranks))
        for pairs, ranks in points[["stream_pairs", "ranks"]].itertuples(index=False)
    }
    return f"{labels.range_text(counts)} streams" if counts - {1} else ""
