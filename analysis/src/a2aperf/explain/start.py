# SPDX-License-Identifier: BSD-3-Clause
"""Launches that took long to start, and what took it."""

from __future__ import annotations

from typing import Final

import numpy as np

from a2aperf.explain.finding import Finder, Finding
from a2aperf.launch import Launch
from a2aperf.oversubscription import oversubscription
from a2aperf.results import Results
from a2aperf.schema import StartTimes

_LONG: Final = 10e9
"""ns from which on a user wants to know why."""
_LATE: Final = 1e9
"""ns above the median, and as much again as it: that rank alone kept the others."""


def finder(*roles: str) -> Finder:
    """The row of a workload whose points have these roles."""
    meaning = (
        "From the program's start until the results file can be made; "
        "'a2a table --start-times' has every phase."
    )
    return Finder("start", "Launches that took long to start", meaning, find, roles)


def find(found: Results) -> list[Finding]:
    """One finding per launch whose start took ten seconds or more."""
    return [
        _told(name, launch, launch.start_times)
        for name, launch in found.launches.items()
        if launch.start_times is not None and launch.start_times.whole >= _LONG
    ]


def _told(name: str, launch: Launch, times: StartTimes) -> Finding:
    phase = int(times.took.argmax())
    took, whole = times.took[phase] / 1e9, times.whole / 1e9
    text = f"{times.meanings[phase]} took {_seconds(took)} of {_seconds(whole)} s"
    return Finding(
        "start",
        text + _longest(launch, times, phase),
        name,
        times.time.shape[1],
        "ranks",
        weight=whole,
        numbers={"phase": times.phases[phase], "took_s": took, "whole_s": whole},
    )


def _longest(launch: Launch, times: StartTimes, phase: int) -> str:
    """The rank that alone kept the others, where it had a core to itself."""
    spent = times.time[phase]
    rank, median = int(spent.argmax()), float(np.median(spent))
    stands_out = spent[rank] >= max(2 * median, _LATE + median)
    if times.waits[phase] or not stands_out or oversubscription(launch):
        return ""
    return f" (rank {rank} of {launch.host_of(rank)} longest; median {_seconds(median / 1e9)} s)"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"
