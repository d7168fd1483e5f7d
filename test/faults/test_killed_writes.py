# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 before any write, sync or rename of a results file's life: made, filled, made compact, resumed.

A2APERF_KILLED_CALLS asks for another number of calls than six of each kind of call and life; 0 for all of them.
"""

import os
import subprocess
from collections import Counter
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
from met_calls import spread
from processes import PATIENCE

pytestmark = pytest.mark.slow

CALLS = int(os.environ.get("A2APERF_KILLED_CALLS", "6"))
SHAPE = ["points=5", "ranks=2", "ops=10"]
POINTS = range(5)
NEVER = 1000000000
KILLED = -9
CALLED = ("write", "fdatasync", "fsync", "rename")


class Life:
    """What a launch of the recorder alone does to a file. begun: the words of the launch that left it, if there was one.

    is_kept: whether what that told is in what this one makes.
    """

    def __init__(self, writer: Path, begun: list[str], words: list[str]) -> None:
        self._writer, self._begun, self._words = writer, begun, [*SHAPE, *words]
        self.is_kept = "force=1" not in words

    def begin(self, file: Path) -> list[int]:
        """The points that were told in the file that is there."""
        if not self._begun:
            return []
        outcome = self._run(file, [*SHAPE, *self._begun], {})
        assert outcome.returncode == 0, outcome.stderr
        return told(outcome)

    def go_on(self, file: Path) -> subprocess.CompletedProcess[str]:
        """Another launch, to which nothing happens."""
        return self._run(file, [*SHAPE, "resume=1"], {})

    def run(self, file: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return self._run(file, self._words, environment)

    def _run(self, file: Path, words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._writer, file, *words], env=os.environ | environment, capture_output=True, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip


def told(outcome: subprocess.CompletedProcess[str]) -> list[int]:
    return [int(line.split()[1]) for line in outcome.stdout.splitlines() if line.startswith("done ")]


def holds(file: Path, points: list[int], whole: h5py.File) -> None:
    """What was told, as it is in a file to which nothing happened; and nothing is called complete that is not."""
    with h5py.File(file, "r") as opened:
        states = checksums.states(opened)
        assert {*points} <= {*np.flatnonzero(states == 1)}, f"lost: of {points} {states}"
        for point in np.flatnonzero(states == 1):
            attempts = whole["attempts"][point]
            assert opened["attempts"][point] == attempts
            assert opened["checksum"][point] == checksums.of_points(opened, [point])[point]
            for name in ("begin", "send_done", "recv_done"):
                np.testing.assert_array_equal(opened[f"raw/{name}"][point, :attempts], whole[f"raw/{name}"][point, :attempts])


@pytest.fixture
def writer(program: Path) -> Path:
    path = program.parents[2] / "test" / "unit" / "record" / "point-writer"
    assert path.is_file(), f"{path} is not built"
    return path


LIVES = {
    "new": ([], []),
    "resumed": (["stop_after=2", "end=2"], ["resume=1"]),
    "replaced": (["stop_after=2", "end=2"], ["force=1"]),
}


@pytest.mark.parametrize("name", LIVES)
def test_a_kill_before_any_call_loses_nothing_that_was_told(writer, preload, tmp_path, name):
    life = Life(writer, *LIVES[name])
    whole = tmp_path / "whole.h5"
    assert Life(writer, [], []).run(whole, {}).returncode == 0
    hit: Counter[str] = Counter()
    with h5py.File(whole) as sound:
        for call in CALLED:
            for nth in range_of(life, call, preload, tmp_path):
                hit[killed(life, call, nth, preload, tmp_path, sound)] += 1
    print(f"{name}: {sum(hit.values())} kills {dict(hit)}")
    begins = "resuming" if name == "resumed" else "creating"
    assert {begins, "writing", "ending"} <= set(hit), f"a phase was not hit: {dict(hit)}"


def range_of(life: Life, call: str, preload, folder: Path) -> list[int]:
    """Which of the calls of a launch to which nothing happens are met."""
    file, notes = folder / "counted.h5", folder / "counted"
    life.begin(file)
    outcome = life.run(file, preload(f"call={call} do=kill nth={NEVER}", notes))
    assert outcome.returncode == 0, outcome.stderr
    file.unlink()
    calls = int(notes.read_text().split()[-1])
    notes.unlink()
    return spread(calls, CALLS)


def killed(life: Life, call: str, nth: int, preload, folder: Path, whole: h5py.File) -> str:
    """What the launch had told last. Another one then goes on to the end."""
    here = folder / f"{call}-{nth}"
    here.mkdir()
    file = here / "a.h5"
    before = life.begin(file)
    former = file.stat() if file.exists() else None
    outcome = life.run(file, preload(f"call={call} do=kill nth={nth}", folder / "notes"))
    where = f"{call} {nth}: {outcome.stdout.split()[-2:]} {outcome.stderr}"
    if call == "fdatasync" and outcome.returncode == 0:  # there are as many barriers as time allows
        return "ended"
    assert outcome.returncode == KILLED, where
    phase = outcome.stdout.splitlines()[-1].split()[0]
    # While it is replaced there is the former file, with all that it had, or the new one, which has nothing yet.
    is_former = file.exists() and former is not None and os.path.samestat(former, file.stat())
    if not life.is_kept and file.exists() and not is_former:
        before = []
    if file.exists():
        holds(file, [*before, *told(outcome)], whole)
    else:
        assert not before and not told(outcome), where
    again = life.go_on(file)
    assert (again.returncode, again.stderr) == (0, ""), where
    assert [one.name for one in here.iterdir()] == ["a.h5"], where
    holds(file, [*POINTS], whole)
    return phase
