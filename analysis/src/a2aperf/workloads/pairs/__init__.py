# SPDX-License-Identifier: BSD-3-Clause
"""Every pair of ranks by itself: who sends to whom at what rate (`a2aperf pairs`)."""

from __future__ import annotations

from typing import Final

from a2aperf import ops_moved, schema
from a2aperf.curves import Kind
from a2aperf.explain import machine
from a2aperf.explain.finding import Finder
from a2aperf.workloads.pairs import matrix, nodes, sentences, stored, table, verify, weak
from a2aperf.workloads.pairs.links import ROLE, Links
from a2aperf.workloads.workload import Workload

WORKLOAD: Final = Workload(
    "pairs",
    (ROLE,),
    "Every pair of {} ranks",
    "a file of 'a2aperf pairs', with the matrix of all pairs and no all-to-all: "
    "'a2a plot matrix', 'a2a table', 'a2a explain' and 'a2a report' show it, and "
    "'a2a history --per node' those of many nights",
    columns=schema.RATES | schema.TIMES,
    recomputed=frozenset(schema.COLUMN) - schema.WHOLE,
    finders=(
        *machine.finders(ROLE),
        Finder(
            "weak",
            "Weak links",
            "Compared with all other pairs; a pair's time is modelled as a part of its source, one "
            "of its destination and one of its own.",
            weak.find,
            (ROLE,),
            blames=True,
            is_gated=True,
        ),
    ),
    plots={
        "matrix": Kind(
            lambda results, options: matrix.figure(results, options, Links.weak),
            "rate or time of every pair of a2aperf pairs: heat map of source and destination",
            "A dark row is a slow sender, a dark column a slow receiver, a dark cell a slow pair; "
            "a dark block is what lies between two switches.",
            options=matrix.OPTIONS,
        ),
    },
    sentences=sentences.sentences,
    listing=table.LISTING,
    group=stored.GROUP,
    nodes=nodes.nights,
    verify=verify.verifier,
    moved=ops_moved.moved,
    beside=verify.verify_isolated,
)
