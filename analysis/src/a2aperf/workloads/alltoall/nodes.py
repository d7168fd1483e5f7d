# SPDX-License-Identifier: BSD-3-Clause
"""What an all-to-all says of its nodes: when their ranks have ended, in the median of the ops.

Only of ops that started by a common clock: with a barrier each rank counts from its own exit. And
only where all ranks have as much to do: a node that has more to move is rightly later. An op has
all directions and pairs at once, and tells none of them apart.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from a2aperf.explain import beside
from a2aperf.explain.finding import Finding
from a2aperf.nodes import study
from a2aperf.nodes.night import FEWEST_NODES, Night, Per, adapters, by_place, line, night
from a2aperf.results import Results
from a2aperf.workloads.alltoall import matrices

Floats = NDArray[np.float64]
_ENDS = "ends its ops"


def nights(found: Results, per: Per) -> Iterator[Night]:
    """Of each launch, on enough nodes."""
    if per not in ("node", "adapter"):
        return
    if not found.files_with(("measure",)):
        return
    points = found.measured().points
    points = points[matrices.have_equal_ranks(points)]
    points = points[points["has_raw"] & (points["engine"] == "a2aperf")]
    for launch, rows in points.groupby("launch"):
        facts = found.launches[str(launch)]
        if facts.attributes.get("sync") != "clock" or len(set(facts.node_of_rank)) < FEWEST_NODES:
            continue
        parted = adapters(facts) if per == "adapter" else None
        if per == "adapter" and parted is None:
            continue
        place = parted.of_rank if parted else facts.node_of_rank
        count = len(parted.names if parted else facts.nodes)
        by_size: dict[int, list[Floats]] = {}
        for file, point, size in rows[["file", "point", "message_size"]].itertuples(index=False):
            raw = found.raw(str(file), int(point))
            ends = np.log(np.median(raw.end[raw.valid], axis=0))
            by_size.setdefault(int(size), []).append(by_place(ends, place, count))
        # Points of one size differ by their settings: the median of them.
        lines = [
            line(_ENDS, size, np.median(np.array(effects), axis=0))
            for size, effects in by_size.items()
        ]
        yield from night(facts, rows["started"].min(), lines, parted)


def over_launches(found: Results) -> study.Study | None:
    """Each node over all launches, by the points in which every rank has the same to do."""
    measured = found.measured()
    return study.judge(measured.select(matrices.have_equal_ranks(measured.points)))


def standing_out(found: Results) -> list[Finding]:
    """The nodes that stand out over all launches."""
    return beside.findings(over_launches(found))
