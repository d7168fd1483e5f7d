# SPDX-License-Identifier: BSD-3-Clause
"""Which streams run at once: a row has what all of them carry together."""

from __future__ import annotations

import re

from a2aperf import labels
from a2aperf.deferred import pandas as pd

_LISTED = re.compile(r"\d{1,9}:\d{1,9}(,\d{1,9}:\d{1,9})*")


def of(pairs: object, duplex: object, ranks: int) -> list[tuple[int, int]]:
    """Who sends to whom, by `stream_pairs` and `duplex`; none where these do not tell it."""
    found = _one_way(str(pairs), ranks)
    return found + [(b, a) for a, b in found] if duplex == "both ways" else found


def _one_way(text: str, ranks: int) -> list[tuple[int, int]]:
    """As `--pairs` has it."""
    if text == "halves":
        return [(rank, rank + ranks // 2) for rank in range(ranks // 2)]
    if text == "neighbours":
        return [(rank, rank + 1) for rank in range(0, ranks - 1, 2)]
    if text in ("all-to-one", "one-to-all"):
        pairs = [(rank, 0) for rank in range(1, ranks)]
        return pairs if text == "all-to-one" else [(b, a) for a, b in pairs]
    if text == "loopback":
        return [(rank, rank) for rank in range(ranks)]
    if not _LISTED.fullmatch(text):
        return []
    pairs = [(int(a), int(b)) for a, b in re.findall(r"(\d+):(\d+)", text)]
    return pairs if all(max(pair) < ranks for pair in pairs) else []


def at_once(points: pd.DataFrame) -> str:
    """`4 streams`, `1 to 4 streams`; empty where each point has one, or none tells how many."""
    if "stream_pairs" not in points:
        return ""
    counts = _counts(points)
    return f"{labels.range_text(counts)} streams" if counts - {1} else ""


def together(points: pd.DataFrame) -> int | None:
    """How many streams each point has; None where that differs, 1 where none tells."""
    counts = _counts(points) if "stream_pairs" in points else {1}
    return counts.pop() if len(counts) == 1 else None


def _counts(points: pd.DataFrame) -> set[int]:
    told = [name for name in ("stream_pairs", "duplex", "ranks") if name in points]
    return {
        len(of(row["stream_pairs"], row.get("duplex"), int(row["ranks"]))) or 1
        for row in points[told].drop_duplicates().to_dict("records")
    }
