# SPDX-License-Identifier: BSD-3-Clause
"""Streams: what one pair of ends carries while it sends without a pause."""

from __future__ import annotations

from typing import Final

from a2aperf import schema
from a2aperf.carried import Timed
from a2aperf.explain import held_up as looked_for
from a2aperf.explain import machine
from a2aperf.explain.finding import Finder
from a2aperf.traits import Judged
from a2aperf.workloads.stream import (
    buffers,
    contradictions,
    credit_bound,
    held_up,
    moved,
    pause,
    plots,
    rates,
    sentences,
    slow_point,
    thresholds,
    verify,
)
from a2aperf.workloads.workload import Suite, Workload

_ROLES: Final = ("stream",)
_FINDERS: Final = (
    Finder("sizes", "Bandwidth at each size", "Of streams whose receiver does not pause, a row "
           "each: how much launches differ is not known from one.", rates.sizes, _ROLES,
           describes=True),
    Finder("knee", "Knee between message rate and bandwidth", "Message-rate-bound below the "
           "crossing, bandwidth-bound above it.", rates.knee, _ROLES, describes=True),
    Finder("buffers", "What the number of buffers does", "Message rates of tables that differ in "
           "nothing else.", buffers.find, _ROLES),
    Finder("credits", "Where the credits of a window bind", "The rate is window / round trip "
           "there: only more messages under way, or a shorter round trip, make it higher.",
           credit_bound.find, _ROLES, describes=True),
    Finder("thresholds", "Steps at known limits", "Another protocol takes over between two sizes, "
           "where the inject path, what goes inline or the provider's way ends.", thresholds.find,
           _ROLES),
    Finder("slow-point", "A size slower than those beside it", "What was counted while it was "
           "measured, against the sizes beside it: what stands out came with it, and need not be "
           "the cause.", slow_point.find, _ROLES),
    Finder("pause", "Receivers that pause", "Whether one pause after every 1000 messages explains "
           "the rate, the total and the longest wait.", pause.find, _ROLES),
    looked_for.finder(held_up.find, *_ROLES),
    Finder("sums", "Totals and rates computed again", "Bytes are messages × size, rates are totals "
           "/ time.", rates.sums, _ROLES, describes=True),
    *machine.finders(*_ROLES),
)  # fmt: skip

WORKLOAD: Final = Workload(
    "stream",
    ("stream",),
    "Streams",
    "a file of streams and no all-to-all: 'a2a table', 'a2a plot rates', 'a2a explain' and "
    "'a2a report' show it",
    columns=frozenset({"msg_rate"}),
    recomputed=frozenset(schema.COLUMN) - schema.RATES,
    finders=_FINDERS,
    plots=plots.KINDS,
    sentences=sentences.sentences,
    table=(
        "section mode window free_delay stream_time message_size messages bytes msg_rate byte_rate "
        "gbps longest_wait"
    ).split(),
    least_ranks=1,
    timed=Timed("stream_time", ("msg_rate", "byte_rate", "gbps")),
    verify=verify.verifier,
    moved=moved.moved,
    choices=(
        *("section", "stream_pairs", "duplex", "free_delay", "free_every", "asked_inject"),
        *("threads", "cq_mod", "completion", "traced", "memory"),
    ),
    before={"cq_mod": 1, "completion": "default", "traced": "no", "threads": "one"},
    suite=Suite(
        ("--sizes=64,512,4KiB,32KiB,256KiB,1MiB", "--duration=300ms"),
        ("--sizes=64,4KiB,256KiB", "--duration=100ms"),
        contradictions.contradictions,
    ),
    lengths=("asked_duration", "asked_messages"),
    judged=Judged(
        rates.message_time, "gbps", "Gbit/s", "of the whole stream", "", "a message", False
    ),
)
