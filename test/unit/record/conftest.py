# SPDX-License-Identifier: BSD-3-Clause
"""The program that writes synthetic points with the real Recorder, as fixtures."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import PATIENCE

TOP = Path(__file__).resolve().parents[3]


def _build_folder() -> Path:
    program = os.environ.get("A2APERF")  # BUILD/src/app/a2aperf, as test/run.sh gives it
    return Path(program).parents[2] if program else TOP / "build" / "release"


class Writer:
    """Runs point-writer; options are its own (points, ranks, nodes, ops, resume, …)."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def command(self, file: Path | str, **options: int) -> list[str]:
        return [str(self.program), str(file), *(f"{name}={value}" for name, value in options.items())]

    def run(self, file: Path | str, prefix: tuple[str, ...] = (), **options: int) -> subprocess.CompletedProcess[str]:
        command = [*prefix, *self.command(file, **options)]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)

    def start(self, file: Path | str, prefix: tuple[str, ...] = (), **options: int) -> subprocess.Popen[str]:
        command = [*prefix, *self.command(file, **options)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1)

    @staticmethod
    def steps(process: subprocess.Popen[str]) -> Iterator[tuple[str, int]]:
        """What a writer started with step=1 tells, line by line; while one is looked at, the writer waits."""
        for line in process.stdout:
            word, _, point = line.strip().partition(" ")
            yield word, int(point or -1)
            if word in ("ready", "done"):
                process.stdin.write("\n")


@pytest.fixture(scope="session")
def writer() -> Writer:
    program = _build_folder() / "test" / "unit" / "record" / "point-writer"
    assert program.is_file(), f"{program} is not built"
    return Writer(program)
