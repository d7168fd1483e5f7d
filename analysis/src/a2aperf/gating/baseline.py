# SPDX-License-Identifier: BSD-3-Clause
"""Launches compared with a baseline of other jobs: a check for each band of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from a2aperf import differences, jobs, power, remarks, sides
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.gating import bands, losses
from a2aperf.gating.checks import Check, State, unknown
from a2aperf.gating.losses import Loss
from a2aperf.labels import count_text, list_text
from a2aperf.results import Results

_FACTS: Final = ("cpu_model", "nic_driver", "nic_link_rate")
"""What makes another cluster (`clusters`)."""
_NAMES: Final = ("cluster", "SLURM_CLUSTER_NAME")
_COLUMNS: Final = ("provider", "ranks", "nodes")
WHAT: Final = "speed"
_FEWER: Final = 0.9
"""Of the jobs that are checked: where they count as fewer than that share of them, it is told."""


def check(found: Results, baseline: Sequence[str], loss: float) -> tuple[list[Check], list[str]]:
    """Checks of all files but `baseline` (names as in `Results.files`) against these; notes."""
    candidate = ~found.points["file"].isin(list(baseline))
    if candidate.all():
        return [unknown("baseline", "the baseline has no complete point")], []
    reason = _refusal(found, candidate)
    if reason:
        return [unknown("baseline", reason)], []
    try:
        pairing = sides.pair(found, candidate)
    except InputError as error:
        return [unknown("baseline", str(error))], []
    if "sync" in pairing.disjoint:
        return [unknown("baseline", str(remarks.no_verdict(pairing)))], []
    if pairing.disjoint:
        why = f"measured otherwise than the files: {', '.join(pairing.disjoint)} differs"
        return [unknown("baseline", why)], []
    speed = -np.log(found.judged.time(pairing.points).to_numpy(dtype=np.float64))
    y = pairing.per_launch(speed)
    parts = bands.of(pairing.cells)
    of_bands = [band.cells for band in parts]
    judged = y, pairing.steps, pairing.begun, pairing.side, of_bands
    made = losses.judge(*judged, loss)
    few, unit = remarks.of_few_days(pairing), pairing.compared
    checks = [
        _check(band.at, one, unit, _why(one, loss, unit, len(band.cells), few))
        for band, one in zip(parts, made, strict=True)
    ]
    for cell, one in losses.single(*judged, made, loss):
        at = bands.at_one(pairing.cells, cell)
        checks.append(_check(at, one, unit, _why(one, loss, unit, few=few)))
    mine = pairing.points[pairing.points["candidate"]]
    paired = set(zip(mine["file"], mine["point"], strict=True))
    points = found.points[candidate]
    alone = sum(one not in paired for one in zip(points["file"], points["point"], strict=True))
    if alone:
        why = f"the baseline has no counterpart of {count_text(alone, 'point')}"
        checks.append(unknown("baseline", why))
    notes = [f"not compared: {what}" for what in pairing.left_out]
    return checks, [*notes, *few, *_differences(found, candidate)]


def _refusal(found: Results, candidate: pd.Series[bool]) -> str:
    """What makes the baseline none of these files; empty: nothing does."""
    halves = [found.select(~candidate), found.select(candidate)]
    of_launch = jobs.of_launches(found)
    shared = set.intersection(*({of_launch[key] for key in half.launches} for half in halves))
    if shared:
        return (
            f"{list_text(sorted(shared), 3)} is on both sides; a baseline is of other jobs "
            "(without a job number launches are one job if they share a node and less than "
            "12 hours lie between them)"
        )
    differing = []
    for name in (*_NAMES, *_FACTS, *_COLUMNS):
        base, own = (_values(half, name) for half in halves)
        if base and own and not base & own:
            differing.append(
                f"{name} is {list_text(sorted(own), 4)}, of the baseline "
                f"{list_text(sorted(base), 4)}"
            )
    return f"it is no baseline of these files: {'; '.join(differing)}" if differing else ""


def _values(half: Results, name: str) -> set[str]:
    if name in _COLUMNS:
        return set(half.points[name].dropna().astype(str)) - {""}
    launches = half.launches.values()
    if name in _FACTS:
        return {fact for one in launches for fact in one.node_facts.get(name, []) if fact}
    return {value for one in launches if (value := one.setting(name))}


def _differences(found: Results, candidate: pd.Series[bool]) -> list[str]:
    """What else differs, a line each: the first to look at where something is slower."""
    names: Any = [found.points.loc[mask, "launch"].dropna() for mask in (~candidate, candidate)]
    made = differences.between(found, names[0], names[1], ())
    own = ("slurm_", "variable SLURM", "variable OMPI", "variable PMIX", "command_line", "seed")
    return [
        f"differs: {one.name} is {list_text(one.candidate, 3) or 'not recorded'}, "
        f"of the baseline {list_text(one.baseline, 3) or 'not recorded'}"
        for one in made.between
        if not one.name.startswith(own)
    ]


def _check(at: str, one: Loss, unit: str, why: str) -> Check:
    shown = ("", "")
    if one.bound == one.bound:
        shown = (f"{100 * one.change:+.1f} %", f"{100 * one.bound:.1f} %")
    n = f"{count_text(one.launches, 'launch', 'launches')}, baseline {count_text(one.jobs, unit)}"
    figures: dict[str, float | int | None] = {
        f"baseline_{unit}s": one.jobs, f"{unit}s": one.others, "low": one.low,
        f"{unit}_spread": one.spread, f"{unit}_memory": one.memory, "loss_found": one.found,
        f"baseline_{unit}s_needed": one.needed,
    }  # fmt: skip
    return Check(WHAT, at, one.state, one.change, one.bound, shown, n, one.launches, why, figures)


def _why(one: Loss, loss: float, unit: str, sizes: int = 1, few: Sequence[str] = ()) -> str:
    asked = f"a loss of {100 * loss:g} %"
    over = f" in the mean of {sizes} sizes" if sizes > 1 else ""
    if one.state in (State.CRITICAL, State.WARNING):
        slower = f"slower by {-100 * one.change:.1f} %{over} than the mean of {one.jobs} {unit}s"
        return "; ".join((slower, *few))
    if one.state == State.OK:
        return f"{asked}{over} is excluded; one of {100 * one.found:.1f} % is found (90% power)"
    if one.launches < 2:
        if one.launches == 0:
            return "no launch has all sizes of the band"
        return "one launch decides nothing here, and only limits are checked; measure several"
    if one.jobs < jobs.FEWEST:
        have = count_text(one.jobs, unit)
        return f"{have} of the baseline; at least {jobs.FEWEST} are needed"
    text = f"undecided: {asked} is not excluded; {unit}s of the baseline differ by "
    text += f"{100 * one.spread:.1f} %"
    if one.memory > 0:
        text += f" and may be like the one before (autocorrelation {one.memory:.2g})"
    if one.others > 1 and one.counted < _FEWER * one.others:
        text += f", the {one.others} {unit}s that are checked count as {one.counted:.1f}"
    if one.needed is None:
        return f"{text}, and {power.MOST} of them would not do: measure in more {unit}s"
    equal = "an equal cluster is ok in nine of ten checks"
    return f"{text}; with {one.needed} of them that differ no more {equal}"
