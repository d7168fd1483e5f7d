# SPDX-License-Identifier: BSD-3-Clause
"""Files as `a2aperf interference` writes them: a client, its server and two load ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, metrics, schema
from a2aperf.schema import Column
from support import made, native
from support.native import RANKS

LENGTH = 50_000_000
GAP = 100_000
_TOTALS = ("rank_role", "messages_sent", "messages_received", "class_granted")
_ROWS = ("sample_phase", "sample_kind", "victim_time", "load_received", "load_time")
_OWN = native.own_columns(_TOTALS, ("sample_begin", *_ROWS))
_NAMES = ("mean", "p50", "p99", "p999")
_FIGURES = (
    *("load_full_gbps", "load_gbps", "load_rest_gbps", "gbps"),
    *(f"{side}_{name}" for side in ("alone", "loaded", "impact") for name in _NAMES),
    *(f"impact_{name}_{end}" for name in _NAMES for end in ("low", "high")),
)
COLUMNS = (
    *(Column(name, "string", name, result=False) for name in ("victim_pairs", "victim_kind")),
    *(Column(name, "string", name, result=False) for name in ("placement", "load_class")),
    Column("load_pattern", "string", "who sends to whom", result=False),
    *(
        Column(name, "int64", name, result=False)
        for name in ("load_level", "load_size", "load_window", "request_size", "request_gap")
    ),
    *(
        Column(name, "int64", name, result=False)
        for name in ("phase_length", "alternations", "victim_window")
    ),
    Column("load_class_granted", "int32", "1 when it was granted", unknown=True),
    Column("load_class_trouble", "string", "why it was not"),
    *(Column(name, "int64", name) for name in ("ticks", "ticks_lost", "alone_trips")),
    Column("silent_phases", "int32", "phases without a round trip"),
    Column("time_p999", "float64", "99.9th percentile of the round trip", "ns"),
    *(Column(name, "float64", name) for name in _FIGURES),
)


@dataclass(frozen=True)
class Load:
    """Round trips of 20 µs, `impact` times as long under load, phases that differ by `spread`."""

    level: int = 100
    impact: float = 1.0
    spread: float = 0.1
    alternations: int = 10
    size: int = 1024
    seed: int = 1
    rest: int = 0
    """Messages that each load rank still gets in a phase that should have none."""
    kind: str = "echo"
    comes: bool = True
    """Whether any message of the load comes in the phases that should have it."""
    silent: int = -1
    """Phase in which the victim gets no answer."""
    asked: str = ""
    """Class of service that was asked for the load."""
    trouble: str = ""
    """Why it was not granted."""

    @property
    def granted(self) -> int:
        """As a load rank notes it."""
        return int(not self.trouble) if self.asked else schema.NO_MOMENT


def kind_of(phase: int) -> int:
    """1: the load alone, 2: victims alone, 3: under load."""
    if phase == 0:
        return 1
    return 2 if (phase % 2 == 1) == ((phase - 1) // 2 % 2 == 0) else 3


def _phase(load: Load, phase: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When requests were sent, from the start, and their times."""
    random = np.random.default_rng((load.seed, load.level, phase))
    level = 20_000 * math.exp(load.spread * random.standard_normal())
    level *= load.impact if kind_of(phase) == 3 else 1
    count = 0 if phase == load.silent else LENGTH // GAP
    times = level * (1 + 0.3 * random.random(count))
    return phase * LENGTH + GAP * np.arange(count), times.astype(np.int64)


