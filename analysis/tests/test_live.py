# SPDX-License-Identifier: BSD-3-Clause
"""A writer in another process does what a2aperf does: raw writes, state last."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import file_lock, live
from a2aperf.commands import live as live_command
from a2aperf.file_lock import Writer
from conftest import Outcome
from support import synthetic, unread
from support.edited import edited
from support.synthetic import Setup
from support.synthetic_pairs import write_pairs
from support.synthetic_streams import Pipe, write_streams

Run = Callable[..., Outcome]

SECONDS = 300  # a deadline, not an expectation
# A step for every line that it gets: the state of a point, or the end.
WRITER = """
import fcntl, os, struct, sys, shutil, h5py, numpy
path = sys.argv[1]
checksums = numpy.load(path + ".npy")
lock = open(path, "rb")
fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", fcntl.F_RDLCK, 0, 1 << 62, 1, 0))
print("here", flush=True)
with h5py.File(path, "r+", locking=False) as file:
    for line in sys.stdin:
        what, value = line.split()
        if what == "end":
            file["segments/0/end_state"][()] = int(value)
            break
        file["checksum"][int(value)] = checksums[int(value)]
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
    with h5py.File(path, "r+") as file:
        np.save(f"{path}.npy", file["checksum"][()])  # they come with the points
        for name in ("checksum", "state", "segments/0/end_state", "segments/0/end_checksum"):
            file[name][...] = 0
    return path


def _start(*words: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def follow_written(path: Path, end_state: int) -> Outcome:
    """The writer goes on when the reader has told what it saw."""
    words = [sys.executable, "-m", "a2aperf", "live", str(path), "--interval", "0.1"]
    with _start(sys.executable, "-c", WRITER, str(path)) as writer:
        assert writer.stdin is not None and writer.stdout is not None
        assert writer.stdout.readline() == "here\n"
        reader = _start(*words, "--patience", str(SECONDS))
        assert reader.stderr is not None
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


@pytest.fixture
def written(running: Path) -> Iterator[Path]:
    """The same, and somebody is at it."""
    with running.open("rb") as file:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, live_mark())
        yield running


def live_mark() -> bytes:
    return struct.pack("hhqqi0q", fcntl.F_RDLCK, 0, file_lock.MARK, 1, 0)


def test_a_killed_run_is_told_at_once(a2a: Run, running: Path) -> None:
    outcome = a2a("live", running, "--patience", SECONDS)
    assert outcome.status == 1
    assert outcome.err == "0 of 4 points, killed: no process writes this file any more\n"


def test_a_writer_that_does_nothing_is_waited_for(a2a: Run, written: Path) -> None:
    outcome = a2a("live", written, "--interval", 0.1, "--patience", 0.5)
    assert outcome.status == 1
    first, last = outcome.err.splitlines()
    assert first == "0 of 4 points, running"
    said = (
        "a2a: no new point for 0.5 s, and the file was last written AGO ago: killed, or very slow"
    )
    assert re.sub(r"\d+ \w+ ago", "AGO ago", last) == said


def test_a_reader_s_lock_is_no_writer(a2a: Run, running: Path) -> None:
    with running.open("rb") as file:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi0q", fcntl.F_RDLCK, 0, 0, 0, 0))
        assert file_lock.writer_of(running) is Writer.GONE


def test_where_a_lock_proves_nothing_the_last_write_is_told(
    running: Path,
    written: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(file_lock, "_file_system", lambda _: "nfs4")
    assert file_lock.writer_of(written) is Writer.THERE
    monkeypatch.setattr(file_lock, "MARK", 1)  # the lock that is held is not seen
    assert file_lock.writer_of(running) is Writer.UNKNOWN
    os.utime(running, (time.time() - 3 * 3600,) * 2)
    live_command.run(running, once=True)
    assert capsys.readouterr().err == (
        "0 of 4 points, running or killed, which its file system does not tell; "
        "last written 3 h ago\n"
    )


def test_which_file_system_a_file_is_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
        "2 1 0:9 / /sc\\040ratch rw,x shared:1 - nfs4 server:/ rw\n"
        "3 2 0:9 / /sc\\040ratch/own rw - lustre a@tcp:/ rw\n"
        "4 1 0:9 / /données rw - nfs4 server:/ rw\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(file_lock, "_MOUNTS", mounts)
    for path, kind in {
        "/a.h5": "ext4",
        "/sc ratch/a.h5": "nfs4",
        "/sc ratch/own/a": "lustre",
        "/données/a.h5": "nfs4",
    }.items():
        assert file_lock._file_system(Path(path)) == kind
    monkeypatch.setattr(file_lock, "_MOUNTS", tmp_path / "none")
    assert file_lock._file_system(tmp_path) == ""


def test_what_is_followed_ends_where_nobody_reads_on(written: Path) -> None:
    with edited(written) as file:
        file["state"][0] = 1
    assert unread.a2a("live", written, "--patience", 600).returncode == 0


def test_once(a2a: Run, written: Path) -> None:
    outcome = a2a("live", written, "--once")
    assert (outcome.status, outcome.out) == (0, "")
    assert outcome.err == "0 of 4 points, running\n"


def test_once_has_the_status_of_a_run_that_has_ended(a2a: Run, running: Path) -> None:
    outcome = a2a("live", running, "--once")
    assert outcome.status == 1
    assert outcome.err == "0 of 4 points, killed: no process writes this file any more\n"


def test_a_baseline_is_a_row_and_no_point_of_its_own(a2a: Run, tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", synthetic.Setup(baseline=True))
    outcome = a2a("live", path, "--once")
    assert len(outcome.out.splitlines()) == 1 + 8
    assert outcome.err == "4 of 4 points, finished\n"


def test_a_file_that_is_replaced_meanwhile_is_waited_for(written: Path) -> None:
    running = written
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


def test_steps_of_pairs_say_which_they_are(a2a: Run, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.h5", Setup(nodes=2, sizes=(8,), ops=5))
    heading, *rows = a2a("live", path, "--once").out.splitlines()
    place = heading.split().index("distance")
    assert [row.split()[place] for row in rows] == ["1", "2", "3"]


def test_what_points_differ_in_is_in_front_of_them(a2a: Run, tmp_path: Path) -> None:
    pipes = [Pipe(completion="delivery", cq_mod=every, sizes=(8, 1024)) for every in (1, 16)]
    path = write_streams(tmp_path / "streams.h5", [pipes])
    heading, *rows = a2a("live", path, "--once").out.splitlines()
    assert heading.split()[:4] == ["cq", "mod", "completion", "section"]
    assert [row.split()[:2] for row in rows] == [["1", "delivery"]] * 2 + [["16", "delivery"]] * 2
