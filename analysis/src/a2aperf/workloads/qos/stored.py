# SPDX-License-Identifier: BSD-3-Clause
"""The paths as a file holds them: the group `/paths`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import shares
from a2aperf.datasets import Described
from a2aperf.results import Results
from a2aperf.schema import UNKNOWN
from a2aperf.shares import Shared
from a2aperf.workloads.workload import Arrays, Group, Remaking, Steps

_PATH, _INTERVAL = ("path",), ("path", "interval")
_OF_INTERVALS: Final = {
    "interval_begin": Described("begin, from the start of the point", _INTERVAL, "ns", True),
    "interval_length": Described("length", _INTERVAL, "ns", True),
    "interval_bytes": Described(
        "payload that came to the destination", _INTERVAL, "B", True, better="higher"
    ),
    "interval_messages": Described(
        "messages that came to the destination", _INTERVAL, "", True, better="higher"
    ),
    "interval_idle": Described("time with nothing outstanding", _INTERVAL, "ns", True),
}
_TEXT: Final = 64
"""Bytes of what is known of a path once it is there."""
_OF_PATHS: Final = {
    "of_point": Described("row of the points that the path is of", _PATH),
    "number": Described("which of the paths of its point", _PATH),
    "source": Described("rank that sends", _PATH, has_unknown=True),
    "destination": Described("rank that receives", _PATH, has_unknown=True),
    "class_requested": Described("class as asked for", _PATH, is_text=True),
    "class_granted": Described("class that the provider took", _PATH, is_text=True, length=_TEXT),
    "class_verified": Described(
        "class as seen on the wire or in counters", _PATH, is_text=True, length=_TEXT
    ),
    "class_trouble": Described(
        "why it was not granted", _PATH, is_text=True, length=_TEXT, is_late=True
    ),
    "message_size": Described("bytes of a message", _PATH, "B"),
    "window": Described("messages under way", _PATH, has_unknown=True),
    "mode": Described("transfer mode", _PATH, is_text=True),
    "core": Described("CPU of the thread that drives it", _PATH, has_unknown=True),
    "port": Described("adapter and port", _PATH, is_text=True, length=_TEXT),
    "start": Described("moment at which it was to begin, from the start of the point", _PATH, "ns"),
    "connected": Described(
        "moment from which on it could send, from the start of the point", _PATH, "ns", True
    ),
}


def _lost(read: Arrays, steps: Steps, ranks: int, by_index: bool) -> dict[str, NDArray[Any]]:
    """No sample tells what came in an interval: nothing is made anew."""
    return blank(0, 1)


def blank(paths: int, intervals: int) -> dict[str, NDArray[Any]]:
    """Datasets of so many paths of which nothing is known."""
    made: dict[str, NDArray[Any]] = {}
    for name, one in GROUP.datasets.items():
        shape = (paths, intervals)[: len(one.scales)]
        if one.is_text:
            made[name] = np.full(shape, "", dtype=object)
        else:
            wide = one.units != ""
            made[name] = np.full(shape, UNKNOWN, np.int64 if wide else np.int32)
    return made


GROUP: Final = Group(
    "paths",
    {**_OF_PATHS, **_OF_INTERVALS},
    "one list of paths",
    Remaking(_lost, dict, "any path: no sample tells what came in an interval"),
)


@dataclass(frozen=True)
class Paths:
    """All paths of a file [X], and their intervals [X, I], as docs/file-format.md has them."""

    of_point: NDArray[np.int64]
    number: NDArray[np.int64]
    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    class_requested: NDArray[Any]
    class_granted: NDArray[Any]
    class_verified: NDArray[Any]
    class_trouble: NDArray[Any]
    message_size: NDArray[np.int64]
    window: NDArray[np.int64]
    mode: NDArray[Any]
    core: NDArray[np.int64]
    port: NDArray[Any]
    start: NDArray[np.int64]
    connected: NDArray[np.int64]
    interval_begin: NDArray[np.int64]
    interval_length: NDArray[np.int64]
    interval_bytes: NDArray[np.int64]
    interval_messages: NDArray[np.int64]
    interval_idle: NDArray[np.int64]

    def rows(self, point: int) -> NDArray[np.intp]:
        """Of the paths of a point, in their order."""
        mine = np.flatnonzero(self.of_point == point)
        return mine[np.argsort(self.number[mine], kind="stable")]

    def shared(self, point: int) -> Shared | None:
        """The shared part of a point; None where it has none."""
        mine = self.rows(point)
        if not mine.size:
            return None
        return shares.shared(
            self.connected[mine],
            self.interval_begin[mine],
            self.interval_length[mine],
            self.interval_bytes[mine],
            self.interval_messages[mine],
            self.interval_idle[mine],
        )

    def alone(self, point: int) -> tuple[int, float] | None:
        """The row of the path that was there by itself for a while, and B/s of it then.

        A point has one path, or begins with one. None where it does not, or not for an interval;
        nor where times were counted, not measured, and others came later: nobody knows when. Its
        first interval, in which it began, is none where there are others or others came later.
        """
        mine = self.rows(point)
        if not mine.size or (mine.size > 1 and (self.connected[mine] == UNKNOWN).any()):
            return None
        path, *others = (int(row) for row in mine[np.argsort(self.connected[mine], kind="stable")])
        begin, length = self.interval_begin[path], self.interval_length[path]
        is_alone = (begin != UNKNOWN) & (begin >= self.connected[path])
        if others:
            is_alone &= self.interval_idle[path] != UNKNOWN
            is_alone &= begin + length <= self.connected[others[0]]
        if others or is_alone.sum() > 1:
            is_alone[np.flatnonzero(is_alone)[:1]] = False
        came, took = self.interval_bytes[path][is_alone].sum(), length[is_alone].sum()
        return (path, float(came) / float(took) * 1e9) if came > 0 else None


def read(results: Results, file: str) -> Paths:
    """The paths of a file."""
    return results.group(file, GROUP.name, GROUP.datasets, _sound)


def _sound(arrays: dict[str, NDArray[Any]]) -> Paths:
    numbers = {
        name: values if GROUP.datasets[name].is_text else values.astype(np.int64)
        for name, values in arrays.items()
    }
    paths = Paths(**numbers)
    if len({len(values) for values in numbers.values()}) > 1:
        raise ValueError("/paths: its datasets are not of one number of paths")
    if len({numbers[name].shape for name in _OF_INTERVALS}) > 1:
        raise ValueError("/paths: its datasets are not of one number of intervals")
    there = paths.interval_begin != UNKNOWN
    if (there[:, 1:] > there[:, :-1]).any():
        raise ValueError("/paths: intervals of a path do not follow one another")
    least = (paths.interval_length, 1), (paths.interval_bytes, 0), (paths.interval_messages, 0)
    if any((values[there] < low).any() for values, low in least):
        raise ValueError("/paths: an interval has no length, or no number of what came in it")
    if (paths.interval_begin[there] < 0).any() or (paths.interval_idle[there] < UNKNOWN).any():
        raise ValueError("/paths: an interval has a time below 0")
    return paths
