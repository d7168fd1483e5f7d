# SPDX-License-Identifier: BSD-3-Clause
"""How paths that are there at the same time share a link: arrays in, shares out.

The *shared part* are the intervals in which every path could send (docs/file-format.md). A share is
a path's bytes over those of all, and its interval is that of a mean of neighbouring intervals that
may be alike: of 4 batches by Student's t, widened by what lag-1 autocorrelation leaves in them.
Coverage, simulated (tests/test_shares.py): 95 % of independent intervals; with an autocorrelation
of 0.5 92 % at 10 and 95 % from 30 on, with 0.8 86 % at 10 and 93 % from 30 on.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEAST: Final = 10
"""Intervals from which a share has an interval."""
_BATCHES: Final = 4
_MOST_ALIKE: Final = 0.9
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
    half = _half_width(part - value * whole, families) * len(part) / total
    return Share(value, max(value - half, 0.0), min(value + half, 1.0))


def _half_width(left: Floats, families: int) -> float:
    """Of the mean of values that may be like their neighbours."""
    n = len(left)
    edges = np.linspace(0, n, _BATCHES + 1).round().astype(int)
    means = np.array([left[a:b].mean() for a, b in itertools.pairwise(edges)])
    alike = _lag1(left)
    of_mean, of_batch = _variance(n, alike), _variance(round(n / _BATCHES), alike)
    seen = (of_batch - of_mean) / (_BATCHES - 1)  # what the spread of the batches says of the mean
    widening = max(1.0, of_mean / seen) if seen > 0 else math.inf
    quantile = float(laws.t_isf(0.025 / families, _BATCHES - 1))
    spread = float(means.std(ddof=1)) / math.sqrt(_BATCHES)
    return quantile * spread * math.sqrt(widening) if spread > 0 else 0.0


def _lag1(values: Floats) -> float:
    """Autocorrelation, at least 0, corrected for the bias that a short series has."""
    n = len(values)
    centred = values - values.mean()
    power = float(centred @ centred)
    if power <= 0:
        return 0.0
    found = float(centred[1:] @ centred[:-1]) / power
    return min(_MOST_ALIKE, max(0.0, (n * found + 1) / (n - 4)))


def _variance(n: int, alike: float) -> float:
    """Of a mean of n values of variance 1 of which neighbours have this autocorrelation."""
    lags = np.arange(1, n)
    return float(1 + 2 * np.sum((1 - lags / n) * alike**lags)) / n


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
