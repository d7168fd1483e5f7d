# SPDX-License-Identifier: BSD-3-Clause
"""Words and rows that the findings of many points have in common."""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results

_NAMED: Final[WeakKeyDictionary[Results, pd.Series[str]]] = WeakKeyDictionary()
"""Of results that many findings look at; they never change."""


def named(found: Results) -> pd.Series[str]:
    """The series of each point: its setting in words (may be empty)."""
    if found not in _NAMED:
        _NAMED[found] = grouping.setting_labels(found, found.points)
    return _NAMED[found]


def most(rows: pd.DataFrame, values: pd.Series[float]) -> Any:
    """The row whose value is the largest."""
    return rows.iloc[int(np.nanargmax(values.to_numpy(dtype=np.float64)))]


def place(row: Any) -> str:
    """Where a row of `curves` or `points` is, in words: `100 ranks, 1000 B, PSM2_RCVTHREAD=0`."""
    texts = [f"{row['ranks']} ranks", f"{row['message_size']} B"]
    if row.get("series"):
        texts.append(str(row["series"]))
    return ", ".join(texts)
