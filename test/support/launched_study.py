# SPDX-License-Identifier: BSD-3-Clause
"""A folder in which a command of a2a launches the program, without Slurm."""

import csv
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


class LaunchedStudy:
    """By `command` ("run", "suite"), with the scripts of this tree."""

    def __init__(self, command: str, folder: Path, program: Path, a2a: Path) -> None:
        self.command, self.folder, self.program, self.a2a = command, folder, program, a2a
        self.results = folder / "results"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "A2APERF"))}
        self.environment = kept | {"A2APERF_JOBS": str(ROOT / "jobs"), "A2A": str(a2a)}

    def words(self, *words: str) -> list[str | Path]:
        return [self.a2a, self.command, "--program", self.program, *words]

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*words), cwd=self.folder, env=self.environment | dict(env or {}), capture_output=True, text=True,
            timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words(*words), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def asked(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """What another command of a2a says, in the folder."""
        return subprocess.run(
            [self.a2a, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE
        )

    def status(self) -> subprocess.CompletedProcess[str]:
        return self.asked("status", self.results)

    def plan(self) -> list[dict[str, str]]:
        return rows(self.results / "plan-run.tsv")

    def log(self) -> list[dict[str, str]]:
        return rows(self.results / "log-run.tsv")


def rows(file: Path) -> list[dict[str, str]]:
    lines = [line for line in file.read_text().splitlines() if not line.startswith("# ")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
