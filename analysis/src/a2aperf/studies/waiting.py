# SPDX-License-Identifier: BSD-3-Clause
"""Waiting for a job of jobs/check.sbatch and its verdict."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from a2aperf import terminal
from a2aperf.errors import InputError
from a2aperf.gating.checks import State
from a2aperf.studies import slurm
from a2aperf.studies.progress import duration

_EVERY: Final = 3.0  # s, between two questions
_SEEN: Final = 30.0  # s, until a file that another node has written is seen here


def written(folder: Path) -> dict[Path, int]:
    """Verdicts that are there already, with the time of writing: ids of jobs may begin anew."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("check-*.txt")}


def verdict(
    job: str, folder: Path, minutes: float, before: Mapping[Path, int]
) -> tuple[State, str]:
    """What the job says at its end, and its text; InputError where there is none in time.

    `before`: the verdicts that were there when it was submitted, of which none is its own.
    """
    text = folder / f"check-{job}.txt"
    try:
        left = _ended(job, minutes)
    except KeyboardInterrupt:
        terminal.tell(
            f"a2a: no longer waiting: job {job} is left to Slurm, and {text} will have its "
            f"verdict; 'scancel {job}' ends it"
        )
        raise
    if left is not None:
        raise InputError(
            f"job {job} is {left} after {duration(60 * minutes)}, and is left to Slurm: "
            f"{text} will have its verdict"
        )
    until = time.monotonic() + _SEEN
    while not text.is_file() or text.stat().st_mtime_ns == before.get(text):
        # What another node has written may be seen late; a job that was on none wrote nothing.
        end = slurm.ended(job)
        if time.monotonic() >= until or (end and not end.began):
            there = "older" if text in before else "not there"
            state = f" ({end.state})" if end else ""
            raise InputError(
                f"job {job} has ended{state}, and {text} is {there}: where it has begun its "
                f"output says why (check-{job}.out, where sbatch put it)"
            )
        _look(text.parent)
        time.sleep(1)
    said = text.read_text(encoding="utf-8", errors="replace").rstrip()
    word = said.partition(":")[0]
    if word not in State.__members__:
        raise InputError(f"{text}: expected a verdict of 'a2a gate', not {said[:40]!r}")
    return State[word], said


def _ended(job: str, minutes: float) -> str | None:
    """None once Slurm has the job no more, else its state when the time is up."""
    until = time.monotonic() + 60 * minutes
    while True:
        said = slurm.state(job)
        if said == "":
            return None
        if time.monotonic() >= until:
            return said or "not known, for squeue does not answer,"
        time.sleep(_EVERY)


def _look(folder: Path) -> None:
    """Makes a shared folder ask its server."""
    if folder.is_dir():
        next(folder.iterdir(), None)
