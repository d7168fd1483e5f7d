# SPDX-License-Identifier: BSD-3-Clause
"""The launches of results, a row each."""

from __future__ import annotations

from typing import Any

from a2aperf import grouping, schema
from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.results import Results

_COLUMNS = [
    "launch", "file", "segment", "start", "state", "message", "nodes", "ranks", "provider", "points"
]  # fmt: skip


def frame(results: Results) -> pd.DataFrame:
    """One row a launch, in the order of the files; the columns are those of `Runs.launches`.

    Counts that are unknown, or differ between the points of an imported launch, are <NA>.
    """
    settings = [name for name in grouping.recorded_names(results) if name != "started"]
    rows = []
    for launch in results.launches.values():
        points = results.points[results.points["launch"] == launch.id]
        own = _row(launch, points)
        rows.append({**own, **{name: launch.setting(name) for name in settings if name not in own}})
    made = pd.DataFrame(rows, columns=None if rows else _COLUMNS)
    made["start"] = pd.to_datetime(made["start"], unit="ns", utc=True)
    for name in ("nodes", "ranks"):
        made[name] = made[name].astype("Int64")
    return made


def _row(launch: Launch, points: pd.DataFrame) -> dict[str, Any]:
    origin = int(launch.attributes["time_origin"])
    return {
        "launch": launch.id,
        "file": launch.id.rpartition("#")[0],
        "segment": launch.segment,
        "start": pd.NaT if origin == schema.UNKNOWN else origin,
        "state": launch.end_state,
        "message": launch.message,
        "nodes": len(launch.nodes) or _only(points["nodes"]),
        "ranks": len(launch.node_of_rank) or _only(points["ranks"]),
        "provider": launch.setting("provider"),
        "points": len(points),
    }


def _only(values: pd.Series[int]) -> Any:
    return values.iloc[0] if values.nunique(dropna=False) == 1 else pd.NA
