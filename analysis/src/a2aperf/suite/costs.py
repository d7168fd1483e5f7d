# SPDX-License-Identifier: BSD-3-Clause
"""What an interconnect costs: a gigabyte of payload, and memory; from the counters of the files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from a2aperf import counter_table
from a2aperf.errors import InputError
from a2aperf.suite.ranking import LABEL, Cell, Ranking, cell_of

COUNTED: Final = {
    "cpu": ("user_time", "system_time"),
    "switches": ("voluntary_switches", "involuntary_switches"),
    "softirqs": ("softirqs_net_rx", "softirqs_net_tx"),
}
"""Of a gigabyte: of all ranks, and of all nodes."""
LEVELS: Final = {"resident": "resident_memory", "locked": "locked_memory"}
"""Of the rank that has most, after the point."""
KINDS: Final = (*COUNTED, *LEVELS)
_SCALE: Final = {"cpu": 1e-9, **dict.fromkeys(LEVELS, 1e-6)}


@dataclass(frozen=True)
class Cost:
    """The median over launches, the least and the most: for a gigabyte of payload, or of memory."""

    middle: float
    least: float
    most: float
    launches: int


Costs = dict[Cell, dict[str, dict[str, Cost]]]
"""By cell, interconnect and kind of cost."""


def costs(ranking: Ranking) -> Costs:
    """What is known; a cell without counters is not there. Without payload only memory is told."""
    used = ranking.used
    try:
        frame = counter_table.frame(used)
    except InputError:  # none of the files has counters
        return {}
    is_level = frame["counter"].isin(LEVELS.values())
    frame = frame[is_level | (frame["bytes"].fillna(0) > 0)]
    frame["value"] = frame["per_gb"].where(~is_level, frame["max"])
    per_point: dict[tuple[str, int], dict[str, float]] = {}
    for file, point, counter, value in frame[["file", "point", "counter", "value"]].itertuples(
        index=False
    ):
        per_point.setdefault((file, point), {})[counter] = value
    own = {key: one.labels[LABEL] for key, one in used.launches.items()}
    told: dict[tuple[Cell, str, str], list[float]] = {}
    for row in used.points.to_dict("records"):
        key = (row["file"], row["point"])
        if key not in per_point:
            continue
        cell = cell_of(row, ranking)
        if cell is None:
            continue
        for kind in KINDS:
            names = COUNTED.get(kind) or (LEVELS[kind],)
            parts = [_number(per_point[key].get(name)) for name in names]
            amount = sum(parts) * _SCALE.get(kind, 1.0)
            if not math.isnan(amount):
                told.setdefault((cell, own[str(row["launch"])], kind), []).append(amount)
    made: Costs = {}
    for (cell, name, kind), values in told.items():
        cost = Cost(float(np.median(values)), min(values), max(values), len(values))
        made.setdefault(cell, {}).setdefault(name, {})[kind] = cost
    return made


def _number(value: Any) -> float:
    return math.nan if value is None or pd.isna(value) else float(value)
