# SPDX-License-Identifier: BSD-3-Clause
"""Paths of an experiment in a text, which all report at one tick, again and again.

Who prints again begins the next tick, and who misses one between two of its own got nothing in it.
Where lengths differ there is no such tick: intervals of each path follow one another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate

from a2aperf.schema import UNKNOWN


@dataclass
class PathText:
    """One path of an experiment, and what its receiver printed."""

    level: str = ""
    device: str = ""
    message_size: int = 0
    connected: int = UNKNOWN
    """The tick before which it said so; −1: it has not."""
    intervals: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """By tick the length in ns, bytes, messages."""


@dataclass
class Experiment:
    """A pair of command lines, and what was printed below it."""

    line: int
    commands: dict[str, str] = field(default_factory=dict)
    """By `tx` and `rx`."""
    paths: list[PathText] = field(default_factory=list)
    tick: int = 0

    @property
    def is_reported(self) -> bool:
        """Whether a path has reported at this tick."""
        return any(self.tick in path.intervals for path in self.paths)

    def starts(self) -> list[int]:
        """When each tick's interval began, and when the last one ended, in ns."""
        ends = [0]
        for tick in range(self.tick + 1):
            told = (path.intervals[tick][0] for path in self.paths if tick in path.intervals)
            ends.append(ends[-1] + max(told, default=0))
        return ends

    def connected(self) -> list[int]:
        """Ns; of a path that received something and did not say that it connected: 0."""
        starts = self.starts()
        return [
            (0 if path.intervals else UNKNOWN)
            if path.connected == UNKNOWN
            else starts[path.connected]
            for path in self.paths
        ]

    def intervals(self, path: PathText) -> list[tuple[int, int, int, int]]:
        """Begin and length in ns, bytes, messages; 0 where it printed nothing between two."""
        starts = self.starts()
        if not path.intervals:
            return []
        if len({length for one in self.paths for length, *_ in one.intervals.values()}) > 1:
            begins = accumulate(
                (length for length, *_ in path.intervals.values()),
                initial=starts[max(path.connected, 0)],
            )
            return [(at, *told) for at, told in zip(begins, path.intervals.values(), strict=False)]
        return [
            (starts[tick], *path.intervals.get(tick, (starts[tick + 1] - starts[tick], 0, 0)))
            for tick in range(min(path.intervals), max(path.intervals) + 1)
            if starts[tick + 1] > starts[tick]
        ]
