# SPDX-License-Identifier: BSD-3-Clause
"""Published figures of interconnects side by side: imported, and not measured here."""

from __future__ import annotations

from typing import Final

from a2aperf.curves import Kind
from a2aperf.explain.finding import Finder
from a2aperf.workloads.interconnects import published, ranking
from a2aperf.workloads.workload import Workload

WORKLOAD: Final = Workload(
    "interconnects",
    (published.ROLE,),
    "Interconnects side by side, as published",
    "a file of published figures of interconnects and no all-to-all: 'a2a table', "
    "'a2a plot ranking', 'a2a explain' and 'a2a report' show it",
    columns=frozenset({"msg_rate"}),
    finders=(
        Finder(
            "contradicts",
            "Figures that contradict physics or one another",
            "Rates above the line rate, latencies that the line has no time for or that are below "
            "those of smaller messages, bytes and messages of a size that do not fit together, "
            "rankings that the rates do not have.",
            published.contradicting,
            (published.ROLE,),
        ),
    ),
    plots={
        "ranking": Kind(
            ranking.figure,
            "published MB/s of interconnects against message size",
            "Where lines cross, another interconnect is ahead from there on.",
        )
    },
    sentences=published.sentences,
    table=(
        "interconnect payload byte_rate gbps msg_rate offered_rate hops time_mean line_rate"
    ).split(),
    choices=("interconnect", "offered_rate", "hops"),
    least_ranks=1,
)
