# SPDX-License-Identifier: BSD-3-Clause
"""One file, and several who want it: two launches at a time, and programs that read it."""

import os
import signal
import subprocess
from pathlib import Path

import h5py
import pytest
from processes import PATIENCE, wait_until

SUPPORT = Path(__file__).resolve().parents[1] / "support"
CALM = ["--provider", "shm", "--sync", "barrier", "--poll", "yield", "--no-sentinel", "-o", "a.h5"]
SHORT = ["--sizes", "8", "--ops", "3"]


class Launch:
    """Two ranks that say their process ids; rank 0 has the file."""

    def __init__(self, program: Path, folder: Path, name: str, *words: str) -> None:
        self.ranks = folder.parent / f"{folder.name}-{name}"
        self.ranks.mkdir()
        self.words = self.ranks / "stderr"
        with self.words.open("w") as stderr:
            self.process = subprocess.Popen(
                [SUPPORT / "mpirun.sh", "-t", str(PATIENCE), "2", SUPPORT / "as_rank.sh", self.ranks, program,
                 "alltoall", *CALM, *words],
                cwd=folder, stdout=subprocess.DEVNULL, stderr=stderr, stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def pids(self) -> list[int]:
        try:
            return [int((self.ranks / f"pid.{rank}").read_text()) for rank in range(2)]
        except (FileNotFoundError, ValueError):
            return []

    def is_in_mpi(self) -> bool:
        """MPI has threads of its own; rank 0 has looked at the file before it started MPI."""
        try:
            return bool(self.pids()) and all(len(os.listdir(f"/proc/{pid}/task")) > 1 for pid in self.pids())
        except FileNotFoundError:
            return False

    def send(self, number: int) -> None:
        for pid in self.pids():
            os.kill(pid, number)

    def said(self) -> list[str]:
        return [line for line in self.words.read_text().splitlines() if line.startswith("a2aperf: ")]


def test_the_second_of_two_forced_launches_is_refused(program, launch, tmp_path):
    assert launch(2, "alltoall", *CALM, *SHORT).returncode == 0
    file = tmp_path / "a.h5"
    former = file.stat().st_ino
    long = ["--sizes", "8,64,1024,4096", "--ops", "1000000", "--force"]
    second = Launch(program, tmp_path, "second", *long)
    assert wait_until(lambda: second.is_in_mpi() or second.process.poll() is not None, PATIENCE)
    assert second.process.poll() is None, second.said()
    second.send(signal.SIGSTOP)
    first = Launch(program, tmp_path, "first", *long)
    assert wait_until(lambda: file.stat().st_ino != former or first.process.poll() is not None, PATIENCE)
    assert first.process.poll() is None, first.said()
    own = file.stat().st_ino
    second.send(signal.SIGCONT)
    assert second.process.wait(PATIENCE) == 2, second.said()
    assert second.said() == [f"a2aperf: {file} is being written by another launch"]
    assert file.stat().st_ino == own
    first.send(signal.SIGTERM)
    first.process.wait(PATIENCE)
    (line,) = first.said()
    assert "--resume goes on with it" in line, line
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("how", ["--resume", "--force"])
def test_a_reader_is_in_no_launch_s_way(launch, tmp_path, how):
    assert launch(2, "alltoall", *CALM, *SHORT).returncode == 0
    with h5py.File(tmp_path / "a.h5", "r") as reader:
        outcome = launch(2, "alltoall", *CALM, *SHORT, how)
        assert outcome.returncode == 0, outcome.stderr
        assert len(reader["segments"]) == 1  # what it has opened stays
    with h5py.File(tmp_path / "a.h5", "r") as opened:
        assert len(opened["segments"]) == 1 + (how == "--resume")


@pytest.mark.parametrize("how", ["--resume", "--force"])
def test_a_file_that_another_program_writes(launch, tmp_path, how):
    assert launch(2, "alltoall", *CALM, *SHORT).returncode == 0
    with h5py.File(tmp_path / "a.h5", "r+"):
        outcome = launch(2, "alltoall", *CALM, *SHORT, how)
    assert outcome.returncode == 2, outcome.stderr
    (line,) = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert "a.h5 is in use by another program" in line
