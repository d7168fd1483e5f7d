# SPDX-License-Identifier: BSD-3-Clause
"""Whether the figures of interference are what the samples say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, schema
from a2aperf.deferred import pandas as pd
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.interference import impact, samples

_ROWS: Final = (
    "sample_begin",
    "sample_phase",
    "sample_kind",
    samples.TIME,
    "load_received",
    "load_time",
)
_ROLE: Final = "rank_role"
_OF_LOAD: Final = 3
_RATES: Final = {
    "load_full_gbps": impact.LOAD,
    "load_gbps": impact.LOADED,
    "load_rest_gbps": impact.ALONE,
}


def verifier(found: Results, file: str) -> Callable[[pd.Series[Any], RawOps], Iterator[str]]:
    """What compares a point with its victims' times and what its load ranks noted."""
    return partial(_point, found, file)


def _point(found: Results, file: str, row: pd.Series[Any], raw: RawOps) -> Iterator[str]:
    columns = samples.columns(found, file)
    if missing := [name for name in (_ROLE, *_ROWS) if name not in columns]:
        yield f"/raw has no {missing[0]}"
        return
    point, count = int(row["point"]), int(row["alternations"])
    rows = {name: found.own(file, point, columns[name]) for name in _ROWS}
    roles = found.own(file, point, columns[_ROLE])[0]
    there = rows["sample_phase"] != schema.NO_MOMENT
    is_trip = rows[samples.TIME] != schema.NO_MOMENT
    is_load = rows["load_time"] != schema.NO_MOMENT
    if (is_trip & is_load).any() or (there != (is_trip | is_load)).any():
        yield "/raw has rows that are neither a time of a victim nor a phase of the load"
        return
    wrong = _kinds(rows, int(row["phase_length"]), count)[there] != rows["sample_kind"][there]
    if (wrong & is_trip[there]).any():
        yield "/raw/sample_kind is not that of the phase in which the time began"
        return
    of = impact.alternations(rows[samples.TIME], rows["sample_phase"], rows["sample_kind"], count)
    again: dict[str, Any] = {
        "ops": sum(loaded.size for _, loaded in of),
        "alone_trips": sum(alone.size for alone, _ in of),
        "silent_phases": sum(not times.size for one in of for times in one),
    }
    for name in impact.STATISTICS:
        one = impact.impact(name, of)
        again |= {f"alone_{name}": one.alone, f"loaded_{name}": one.loaded}
        again |= {f"impact_{name}": one.ratio}
        again |= {f"impact_{name}_low": one.low, f"impact_{name}_high": one.high}
    if row.get("gbps", np.nan) >= 0:  # files of before there were other victims have none
        again |= {"gbps": _payload(row) * 8 / float(row["loaded_p50"])}
    again |= _rates(rows, is_load, int((roles == _OF_LOAD).sum()), int(row["load_size"]))
    for name, stored, value in derived.contradicted(row, again):
        yield f"{name} is {stored}, its samples say {value:g}"


def _kinds(rows: dict[str, NDArray[Any]], length: int, count: int) -> NDArray[Any]:
    """Of each row by its phase, and whether that had settled; within 1 µs of that it may be either.

    A rank's own clock decided it, and what is stored is of the common one.
    """
    phase, kind = rows["sample_phase"], rows["sample_kind"]
    turned, second = (phase - 1) // 2 % 2 == 1, phase % 2 == 0
    known = np.where(
        phase == 0, impact.LOAD, np.where(turned == second, impact.ALONE, impact.LOADED)
    )
    since = rows["sample_begin"] - phase * length - length // 5
    known = np.where((phase < 0) | (phase > 2 * count) | (since < 0), 0, known)
    return np.where((np.abs(since) <= 1000) & (kind >= 0), kind, known)


def _payload(row: pd.Series[Any]) -> int:
    """Bytes that come to a victim in one of its times."""
    return int(row["message_size"]) * int(row["victim_window"])


def _rates(
    rows: dict[str, NDArray[Any]], is_load: NDArray[np.bool_], ranks: int, size: int
) -> dict[str, float]:
    """Gbit/s of all load ranks: the mean of what each noted of each phase, times their number."""
    found = {}
    for name, kind in _RATES.items():
        mine = is_load & (rows["sample_kind"] == kind)
        rates = rows["load_received"][mine] * size * 8 / rows["load_time"][mine]
        found[name] = float(rates.mean() * ranks) if rates.size else np.nan
    return found
