# SPDX-License-Identifier: BSD-3-Clause
"""An open loop: messages that are due at a rate, and their time from then on."""

from __future__ import annotations

from typing import Final

from a2aperf.curves import Kind
from a2aperf.explain import held_up as looked_for
from a2aperf.explain import machine
from a2aperf.explain.finding import Finder
from a2aperf.round_trips import histogram, moved
from a2aperf.traits import Judged
from a2aperf.workloads.open_loop import (
    averages,
    contradictions,
    doubts,
    findings,
    held_up,
    hockey,
    latency_parts,
    relay,
    seconds,
    verify,
)
from a2aperf.workloads.open_loop.rates import ROLES
from a2aperf.workloads.workload import Suite, Workload

_FINDERS: Final = (
    Finder("latency", "Latency at each rate", "From when a message was due to its answer; as the "
           "file has it.", findings.latency, ROLES, describes=True),
    Finder("saturation", "The rate that is kept", "Kept is a rate of which 99 % is achieved, the "
           "shortest latency left out. Above it messages wait for those before them, and latencies "
           "grow with the length of a point.",
           findings.saturation, ROLES, describes=True),
    Finder("omission", "What counting from the due time adds", "Who counts from the moment when a "
           "message was sent leaves out how long it could not be (coordinated omission).",
           findings.omission, ROLES, describes=True),
    Finder("averages", "Averages per second in several modes", "Of the messages that were due in "
           "each second, or in shorter intervals: beyond chance, by their valley.",
           averages.find, ROLES),
    Finder("pacing", "Messages that the client itself sent late", "Their lateness is in the "
           "latencies, and is not the fabric's.", findings.pacing, ROLES),
    Finder("relay", "What the relay adds", "Each time by the clock of the rank where it passed; "
           "what is left is the way over both hops, there and back, and the server.",
           relay.relayed, ROLES, describes=True),
    looked_for.finder(held_up.find, *ROLES),
    *machine.finders(*ROLES),
)  # fmt: skip

WORKLOAD: Final = Workload(
    "open-loop",
    ROLES,
    "Latency at a rate",
    "a file of messages at a rate and no all-to-all: 'a2a table', 'a2a plot hockey', 'a2a explain' "
    "and 'a2a report' show it",
    finders=_FINDERS,
    plots={
        "hockey": Kind(
            hockey.figure,
            "latency of an open loop against the offered rate, a line per size: level, then steep",
            "Where a line turns up, messages begin to wait for those before them; from the first "
            "hollow mark on the rate is no longer kept.",
        ),
        "seconds": Kind(
            seconds.figure,
            "mean latency of an open loop in each second, or in shorter intervals",
            "A line that is not level says when a pause was; one that climbs to its end is a rate "
            "that is not kept.",
            needs_raw=True,
            in_report=seconds.has_course,
        ),
        "relay": Kind(
            latency_parts.figure,
            "mean latency of an open loop over a relay against the offered rate: how much of it is "
            "at the relay, before the send, and on both hops",
            "A band that widens is what makes latency grow: the relay's where messages wait for "
            "its service, the lowest where the fabric or the server is slow.",
            needs_raw=True,
            in_report=latency_parts.is_there,
        ),
    },
    sentences=findings.sentences,
    table=(
        "mode outstanding message_size rate arrivals ops time_min time_p50 time_p90 time_p99 "
        "time_p999 time_max offered_rate achieved_rate backlog unanswered pacing_p999 "
        "relay_mean relay_p99"
    ).split(),
    seldom=("relay_mean", "relay_p99"),
    choices=(
        "echo_pairs",
        "outstanding",
        "rate",
        "arrivals",
        "memory",
        "relays",
        "asked_relay_time",
    ),
    before={"relays": 0, "asked_relay_time": 0},
    lengths=("asked_duration", "asked_messages"),
    judged=Judged(
        rate="gbps",
        unit="Gbit/s",
        origin="of the answers",
        at="",
        repeated="the median latency from the due time",
        has_ops=False,
        rest_on=histogram.words,
    ),
    suite=Suite(  # at a rate that most keep; where one does not, its messages wait and it is slower
        ("--sizes=64,512,4KiB,32KiB", "--rate=10k", "--duration=300ms"),
        ("--sizes=64,4KiB", "--rate=10k", "--duration=100ms"),
        contradictions.contradictions,
        doubts=doubts.not_kept,
    ),
    ops_are_attempts=False,
    verify=verify.verifier,
    moved=moved.moved,
)
