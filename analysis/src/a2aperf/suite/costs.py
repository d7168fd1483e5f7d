# SPDX-License-Identifier: BSD-3-Clause
"""What a gigabyte costs over each interconnect: from the counters that the files keep."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from a2aperf import counter_table
from a2aperf.errors import InputError
from a2aperf.suite.ranking import LABEL, Cell, Ranking, cell_of

COUNTED: Final = {
    "cpu": ("user_time", "system_time"),
    "switches": ("voluntary_switches", "involuntary_switches"),
    "softirqs": ("softirqs_net_rx", "softirqs_net_tx"),
}
"""Of all ranks, and of all nodes."""
_SCALE: Final = {"cpu": 1e-9}


@dataclass(frozen=True)
class Cost:
    """For a gigabyte of payload: the median over launches, the least and the most."""

    middle: float
    least: float
    most: float
    launches: int


Costs = dict[Cell, dict[str, dict[str, Cost]]]
"""By cell, interconnect and kind of cost."""


def costs(ranking: Ranking) -> Costs:
    """What is known; a cell without counters, or without payload, is not there."""
    used = ranking.used
    try:
        frame = counter_table.frame(used)
    except InputError:  # none of the files has counters
        return {}
    wanted = {name for names in COUNTED.values() for name in names}
    rows = frame[frame["counter"].isin(wanted) & (frame["bytes"].fillna(0) > 0)]
    per_gb: dict[tuple[str, int], dict[str, float]] = {}
    for file, point, counter, value in rows[["file", "point", "counter", "per_gb"]].itertuples(
        index=False
    ):
        per_gb.setdefault((file, point), {})[counter] = value
    own = {key: one.labels[LABEL] for key, one in used.launches.items()}
    told: dict[tuple[Cell, str, str], list[float]] = {}
    for row in used.points.to_dict("records"):
        key = (row["file"], row["point"])
        if key not in per_gb:
            continue
        cell = cell_of(row, ranking)
        if cell is None:
            continue
        for kind, names in COUNTED.items():
            parts = [float(per_gb[key].get(name, math.nan)) for name in names]
            amount = sum(parts) * _SCALE.get(kind, 1.0)
            if not math.isnan(amount):
                told.setdefault((cell, own[str(row["launch"])], kind), []).append(amount)
    made: Costs = {}
    for (cell, name, kind), values in told.items():
        cost = Cost(float(np.median(values)), min(values), max(values), len(values))
        made.setdefault(cell, {}).setdefault(name, {})[kind] = cost
    return made
