# SPDX-License-Identifier: BSD-3-Clause
"""Round trips: a request and its answer."""

from __future__ import annotations

from typing import Final

from a2aperf.curves import Kind
from a2aperf.explain import held_up as looked_for
from a2aperf.explain import machine
from a2aperf.explain.finding import Finder
from a2aperf.round_trips import histogram, moved
from a2aperf.traits import Judged
from a2aperf.workloads.echo import (
    contradictions,
    held_up,
    outstanding,
    sentences,
    tails,
    verify,
    ways,
    ways_figure,
)
from a2aperf.workloads.workload import Suite, Workload

_FINDERS: Final = (
    Finder("round-trips", "Round trips at each size", "As the file has them; of one run how much "
           "runs differ is not known.", outstanding.trips, ("echo",), describes=True),
    Finder("outstanding", "Round trips under way at once", "By Little's law bandwidth × mean time "
           "/ size; the minimum gives what is sure.", outstanding.find, ("echo",), describes=True),
    Finder(ways.KIND, "The way there and the way back", "By the clocks of both ends, where these "
           "are at most 5 % of the median round trip apart. From the send of a message to when the "
           "other side saw it; half a round trip is no way's time.",
           ways.find, ("echo",), describes=True),
    looked_for.finder(held_up.find, "echo"),
    *machine.finders("echo"),
)  # fmt: skip

WORKLOAD: Final = Workload(
    "echo",
    ("echo",),
    "Round trips",
    "a file of round trips and no all-to-all: 'a2a table', 'a2a plot tails', 'a2a explain' and "
    "'a2a report' show it",
    finders=_FINDERS,
    plots=tails.KINDS
    | {
        "ways": Kind(
            ways_figure.figure,
            "medians of the way there, the server and the way back of round trips against the "
            "size of the answer",
            "Where the ways of equal messages differ, so do the two directions, or what sender and "
            "receiver do; a request is as long at every size of the answers.",
            in_report=ways_figure.is_there,
        )
    },
    sentences=sentences.sentences,
    table=(
        "section run mode operation outstanding request_size key_size message_size ops time_min "
        "time_p50 time_p90 time_p99 time_p999 time_max byte_rate gbps way_there_p50 server_p50 "
        "way_back_p50"
    ).split(),
    seldom=("way_there_p50", "server_p50", "way_back_p50"),
    choices=("section", "run", "operation", "request_size", "key_size", "outstanding", "memory"),
    judged=Judged(
        rate="gbps",
        unit="Gbit/s",
        origin="of the answers",
        at="",
        repeated="the median round trip",
        has_ops=False,
        rest_on=histogram.words,
    ),
    suite=Suite(
        ("--sizes=64,512,4KiB,32KiB,256KiB,1MiB", "--ops=2000"),
        ("--sizes=64,4KiB,256KiB", "--ops=500"),
        contradictions.contradictions,
    ),
    ops_are_attempts=False,
    verify=verify.verifier,
    moved=moved.moved,
)
