# SPDX-License-Identifier: BSD-3-Clause
"""The commands of Slurm: which are here, and what they answer. Nothing is quoted for a shell."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf.errors import InputError

_SECONDS: Final = 60
_SBATCH_SECONDS: Final = 600  # a controller that is busy may take the job long after
# What a reason, a path or an option may hold, a newline too, separates nothing.
_UNIT, _RECORD = "\x1f", "\x1e"
_ENDED: Final = (
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("PREEMPTED", "TIMEOUT"),
)
_COLUMNS: Final = ("%A", "%T", "%M", "%l", "%N", "%r", "%Z", "%o")


class NoAnswerError(InputError):
    """A command took too long."""


class MaybeSubmittedError(InputError):
    """Whether Slurm has the job is not known: what the job needs must stay."""


@dataclass(frozen=True)
class Queued:
    """What squeue says about a job; times as it writes them."""

    id: str
    state: str
    elapsed: str
    limit: str
    nodes: str
    reason: str
    directory: str  # that it was submitted from
    command: str  # the script and its options, joined by spaces: none is quoted

    @property
    def never_begins(self) -> bool:
        """Whether it stays in the queue for ever, for what it waits for cannot come any more."""
        return self.state == "PENDING" and self.reason == "DependencyNeverSatisfied"


def here() -> bool:
    """Whether jobs can be submitted from this machine."""
    return shutil.which("sbatch") is not None


def require() -> None:
    """InputError that points to the way without Slurm."""
    if not here():
        raise InputError(
            "there is no Slurm on this machine (no sbatch); jobs/local.sh measures here"
        )


def sbatch(words: Sequence[str]) -> str:
    """Submit with exactly these words (the first is `sbatch`); the job's id.

    MaybeSubmittedError where there is no answer.
    """
    try:
        done = run(words, _SBATCH_SECONDS)
    except NoAnswerError as error:
        raise MaybeSubmittedError(
            f"{error}; the job may be in the queue all the same: 'squeue --me' says so"
        ) from None
    found = re.search(r"Submitted batch job (\d+)", done.stdout)
    if done.returncode or not found:
        raise InputError(f"sbatch refused: {last_line(done)}")
    return found[1]


def queue() -> dict[str, Queued] | None:
    """The jobs that Slurm has now, by id; None where it cannot be asked."""
    if shutil.which("squeue") is None:
        return None
    try:
        done = run(["squeue", "--noheader", "--format", _UNIT.join(_COLUMNS) + _RECORD])
    except InputError:
        return None
    if done.returncode:
        return None
    rows = [row.split(_UNIT) for row in done.stdout.split(_RECORD + "\n")]
    return {row[0]: Queued(*row) for row in rows if len(row) == len(_COLUMNS)}


def state(job: str) -> str | None:
    """`PENDING (Resources)`; empty once it has ended; None where squeue does not answer."""
    try:
        done = run(["squeue", "--noheader", f"--jobs={job}", "--format=%T (%r)"])
    except InputError:
        return None
    if done.returncode:
        return "" if "Invalid job id" in done.stderr else None
    said = done.stdout.strip()
    return "" if said.partition(" ")[0] in _ENDED else said


@dataclass(frozen=True)
class Ended:
    """How a job ended: `CANCELLED`; and whether it ever had a node."""

    state: str
    began: bool


def ended(job: str) -> Ended | None:
    """None of a job that has not ended, or of which Slurm does not say so."""
    try:
        done = run(["squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T|%N"])
    except InputError:
        return None
    state, _, nodes = done.stdout.strip().partition("|")
    return Ended(state, bool(nodes)) if state in _ENDED and not done.returncode else None


def run(words: Sequence[str], seconds: float = _SECONDS) -> subprocess.CompletedProcess[str]:
    """A command and what it said; InputError where it is not there or takes longer."""
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",  # folders of other users are named in any encoding
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{words[0]} did not answer within {seconds:g} s") from None
    except OSError as error:
        raise InputError(f"{words[0]}: {(error.strerror or str(error)).lower()}") from None


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """What a command that failed said at the end."""
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    said = lines[-1] if lines else f"exit status {done.returncode}"
    return said.removeprefix(f"{done.args[0]}: ")
