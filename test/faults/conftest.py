# SPDX-License-Identifier: BSD-3-Clause
"""The program with a fault put in by a preloaded library, and what must hold after every failure."""

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import PATIENCE, remove_what_killed_ranks_left, running_in
from results import COMPLETE, Results, has_plausible_moments, has_true_statistics

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
KILLED_BY_LAUNCHER = (124, 137)
CALM = ["--poll", "yield", "-o", "a.h5"]
BARRIER = ["--sync", "barrier"]
OF_COMMAND = {"alltoall": [*BARRIER, "--no-sentinel", "--order", "declared"], "pairs": BARRIER, "stream": [], "echo": [], "open-loop": [], "interference": [], "qos": []}


@dataclass
class Outcome:
    folder: Path
    returncode: int
    stdout: str
    stderr: str
    notes: str  # of the preloaded library

    @property
    def struck(self) -> bool:
        return " struck " in self.notes

    def calls(self, rank: int) -> int:
        """How many calls of the fault's kind there were, in a run that ended by itself."""
        return int(re.search(rf"^{rank} calls (\d+)$", self.notes, re.MULTILINE)[1])

    def outstanding(self) -> set[int]:
        """Of each rank: the most messages that had gone and not completed."""
        return {int(count) for count in re.findall(r"^\d+ outstanding (\d+)$", self.notes, re.MULTILINE)}

    def says(self) -> list[str]:
        return [line for line in self.stderr.splitlines() if line.startswith("a2aperf: ")]

    def complete(self) -> list[int]:
        """The complete points of the file, all figures of which are those of their samples."""
        if not (self.folder / "a.h5").exists():
            return []
        results = Results(self.folder / "a.h5")
        points = [i for i in results.rows() if results.columns["state"][i] == COMPLETE]
        for point in points:
            has_true_statistics(results, point)
            has_plausible_moments(results, point)
        return points

    def shown(self) -> int:
        """Rows of the table: points that were told to be measured."""
        return len(re.findall(r"^ +\d+ .* (?:tagged|msg|write-imm|write|read) +shift", self.stdout, re.MULTILINE))

    def failed(self, pattern: str) -> None:
        """Ended by itself with one rank's words that match, and kept what it had told."""
        assert self.struck, "the fault was not met"
        assert self.returncode not in (0, 2, *KILLED_BY_LAUNCHER), self.stderr
        assert any(re.search(pattern, line) for line in self.says()), self.stderr
        assert len(self.complete()) >= self.shown()

    def named_killed(self, rank: int) -> None:
        """Some other rank has said whom it lost, in its file; or the launcher was faster and has ended it before."""
        assert self.struck, "the fault was not met"
        assert self.returncode not in (0, 2), self.stderr
        (segment,) = Results(self.folder / "a.h5").segments
        if segment.end_reason == "running":
            assert re.search(rf"rank {rank} with .* exited on signal 9", self.stderr), self.stderr
        else:
            assert segment.end_reason == "peer-lost"
            assert f"rank {rank} (" in segment.message

    def survived(self) -> None:
        assert self.struck, "the fault was not met"
        assert self.returncode == 0, self.stderr
        assert self.says() == [], self.stderr
        assert len(self.complete()) == self.shown() > 0


def library_of(fault: str) -> str:
    call = re.search(r"\bcall=(\S+)", fault)[1]
    if call.startswith("MPI_"):
        return "mpi"
    return "fabric" if call.startswith("fi_") or call in ("send", "receive", "sent", "received", "flag", "outstanding", "tclass") else "io"


@pytest.fixture(scope="session")
def preload(program: Path) -> Callable[[str, Path], dict[str, str]]:
    """The environment that puts a fault into a program (test/faults/plan.hpp) and notes it in a file."""

    def environment(fault: str, notes: Path) -> dict[str, str]:
        library = program.parents[2] / "test" / "faults" / f"libfault-{library_of(fault)}.so"
        assert library.is_file(), f"{library} is not built"
        return {
            "LD_PRELOAD": str(library),
            "A2APERF_TEST_FAULT": fault,
            "A2APERF_TEST_FAULT_LOG": str(notes),
        }

    return environment


@pytest.fixture
def faulty(
    program: Path, preload, tmp_path: Path, foreign_shared_memory: set[Path]
) -> Callable[..., Outcome]:
    """Launches the program with a fault: faulty(2, "call=send do=EIO", "--provider", "shm").

    within: a command that runs each rank's.
    """

    def run(
        ranks: int, fault: str, *words: str, command: str = "alltoall", within: Sequence[Path | str] = (),
        seconds: int = PATIENCE,
    ) -> Outcome:  # fmt: skip
        notes = tmp_path.parent / f"{tmp_path.name}.notes"
        notes.unlink(missing_ok=True)
        (tmp_path / "a.h5").unlink(missing_ok=True)
        # The launcher itself does without.
        usual = [] if "--search" in words else OF_COMMAND[command]  # it chooses the order of points
        faults = [f"{name}={value}" for name, value in preload(fault, notes).items()]
        outcome = subprocess.run(
            [MPIRUN, "-t", str(seconds), str(ranks), *within, "env", *faults, program, command, *CALM, *usual, *words],
            cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=seconds + 20,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert running_in(tmp_path) == []
        remove_what_killed_ranks_left(foreign_shared_memory)
        noted = notes.read_text() if notes.exists() else ""
        return Outcome(tmp_path, outcome.returncode, outcome.stdout, outcome.stderr, noted)

    run.folder = tmp_path
    return run
