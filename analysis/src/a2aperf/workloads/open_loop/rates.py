# SPDX-License-Identifier: BSD-3-Clause
"""Points that differ in the rate alone, and from which rate on it is not kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from a2aperf import grouping, labels, laws
from a2aperf.deferred import pandas as pd
from a2aperf.labels import number_text, size_text
from a2aperf.results import Results

ROLES: Final = ("open-loop",)
KEPT: Final = 0.99
"""Of the offered rate, what is achieved where it is kept."""


def kept(points: pd.DataFrame) -> pd.Series[bool]:
    """Whether as many messages were answered as were due, but for the last ones' shortest latency.

    These have their answer so long after they were due, however few are under way.
    """
    waited = points["achieved_rate"] * points["time_min"] / 1e9 / points["ops"].clip(lower=1)
    return points["achieved_rate"] >= KEPT * points["offered_rate"] * (1 - waited.fillna(0))


def text(rate: float) -> str:
    """`10000/s`, `1.25 million/s`."""
    if rate >= 1e6:
        return f"{number_text(rate / 1e6)} million/s"
    return f"{number_text(rate, 4)}/s"


@dataclass(frozen=True)
class Knee:
    """Between the highest rate that was kept and the first above it that was not."""

    low: float
    """The highest that was offered and kept, messages/s; 0: none."""
    high: float
    """The lowest above it."""
    at: float
    """What was achieved when that was offered."""


@dataclass(frozen=True)
class Sweep:
    """The points of one launch with one setting and size, in the order of their rates."""

    launch: str
    setting: str
    size: int
    rows: pd.DataFrame

    @property
    def where(self) -> str:
        """In words."""
        parts = (self.launch, self.setting, size_text(self.size))
        return ", ".join(part for part in parts if part)

    @property
    def knee(self) -> Knee | None:
        """None where every rate above the highest that was kept is not measured."""
        offered = self.rows["offered_rate"].to_numpy(dtype=float)
        achieved = self.rows["achieved_rate"].to_numpy(dtype=float)
        is_kept = kept(self.rows).to_numpy(dtype=bool)
        low = float(offered[is_kept].max()) if is_kept.any() else 0.0
        above = np.flatnonzero(offered > low)
        if not above.size:
            return None
        first = above[0]
        return Knee(low, float(offered[first]), float(achieved[first]))

    @property
    def lost(self) -> list[float]:
        """Rates that were offered and not kept, from the lowest."""
        return [float(rate) for rate in self.rows.loc[~kept(self.rows), "offered_rate"]]


def sweeps(found: Results) -> Iterator[Sweep]:
    """Each, in the order of the files."""
    points = found.points[found.points[["offered_rate", "achieved_rate"]].notna().all(axis=1)]
    named = grouping.setting_labels(found, points, axes=("rate",))
    points = points.assign(setting=grouping.with_scale(points, named))
    for (launch, setting, _), rows in points.groupby(
        ["launch", "setting", "message_size"], sort=False
    ):
        yield Sweep(
            str(launch),
            str(setting),
            int(rows["message_size"].iloc[0]),
            rows.sort_values("offered_rate"),
        )


def interval(rates: Sequence[float]) -> tuple[float, float, float] | None:
    """The geometric mean of launches' rates with its 95 % interval; None of less than three.

    Student's t of the logarithms: launches, not messages, are what differs by chance.
    """
    n = len(rates)
    if n < 3:
        return None
    logs = np.log(np.asarray(rates, dtype=float))
    half = float(laws.t_ppf(0.975, n - 1)) * float(logs.std(ddof=1)) / math.sqrt(n)
    mean = float(logs.mean())
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def said(points: pd.DataFrame) -> tuple[str, ...]:
    """What each mark of a figure stands for."""
    n = labels.range_text(int(n) for n in points["ops"].dropna())
    return (f"n\u00a0=\u00a0{n} round trips per point",) if n else ()
