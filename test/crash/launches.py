# SPDX-License-Identifier: BSD-3-Clause
"""Launches whose writing is noted: one to its end, and one that is killed in the middle and resumed."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from notes import Note, read_notes
from processes import PATIENCE

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
CALM = ["--provider", "shm", "--sync", "barrier", "--poll", "yield", "--timeout", "60s", "-q"]
WORKLOADS = {
    "alltoall": ["alltoall", "--sizes", "8,1000,3000,9000", "--ops", "3", "--no-sentinel"],
    "pairs": ["pairs", "--sizes", "8,1000,3000,9000", "--ops", "3"],
}
WHOLE, RESUMED = "whole.h5", "resumed.h5"


def command_of(program: Path, workload: str, file: Path, *words: str) -> list[str]:
    return [str(word) for word in (program, *WORKLOADS[workload], *CALM, "-o", file, *words)]


def run(
    command: list[str], folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """On two ranks."""
    preloaded = ["env", *(f"{name}={value}" for name, value in (environment or {}).items())]
    return subprocess.run(
        [MPIRUN, "-t", str(PATIENCE), "2", *preloaded, *command],
        cwd=folder, env=os.environ, capture_output=True, text=True, timeout=PATIENCE + 20, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def note_launches(program: Path, preload: Callable[..., dict[str, str]], workload: str, folder: Path) -> list[Note]:
    """The folder then holds both files; the notes of all three launches, one after the other."""
    log = folder.parent / f"{folder.name}.log"
    outcome = run(command_of(program, workload, folder / WHOLE), folder, preload(folder, log))
    assert outcome.returncode == 0, outcome.stderr
    kinds = [note.kind for note in read_notes(log)]
    named = kinds.index("D")  # has its name; what follows are points, then the end and a compact copy
    ended = kinds.index("C", named)
    kill = named + (ended - named) * 6 // 10
    outcome = run(command_of(program, workload, folder / RESUMED), folder, preload(folder, log, kill))
    assert outcome.returncode != 0
    outcome = run(command_of(program, workload, folder / RESUMED, "--resume"), folder, preload(folder, log))
    assert outcome.returncode == 0, outcome.stderr
    return list(read_notes(log))
