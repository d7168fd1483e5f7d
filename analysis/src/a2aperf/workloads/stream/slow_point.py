# SPDX-License-Identifier: BSD-3-Clause
"""A size that is slower than those beside it, and which counters stood out while it was measured.

What the operating system and the ports counted in it, for each second, is compared with the same of
the sizes beside it. A counter that stands out came with the slowness: it need not be its cause.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, percent
from a2aperf.labels import number_text, size_text
from a2aperf.results import Results
from a2aperf.schema import UNKNOWN, Counters
from a2aperf.workloads.stream import tables
from a2aperf.workloads.stream.tables import Table

Floats = NDArray[np.float64]
_SLOWER: Final = 1.25
"""Times what the sizes beside it lead one to expect, at least."""
_ERROR: Final = 0.01  # of all sizes of a table together
_ERROR_OF_SIDE: Final = 0.005  # of a size, beside either side alone
_FEWEST: Final = 11
"""Sizes: with fewer a slow one decides by itself how rough the table looks."""
_BESIDE: Final = 2  # sizes on each side whose counters are looked at
_STANDS_OUT: Final = 3.0
"""Times the largest beside it, each second."""
_COUNTS: Final = 10
"""More than those beside it would have in its time: less is chance."""
_TIMES: Final = {"system_time": "CPU time in the kernel", "node_steal_time": "time stolen"}
_COUNTED: Final = (
    "voluntary_switches", "involuntary_switches", "minor_faults", "major_faults", "interrupts",
)  # fmt: skip
_NS: Final = 1e9
_A_TICK: Final = 10e6  # ns: the kernel counts time by it


def find(found: Results) -> list[Finding]:
    """Of each table its slow sizes, if their counters were kept."""
    findings = []
    for table in tables.of(found):
        rows = table.free
        rows = rows[(rows["msg_rate"] > 0).fillna(False) & (rows["message_size"] > 0)]
        rows = rows[rows["has_raw"].astype(bool)] if "has_raw" in rows else rows[:0]
        for at, more in slow(
            rows["message_size"].to_numpy(float), rows["msg_rate"].to_numpy(float)
        ):
            finding = _of_point(found, table, rows, at, more)
            findings += [finding] if finding else []
    return findings


def slow(size: Floats, rate: Floats) -> list[tuple[int, float]]:
    """Where a message takes `more` times what the sizes on both sides lead one to expect.

    It is also slower than either side alone leads one to expect: behind a step it is not. So the
    two smallest and the two largest sizes are not judged. Messages/s by size, ascending.
    """
    if len(size) < _FEWEST:
        return []
    log_size, log_time = np.log(size), -np.log(rate)
    inner = np.arange(2, len(size) - 2)

    def over(one: int, other: int, error: float) -> Floats:
        """Above the line through the sizes at these distances, where that is beyond chance."""
        a, b = inner + one, inner + other
        slope = (log_time[b] - log_time[a]) / (log_size[b] - log_size[a])
        found: Floats = log_time[inner] - (log_time[a] + slope * (log_size[inner] - log_size[a]))
        spread = laws.NORMAL_OF_MAD * float(np.median(np.abs(found)))
        limit = spread * float(laws.t_isf(error, laws.mad_freedom(len(found))))
        return np.where(found > max(limit, np.log(_SLOWER)), found, np.nan)

    between = over(-1, 1, _ERROR / len(inner))
    aside = over(-2, -1, _ERROR_OF_SIDE) + over(1, 2, _ERROR_OF_SIDE)
    found = np.flatnonzero(~np.isnan(between + aside))
    return [(int(inner[at]), float(np.exp(between[at]))) for at in found]


def per_second(counters: Counters, seconds: float) -> dict[str, float]:
    """What was counted of all ranks, nodes and ports, for each second; times in ns."""
    every: dict[str, NDArray[Any]] = {
        **{name: counters.per_rank[name] for name in counters.per_rank if _is_looked_at(name)},
        **{name: counters.per_node[name] for name in counters.per_node if _is_looked_at(name)},
        **counters.ports,
    }
    return {
        name: float(values.sum()) / seconds
        for name, values in every.items()
        if values.size and (values != UNKNOWN).all()
    }


def _is_looked_at(name: str) -> bool:
    return name in _COUNTED or name in _TIMES or name.startswith("softirqs_")


def _of_point(
    found: Results, table: Table, rows: pd.DataFrame, at: int, more: float
) -> Finding | None:
    own = _counted(found, rows.iloc[at])
    near = [i for i in range(at - _BESIDE, at + _BESIDE + 1) if i != at and 0 <= i < len(rows)]
    beside = [one for i in near if (one := _counted(found, rows.iloc[i]))]
    if own is None or not beside:
        return None
    seconds = float(rows.iloc[at]["stream_time"]) / _NS
    out = _standing_out(own, beside, seconds)
    size = int(rows.iloc[at]["message_size"])
    shown = "; ".join(
        f"{_TIMES.get(name, name)} {_amount(name, value)} a second, {_amount(name, usual)} there"
        for name, (value, usual) in out.items()
    )
    text = (
        f"a message of {size_text(size)} takes {percent(more - 1)} longer than the sizes beside it "
        f"lead one to expect; "
        + (f"with it stand out: {shown}" if out else f"none of {len(own)} counters stands out")
    )
    numbers = {"size": size, "times": more, **{name: value for name, (value, _) in out.items()}}
    return Finding("slow-point", text, table.where, len(rows), "sizes", more - 1, numbers)


def _counted(found: Results, row: pd.Series[Any]) -> dict[str, float] | None:
    counters = found.counters(str(row["file"]), int(row["point"]))
    seconds = 0.0 if pd.isna(row["stream_time"]) else float(row["stream_time"]) / _NS
    told = per_second(counters, seconds) if counters and seconds > 0 else {}
    return told or None


def _standing_out(
    own: dict[str, float], beside: list[dict[str, float]], seconds: float
) -> dict[str, tuple[float, float]]:
    """Counters far above the largest of those beside, with that; the farthest first."""
    found = {}
    for name, value in own.items():
        usual = max((one[name] for one in beside if name in one), default=np.nan)
        least = _A_TICK if name in _TIMES else _COUNTS
        if value > _STANDS_OUT * usual and (value - usual) * seconds >= least:
            found[name] = (value, usual)
    return dict(sorted(found.items(), key=lambda one: -one[1][0] / max(one[1][1], 1e-9)))


def _amount(name: str, value: float) -> str:
    return f"{number_text(value / 1e6)} ms" if name in _TIMES else number_text(value)
