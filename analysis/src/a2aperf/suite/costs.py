# SPDX-License-Identifier: BSD-3-Clause
"""What an interconnect costs: a gigabyte of payload, a second, and memory; from the counters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from a2aperf import counter_table
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.suite.ranking import LABEL, Cell, Ranking, cell_of

COUNTED: Final = {
    "cpu": ("user_time", "system_time"),
    "node_cpu": ("node_user_time", "node_system_time", "node_irq_time", "node_softirq_time"),
    "switches": ("voluntary_switches", "involuntary_switches"),
    "interrupts": ("interrupts",),
    "softirqs": ("softirqs_net_rx", "softirqs_net_tx"),
}
"""Of a gigabyte and of a second: of all ranks, and of all nodes."""
LEVELS: Final = {"resident": "resident_memory", "locked": "locked_memory"}
"""Of the rank that has most, after the point."""
KINDS: Final = (*COUNTED, *LEVELS)
_SCALE: Final = {"cpu": 1e-9, "node_cpu": 1e-9, **dict.fromkeys(LEVELS, 1e-6)}


@dataclass(frozen=True)
class Cost:
    """The median over launches, the least and the most: what is divided, or memory."""

    middle: float
    least: float
    most: float
    launches: int


Costs = dict[Cell, dict[str, dict[str, Cost]]]
"""By cell, interconnect and kind of cost."""


@dataclass(frozen=True)
class Spent:
    """What is known; a cell without counters is not there.

    Memory is beside what a gigabyte costs; without payload it is alone there.
    """

    per_gb: Costs
    per_second: Costs


def costs(ranking: Ranking) -> Spent:
    """From one look at the counters of all points."""
    used = ranking.used
    try:
        frame = counter_table.frame(used)
    except InputError:  # none of the files has counters
        return Spent({}, {})
    is_level = frame["counter"].isin(LEVELS.values())
    of_gb = frame.assign(value=frame["per_gb"].where(~is_level, frame["max"]))
    of_second = frame.assign(value=frame["per_second"])
    has_payload = frame["bytes"].fillna(0) > 0
    return Spent(
        _of_launches(ranking, of_gb[is_level | has_payload]),
        _of_launches(ranking, of_second[~is_level]),
    )


def _of_launches(ranking: Ranking, frame: pd.DataFrame) -> Costs:
    """By the column `value`."""
    used = ranking.used
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
