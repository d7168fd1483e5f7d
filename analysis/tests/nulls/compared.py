# SPDX-License-Identifier: BSD-3-Clause
"""What `compare` may say of sides whose difference is known: drawn as medians of launches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, decision, maxt
from a2aperf.decision import LEVEL, Decision
from nulls import alike
from nulls.row import Outcome, Row
from trials import Drift, Trial

Floats = NDArray[np.float64]

_MARGIN: Final = 0.02
_CELLS: Final = 6
_PERMUTATIONS: Final = 1023
"""Fewer than `compare` draws where a study has several looks: the test is as exact with them."""
_FEW_PERMUTATIONS: Final = 511


def _said(made: Decision, claims: Mapping[str, bool]) -> dict[str, Outcome]:
    if not made.decides:
        return dict.fromkeys(claims, Outcome.ABSTAINED)
    return {name: Outcome.CALLED if made else Outcome.SILENT for name, made in claims.items()}


def _claims(made: Decision) -> dict[str, Outcome]:
    return _said(
        made,
        {
            "differs": bool((made.p <= LEVEL).any()),
            "no difference": bool((made.equal <= LEVEL).any()),
        },
    )


def _launches(name: str, trial: Trial, **limits: dict[str, float]) -> Row:
    """Launches of both sides in turn in one job; an outlier is not a claim."""

    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        y = trial.speeds(rng)
        made = decision.exchanged(y, trial.side, trial.block, math.log1p(_MARGIN), rng)
        return _claims(made)

    return Row(f"compare: {name}", study, **limits)


def _looks(name: str, trial: Trial, **limits: dict[str, float]) -> Row:
    """A comparison that goes on until each cell is decided, or its last look is over."""

    def look(
        y: Floats, whole: Trial, launches: int, level: float, rng: np.random.Generator
    ) -> tuple[Decision, dict[str, NDArray[np.bool_]]]:
        seen = slice(2 * launches)
        made = decision.exchanged(
            y[seen], whole.side[seen], whole.block[seen], math.log1p(_MARGIN), rng, level=level
        )
        return made, {"differs": made.p <= level, "no difference": made.equal <= level}

    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        whole = replace(trial, launches=decision.LOOKS[-1][0])
        y = whole.speeds(rng)
        with patch.object(blocks, "ENUMERATED", _PERMUTATIONS):
            for launches, level in decision.LOOKS:
                made, said = look(y, whole, launches, level, rng)
                if (said["differs"] | said["no difference"]).all():
                    break
        return _said(made, {claim: bool(cells.any()) for claim, cells in said.items()})

    return Row(f"until decided: {name}", study, **limits)


def _any_look(name: str, trial: Trial, **limits: dict[str, float]) -> Row:
    """Whether any of the looks calls a difference: at least as often as the last one does."""
    whole = replace(trial, launches=decision.LOOKS[-1][0])
    side, block = whole.side, whole.block

    def calls(y: Floats, launches: int, level: float, rng: np.random.Generator) -> bool:
        seen = slice(2 * launches)
        return bool((maxt.max_t(y[seen], side[seen], block[seen], rng, level).p <= level).any())

    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        y = whole.speeds(rng)
        with patch.object(blocks, "ENUMERATED", _FEW_PERMUTATIONS):
            called = any(calls(y, *look, rng) for look in decision.LOOKS)
        return {"differs": Outcome.CALLED if called else Outcome.SILENT}

    return Row(f"any look: {name}", study, **limits)


def _outlier(name: str, change: float, **limits: dict[str, float]) -> Row:
    """One launch of twenty takes eight times the time."""
    trial = Trial(launches=10, cells=_CELLS, change=change)

    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        y = trial.speeds(rng)
        y[rng.integers(len(y))] -= math.log(8)
        made = decision.exchanged(y, trial.side, trial.block, math.log1p(_MARGIN), rng)
        return _claims(made)

    return Row(f"compare: {name}", study, **limits)


def _jobs(
    name: str,
    before: int,
    today: int,
    change: float,
    memory: float = 0.0,
    in_turn: bool = False,
    **limits: dict[str, float],
) -> Row:
    """Jobs of one side each, which differ by 2 %; 4 launches in each, which differ by 1 %.

    A job a day, each like the one before; today's are the last, or the sides take turns.
    """
    jobs = before + today
    side = np.resize([False, True, True, False], jobs) if in_turn else np.arange(jobs) >= before
    block = blocks.alternating(side)
    begun = np.arange(1.0, 1 + jobs) * 86400e9

    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        level = 0.02 * alike.series(rng, jobs, memory)
        effects = level[:, None, None] + rng.normal(0, 0.01, (jobs, 4, _CELLS))
        y = np.median(effects, axis=1) + math.log1p(change) * side[:, None]
        return _claims(decision.between_jobs(y, side, begun, block, math.log1p(_MARGIN), rng))

    return Row(f"compare: {name}", study, **limits)


_DRIFTS: Final[tuple[Drift, ...]] = ("none", "line", "wave", "walk", "memory", "heavy")
_DRIFTS_ALIKE: Final[tuple[tuple[Drift, float], ...]] = (
    *((drift, 0.0) for drift in _DRIFTS),
    *((drift, 0.7) for drift in ("line", "wave", "settling", "jump")),
    *((drift, 0.9) for drift in ("line", "wave")),
)

ROWS: Final = (
    *(
        _launches(
            f"equal sides, {drift}", Trial(cells=_CELLS, drift=drift), false={"differs": 0.05}
        )
        for drift in _DRIFTS
    ),
    *(
        _launches(
            f"equal sides, launches of one differ {wider:g} times as much",
            Trial(cells=_CELLS, wider=wider),
            false={"differs": limit},
        )
        for wider, limit in ((3, 0.06), (5, 0.06), (10, 0.06))
    ),
    _launches(
        "20 % faster, launches of one side differ 3 times as much",
        Trial(cells=_CELLS, change=0.2, wider=3),
        true={"differs": 0.8},
    ),
    *(
        _launches(
            f"a change of the margin, {name}",
            Trial(cells=_CELLS, shared=shared, own=own, change=_MARGIN),
            false={"no difference": 0.05},
        )
        for name, shared, own in (("alike", 0.005, 0.001), ("by size", 0.0, 0.005))
    ),
    _launches(
        "the margin in a single cell",
        Trial(cells=1, shared=0.005, own=0.001, change=_MARGIN),
        false={"no difference": 0.05},
    ),
    _launches(
        "5 % faster, launches differ by 2 %",
        Trial(cells=_CELLS, change=0.05),
        true={"differs": 0.9},
    ),
    _launches(
        "equal, launches differ by 0.4 %",
        Trial(cells=_CELLS, shared=0.004, own=0.001),
        false={"differs": 0.05},
        true={"no difference": 0.9},
    ),
    *(
        _looks(f"equal sides, {drift}", Trial(cells=2, drift=drift), false={"differs": 0.05})
        for drift in _DRIFTS
    ),
    *(
        _any_look(
            f"equal sides, {drift}, launches like the one before ({alike})",
            Trial(cells=2, drift=drift, alike=alike),
            false={"differs": 0.05},
        )
        for drift, alike in _DRIFTS_ALIKE
    ),
    _looks(
        "a change of the margin",
        Trial(cells=2, shared=0.005, own=0.001, change=_MARGIN),
        false={"no difference": 0.05},
    ),
    _looks(
        "3 % faster, launches differ by 2 %",
        Trial(cells=2, change=0.03),
        true={"differs": 0.9},
    ),
    _looks(
        "equal, launches differ by 1 %",
        Trial(cells=2, shared=0.01, own=0.001),
        false={"differs": 0.05},
        true={"no difference": 0.9},
    ),
    _outlier("equal sides and an outlier", 0.0, false={"differs": 0.05}),
    _outlier("40 % faster and an outlier", 0.4, true={"differs": 0.9}),
    _jobs("another job", 1, 1, 0.0, false={"differs": 0.05, "no difference": 0.05}),
    _jobs("a job against 8 jobs", 8, 1, 0.0, false={"differs": 0.05}),
    _jobs("8 jobs against 8 jobs", 8, 8, 0.0, false={"differs": 0.05}),
    *(
        _jobs(
            f"{today} of {before} jobs that are like the one before ({memory})",
            before,
            today,
            0.0,
            memory,
            false={"differs": 0.05},
        )
        for before, today in ((5, 3), (8, 1), (8, 8), (20, 3))
        for memory in (0.5, 0.8)
    ),
    *(
        _jobs(
            f"8 jobs in turn with 8, like the one before ({memory})",
            8,
            8,
            0.0,
            memory,
            in_turn=True,
            false={"differs": 0.05},
        )
        for memory in (0.0, 0.5, 0.8)
    ),
    _jobs("a job 20 % faster than 8 jobs", 8, 1, 0.2, true={"differs": 0.7}),
    _jobs("8 jobs 5 % faster than 8 in turn", 8, 8, 0.05, in_turn=True, true={"differs": 0.9}),
)
