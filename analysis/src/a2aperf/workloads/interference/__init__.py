# SPDX-License-Identifier: BSD-3-Clause
"""What victims measure beside a load: what it does to them."""

from __future__ import annotations

import math
from typing import Any, Final

from a2aperf.curves import Kind
from a2aperf.deferred import pandas as pd
from a2aperf.explain import machine
from a2aperf.explain.finding import Finder
from a2aperf.traits import Judged, Unsaid
from a2aperf.workloads.interference import curve, findings, verify
from a2aperf.workloads.interference.impact import NO_LOAD, ROLES, STATISTICS, has_load
from a2aperf.workloads.workload import Workload

_FINDERS: Final = (
    Finder("impact", "What the load does to its victims", "Under load as a multiple of alone, by "
           "phases that alternate. Told as one only where the interval excludes 1, of all points "
           "of a launch together.", findings.impacts, ROLES, describes=True),
    Finder("silent", "Phases without a time", "A victim that gets nothing at all has no "
           "impact that could be told.", findings.silent, ROLES),
    Finder("lingering", "Load where there should be none", "What was under way when the load "
           "stopped still came in phases that are called alone.", findings.lingering, ROLES),
    Finder("level", "Load that did not reach its level", "Beside victims it sent less than that "
           "share of its full rate.", findings.levels, ROLES, describes=True),
    Finder("granted", "A class of the load that was not granted", "What was not granted may have "
           "come as what has no class, and its impact may be that of such a load.",
           findings.granted, ROLES),
    *machine.finders(*ROLES),
)  # fmt: skip


def _time(points: pd.DataFrame) -> pd.Series[Any]:
    """Ns, the median under load that came, of points that have the rate which is shown for it."""
    if "gbps" not in points:
        return points["loaded_p50"] * math.nan
    return points["loaded_p50"].where(points["gbps"].notna() & has_load(points))


_IMPACTS: Final = tuple(
    f"impact_{name}{end}" for name in STATISTICS for end in ("", "_low", "_high")
)


WORKLOAD: Final = Workload(
    "interference",
    ROLES,
    "Victims beside a load",
    "a file of victims beside a load and no all-to-all: 'a2a table', 'a2a plot interference', "
    "'a2a explain' and 'a2a report' show it",
    finders=_FINDERS,
    plots={
        "interference": Kind(
            curve.figure,
            "impact of a load on others against its level, a line per size",
            "At 1 the load changes nothing; a line that turns up says from which level on it does.",
        ),
    },
    sentences=findings.sentences,
    table=(
        "mode victim_kind message_size placement load_pattern load_class load_class_granted "
        "load_class_trouble load_level load_gbps ops alone_p50 loaded_p50 "
        "alone_p99 loaded_p99 impact_p50 impact_p50_low impact_p50_high impact_mean impact_p99 "
        "impact_p99_low impact_p99_high impact_p999"
    ).split(),
    choices=(
        "victim_kind victim_pairs victim_window placement load_pattern load_level load_size "
        "load_window load_class request_gap memory"
    ).split(),
    lengths=("phase_length", "alternations"),
    before={"victim_kind": "echo", "victim_window": 1, "load_class": ""},
    seldom=("load_class", "load_class_granted", "load_class_trouble"),
    renamed={"round_trip": "victim_time"},
    unsaid=Unsaid(_IMPACTS, lambda points: ~has_load(points), NO_LOAD),
    judged=Judged(
        _time,
        rate="gbps",
        unit="Gbit/s",
        origin="of a victim under load",
        at="",
        repeated="the median under load",
        has_ops=False,
        missing="a median under a load that came, with its rate (gbps, which older files lack)",
    ),
    least_ranks=4,
    ops_are_attempts=False,
    verify=verify.verifier,
)
