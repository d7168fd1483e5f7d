# SPDX-License-Identifier: BSD-3-Clause
"""Whether the points of a file say what its paths do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from a2aperf import derived, shares
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results
from a2aperf.workloads.qos import stored
from a2aperf.workloads.qos.experiments import ROLE


def paths(found: Results, file: str) -> Iterator[str]:
    """What is wrong between `/paths` and the complete points, in words."""
    group = stored.read(found, file)
    if not group.of_point.size and "repaired" in found.attributes[file]:
        return  # lost, and said so
    points = found.measured((ROLE,)).points
    for _, row in points[points["file"] == file].iterrows():
        yield from (f"point {row['point']}: {what}" for what in _point(group, row))


def _point(group: stored.Paths, row: pd.Series) -> Iterator[str]:
    mine = group.rows(int(row["point"]))
    if len(mine) != row["path_count"] or (group.number[mine] != np.arange(len(mine))).any():
        yield f"has {row['path_count']} paths, and /paths has {len(mine)} of it, or other numbers"
        return
    for end in (group.source[mine], group.destination[mine]):
        if (end >= row["ranks"]).any():
            yield f"a path of /paths ends at a rank beyond its {row['ranks']}"
    part = group.shared(int(row["point"]))
    if (
        pd.notna(row.get("shared_time"))
        and part is not None
        and not part.is_carried(row["clock_error"])
    ):
        yield f"shared_time is {row['shared_time']} ns, no time for its messages: no rate follows"
        return
    again: dict[str, float] = {"shared_time": 0, "shared_intervals": 0, "messages": 0, "bytes": 0}
    again |= {name: float(x) for name, x in shares.figures(part).items()}
    known = {name: value for name, value in again.items() if name in row and pd.notna(row[name])}
    for name, stored_, value in derived.contradicted(row, known, least=0):
        yield f"{name} is {stored_:g}, its paths say {value:g}"