def _rows(load: Load) -> dict[str, NDArray[np.int64]]:
    phases = range(1, 2 * load.alternations + 1)
    made_of = [_phase(load, phase) for phase in phases]
    begin = np.concatenate([one for one, _ in made_of])
    phase = begin // LENGTH
    settled = begin % LENGTH >= LENGTH // 5
    kind = np.array([kind_of(int(one)) for one in phase]) * settled
    rows = {
        name: np.full((begin.size, RANKS), schema.NO_MOMENT) for name in ("sample_begin", *_ROWS)
    }
    for name, values in (("sample_begin", begin), ("sample_phase", phase), ("sample_kind", kind)):
        rows[name][:, 0] = values
    rows["victim_time"][:, 0] = np.concatenate([times for _, times in made_of])
    for number in range(2 * load.alternations + 1):
        of = kind_of(number)
        messages = {1: 1000, 2: load.rest, 3: 10 * load.level * load.comes}[of]
        row = (number * LENGTH + LENGTH // 5, number, of, messages, LENGTH * 4 // 5)
        names = ("sample_begin", "sample_phase", "sample_kind", "load_received", "load_time")
        for name, value in zip(names, row, strict=True):
            rows[name][number, 2:] = value
    return rows


def _samples(load: Load) -> dict[str, NDArray[np.int64]]:
    rows = _rows(load)
    trips = int((rows["victim_time"] != schema.NO_MOMENT).sum())
    of_ranks = (
        [1, 2, 3, 3],
        [trips, trips, 900, 900],
        [trips, trips, 900, 900],
        [schema.NO_MOMENT] * 2 + [load.granted] * 2,
    )
    return rows | {
        name: np.array([values], dtype=np.int64)
        for name, values in zip(_TOTALS, of_ranks, strict=True)
    }


def _percentile(times: NDArray[Any], per_mille: int) -> float:
    place = -(-per_mille * times.size // 1000) - 1
    if not times.size or (per_mille > 500 and place == times.size - 1):
        return math.nan
    return float(np.sort(times)[place])


def _value(name: str, times: NDArray[Any]) -> float:
    if name == "mean":
        return float(times.mean()) if times.size else math.nan
    return _percentile(times, {"p50": 500, "p99": 990, "p999": 999}[name])


def _impacts(sides: list[list[NDArray[Any]]], count: int) -> dict[str, float]:
    t = {5: 2.5677649726654126, 9: 2.261901305356717}[count - 1] if count in (6, 10) else math.nan
    found: dict[str, float] = {}
    for name in _NAMES:
        alone, loaded = (np.log([_value(name, times) for times in side]) for side in sides)
        logs = loaded - alone
        mean, reach = float(logs.mean()), t * float(logs.std(ddof=1)) / math.sqrt(count)
        found |= {f"alone_{name}": math.exp(alone.mean()) if mean == mean else math.nan}
        found |= {f"loaded_{name}": math.exp(loaded.mean()) if mean == mean else math.nan}
        found |= {f"impact_{name}": math.exp(mean), f"impact_{name}_low": math.exp(mean - reach)}
        found |= {f"impact_{name}_high": math.exp(mean + reach)}
    return found


def _figures(load: Load) -> dict[str, Any]:
    rows = _rows(load)
    trips, kinds = rows["victim_time"][:, 0], rows["sample_kind"][:, 0]
    of = (rows["sample_phase"][:, 0] - 1) // 2
    there = trips != schema.NO_MOMENT
    sides = [
        [trips[there & (kinds == kind) & (of == i)] for i in range(load.alternations)]
        for kind in (2, 3)
    ]
    loaded = trips[there & (kinds == 3)].astype(float)
    found: dict[str, Any] = metrics.time_statistics(loaded) | derived.quantile_intervals(loaded)
    impacts = _impacts(sides, load.alternations)
    window = {"stream": 8, "all-to-all": 3}.get(load.kind, 1)
    payload = load.size * window
    found["gbps"] = payload * 8 / impacts["loaded_p50"]
    per_message = 2 * 65536 * 8 / (LENGTH * 4 // 5)
    return found | impacts | {
        "schedule": "", "window": 0, "message_size": load.size,
        "victim_pairs": {"all-to-all": "0,1,2,3"}.get(load.kind, "0:1"),
        "victim_kind": load.kind, "victim_window": window,
        "load_class": load.asked, "load_class_granted": max(load.granted, -1),
        "load_class_trouble": load.trouble,
        "placement": "same", "load_pattern": "all-to-all", "load_level": load.level,
        "load_size": 65536, "load_window": 8, "request_size": 30, "request_gap": GAP,
        "phase_length": LENGTH, "alternations": load.alternations, "attempts": 1, "invalid": 0,
        "stop_rule": 1, "ticks": len(trips), "ticks_lost": 0, "ops": loaded.size,
        "alone_trips": sum(x.size for x in sides[0]),
        "silent_phases": sum(not x.size for side in sides for x in side),
        "time_p999": _percentile(loaded, 999), "load_full_gbps": 1000 * per_message,
        "load_gbps": 10 * load.level * load.comes * per_message,
        "load_rest_gbps": load.rest * per_message,
        "autocorrelation": metrics.autocorrelation(loaded),
        "interval_kind": schema.INTERVAL_KINDS.index(found["interval_kind"]),
    }  # fmt: skip


def _raw(load: Load) -> schema.Raw:
    begin = np.full((1, RANKS), 1000)
    done = np.full((1, RANKS), (2 * load.alternations + 1) * LENGTH - 1000)
    return schema.Raw(begin, done, done, np.array([10]), np.array([True]), np.zeros_like(begin))


LOADS = (Load(0), Load(50, 1.5), Load(100, 3.0))


@made.once
def write(path: Path, loads: Sequence[Load] = LOADS) -> Path:
    """A point for each load, sound to the last figure."""
    figures = [_figures(load) for load in loads]
    columns = native.described(schema.RATES, COLUMNS)
    return native.write(
        path,
        "interference",
        figures,
        columns,
        lambda point: _raw(loads[point]),
        _OWN,
        lambda point: _samples(loads[point]),
    )
