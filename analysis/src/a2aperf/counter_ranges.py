# SPDX-License-Identifier: BSD-3-Clause
"""What counters can say: changes are none or more, and no more than the time and the node allow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from a2aperf import datasets, schema
from a2aperf.deferred import pandas as pd

_SECOND: Final = 10**9
_CPU_TICK: Final = _SECOND // 10
"""ns by which the kernel's count of a rank's CPU time may be ahead of the clock."""
_DRAIN: Final = 60 * _SECOND
"""ns by which a node counts longer than the point lasts: until all messages have come."""
_START: Final = 3_600 * _SECOND
"""ns: what a start of an hour could count at most, no start has."""
_STARTING: Final = 1024
"""Threads that a rank may have while it starts."""
_MOST: Final = {"threads": 1 << 22, "resident_memory": 1 << 50, "locked_memory": 1 << 50} | {
    datasets.CPU_FREQUENCY: 10**8
}
"""Linux has no more threads than this (pid_max), no node so many bytes, and no CPU 100 GHz."""
_MOST_EVENTS: Final = 1.0
"""Of a thread in a ns: neither a switch nor a fault is over sooner."""
_MOST_CPUS: Final = 1 << 16
_MOST_IN_A_NS: Final = {
    name: 1.0 if name in (datasets.WALL_TIME, datasets.NODE_WALL_TIME) else float(_MOST_CPUS)
    for name, one in datasets.CHANGES.items()
    if name in (datasets.WALL_TIME, *datasets.COUNTED_PER_NODE) and one.units == "ns"
}
"""Time passes once, and CPU time on each CPU of a node."""
CPU_LISTS: Final = re.compile(r"(?:[0-9,;-]|(?<![^;])\?(?![^;…]))*…?")
"""Of threads; of one that was gone when it was looked at: ?."""
_MOST_COUNTED: Final = 1.25e5
"""Of a node in a ns: bytes at a million Gbit/s."""


def of_point(row: pd.Series[Any], counters: schema.Counters) -> Iterator[str]:
    """What no counter of a point can say, in words; -1 is not counted."""
    before = counters.verification
    yield from _below_nothing("/counters", counters)
    if before:
        yield from _below_nothing("/counters", before, datasets.VERIFICATION)
    yield from _of_values(counters)
    if (counters.per_rank["threads"] == 0).any():
        yield "/counters/threads has 0"
    if pd.isna(row["duration"]):
        return
    text = counters.thread_affinity
    if not all(CPU_LISTS.fullmatch(one) for one in text):
        yield "/counters/thread_affinity has no lists of CPUs"
    duration = float(row["duration"])
    threads = np.clip(counters.per_rank["threads"], 1, _MOST["threads"])
    yield from _beyond("/counters", counters, duration + _DRAIN, int(threads.max()))
    if before:
        most = int(threads.max())
        yield from _beyond("/counters", before, duration + _DRAIN, most, datasets.VERIFICATION)
    for used in (counters.per_rank, before.per_rank if before else {}):
        if not used:
            continue
        busy = used["user_time"].astype(float) + used["system_time"]
        if (busy > duration * threads + _CPU_TICK).any():
            yield f"/counters: {busy.max():g} ns of CPU in {row['duration']} ns"


def _of_values(counters: schema.Counters) -> Iterator[str]:
    """What no counter can have been before and after: it rises by what was counted, at least.

    That of a rank: one of a node may be reset, or begin at 0 again, between blocks.
    """
    for prefix, values in ((datasets.BEFORE, counters.before), (datasets.AFTER, counters.after)):
        if not values:
            continue
        yield from _below_nothing("/counters", values, prefix)
        for name, found in values.per_rank.items():
            is_none = name in ("threads", datasets.CPU_FREQUENCY) and (found == 0).any()
            if is_none or (found > _MOST.get(name, np.iinfo(np.int64).max)).any():
                yield f"/counters/{prefix}{name} has {0 if is_none else found.max()}"
    if not (counters.before and counters.after):
        return
    for name in datasets.CHANGED_PER_RANK:
        before = counters.before.per_rank.get(name)
        after = counters.after.per_rank.get(name)
        change = counters.per_rank.get(name)
        if before is None or after is None or change is None:
            continue
        known = (before >= 0) & (after >= 0) & (change >= 0)
        if (after - before < change)[known].any():
            yield f"/counters/{datasets.AFTER}{name} is less than the value before and its change"


def of_start(where: str, counters: schema.Counters) -> Iterator[str]:
    """What no counter of a launch's start can say, in words."""
    yield from _below_nothing(where, counters)
    yield from _beyond(where, counters, _START, _STARTING)


def _below_nothing(group: str, counters: schema.Counters, prefix: str = "") -> Iterator[str]:
    """Changes are none or more, and -1 is not counted."""
    for name, values in counters.per_rank.items():
        if (values < schema.UNKNOWN).any():
            yield f"{group}/{prefix}{name} has {values.min()}"
    for name, values in (*counters.per_node.items(), *counters.ports.items()):
        if (values < schema.UNKNOWN).any():
            yield f"{group}: {prefix}{name} has {values.min()}"


def _beyond(
    group: str, counters: schema.Counters, time: float, threads: int, prefix: str = ""
) -> Iterator[str]:
    """What is more than can happen in so many ns."""
    for name, values in counters.per_rank.items():
        rate = _MOST_IN_A_NS.get(name, threads * _MOST_EVENTS)
        if (values > _MOST.get(name, time * rate)).any():
            yield f"{group}/{prefix}{name} has {values.max()}"
    for name, values in (*counters.per_node.items(), *counters.ports.items()):
        if (values > time * _MOST_IN_A_NS.get(name, _MOST_COUNTED)).any():
            yield f"{group}: {prefix}{name} has {values.max()}"
