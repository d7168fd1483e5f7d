# SPDX-License-Identifier: BSD-3-Clause
"""The tables of streams, each with its rows by message size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results

ROLE = "stream"


@dataclass(frozen=True)
class Table:
    """All points of one launch that share mode, window, section and what else was chosen."""

    launch: str
    mode: str
    window: int | None
    """Buffers; None where they are not told."""
    section: int | None
    heading: str
    rows: pd.DataFrame
    others: str = ""
    """What else was chosen, where the tables differ in it."""

    @property
    def where(self) -> str:
        """In words: the launch, the section, the window, the mode and the others."""
        section = f", section {self.section}" if self.section is not None else ""
        return f"{self.launch}{section}, {self.setting}"

    @property
    def setting(self) -> str:
        """In words: the window, the mode and the others."""
        window = f"window {self.window}, " if self.window is not None else ""
        others = f", {self.others}" if self.others else ""
        return f"{window}mode {self.mode or 'unknown'}{others}"

    @property
    def free(self) -> pd.DataFrame:
        """Rows whose receiver does not pause, by size; of several of one size the first."""
        rows = self.rows[(self.rows["free_delay"] == 0).fillna(False)]
        return rows.drop_duplicates("message_size").sort_values("message_size")


def of(found: Results) -> Iterator[Table]:
    """Each table, in the order of the files."""
    points = found.points
    for name in ("section", "free_delay", "longest_wait", "messages", "stream_time"):
        if name not in points:
            points = points.assign(**{name: pd.array([pd.NA] * len(points), dtype="Int64")})
    for name in ("gbps", "msg_rate"):
        if name not in points:
            points = points.assign(**{name: float("nan")})
    keys = ["launch", "mode", "window", "section"]
    more = _differing(found, points)
    for key, rows in points.groupby([*keys, *more], sort=False, dropna=False):
        launch, mode, window, section, *values = key
        others = ", ".join(
            grouping.column_text(found.columns.get(name), value)
            for name, value in zip(more, values, strict=True)
        )
        labels = found.launches[str(launch)].labels
        buffers, number = _known(window), _known(section)
        heading = labels.get("heading", "")
        yield Table(str(launch), str(mode), buffers, number, heading, rows, others)


def _differing(found: Results, points: pd.DataFrame) -> list[str]:
    """What was not chosen alike for all points, pauses apart."""
    apart = {"section", "free_delay", "free_every"}
    return [
        name
        for name in found.choices
        if name in points and name not in apart and points[name].nunique(dropna=False) > 1
    ]


def _known(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)
