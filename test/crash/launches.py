# SPDX-License-Identifier: BSD-3-Clause
"""Launches that are small."""

import os
import subprocess
from pathlib import Path

from processes import PATIENCE

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
CALM = ["--provider", "shm", "--poll", "yield", "--timeout", "60s", "-q"]
IN_OPS = ["--sync", "barrier"]
WORKLOADS = {
    "alltoall": ["alltoall", *IN_OPS, "--sizes", "8,1000,3000,9000", "--ops", "3", "--no-sentinel"],
    "pairs": ["pairs", *IN_OPS, "--sizes", "8,1000,3000,9000", "--ops", "3"],
    "open-loop": ["open-loop", "--sizes", "8,1000", "--rates", "500,1k", "--messages", "5"],
    # A class that is not granted, for which there is a reason.
    "interference": ["interference", "--sizes", "8,1000", "--levels", "50,100", "--load-class", "bulk", "--load-size", "1000", "--phase", "10ms",
                     "--gap", "2ms", "--alternations", "1"],
}  # fmt: skip
RANKS = {"interference": 4}  # two victims and a load

Outcome = subprocess.CompletedProcess[str]


def command_of(program: Path, workload: str, file: Path, *words: str) -> list[str]:
    """words: further ones, also for options that it has anyway."""
    usual = [*WORKLOADS[workload], *CALM]
    for option in words:
        if option in usual:
            at = usual.index(option)
            del usual[at : at + 2]
    return [str(word) for word in (program, *usual, "-o", file, *words)]


def run(
    command: list[str], folder: Path, environment: dict[str, str] | None = None
) -> Outcome:
    """On as many ranks as it takes."""
    ranks = next((str(RANKS[word]) for word in command if word in RANKS), "2")
    preloaded = ["env", *(f"{name}={value}" for name, value in (environment or {}).items())]
    return subprocess.run(
        [MPIRUN, "-t", str(PATIENCE), ranks, *preloaded, *command],
        cwd=folder, env=os.environ, capture_output=True, text=True, timeout=PATIENCE + 20, stdin=subprocess.DEVNULL,
    )  # fmt: skip
