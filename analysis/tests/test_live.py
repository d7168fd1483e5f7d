# SPDX-License-Identifier: BSD-3-Clause
"""A writer in another process does what a2aperf does: raw writes, state last."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

from a2aperf import live
from conftest import Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]

SECONDS = 300  # a deadline, not an expectation
# A step for every line that it gets: the state of a point, or the end.
WRITER = """
import os, sys, shutil, h5py
path = sys.argv[1]
with h5py.File(path, "r+", locking=False) as file:
    for line in sys.stdin:
        what, value = line.split()
        if what == "end":
            file["segments/0/end_state"][()] = int(value)
            break
        file["state"][int(value)] = 1
        file.flush()
if value == "1":  # a clean end replaces the file
    shutil.copy(path, path + ".tmp")
    os.replace(path + ".tmp", path)
"""


@pytest.fixture
def running(launch: Path) -> Path:
    """A file whose run has measured nothing yet."""
    return _begun(launch)


def _begun(path: Path) -> Path:
    with edited(path) as file:
        file.attrs["layout"] = "preallocated"
        file["state"][:] = 0
        file["segments/0/end_state"][()] = 0
    return path


def _start(*words: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def follow_written(path: Path, end_state: int) -> Outcome:
    """The writer goes on when the reader has told what it saw."""
    words = [sys.executable, "-m", "a2aperf", "live", str(path), "--interval", "0.1"]
    with (
        _start(sys.executable, "-c", WRITER, str(path)) as writer,
        _start(*words, "--patience", str(SECONDS)) as reader,
    ):
        assert writer.stdin is not None and reader.stderr is not None
        told = [reader.stderr.readline()]
        for step in ("point 0", "point 1", "point 2", "point 3"):
            print(step, file=writer.stdin, flush=True)
            told.append(reader.stderr.readline())
        print(f"end {end_state}", file=writer.stdin, flush=True)
        assert writer.wait(SECONDS) == 0
        out, err = reader.communicate(timeout=SECONDS)
    return Outcome(reader.returncode, out, "".join(told) + err)


def test_every_point_is_shown_once_and_the_end_ends_it(running: Path) -> None:
    outcome = follow_written(running, 1)
    assert outcome.status == 0
    heading, *rows = outcome.out.splitlines()
    assert heading.split()[:3] == ["engine", "mode", "schedule"]
    assert [row.split()[6] for row in rows] == ["1000", "8000", "16000", "60000"]
    assert len({len(line) for line in (heading, *rows)}) == 1  # all under the one heading
    told = [f"{done} of 4 points, running" for done in range(5)]
    assert outcome.err.splitlines() == [*told, "4 of 4 points, finished"]


def test_oversubscribed_cores_are_said_once(tmp_path: Path) -> None:
    setup = synthetic.Setup(nodes=1, ppn=2, ops=10, node_facts={"cores_of_ranks": "1"})
    path = synthetic.write_launch(tmp_path / "a.h5", setup)
    outcome = follow_written(_begun(path), 1)
    told = [line for line in outcome.err.splitlines() if "oversubscribed" in line]
    assert told == ["a2a: oversubscribed: 2 ranks on 1 core"]
    assert outcome.err.splitlines()[0] == told[0]


def test_a_failed_run_is_status_1(running: Path) -> None:
    outcome = follow_written(running, 3)
    assert outcome.status == 1
    assert outcome.err.splitlines()[-1] == "4 of 4 points, failed"


def test_a_killed_run_does_not_hang_it(a2a: Run, running: Path) -> None:
    outcome = a2a("live", running, "--interval", 0.1, "--patience", 0.5)
    assert outcome.status == 1
    assert outcome.err.endswith("a2a: no new point for 0.5 s: killed, or very slow\n")


def test_once(a2a: Run, running: Path) -> None:
    outcome = a2a("live", running, "--once")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.err == "0 of 4 points, running\n"


def test_a_file_that_is_replaced_meanwhile_is_waited_for(running: Path) -> None:
    away = running.with_suffix(".away")
    looks = 0

    def sleep(_: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 1:
            running.rename(away)
        if looks == 3:
            with h5py.File(away, "r+") as file:
                file["segments/0/end_state"][()] = 1
            away.rename(running)

    steps = list(live.follow(running, 0.1, 60, sleep=sleep, clock=lambda: 0.0))
    assert [step.end_state for step in steps] == ["running", "finished"]


def test_sentinels_are_no_rows(a2a: Run, tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", synthetic.Setup(sentinel=True))
    outcome = a2a("live", path, "--once")
    assert len(outcome.out.splitlines()) == 1 + 4
    assert outcome.err == "4 of 4 points, finished\n"
