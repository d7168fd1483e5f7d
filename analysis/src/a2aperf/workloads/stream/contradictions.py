# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be true of streams."""

from __future__ import annotations

from collections.abc import Iterator

from a2aperf import halves
from a2aperf.results import Results


def contradictions(found: Results) -> Iterator[str]:
    """More from one node to another than their link carries, where every pair crosses it."""
    points = found.points
    if "stream_pairs" in points and "duplex" in points:
        one_way = (points["stream_pairs"] == halves.ASKED) & (points["duplex"] == "one way")
        yield from halves.above_link(found, points[one_way.fillna(False)])
