# SPDX-License-Identifier: BSD-3-Clause
"""Where latencies at a rate say less than they seem to."""

from __future__ import annotations

from collections.abc import Iterator

from a2aperf.labels import count_text, list_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.open_loop import rates


def not_kept(found: Results) -> Iterator[str]:
    """Sizes at which the rate was not kept, those of as many launches together."""
    points = found.points[found.points[["offered_rate", "achieved_rate"]].notna().all(axis=1)]
    points = points.assign(lost=~rates.kept(points))
    told: dict[tuple[int, int], list[str]] = {}
    for size in sorted(int(one) for one in points["message_size"].unique()):
        lost = points[points["message_size"] == size].groupby("launch")["lost"].any()
        if lost.any():
            told.setdefault((int(lost.sum()), len(lost)), []).append(size_text(size))
    for (lost_in, of), sizes in told.items():
        yield (
            f"at {list_text(sizes, 12)} the rate was not kept in {lost_in} of "
            f"{count_text(of, 'launch', 'launches')}, where latencies grow with the length of a "
            "point"
        )
