# SPDX-License-Identifier: BSD-3-Clause
"""The error of the look that a study was judged at, where it goes on until it is decided.

Each look has a share of the 5 % of all of them, planned beforehand (`decision.LOOKS`). Who judges
the same launches again has no more than that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from a2aperf.decision import LEVEL
from a2aperf.errors import InputError
from a2aperf.percent import share
from a2aperf.studies import study
from a2aperf.studies.study import Fate, Job

FACT = "error"
"""Of a plan: the look's error as it was planned, `0.5%`."""


@dataclass(frozen=True)
class Look:
    """`said`: where the error comes from, in words; empty where it is the usual one."""

    error: float = LEVEL
    said: str = ""


def of_jobs(jobs: Iterable[Job]) -> Look:
    """The strictest of their looks; the usual level where none has any."""
    found = [(job, _error(job)) for job in jobs if FACT in job.facts]
    if not found:
        return Look()
    job, error = min(found, key=lambda one: one[1])
    said = (
        f"error {100 * error:g} %: that of the look for which the launches of {job.folder} are "
        "planned"
    )
    if any(launch.fate is not Fate.GOOD for launch in job.launches):
        said += ", of which not all are there: an early look is one more chance of error"
    return Look(error, said)


def of_files(files: Iterable[Path]) -> Look:
    """That of the jobs which have made any of these files."""
    return of_jobs(jobs_of(files))


def jobs_of(files: Iterable[Path]) -> list[Job]:
    """The jobs which have made any of these files; a merged file is its folder's."""
    files = list(files)
    merged = [file.parent.parent for file in files if file.parent.name == "merged"]
    above = [job for folder in dict.fromkeys(merged) for job in study.read(folder)]
    return [*study.concerned(files), *above]


def _error(job: Job) -> float:
    text = job.facts[FACT]
    try:
        return share(FACT, text, "0.5%")
    except InputError:
        raise InputError(f"{job.folder}: the plan's error '{text[:20]}' is no share") from None
