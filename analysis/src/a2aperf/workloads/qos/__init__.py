# SPDX-License-Identifier: BSD-3-Clause
"""Paths that share a link: who gets how much when classes of service compete."""

from __future__ import annotations

from typing import Any, Final

from a2aperf import schema
from a2aperf.carried import Timed
from a2aperf.deferred import pandas as pd
from a2aperf.explain import held_up as looked_for
from a2aperf.explain import machine
from a2aperf.explain.finding import Finder
from a2aperf.traits import Judged
from a2aperf.workloads.qos import findings, held_up, plots, sentences, stored, table, verify
from a2aperf.workloads.qos.experiments import ROLE
from a2aperf.workloads.workload import Workload

_ROLES: Final = (ROLE,)
_FINDERS: Final = (
    Finder("starved", "Starved paths", "A path that got next to nothing while others were served, "
           "and since when.", findings.starved, _ROLES),
    Finder("model", "Shares and what arbitration says", "Water filling by the tables or weights "
           "that the launch has, and where measured shares agree with it.", findings.model, _ROLES,
           describes=True),
    Finder("honoured", "Classes asked for, granted and seen", "Granted is what the provider took, "
           "verified what was seen on the wire or in counters.", findings.honoured, _ROLES,
           describes=True),
    Finder("equal", "Classes that made no difference", "Paths that differ in their class alone and "
           "got equal shares.", findings.equal, _ROLES),
    looked_for.finder(held_up.find, *_ROLES),
    Finder("idle", "Paths that had nothing under way", "Shares tell of the fabric only where every "
           "path always wants more.", findings.idle, _ROLES),
    Finder("sharing", "Who got how much", "Shares of what all paths carry, of the intervals in "
           "which every path could send.", findings.sharing, _ROLES, describes=True),
    *machine.finders(*_ROLES),
)  # fmt: skip


def _time(points: pd.DataFrame) -> pd.Series[Any]:
    """Ns that 1 MB takes, all paths together."""
    return 8e6 / points["gbps"].where(points["gbps"] > 0)


WORKLOAD: Final = Workload(
    "qos",
    _ROLES,
    "Paths that share a link",
    "a file of paths that share a link and no all-to-all: 'a2a table', 'a2a plot shares', "
    "'a2a explain' and 'a2a report' show it",
    columns=frozenset({"msg_rate"}),
    recomputed=frozenset(schema.COLUMN) - schema.RATES,
    finders=_FINDERS,
    plots=plots.KINDS,
    sentences=sentences.sentences,
    listing=table.LISTING,
    group=stored.GROUP,
    table=(
        "path_list path_count mode window message_size shared_intervals shared_time messages bytes "
        "msg_rate byte_rate gbps jain"
    ).split(),
    choices=("path_list", "interval", "memory"),
    lengths=("asked_duration",),
    judged=Judged(_time, "gbps", "Gbit/s", "of all paths together", "", "a MB", False),
    timed=Timed("shared_time", ("msg_rate", "byte_rate", "gbps")),
    beside=verify.paths,
)
