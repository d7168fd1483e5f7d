# SPDX-License-Identifier: BSD-3-Clause
"""Launches under way: their ranks are signalled, and how each ended is known."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from processes import PATIENCE, parent, running_in, wait_until
from results import COMPLETE, Results, complete_points

SUPPORT = Path(__file__).resolve().parent
USED = 2 * os.sysconf("SC_CLK_TCK")  # s of a rank


class Launch:
    """A launch under way; its ranks tell their process ids and exit statuses."""

    def __init__(self, folder: Path, ranks: int, *command: str | Path) -> None:
        self.folder, self.ranks = folder, ranks
        self.notes = folder.parent / f"{folder.name}-ranks"
        self.notes.mkdir(exist_ok=True)
        for old in self.notes.iterdir():
            old.unlink()
        self.out, self.err = self.notes / "out", self.notes / "err"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.launcher = subprocess.Popen(
                [SUPPORT / "mpirun.sh", "-t", str(2 * PATIENCE), str(ranks), SUPPORT / "as_rank.sh", self.notes, *command],
                cwd=folder, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def wait_for_rows(self, count: int) -> None:
        def rows() -> int:
            return len([line for line in self.out.read_text().splitlines() if line.split()[:1] == [str(self.ranks)]])

        assert wait_until(lambda: rows() >= count or self.launcher.poll() is not None, PATIENCE)
        assert self.launcher.poll() is None, self.err.read_text()

    def pid(self, rank: int) -> int:
        return int((self.notes / f"pid.{rank}").read_text())

    def kill(self, number: int, ranks: list[int]) -> None:
        for pid in [self.pid(rank) for rank in ranks]:
            os.kill(pid, number)

    def kill_amid(self, rank: int, role: str, least: int = 2) -> list[int]:
        """Kills a rank once so many points are complete, of more; gives those that were in the end."""
        file = self.folder / "a.h5"
        assert wait_until(lambda: complete_points(file, role) >= least or self.launcher.poll() is not None, PATIENCE)
        self.kill(signal.SIGKILL, [rank])
        assert self.end() != 0
        states = Results(file).states(role)
        kept = [point for point, state in enumerate(states) if state == COMPLETE]
        assert least <= len(kept) < len(states)
        return kept

    def is_measuring(self) -> bool:
        """All ranks have used the processor for as long as it takes to be past every preparation."""
        def used(rank: int) -> int:
            fields = Path(f"/proc/{self.pid(rank)}/stat").read_text().rpartition(")")[2].split()
            return int(fields[11]) + int(fields[12])

        try:
            return (self.folder / "a.h5").exists() and min(map(used, range(self.ranks))) > USED
        except (FileNotFoundError, ValueError):
            return False

    def wait_until_measuring(self) -> None:
        assert wait_until(lambda: self.is_measuring() or self.launcher.poll() is not None, PATIENCE)
        assert self.launcher.poll() is None, self.err.read_text()

    def launcher_of_ranks(self) -> int:
        """The process that started them: mpirun itself."""
        return parent(parent(self.pid(0)))

    def end(self) -> int:
        """The launcher's status, once it and all ranks are gone."""
        status = self.launcher.wait(PATIENCE)
        assert running_in(self.folder) == []
        return status

    def statuses(self) -> dict[int, int]:
        """By rank; a launcher that ends the job may have killed those that would have noted theirs. A file without a
        line is one that is being written."""
        files = {rank: self.notes / f"status.{rank}" for rank in range(self.ranks)}
        texts = {rank: file.read_text() for rank, file in files.items() if file.is_file()}
        return {rank: int(text) for rank, text in texts.items() if text.endswith("\n")}

    def says(self) -> list[str]:
        return [line for line in self.err.read_text().splitlines() if line.startswith("a2aperf: ")]


def require_rest_resumed(file: Path, role: str, points: int, kept: list[int]) -> None:
    """All points are complete, and those that were kept are of the launch before."""
    after = Results(file)
    assert after.states(role) == [COMPLETE] * points
    assert [point for point, segment in enumerate(after.columns["segment"]) if segment == 0] == kept


@pytest.fixture
def start(program, tmp_path):
    launches = []

    def run(ranks: int, *words: str, command: str = "alltoall", within: Sequence[str] = ()) -> Launch:
        launches.append(Launch(tmp_path, ranks, *within, program, command, *words))
        return launches[-1]

    yield run
    for launch in launches:
        if launch.launcher.poll() is None:
            launch.launcher.kill()
            launch.launcher.wait()
