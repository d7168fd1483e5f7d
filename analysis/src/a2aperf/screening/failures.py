# SPDX-License-Identifier: BSD-3-Clause
"""Settings with which launches fail: of a screening's design, by what became of its launches."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from a2aperf.labels import count_text, list_text
from a2aperf.screening.plan import Plan
from a2aperf.studies.study import NOT_MADE, Fate, Job

LEVEL: Final = 0.05
"""Error of all settings together."""


def of_rounds(plans: Sequence[Plan], jobs: Sequence[Job]) -> list[str]:
    """What `sentences` says of each round; of several which one it is."""
    told, first = [], 0
    for number, plan in enumerate(plans, 1):
        said = sentences(plan, jobs, first)
        told += said if len(plans) == 1 else [f"round {number}: {one}" for one in said]
        first += plan.design.launches
    return told


def sentences(plan: Plan, jobs: Sequence[Job], first: int = 0) -> list[str]:
    """Nothing where every launch that was made is good; `first` are the launches of other rounds.

    A setting is named where launches with it failed significantly more often than expected
    (Fisher's exact test, Bonferroni's correction over the settings).
    """
    failed: dict[int, str] = {}
    good: set[int] = set()
    for job in jobs:
        if job.kind != "screen":
            continue
        # The launches of the plans are the first of their job, in their order.
        for row, launch in enumerate(job.launches[first : first + plan.design.launches]):
            environment = plan.environment(row)
            if set(launch.settings) != {f"{name}={value}" for name, value in environment.items()}:
                break
            if launch.fate is Fate.GOOD:
                good.add(row)
            elif launch.fate is Fate.FAILED and launch.last and not launch.last.was_stopped:
                failed[row] = launch.why
    failed = {row: why for row, why in failed.items() if row not in good}
    if not failed:
        return []
    made = sorted(good | failed.keys())
    is_failed = np.array([row in failed for row in made])
    why = list(dict.fromkeys(failed.values()))
    told = [f"{int(is_failed.sum())} of {len(made)} launches failed: {list_text(why, 3)}"]
    named = []
    for factor, levels in zip(plan.factors, plan.design.levels[made].T, strict=True):
        is_set = levels > 0
        both = int((is_failed & is_set).sum())
        if (
            chance(len(made), int(is_failed.sum()), int(is_set.sum()), both) * len(plan.factors)
            > LEVEL
        ):
            continue
        others = int(is_failed.sum()) - both
        named.append(
            f"{factor.assignment}: {both} of {count_text(int(is_set.sum()), 'launch', 'launches')} "
            f"with it failed, {others} of {int((~is_set).sum())} without: significantly more "
            "often than expected"
        )
    return told + (named or ["no setting was in them significantly more often than expected"])


def to_come(labels: Sequence[str], jobs: Sequence[Job], first: int, there: Collection[str]) -> int:
    """How many launches neither are there nor failed, by the logs of their jobs.

    `labels` of them all, in the order of the job's plan, where `first` others are before them;
    `there` those of the files.
    """
    rows = [row for row, label in enumerate(labels) if label not in there]
    known: dict[int, bool] = {}
    for job in jobs:
        if job.kind != "screen":
            continue
        planned = dict(enumerate(job.launches[first : first + len(labels)]))
        for row in rows:
            if row in planned:
                has_failed = planned[row].fate in NOT_MADE
                known[row] = known.get(row, False) or has_failed
    return sum(not has_failed for has_failed in known.values())


def chance(launches: int, failed: int, having: int, both: int) -> float:
    """That so many or more of those that failed have a setting, where it does nothing."""
    ways = sum(
        math.comb(having, k) * math.comb(launches - having, failed - k)
        for k in range(both, min(having, failed) + 1)
    )
    return ways / math.comb(launches, failed)
