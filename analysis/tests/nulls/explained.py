# SPDX-License-Identifier: BSD-3-Clause
"""Rows for `a2a explain`: machines on which nothing is wrong, and such on which one thing is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from a2aperf.explain.finders import explain
from nulls import machine
from nulls.machine import Truth
from nulls.row import Outcome, Row

CLAIMS: Final = (
    "scale", "modes", "timer", "tails", "steps", "stragglers", "apart", "behind",
    "link", "drift",
)  # fmt: skip
"""What is false of a machine on which nothing is wrong."""

ALL: Final = dict.fromkeys(CLAIMS, 0.05) | dict.fromkeys(("stragglers", "behind"), 0.01)


def _row(name: str, truth: Truth, *not_false: str, true: Mapping[str, float] | None = None) -> Row:
    """A row that looks at every claim; `not_false` are those that may be right there."""

    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        told = explain(machine.measured(truth, rng), CLAIMS)
        called = {one.kind for one in told if not one.abstains}
        abstained = {one.kind for one in told} - called
        return dict.fromkeys(CLAIMS, Outcome.SILENT) | {
            **dict.fromkeys(abstained, Outcome.ABSTAINED),
            **dict.fromkeys(called, Outcome.CALLED),
        }

    false = {x: rate for x, rate in ALL.items() if x not in not_false and x not in (true or {})}
    return Row(name, study, false, true or {})


def _true(name: str, claim: str, rate: float, truth: Truth, *others: str) -> Row:
    return _row(name, truth, *others, true={claim: rate})


def _apart(name: str, truth: Truth) -> Row:
    """Of launches whose ops depend on each other as long as a node is late for a while."""

    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        told = explain(machine.measured(truth, rng), ("apart",))
        return {"apart": Outcome.CALLED if told else Outcome.SILENT}

    return Row(f"{name}: nobody is apart", study, {"apart": 0.05})


_ONE: Final = Truth(sentinels=True, sizes=machine.SIZES[::2])
_MANY: Final = Truth(nodes=(2, 4), ops=40, sizes=machine.SIZES[::2], launches=3, launch_spread=0.02)
_NODES: Final = Truth(ppn=4, launches=4, lateness=0.02, of_nodes=0.3, memory=0.95,
                      launch_spread=0.02, drift=0.1)  # fmt: skip
"""Launches with a common drift, in which every node is late for a while now and then."""
_NOISY: Final = Truth(ops=10, noise=0.001, lateness=0.001, link=0.6, cell_spread=0.005,
                      noisy=(1, 0.08))  # fmt: skip


def _with(truth: Truth, **changes: Any) -> Truth:
    return replace(truth, **changes)


ROWS: Final = (
    # Nothing is wrong.
    _row("independent ops", _ONE),
    _row("AR(1) 0.5", _with(_ONE, memory=0.5)),
    _row("AR(1) 0.8", _with(_ONE, memory=0.8)),
    _row("AR(1) 0.95", _with(_ONE, memory=0.95)),
    _row("AR(1) 0.8, lateness of 20 %", _with(_ONE, memory=0.8, lateness=0.2)),
    _row("AR(1) 0.95, lateness of 20 %", _with(_ONE, memory=0.95, lateness=0.2)),
    _row("pauses of ten ops, anywhere", Truth(bursts=0.004), "tails", "modes"),
    _row("pauses of twenty ops, anywhere", Truth(bursts=0.004, burst=20), "tails", "modes"),
    _row("heavy tails", _with(_ONE, shape="heavy")),
    _row("drift of 10 %", _with(_ONE, drift=0.1), "drift"),
    _row("slow noise of 3 % that lasts 100 ops", _with(_ONE, slow=(0.03, 100.0)), "modes"),
    _row("slow noise of 3 % that lasts 300 ops", _with(_ONE, slow=(0.03, 300.0)), "modes"),
    _row("lateness of 20 %", _with(_ONE, lateness=0.2)),
    _row("constant offsets of a fifth of the noise", _with(_ONE, offsets=0.2)),
    _row("points that differ by 4 %", Truth(cell_spread=0.04, link=0.75)),
    _row("points that differ by 4 %, 4 launches", Truth(cell_spread=0.04, link=0.75, launches=4)),
    _row("points with heavy tails, 4 launches", Truth(cell_spread=0.04, launches=4, shape="heavy"),
         "link"),
    _row("a noisy size, 2 launches", _with(_NOISY, launches=2)),
    _row("three noisy sizes, 2 launches", _with(_NOISY, launches=2, noisy=(3, 0.08))),
    _row("three noisy sizes, 3 launches", _with(_NOISY, launches=3, noisy=(3, 0.08))),
    _row("launches that differ by 2 %", _MANY),
    _row("launches that differ by 1 % and by 15 %", _with(_MANY, ops=20, launches=8,
         launch_spread=0.01, at_largest=(2, 0.15)), "link", "drift"),
    _row("a single launch of the largest scale", _with(_MANY, ops=20, launches=8,
         at_largest=(1, 0.05)), "link"),
    _row("16 ranks a node, 98 % of the link", Truth(nodes=(2, 4, 16), ppn=16, link=0.98, ops=20,
         lateness=0.001, noise=0.001, sizes=(8000, 64000))),
    _row("exponential jitter", Truth(sizes=tuple(1000 * 2**i for i in range(12)), jitter=2e5),
         "tails"),
    _apart("nodes late together, AR(1) 0.95", _NODES),
    _apart("nodes late together, AR(1) 0.95, 10 ops", _with(_NODES, ops=10)),
    _apart("nodes late together, AR(1) 0.99, 20 ops", _with(_NODES, ops=20, memory=0.99)),
    _apart("ranks late, AR(1) 0.99, 20 ops", _with(_NODES, ops=20, memory=0.99, ppn=1)),
    _apart("three nodes late together, AR(1) 0.99", _with(_NODES, nodes=(3,), memory=0.99)),
    # One thing is wrong.
    _true("a step of 15 %", "steps", 0.9, Truth(launches=4, launch_spread=0.02, cell_spread=0.01,
          steps=((16000, 1.15),))),
    _true("a step of 30 %, 2 launches", "steps", 0.6, Truth(ops=20, launches=2, link=0.6,
          cell_spread=0.01, steps=((16000, 1.43),))),
    _true("a rank late by 10 %", "stragglers", 0.9, _with(_ONE, straggler=(0.5, 0.1))),
    _true("a rank late by 10 %, AR(1) 0.8", "stragglers", 0.5,
          _with(_ONE, straggler=(0.5, 0.1), memory=0.8)),
    _true("a third lost with scale", "scale", 0.9, _with(_MANY, lost=1.5)),
    _true("a timer", "timer", 0.9, Truth(sizes=tuple(1000 * 2**i for i in range(12)),
          timer=(0.05, 3e6)), "tails", "modes", "behind"),
    _true("two modes", "modes", 0.9, Truth(modes=(0.3, 1.5)), "tails", "drift"),
    _true("a rank that pauses", "behind", 0.9, Truth(pauses=(0.05, 5.0)), "tails", "stragglers",
          "modes"),
    _true("a rank that receives slowly", "apart", 0.9, Truth(receives=1.6), "stragglers", "steps"),
    _true("a drift of 30 %", "drift", 0.9, _with(_ONE, drift=0.3), "modes"),
)  # fmt: skip
