# SPDX-License-Identifier: BSD-3-Clause
"""Following the file of a running job."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from a2aperf import loading, oversubscription, results
from a2aperf.errors import InputError
from a2aperf.launch import Launch


@dataclass(frozen=True)
class Step:
    """What has come since the last look."""

    fresh: results.Results
    """Points that became complete, skipped or failed, in the order of measurement; no sentinels,
    which show drift and are no result."""
    done: int
    total: int
    end_state: str
    """Of the newest launch: running, finished, interrupted or failed."""
    message: str
    crowded: list[str]
    """Where cores are oversubscribed, in words."""


class StalledError(Exception):
    """The file says "running", but no point has come for the whole patience."""


def follow(
    path: Path,
    interval_s: float,
    patience_s: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Step]:
    """One step at once, then one per change, until the run has ended.

    The file is opened anew for every look: a clean end replaces it by a compact one. Raises
    StalledError after `patience_s` without a new point (a killed run looks like that), InputError
    for a file that cannot be read at the first look or stays unreadable as long.
    """
    seen: set[int] = set()
    known = 0
    last = clock()
    first = True
    while True:
        try:
            step = _look(path, seen)
        except InputError:
            # between two looks the file may be replaced, or have a half-written row
            if first or clock() - last > patience_s:
                raise
            sleep(interval_s)
            continue
        if first or len(seen) > known or step.end_state != "running":
            last, known = clock(), len(seen)
        if first or not step.fresh.points.empty or step.end_state != "running":
            yield step
        if step.end_state != "running":
            return
        if clock() - last > patience_s:
            raise StalledError
        first = False
        sleep(interval_s)


def _look(path: Path, seen: set[int]) -> Step:
    found = loading.load([path])
    if _newest(found).end_state != "running":
        # The last points may have come between reading them and reading that it was the end.
        found = loading.load([path])
    points = found.points
    ended = points["state"] != "pending"
    fresh = ended & ~points["point"].isin(seen)
    seen.update(points.loc[ended, "point"])
    result = points["role"] != "sentinel"
    chosen = found.select(fresh & result)
    in_time = chosen.points.sort_values(["segment", "order"], na_position="last").index
    newest = _newest(found)
    return Step(
        chosen.reordered(in_time),
        int((ended & result).sum()),
        int(result.sum()),
        newest.end_state,
        newest.message,
        oversubscription.in_launches(found.launches.values()),
    )


def _newest(found: results.Results) -> Launch:
    return list(found.launches.values())[-1]
