# SPDX-License-Identifier: BSD-3-Clause
"""Points that belong on one line: the same program, settings and ranks per node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from a2aperf import grouping
from a2aperf.results import Results

_PLAN: Final = ("engine", "provider", "mode", "schedule", "window", "post")
# Variables that decide results; launchers' own ones differ by nature.
_FAMILIES: Final = (
    *grouping.FAMILIES,
    *(f"OMPI_MCA_{framework}" for framework in ("pml", "btl", "mtl", "coll")),
)


def named(found: Results) -> pd.Series[str]:
    """The series of each point: what tells it from the other series, in words (may be empty)."""
    points = found.points
    settings = {name: _values(found, name) for name in _varying(found)}
    keys = _PLAN if grouping.scales_over_ranks(points) else (*_PLAN, "ppn")
    several = [key for key in keys if points[key].nunique(dropna=False) > 1]
    columns = {key: points[key].astype("string").fillna("") for key in several}
    told = {key: values for key, values in columns.items() if values.nunique() > 1}
    parts = []
    for key, values in told.items():
        parts.append(values.map(_words(key)))
    for name, values in settings.items():
        parts.append(values.map(lambda value, name=name: f"{name}={value}" if value else ""))
    if not parts:
        return pd.Series("", index=points.index, dtype="object")
    joined = [", ".join(filter(None, texts)) for texts in zip(*parts, strict=True)]
    return pd.Series(joined, index=points.index, dtype="object")


def _words(key: str) -> Callable[[str], str]:
    if key == "ppn":
        return lambda value: f"{float(value):g} per node" if value else "ranks per node unknown"
    if key == "window":
        return lambda value: f"window {value}" if value not in ("", "0") else ""
    return lambda value: value


def _varying(found: Results) -> list[str]:
    """Settings that differ between launches without being another one in each."""
    launches = list(found.launches.values())
    names = {n for x in launches for n in x.environment if n.startswith(_FAMILIES)}
    names -= grouping.NOT_SETTINGS.union(*(x.tuned for x in launches))
    names |= {n for x in launches for n in x.labels}
    varying = []
    for name in sorted(names):
        values = [launch.setting(name) or "" for launch in launches]
        if len(set(values)) > 1 and (len(set(values)) < len(values) or len(values) == 2):
            varying.append(name)
    return varying


def _values(found: Results, name: str) -> pd.Series[str]:
    by_launch = {key: launch.setting(name) or "" for key, launch in found.launches.items()}
    return found.points["launch"].map(by_launch)


def most(rows: pd.DataFrame, values: pd.Series[float]) -> Any:
    """The row whose value is the largest."""
    return rows.iloc[int(np.nanargmax(values.to_numpy(dtype=np.float64)))]


def place(row: Any) -> str:
    """Where a row of `curves` or `points` is, in words: `100 ranks, 1000 B, PSM2_RCVTHREAD=0`."""
    texts = [f"{row['ranks']} ranks", f"{row['message_size']} B"]
    if row.get("series"):
        texts.append(str(row["series"]))
    return ", ".join(texts)
