# SPDX-License-Identifier: BSD-3-Clause
"""Steps of the time of a message where the protocol changes: at limits that are known, no others.

Limits are where the inject path ends, what the queues take inline, and those of the provider. The
time of a message grows smoothly with its size on either side; at a step it bends more than it does
elsewhere, and stays so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.deferred import pandas as pd
from a2aperf.explain import steps
from a2aperf.explain.finding import Finding, percent
from a2aperf.labels import number_text, size_text
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.workloads.stream import alike
from a2aperf.workloads.stream.tables import Table

Floats = NDArray[np.float64]
Limits = list[tuple[str, int]]
_LEAST: Final = 0.05
"""Of the time: less is no step."""
_ERROR: Final = 0.05  # of all limits of a setting together
_FEWEST: Final = 4  # bends elsewhere, from which a spread is known
_INLINE: Final = "max_inline_data"
_INLINE_OF_ADAPTER: Final = "nic_max_inline_data"


def find(found: Results) -> list[Finding]:
    """Of each setting its steps at known limits."""
    known = steps.thresholds(found)
    findings = []
    for of in alike.settings(found):
        rates = alike.rates(of)
        rates = rates[(rates.index > 0) & (rates > 0)].sort_index()
        launches = [alike.rates([table]).reindex(rates.index) for table in of]
        own = list(_of_tables(found, of))
        others = [one for one in known if one[1] not in {limit for _, limit in own}]
        between = _between(rates, [*others, *own])
        for at, names in between.items():
            change = step(rates, at, len(between))
            if change is not None and _in_all(launches, at, change):
                findings.append(_told(of, rates, at, names, change))
    return findings


def step(rates: pd.Series[float], at: int, looks: int) -> float | None:
    """Log of the time gained or lost between sizes `at` and `at` + 1, beyond what growth explains.

    None where it is no step. Messages/s by size, ascending; one of so many `looks`.
    """
    log_size, log_time = np.log(rates.index.to_numpy(dtype=float)), -np.log(rates.to_numpy(float))
    growth = np.diff(log_size)
    slope = np.diff(log_time) / growth
    if not 1 <= at < len(slope) - 1:
        return None
    bends: Floats = growth[1:-1] * (slope[1:-1] - (slope[:-2] + slope[2:]) / 2)
    others = np.delete(bends, np.arange(max(0, at - 2), min(len(bends), at + 1)))
    if len(others) < _FEWEST:
        return None
    spread = laws.NORMAL_OF_MAD * float(np.median(np.abs(others)))
    limit = float(laws.t_isf(_ERROR / (2 * looks), laws.mad_freedom(len(others)))) * spread
    change = float(bends[at - 1])
    if abs(change) <= max(np.log1p(_LEAST), limit):
        return None
    half = change / 2
    before, after = log_time[at - 1 : at + 1], log_time[at + 1 : at + 3]
    stays = after.min() - before.max() >= half if change > 0 else after[0] - before.min() <= half
    return change if stays else None


def _in_all(launches: list[pd.Series[float]], at: int, change: float) -> bool:
    """Whether every launch that has both sizes goes the same way."""
    times = [-np.log(one.iloc[at : at + 2].to_numpy(float)) for one in launches]
    return all(np.sign(b - a) == np.sign(change) for a, b in times if not np.isnan(b - a))


def _of_tables(found: Results, of: list[Table]) -> Iterator[tuple[str, int]]:
    """What the tables and their launches tell of themselves."""
    for table in of:
        rows = table.free
        if "inject" in rows:
            took = rows.loc[(rows["inject"] == 1).fillna(False), "message_size"]
            left = rows.loc[(rows["inject"] == 0).fillna(False), "message_size"]
            if len(took) and len(left) and took.max() < left.min():
                yield "end of the inject path", int(took.max())
        launch = found.launches[table.launch]
        for name, value in launch.attributes.items():
            if name.endswith(_INLINE) and str(value).isdigit():
                yield _INLINE, int(value)
        yield from _of_adapters(launch)


def _of_adapters(launch: Launch) -> Iterator[tuple[str, int]]:
    """What adapters take inline from a connected queue: verbs has these, unless rxd is on top."""
    core, *layers = str(launch.attributes.get("provider", "")).split(";")
    if core != "verbs" or "ofi_rxd" in layers:
        return
    for value in sorted(set(launch.node_facts.get(_INLINE_OF_ADAPTER, ()))):
        if value.isdigit():
            yield _INLINE_OF_ADAPTER, int(value)


def _between(rates: pd.Series[float], limits: Limits) -> dict[int, list[str]]:
    """Limits by the index of the last size that is not above them."""
    sizes = [int(str(size)) for size in rates.index]
    found: dict[int, list[str]] = {}
    for name, limit in sorted(set(limits), key=lambda one: (one[1], one[0])):
        at = int(np.searchsorted(sizes, limit, side="right")) - 1
        if 0 <= at < len(sizes) - 1:
            found.setdefault(at, []).append(f"{name} ({limit} B)")
    return found


def _told(
    of: list[Table], rates: pd.Series[float], at: int, names: list[str], change: float
) -> Finding:
    (below, above), (one, other) = rates.index[at : at + 2], rates.iloc[at : at + 2]
    more = float(np.expm1(change))
    words = "longer" if more > 0 else "shorter"
    text = (
        f"between {size_text(below)} and {size_text(above)} a message takes {percent(abs(more))} "
        f"{words} than the sizes on both sides lead one to expect ({number_text(one / 1e6)} to "
        f"{number_text(other / 1e6)} million messages/s); known there: {', '.join(names)}"
    )
    launches = alike.launches(of)
    where = of[0].where if launches == 1 else f"{launches} launches, {of[0].setting}"
    numbers = {"below": int(below), "above": int(above), "change": more}
    return Finding("thresholds", text, where, len(rates), "sizes", abs(more), numbers)
