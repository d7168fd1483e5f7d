# SPDX-License-Identifier: BSD-3-Clause
"""Experiments: the paths of one point, what each got, and what arbitration says it should get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import launch as launches
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

_AT_ITS_BEST: Final = 1.02
"""Times what it carries alone, which a path does not carry in company but by chance."""


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
    alone: NDArray[np.float64]
    """B/s that such a path carries by itself, of each path; NaN where nobody measured that."""

    @property
    def where(self) -> str:
        """In words."""
        return f"{self.launch.id}, point {self.point}: {self.row['path_list']}"

    @cached_property
    def shared(self) -> Shared | None:
        """The shared part; none where the start does not carry its time."""
        part = self.paths.shared(self.point)
        return part if part and part.is_carried(self.row["clock_error"]) else None

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
        limits = np.where(np.isnan(self.alone), np.inf, self.alone)
        return expected.of(self.launch, self.classes, limits.tolist(), rate, self._read)

    @property
    def _read(self) -> str:
        """What the launch read of the port by which all paths leave their node.

        Empty where they leave several nodes or by another adapter, or one of them stays on its
        node: then they do not share that port.
        """
        texts = self.launch.node_facts.get(launches.ARBITRATION, [])
        ends = [column[self.rows] for column in (self.paths.source, self.paths.destination)]
        ranks = len(self.launch.node_of_rank)
        if not texts or any(((one < 0) | (one >= ranks)).any() for one in ends):
            return ""
        sources, destinations = (self.launch.node_of_rank[one] for one in ends)
        node = int(sources[0])
        ports = {str(port).partition("/")[0] for port in self.paths.port[self.rows]}
        of_node = self.launch.node_facts.get("nic", [])
        is_shared = (sources == node).all() and (destinations != node).all()
        return texts[node] if is_shared and ports == {*of_node[node : node + 1]} else ""


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
    tables = {str(file): stored.read(found, str(file)) for file in found.points["file"].unique()}
    alone = _Alone()
    for _, row in found.points.iterrows():
        alone.take(found.launches[str(row["launch"])], row, tables[str(row["file"])])
    for _, row in found.points.iterrows():
        file, point = str(row["file"]), int(row["point"])
        launch, paths = found.launches[str(row["launch"])], tables[file]
        carries = [alone.rate(launch, row, paths, int(path)) for path in paths.rows(point)]
        yield Experiment(file, point, launch, row, paths, paths.rows(point), np.array(carries))


class _Alone:
    """What paths carry while no other one is there: the fastest of each kind, in any file.

    By provider, pages and hosts, for another launch may have been elsewhere; where hosts are not
    recorded it is of its file alone. Of the same class where such a path was there, else of any.
    What carried more in company was not measured at its best alone: then nothing is known.
    """

    def __init__(self) -> None:
        self._rates: dict[tuple[Any, ...], float] = {}
        self._in_company: dict[tuple[Any, ...], float] = {}

    def take(self, launch: Launch, row: pd.Series[Any], paths: stored.Paths) -> None:
        """What the paths of a point tell."""
        if part := paths.shared(int(row["point"])):
            carried = np.nan_to_num(part.totals / part.seconds)
            for path, rate in zip(paths.rows(int(row["point"])), carried, strict=True):
                for key in _keys(launch, row, paths, int(path)):
                    self._in_company[key] = max(float(rate), self._in_company.get(key, 0.0))
        if (found := paths.alone(int(row["point"]))) is None:
            return
        path, rate = found
        for key in _keys(launch, row, paths, path):
            self._rates[key] = max(rate, self._rates.get(key, 0.0))

    def rate(self, launch: Launch, row: pd.Series[Any], paths: stored.Paths, path: int) -> float:
        """B/s, NaN where no such path was alone."""
        keys = _keys(launch, row, paths, path)
        return next((self._rates[key] for key in keys if self._is_known(key)), np.nan)

    def _is_known(self, key: tuple[Any, ...]) -> bool:
        return self._in_company.get(key, 0.0) <= _AT_ITS_BEST * self._rates.get(key, -1.0)


def _keys(
    launch: Launch, row: pd.Series[Any], paths: stored.Paths, path: int
) -> tuple[tuple[Any, ...], ...]:
    """With its class, and without."""
    ends = tuple(int(one[path]) for one in (paths.source, paths.destination))
    hosts = tuple(launch.host_of(end) if end >= 0 else "?" for end in ends)
    where = (str(row["file"]), *ends) if "?" in hosts else hosts
    what = (row["provider"], row.get("memory", ""), where, alike(paths, path)[len(ends) :])
    return (*what, str(paths.class_requested[path])), what
