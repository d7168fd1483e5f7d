# SPDX-License-Identifier: BSD-3-Clause
"""Steps against message size: where the protocol changes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a2a.explain import series
from a2a.explain.finding import Finding, listed, spanned
from a2a.results import Results

_FALL: Final = 0.05

# Part of a provider's name: (what changes there, variable that moves it, default in bytes).
KNOWN: Final[Mapping[str, tuple[tuple[str, str, int], ...]]] = {
    "psm2": (
        ("inject size", "", 64),
        ("eager from PIO to SDMA", "PSM2_MQ_EAGER_SDMA_SZ", 16384),
        ("eager to rendezvous", "PSM2_MQ_RNDV_HFI_THRESH", 64000),
        ("rendezvous window", "PSM2_MQ_RNDV_HFI_WINDOW", 131072),
    ),
    "rxm": (
        ("inject size", "", 64),
        ("eager to rendezvous", "FI_OFI_RXM_BUFFER_SIZE", 16384),
    ),
    "net": (("inject size", "", 128),),
    "shm": (("inject size", "", 4096),),
    "rxd": (("inject size", "", 1256),),
}


@dataclass(frozen=True)
class _Step:
    series: str
    ranks: int
    below: int  # B
    above: int  # B
    change: float  # of the bandwidth when it falls, of the time when that falls
    rates: tuple[float, float]  # Gbit/s per rank, as the file's own table counts them
    ops: int


def find(found: Results) -> list[Finding]:
    """Neighbouring sizes between which the bandwidth, or the time itself, falls by 5 % or more."""
    table = series.curves(found)
    rate = series.rate_column(found)
    grouped: dict[tuple[str, int, int, bool], list[_Step]] = {}
    for _, line in table.groupby(["series", "ranks", "nodes", "ppn"], dropna=False, sort=False):
        rows = [row for _, row in line.sort_values("message_size").iterrows()]
        for a, b in itertools.pairwise(rows):
            step = _step(a, b, rate)
            if step:
                key = (step.series, step.below, step.above, step.change < 0)
                grouped.setdefault(key, []).append(step)
    scales = table.groupby("series")["ranks"].nunique()
    thresholds = _thresholds(found)
    return [_told(steps, int(scales[key[0]]), rate, thresholds) for key, steps in grouped.items()]


def _step(a: Any, b: Any, rate: str) -> _Step | None:
    """A step from row a to row b of `series.curves`; None where it may be chance, or is small.

    Falling bandwidth is negative; a time that falls although there is more to move is positive.
    """
    if b["low"] <= a["high"] and a["low"] <= b["high"]:  # NaN, that is unknown, is no overlap
        return None
    fall = b[rate] / a[rate] - 1
    quicker = 1 - b["time"] / a["time"]
    change = fall if fall <= -_FALL else quicker if quicker >= _FALL else 0.0
    if not change:
        return None
    sizes = int(a["message_size"]), int(b["message_size"])
    rates = float(a[rate]), float(b[rate])
    return _Step(a["series"], int(a["ranks"]), *sizes, change, rates, int(a["ops"] + b["ops"]))


def _told(steps: list[_Step], scales: int, rate: str, thresholds: list[tuple[str, int]]) -> Finding:
    first = steps[0]
    changes = [abs(100 * step.change) for step in steps]
    ranks = listed((step.ranks for step in steps), 12)
    if first.change < 0:
        cited = [f"{s.rates[0]:.4g} to {s.rates[1]:.4g} at {s.ranks} ranks" for s in steps]
        what = f"{rate} falls by {spanned(changes)} % ({listed(cited, 3)})"
    else:
        what = f"the time falls by {spanned(changes)} % although messages grow"
    matching = [
        f"{name} ({size} B)" for name, size in thresholds if first.below <= size <= first.above
    ]
    known = (
        "; known there: " + ", ".join(matching) if matching else "; no known threshold lies there"
    )
    if not thresholds:
        known = "; the provider is not recorded, so no threshold is known"
    return Finding(
        "steps",
        f"between {first.below} and {first.above} B {what}, in {len(steps)} of {scales} rank "
        f"counts{known}",
        ", ".join(filter(None, [f"ranks {ranks}", first.series])),
        sum(step.ops for step in steps),
        weight=max(changes) * len(steps) / scales,
        numbers={
            "below": first.below,
            "above": first.above,
            "largest_change_percent": max(changes),
            "ranks": ranks,
        },
    )


def _thresholds(found: Results) -> list[tuple[str, int]]:
    """Known thresholds of the providers at hand, where a variable may have moved them."""
    names = set(found.points["provider"])
    settings: dict[str, str] = {}
    for launch in found.launches.values():
        settings |= launch.environment
    if any(name.startswith("PSM2_") for name in settings):
        names.add("psm2")
    known = []
    for part, rows in KNOWN.items():
        if any(part in name for name in names):
            for what, variable, default in rows:
                moved = settings.get(variable, "")
                known.append((f"{part} {what}", int(moved) if moved.isdigit() else default))
    return known
