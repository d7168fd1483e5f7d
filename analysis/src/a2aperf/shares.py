# SPDX-License-Identifier: BSD-3-Clause
"""How paths that are there at the same time share a link: arrays in, shares out.

The *shared part* are the intervals in which every path could send (docs/file-format.md). A share is
a path's bytes over those of all, and its interval that of a mean of values that may be like their
neighbours (`means`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import carried, means

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST: Final = 10
"""Intervals from which a share has an interval."""
_NONE: Final = -1


@dataclass(frozen=True)
class Shared:
    """The shared part: paths [X], n intervals. All times in ns."""

    begin: Floats
    """Of each interval, from the start of the point [n]."""
    length: Floats
    """The mean over the paths [n]."""
    bytes: Floats
    """What came on each path in each interval [X, n]; 0 of a path that told nothing."""
    messages: Floats
    idle: Floats
    """Share of the time in which each path had nothing outstanding [X]; NaN: not recorded."""
    known: NDArray[np.bool_]
    """Whether anything is known of the path [X]: one of which it is not is in no share."""

    @property
    def count(self) -> int:
        """Intervals."""
        return len(self.length)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return float(self.length.sum()) / 1e9

    def is_carried(self, clock_error: float) -> bool:
        """Whether rates follow from it: see `carried`."""
        took, most = round(float(self.length.sum())), self.messages.sum(axis=1).max(initial=0)
        return bool(carried.is_carried(took, clock_error, most))

    @property
    def totals(self) -> Floats:
        """Bytes of each path [X], NaN where nothing is known of it."""
        return np.where(self.known, self.bytes.sum(axis=1), np.nan)


def shared(
    connected: Integers,
    begin: Integers,
    length: Integers,
    came: Integers,
    messages: Integers,
    idle: Integers,
) -> Shared | None:
    """`connected` is [X], all else [X, I], −1 where there is no such interval or it is not known.

    None where no path has an interval in which all could send.
    """
    there = begin != _NONE
    reports = there.any(axis=1)
    first = max(int(connected.max(initial=0)), 0)
    usable = there & (begin >= first)
    counts = usable.sum(axis=1)[reports]
    n = int(counts.min()) if counts.size else 0
    if n == 0:
        return None
    paths = len(connected)
    bytes_, told, begins, lengths, idles = (np.zeros((paths, n)) for _ in range(5))
    for path in np.flatnonzero(reports):
        places = np.flatnonzero(usable[path])[:n]
        bytes_[path], told[path] = came[path, places], messages[path, places]
        begins[path], lengths[path] = begin[path, places], length[path, places]
        idles[path] = np.where(idle[path, places] == _NONE, np.nan, idle[path, places])
    with np.errstate(invalid="ignore", divide="ignore"):
        of_time = idles.sum(axis=1) / lengths.sum(axis=1)
    return Shared(
        begins[reports].mean(axis=0),
        lengths[reports].mean(axis=0),
        bytes_,
        told,
        np.where(reports, of_time, np.nan),
        reports | (connected != _NONE),
    )


def jain(totals: Floats) -> float:
    """Jain's index: 1 where all got the same, 1/n where one got all; NaN where nobody got any."""
    known = totals[np.isfinite(totals)]
    power = len(known) * float(known @ known)
    return float(known.sum()) ** 2 / power if power > 0 else math.nan


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval, NaN where the intervals are too few for it."""

    value: float
    low: float = math.nan
    high: float = math.nan


def share(part: Floats, whole: Floats, families: int = 1) -> Share:
    """Of `part` [n] in `whole` [n]; `families` shares are judged together (Bonferroni)."""
    total = float(whole.sum())
    if total <= 0:
        return Share(math.nan)
    value = float(part.sum()) / total
    if len(part) < LEAST:
        return Share(value)
    low, high = reach(part, whole, 0.05 / families)
    return Share(value, max(value - low, 0.0), min(value + high, 1.0))


def reach(part: Floats, whole: Floats, error: float) -> tuple[float, float]:
    """How far below and above `part` / `whole` the share may be: of two intervals or more."""
    total = float(whole.sum())
    left = (part - float(part.sum()) / total * whole) * (len(part) / total)
    low, high = means.interval(left, error)
    return max(-low, 0.0), max(high, 0.0)


def figures(part: Shared | None) -> dict[str, Any]:
    """What the columns of a point say of its shared part; nothing without one."""
    if part is None:
        return {}
    came, told, seconds = part.bytes.sum(), part.messages.sum(), part.seconds
    rate = float(came) / seconds
    return {
        "shared_time": round(seconds * 1e9),
        "shared_intervals": part.count,
        "messages": int(told),
        "bytes": int(came),
        "msg_rate": float(told) / seconds,
        "byte_rate": rate,
        "gbps": rate * 8e-9,
        "jain": jain(part.totals),
    }
