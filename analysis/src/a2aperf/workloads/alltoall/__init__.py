# SPDX-License-Identifier: BSD-3-Clause
"""The synchronised all-to-all: every rank sends to all others (`a2aperf alltoall`)."""

from __future__ import annotations

from typing import Final

from a2aperf import grouping, ops_moved, schema
from a2aperf.explain import (
    apart,
    arrivals,
    behind,
    cost,
    descheduled,
    drift,
    faster,
    link,
    modes,
    oversubscribed,
    samples,
    scale,
    start,
    steps,
    stragglers,
    tails,
    timer,
)
from a2aperf.explain.finding import Finder
from a2aperf.traits import Judged
from a2aperf.workloads.alltoall import (
    contradictions,
    forwarding,
    impossible,
    late,
    matrices,
    nodes,
    one_way,
    plots,
    summary,
    uneven,
    verify,
)
from a2aperf.workloads.workload import Suite, Workload

_FINDERS: Final = (
    oversubscribed.finder("measure", "sentinel"),
    start.finder("measure", "sentinel"),
    Finder("traffic", "What the traffic alone asks for", "An imbalance of the traffic is no loss "
           "of the network: only what is missing to the bound is.", uneven.find, describes=True),
    Finder("scale", "Bandwidth lost with scale", "Rate of a node (of a rank where "
           "nodes are unknown) as ranks grow; at the knee a tenth of the best is gone beyond what "
           "ranks that share a link give up.",
           one_way.of_told(scale.find)),
    Finder("modes", "More than one mode", "Ops fall into groups; the median is that "
           "of one group only, and may jump to another group from run to run.",
           uneven.of_alike_ops(one_way.of_told(modes.find))),
    Finder("timer", "A delay of fixed length", "Slow ops are late by about the same time whatever "
           "their size and scale: look for a timer, not for the network.",
           uneven.of_alike_ops(one_way.of_told(timer.find))),
    Finder("tails", "Long tails", "The median hides slow ops; the sustained rate counts them.",
           uneven.of_alike_ops(one_way.of_told(tails.find))),
    Finder("steps", "Steps against message size", "Another protocol takes over between two sizes.",
           one_way.of_told(steps.find)),
    Finder("cost", "What a message costs", "Message-rate-bound below the crossing, "
           "bandwidth-bound above it.", one_way.of_told(cost.find)),
    Finder("stragglers", "Ranks that finish last significantly more often than expected", "Equal "
           "ranks would each be last in one of R ops; reported where it costs time.",
           uneven.of_equal_ranks(stragglers.find),
           blames=True),
    Finder("apart", "A rank or node that finishes apart from the others", "Who receives slowly "
           "is late; who sends slowly makes all others late.", uneven.of_equal_ranks(apart.find),
           blames=True),
    Finder("behind", "The rank behind the slow ops", "It pauses now and then: the others wait for "
           "it, or it is late alone; the median hides both.", uneven.of_equal_ranks(behind.find),
           blames=True),
    Finder("nodes", "A node that stands out over all launches", "Where ranks are shuffled "
           "between launches, what stays with a node is its own. Errors hold over all nodes, and "
           "the placement of ranks is the unit.", nodes.standing_out, blames=True),
    late.FINDER,
    descheduled.finder("measure"),
    Finder("link", "Above the link rate", "More than the link can carry: the figure needs an "
           "explanation before it is used.", link.find),
    Finder("faster", "Another setting moves more", "The same messages, sent in another way by the "
           "same launches.", one_way.of_told(faster.find)),
    Finder("slow-pair", "The message that slow ops wait for", "Of equal pairs with the same "
           "distance each would be last in one of R ops.", uneven.of_equal_ranks(arrivals.find),
           blames=True),
    Finder("drift", "Drift within a launch", "The same point measured first and last differs.",
           drift.find, ("measure", "sentinel")),
    Finder("samples", "Insufficient samples", "Claims for which there are too few ops.",
           samples.find),
)  # fmt: skip

WORKLOAD: Final = Workload(
    schema.ALL_TO_ALL,
    schema.OF_ALL_TO_ALLS,
    "All-to-all with {} ranks",
    columns=schema.RATES | schema.TIMES,
    recomputed=frozenset(schema.COLUMN),
    otherwise=verify.otherwise,
    exchanged=verify.exchanged,
    verify=verify.verifier,
    group=matrices.GROUP,
    choices=(
        matrices.TRAFFIC,
        grouping.WINDOW_BYTES,
        grouping.CHUNK,
        grouping.ENDPOINTS,
        grouping.QUEUES,
        grouping.THREADS,
        grouping.POLLING,
    ),
    impossible=impossible.of_samples,
    untold=impossible.without_times,
    before={
        matrices.TRAFFIC: matrices.UNIFORM,
        grouping.WINDOW_BYTES: 0,
        grouping.CHUNK: 0,
        grouping.ENDPOINTS: 1,
        grouping.QUEUES: "each",
        grouping.THREADS: "one",
        grouping.PINNED_THREADS: 0,
        grouping.POLLING: "",
        forwarding.FORWARDED: 0,
    },
    finders=_FINDERS,
    plots=plots.KINDS,
    sentences=summary.sentences,
    judged=Judged(untold=one_way.are_untold, why_untold=one_way.WHY),
    suite=Suite(  # where a launch would choose, launches could choose differently
        ("--sizes=64,512,4KiB,32KiB,256KiB,1MiB", "--ops=100", "--sync=barrier"),
        ("--sizes=64,4KiB,256KiB", "--ops=30", "--sync=barrier"),
        contradictions.contradictions,
    ),
    moved=ops_moved.moved,
    nodes=nodes.nights,
    study=nodes.over_launches,
)
