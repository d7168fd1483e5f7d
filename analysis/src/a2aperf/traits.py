# SPDX-License-Identifier: BSD-3-Clause
"""What every analysis asks of points, whichever workload they are of: its row says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from a2aperf.deferred import pandas as pd


def _median(points: pd.DataFrame) -> pd.Series[Any]:
    return points["time_p50"]


@dataclass(frozen=True)
class Judged:
    """By what points are held against each other, and in which rate that is shown."""

    time: Callable[[pd.DataFrame], pd.Series[Any]] = _median
    """Of what the points repeat, in ns; twice the time is half the speed."""
    rate: str = "gbps_rank"
    """A column."""
    unit: str = "Gbit/s per rank"
    origin: str = "from the median op"
    """Where the rate comes from, in words."""
    at: str = "at the median"
    """The same on an axis; empty where it needs no words."""
    repeated: str = ""
    """Of what the time is; empty: of the median op."""
    has_ops: bool = True
    """The samples are ops, whose spread adds to that between launches."""
    missing: str = "a time"
    """What points lack that cannot be compared, in words."""
    untold: Callable[[Any], pd.Series[bool]] = lambda results: results.points["point"] < 0
    """Of which points of results the time tells no speed."""
    why_untold: str = ""
    rest_on: Callable[[pd.DataFrame], str] = lambda points: ""
    """What else than kept samples percentiles of the points are from, in words; or nothing."""

    @property
    def label(self) -> str:
        """Of an axis."""
        return f"{self.unit}, {self.at}" if self.at else self.unit


@dataclass(frozen=True)
class Unsaid:
    """Figures that are in the file and say nothing, of some points: they are shown nowhere."""

    columns: tuple[str, ...] = ()
    of: Callable[[pd.DataFrame], pd.Series[bool]] = lambda points: points["point"] < 0
    """Of which points."""
    why: str = ""


@dataclass(frozen=True)
class Traits:
    """Of the points of one role; the defaults are those of an all-to-all."""

    instead: str = ""
    """What files of it have, and what shows them; empty for an all-to-all."""
    choices: tuple[str, ...] = ()
    """Columns that tell settings apart, beside those that all workloads have (`grouping`)."""
    lengths: tuple[str, ...] = ()
    """Columns that say how long a point was asked to be: told where they differ."""
    judged: Judged | None = field(default_factory=Judged)
    """None: its points are not compared."""
    table: tuple[str, ...] = ()
    """Columns that a table of its points shows; empty: those of an all-to-all."""
    usual: Mapping[str, str | int] = field(default_factory=dict)
    """Choices by column that go without saying."""
    unsaid: Unsaid = field(default_factory=Unsaid)
