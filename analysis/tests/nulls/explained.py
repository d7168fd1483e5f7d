# SPDX-License-Identifier: BSD-3-Clause
"""Rows for `a2a explain`: machines on which nothing is wrong, and such on which one thing is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from a2a.explain import explain
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
        kinds = {one.kind for one in explain(machine.measured(truth, rng), CLAIMS)}
        return {x: Outcome.CALLED if x in kinds else Outcome.SILENT for x in CLAIMS}

    false = {x: rate for x, rate in ALL.items() if x not in not_false and x not in (true or {})}
    return Row(name, study, false, true or {})


def _true(name: str, claim: str, rate: float, truth: Truth, *others: str) -> Row:
    return _row(name, truth, *others, true={claim: rate})


_ONE: Final = Truth(sentinels=True)


ROWS: Final = (
    # Nothing is wrong.
    _row("independent ops", _ONE),
    # One thing is wrong.
    _true("two modes", "modes", 0.9, Truth(modes=(0.3, 1.5)), "tails", "drift"),
    _true("a rank that receives slowly", "apart", 0.9, Truth(receives=1.6), "stragglers", "steps"),
)  # fmt: skip
