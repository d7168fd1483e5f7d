# SPDX-License-Identifier: BSD-3-Clause
"""Times in which no rank can have looked at its messages: of damaged files, or wrong clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from a2aperf import schema
from a2aperf.deferred import pandas as pd
from a2aperf.labels import count_text
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.alltoall import forwarding, matrices, one_way

_TIMES = tuple(name for name in schema.TIMES if name.startswith("time_"))


def most(points: pd.DataFrame) -> pd.Series[Any]:
    """The longest time (ns) in which no op of a point can be done; NaN where nobody can tell.

    Whatever starts an op, the last rank to begin sends to all others, in a nanosecond none of
    them, and its last message has a receiver that began before. How MPI and leaders that forward
    split messages is not known, but an op has one at least. What one rank sends another may be
    there before that one begins, so traffic of another kind than uniform is not judged.
    """
    judged = (
        points["has_raw"]
        & (points["ranks"] > 1)
        & (points["state"] == "complete")
        & (points["role"] != schema.PIPELINED)
        & (points["distance"].fillna(0) <= 0 if "distance" in points else True)
        & matrices.are_uniform(points)
    )
    all_others = (points["engine"] == "a2aperf") & ~forwarding.are_forwarded(points)
    peers = (points["ranks"] - 1).where(all_others, 1)
    return (schema.IMPOSSIBLE_NS * peers).astype("float64").where(judged)


def without_times(found: Results) -> Results:
    """Leaves out such times and what follows from them: whoever checks the file is told.

    And what `one_way` leaves out.
    """
    found = one_way.without_rates(found)
    points = found.points
    if not {"time_p50", "ranks", "state", "engine"} <= set(points):  # who asked wanted others
        return found
    limit = most(points)
    wrong = points["time_p50"] <= limit
    if not wrong.any():
        return found
    said = [
        f"point {row['point']}: time_p50 is {row['time_p50']:g} ns with {_messages(least)}: "
        "that is no time, and no rate follows from it"
        for (_, row), least in zip(points[wrong].iterrows(), limit[wrong], strict=True)
    ]
    paths = Counter(found.launches[str(launch)].path for launch in points.loc[wrong, "launch"])
    told = [
        f"{path}: times of {count_text(count, 'point')} left out: no op can be done so soon"
        for path, count in paths.items()
    ]
    names = [name for name in (*_TIMES, *one_way.LEFT_OUT) if name in points]
    left = points.assign(**{name: points[name].mask(wrong) for name in names})
    return replace(found, points=left, untold=(*found.untold, *said), older=(*found.older, *told))


def of_samples(row: pd.Series[Any], raw: RawOps) -> Iterator[str]:
    """What is wrong of the ops of a point, in words."""
    limit = float(most(row.to_frame().T.infer_objects()).iloc[0])
    count = int((raw.valid & (raw.op_times() <= limit)).sum())
    if count:
        ops = "a valid op takes" if count == 1 else f"{count} valid ops take"
        yield f"{ops} {limit:g} ns or less with {_messages(limit)}: that is no time"


def _messages(limit: float) -> str:
    return f"{count_text(round(limit / schema.IMPOSSIBLE_NS), 'message')} of the busiest rank"
