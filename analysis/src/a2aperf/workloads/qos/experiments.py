# SPDX-License-Identifier: BSD-3-Clause
"""Experiments: the paths of one point, what each got, and what arbitration says it should get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import shares
from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.shares import Share, Shared
from a2aperf.workloads.qos import expected, stored
from a2aperf.workloads.qos.expected import Expected

ROLE: Final = "qos"
IDLE: Final = 0.01
"""Of the time with nothing outstanding: above it a share is the sender's, not the fabric's."""


@dataclass(frozen=True)
class Experiment:
    """One complete point with its paths, in their order."""

    file: str
    point: int
    launch: Launch
    row: pd.Series[Any]
    paths: stored.Paths
    rows: NDArray[np.intp]
    """Of the paths in `paths`."""
    alone: dict[tuple[Any, ...], float]
    """B/s of paths that were there by themselves, by what they are (`alike`), with class or not."""

    @property
    def where(self) -> str:
        """In words."""
        return f"{self.launch.id}, point {self.point}: {self.row['path_list']}"

    @cached_property
    def shared(self) -> Shared | None:
        """The shared part."""
        return self.paths.shared(self.point)

    @property
    def classes(self) -> list[str]:
        """As asked for."""
        return [str(one) for one in self.paths.class_requested[self.rows]]

    def name(self, path: int) -> str:
        """`path 2 (sl1)`."""
        of = self.classes[path]
        return f"path {self.paths.number[self.rows[path]]}" + (f" ({of})" if of else "")

    @property
    def idle(self) -> list[int]:
        """Paths whose sender had nothing outstanding for too long."""
        part = self.shared
        return [] if part is None else [int(x) for x in np.flatnonzero(part.idle > IDLE)]

    @property
    def has_shares(self) -> bool:
        """Whether shares are the fabric's: several paths, something came, no sender was idle."""
        part = self.shared
        if part is None or self.idle or int(part.known.sum()) < 2:
            return False
        return bool(part.bytes.sum() > 0)

    def share(self, some: Sequence[int], families: int = 1) -> Share:
        """Of these paths together; NaN where there is none to tell."""
        part = self.shared
        if part is None or not self.has_shares or not part.known[list(some)].all():
            return Share(np.nan)
        mine = part.bytes[list(some)].sum(axis=0)
        return shares.share(mine, part.bytes.sum(axis=0), families)

    @cached_property
    def shares(self) -> list[Share]:
        """Of each path, each by itself."""
        return [self.share([path]) for path in range(len(self.rows))]

    def of_class(self, path: int) -> list[int]:
        """The paths of its class, itself among them."""
        classes = self.classes
        return [i for i, one in enumerate(classes) if one == classes[path]]

    @cached_property
    def expected(self) -> Expected | None:
        """What arbitration says; None where nothing is known of it."""
        part = self.shared
        if part is None or len(self.rows) < 2:
            return None
        rate = float(part.bytes.sum()) / part.seconds
        limits = [_limit(self.alone, self.paths, int(row)) for row in self.rows]
        return expected.of(self.launch, self.classes, limits, rate)


def alike(paths: stored.Paths, row: int) -> tuple[Any, ...]:
    """What a path is, but for its class."""
    return (
        int(paths.source[row]),
        int(paths.destination[row]),
        int(paths.message_size[row]),
        int(paths.window[row]),
        str(paths.mode[row]),
    )


def of(results: Results) -> Iterator[Experiment]:
    """Each complete point, in the order of the files."""
    found = results.measured((ROLE,))
    for file, points in found.points.groupby("file", sort=False):
        paths = stored.read(found, str(file))
        alone = _alone(paths, [int(point) for point in points["point"]])
        for _, row in points.iterrows():
            point = int(row["point"])
            launch = found.launches[str(row["launch"])]
            yield Experiment(str(file), point, launch, row, paths, paths.rows(point), alone)


def _limit(alone: dict[tuple[Any, ...], float], paths: stored.Paths, row: int) -> float:
    """What such a path carries alone, of its class or else of any; no limit where nobody knows."""
    key = alike(paths, row)
    of_class = (*key, str(paths.class_requested[row]))
    return alone.get(of_class, alone.get(key, np.inf))


def _alone(paths: stored.Paths, points: Sequence[int]) -> dict[tuple[Any, ...], float]:
    """The fastest of each kind."""
    found: dict[tuple[Any, ...], float] = {}
    for point in points:
        rows = paths.rows(point)
        part = paths.shared(point) if len(rows) == 1 else None
        if part is not None and part.bytes.sum() > 0:
            key, rate = alike(paths, int(rows[0])), float(part.bytes.sum()) / part.seconds
            for known in (key, (*key, str(paths.class_requested[rows[0]]))):
                found[known] = max(rate, found.get(known, 0.0))
    return found
