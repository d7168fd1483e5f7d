# SPDX-License-Identifier: BSD-3-Clause
"""Following the file of a running job."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from a2aperf import asking, file_lock, loading, oversubscription, results, schema
from a2aperf.errors import InputError
from a2aperf.file_lock import Writer
from a2aperf.launch import Launch


@dataclass(frozen=True)
class Step:
    """What has come since the last look."""

    fresh: results.Results
    """Points that became complete, skipped or failed, in the order of measurement; no sentinels,
    which show drift and are no result."""
    done: int
    total: int
    """Points of both that are counted (docs/words.md)."""
    end_state: str
    """Of the newest launch: running, finished, interrupted or failed; killed where the file says
    running and nobody writes it."""
    message: str
    written: float | None
    """Seconds since the file was written, where it is not known whether somebody still does."""
    crowded: list[str]
    """Where cores are oversubscribed, in words."""
    all: results.Results
    """Every point of the file, also those to come; no sentinels."""


class StalledError(Exception):
    """The file says "running", but no point has come for the whole patience."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds
        """Since the file was written."""


def follow(
    path: Path,
    interval_s: float,
    patience_s: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Step]:
    """One step at once, then one per change, until the run has ended.

    The file is opened anew for every look: a clean end replaces it by a compact one. Raises
    StalledError after `patience_s` without a new point (a killed run looks like that where no lock
    tells who writes), InputError for a file that cannot be read at the first look or stays
    unreadable as long.
    """
    seen: set[int] = set()
    known = 0
    last = clock()
    first = True
    while True:
        try:
            step = _judged(path, seen)
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
            raise StalledError(_age(path))
        first = False
        sleep(interval_s)


def _judged(path: Path, seen: set[int]) -> Step:
    had = set(seen)
    step = _look(path, seen)
    if step.end_state != "running":
        return step
    writer = file_lock.writer_of(path)
    if writer is Writer.GONE:
        # It may have ended in between. A launch says how before it leaves the file: look again.
        seen &= had
        step = _look(path, seen)
        writer = file_lock.writer_of(path)
        if step.end_state == "running" and writer is Writer.GONE:
            return replace(step, end_state="killed", message="no process writes this file any more")
    return replace(step, written=_age(path) if writer is Writer.UNKNOWN else None)


def _age(path: Path) -> float:
    return max(time.time() - path.stat().st_mtime, 0.0)


def _look(path: Path, seen: set[int]) -> Step:
    found = loading.load([path], question=asking.look)
    if _newest(found).end_state != "running":
        # The last points may have come between reading them and reading that it was the end.
        found = loading.load([path], question=asking.look)
    points = found.points
    ended = points["state"] != "pending"
    fresh = ended & ~points["point"].isin(seen)
    seen.update(points.loc[ended, "point"])
    counted = points["role"].map(schema.is_counted).astype(bool)
    own = points["role"] != "sentinel"
    chosen = found.select(fresh & own)
    in_time = chosen.points.sort_values(["segment", "order"], na_position="last").index
    newest = _newest(found)
    return Step(
        chosen.reordered(in_time),
        int((ended & counted).sum()),
        int(counted.sum()),
        newest.end_state,
        newest.message,
        None,
        oversubscription.in_launches(found.launches),
        found.select(own),
    )


def _newest(found: results.Results) -> Launch:
    return list(found.launches.values())[-1]
