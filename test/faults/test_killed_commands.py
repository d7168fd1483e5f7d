# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 before any write, sync or rename of a command of `a2a` that makes a file: what it reads stays as it is, under the
name of what it makes there is the former file or a whole one, and the same command makes it then.

A2APERF_KILLED_CALLS asks for another number of calls than three of each kind; 0 for all of them.
"""

import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest
from met_calls import spread
from processes import PATIENCE

pytestmark = pytest.mark.slow

CALLS = int(os.environ.get("A2APERF_KILLED_CALLS", "3"))
NEVER = 1000000000
KILLED = -9
CALLED = ("write", "fsync", "fdatasync", "rename", "open")
ROOT = Path(__file__).resolve().parents[2]
MPIRUN = ROOT / "test/support/mpirun.sh"
PERFTEST = ROOT / "analysis/tests/data/perftest-write-bw.json"
COMMANDS = {
    "merge": (["merge", "a.h5", "b.h5"], "out.h5"),
    "repair": (["check", "--repair", "damaged.h5"], "out.h5"),
    "anonymize": (["export", "a.h5", "--anonymize", "--key", "out.key"], "out.h5"),
    "import": (["import", "perftest.json"], "out.h5"),
    "rows": (["export", "a.h5", "b.h5", "--flat"], "out.csv"),
    "database": (["export", "a.h5", "b.h5", "--flat"], "out.sqlite"),
    "report": (["report", "a.h5", "b.h5", "--light"], "out.html"),
}
"""Words, and the name of what they make."""


@pytest.fixture(scope="module")
def inputs(program: Path, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    for name in ("a", "b"):
        subprocess.run(
            [MPIRUN, "-t", str(PATIENCE), "2", program, "alltoall", "--provider", "shm", "--sizes", "8,1000", "--ops", "20",
             "--no-sentinel", "-q", "-o", f"{name}.h5"],
            cwd=folder, capture_output=True, timeout=PATIENCE, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    damaged = folder / "damaged.h5"
    damaged.write_bytes((folder / "a.h5").read_bytes())
    with h5py.File(damaged, "r+") as file:
        file["raw/send_done"][1, 3, 0] += 1
    (folder / "perftest.json").write_bytes(PERFTEST.read_bytes())
    return folder


class Command:
    def __init__(self, a2a: Path, name: str, inputs: Path, folder: Path) -> None:
        self.words, made = COMMANDS[name]
        self.folder, self.out = folder, folder / made
        self._a2a = a2a
        for file in inputs.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        self.inputs = self.names()

    def names(self) -> set[str]:
        return {file.name for file in self.folder.iterdir()}

    def run(self, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        force = [] if self.out.suffix in (".sqlite", ".html") else ["--force"]  # an appended one, one that is always replaced
        return self.call([*self.words, "-o", self.out.name, *force], environment)

    def call(self, words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._a2a, *words], cwd=self.folder, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
            capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def content(self) -> str:
        """What the file says; a results file has to be sound."""
        if self.out.suffix == ".h5":
            checked = self.call(["check", self.out.name], {})
            assert checked.returncode == 0, checked.stdout + checked.stderr
            shown = self.call(["table", self.out.name, "--csv"], {})
        elif self.out.suffix == ".sqlite":
            shown = self.call_sqlite()
        else:
            return self.out.read_text()
        assert shown.returncode == 0, shown.stderr
        return shown.stdout

    def call_sqlite(self) -> subprocess.CompletedProcess[str]:
        dump = "import sqlite3; print(*sorted(sqlite3.connect('out.sqlite').iterdump()), sep='\\n')"
        return subprocess.run(
            ["python3", "-c", dump], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )


def calls_of(command: Command, call: str, preload: Callable[[str, Path], dict[str, str]], notes: Path) -> list[int]:
    """Which of those of a run to which nothing happens are met; of several processes, those of the one that has most."""
    notes.unlink(missing_ok=True)
    outcome = command.run(preload(f"call={call} do=kill nth={NEVER}", notes))
    assert outcome.returncode == 0, outcome.stderr
    return spread(max(int(line.split()[-1]) for line in notes.read_text().splitlines()), CALLS) if notes.exists() else []


@pytest.mark.parametrize("is_there", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_leaves_the_former_file_or_a_whole_one(a2a, inputs, preload, tmp_path, name, is_there):
    notes, folder = tmp_path / "notes", tmp_path / "folder"
    folder.mkdir()
    command = Command(a2a, name, inputs, folder)
    assert command.run({}).returncode == 0
    whole = command.content()
    left: Counter[str] = Counter()
    for call in CALLED:
        if not is_there:
            command.out.unlink(missing_ok=True)
        for nth in calls_of(command, call, preload, notes):
            if not is_there:
                command.out.unlink()
            outcome = command.run(preload(f"call={call} do=kill nth={nth}", notes))
            where = f"{call} {nth}: {outcome.stdout} {outcome.stderr}"
            # Who reads a file that may be damaged is a process of its own.
            of_reader = "not read: the process that reads it was ended by SIGKILL" in outcome.stderr
            assert outcome.returncode == KILLED or (outcome.returncode == 2 and of_reader), where
            for file in inputs.iterdir():
                assert (folder / file.name).read_bytes() == file.read_bytes(), where
            left["there" if command.out.exists() else "not there"] += 1
            if is_there or (command.out.exists() and command.out.suffix != ".sqlite"):
                assert command.content() == whole, where
            again = command.run({})
            assert again.returncode == 0, where + again.stderr
            assert command.content() == whole, where
            hidden = {one for one in command.names() - command.inputs if not one.startswith(("out.", "a2a-charts.js"))}
            assert all(one.startswith((".out.", ".a2a-charts.js.")) for one in hidden), hidden
            for one in hidden:
                (folder / one).unlink()
    assert left["there"] > 0 or command.out.suffix != ".h5", left
    assert left["not there"] > 0 or is_there or command.out.suffix == ".sqlite", left
    print(f"{name}: {left.total()} kills, then the file is {dict(left)}")
