# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that something else took the core from while they were timed.

Of ops it is known how often is too often, by what one costs; of samples that last as long as a
point, such as streams, it is judged by the CPU time that a rank had: the system takes the core of
every process now and then, and from one that shares it at each of its time slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd
from a2aperf.labels import count_text
from a2aperf.results import Results

_PER_OP: Final = 0.05
_PER_SECOND: Final = 50.0
"""Involuntary context switches that are worth a word: of an op, of a second of CPU time."""
_SECOND: Final = "second of CPU time"
_NS: Final = 1e9
_LEAST: Final = 0.1
"""Seconds: the kernel counts CPU time by its ticks, and so little of it tells nothing."""


@dataclass(frozen=True)
class Preempted:
    """The involuntary context switches of each rank [R], and the `rate` [R]."""

    switches: NDArray[np.int64]
    rate: NDArray[np.float64]
    limit: float
    unit: str
    during: str
    """What `switches` of the worst rank were counted in."""
    n: int
    counted: str
    """What it rests on: so many ops, or points."""


def of_launch(found: Results, launch: str) -> Preempted | None:
    """Over all points of a launch; None where nobody counted."""
    points = found.points[(found.points["launch"] == launch) & found.points["has_raw"]]
    return _of_ops(found, points) if found.judged.has_ops else _of_time(found, points)


def is_often(found: Results, launch: str) -> bool:
    """Whether a rank of the launch lost its core more often than is worth nothing."""
    of = of_launch(found, launch)
    return bool(of and (of.rate > of.limit).any())


def words(yielding: bool) -> tuple[str, str]:
    """What the ranks did, and what was counted; `yielding`: ranks give their core away, too."""
    if yielding:
        return "yielded their core or were preempted", "context switches"
    return "were preempted", "involuntary context switches"


def limit_text(of_ops: bool, kind: str) -> str:
    """`0.05 context switches per op`."""
    limit, unit = (_PER_OP, "op") if of_ops else (_PER_SECOND, _SECOND)
    return f"{limit:g} {kind} per {unit}"


def _of_ops(found: Results, points: pd.DataFrame) -> Preempted | None:
    switches: NDArray[np.int64] | None = None
    ops = 0
    for file, point, attempts in points[["file", "point", "attempts"]].itertuples(index=False):
        of_ranks = found.switches(str(file), int(point))
        if of_ranks is not None:
            switches = of_ranks if switches is None else switches + of_ranks
            ops += int(attempts)
    if switches is None or not ops:
        return None
    return Preempted(switches, switches / ops, _PER_OP, "op", count_text(ops, "op"), ops, "ops")


def _of_time(found: Results, points: pd.DataFrame) -> Preempted | None:
    keys = points[["file", "point"]].itertuples(index=False)
    read = [one.per_rank for file, point in keys if (one := found.counters(str(file), int(point)))]
    if not read:
        return None
    switches = np.sum([one["involuntary_switches"] for one in read], axis=0)
    used = np.sum([one["user_time"] + one["system_time"] for one in read], axis=0) / _NS
    rate = switches / np.maximum(used, _LEAST)
    worst = float(used[int(np.argmax(rate))])
    during = f"{worst:.3g} s" + (f", taken as {_LEAST:g} s" if worst < _LEAST else "")
    return Preempted(switches, rate, _PER_SECOND, _SECOND, during, len(read), "points")
