# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be true of messages at a rate."""

from __future__ import annotations

from collections.abc import Iterator

from a2aperf import halves
from a2aperf.results import Results


def contradictions(found: Results) -> Iterator[str]:
    """No message and its answer are faster than the link that all pairs cross."""
    points = found.points
    if "echo_pairs" not in points:
        return
    crossing = points[(points["echo_pairs"] == halves.ASKED) & (points["relays"].fillna(0) == 0)]
    yield from halves.before_link(found, crossing, 2.0 * crossing["message_size"])
