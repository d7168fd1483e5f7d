# SPDX-License-Identifier: BSD-3-Clause
"""Files that cannot be read or written at some call: one line names file and cause, and what is acknowledged stays."""

import os
import subprocess
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
from processes import PATIENCE
from results import END_REASONS

pytestmark = pytest.mark.slow

WORDS = ["--provider", "shm", "--sizes", "1000,60000", "--ops", "5", "--timeout", "20s"]
SHAPE = ["points=4", "ranks=2", "ops=10"]
NEVER = 1000000000


@pytest.fixture
def write(program, preload, tmp_path):
    """Runs the recorder alone, with a fault; returns its status, its words on stderr, and what it acknowledged."""
    writer = program.parents[2] / "test" / "unit" / "record" / "point-writer"
    assert writer.is_file(), f"{writer} is not built"
    notes = tmp_path / "notes"

    def run(folder: Path, fault: str) -> tuple[int, list[str], list[int], str]:
        notes.unlink(missing_ok=True)
        outcome = subprocess.run(
            [writer, folder / "a.h5", *SHAPE], env=os.environ | preload(fault, notes), capture_output=True, text=True,
            timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        done = [int(line.split()[1]) for line in outcome.stdout.splitlines() if line.startswith("done ")]
        return outcome.returncode, outcome.stderr.splitlines(), done, notes.read_text() if notes.exists() else ""

    return run


def holds(file: Path, done: list[int], whole: dict[str, np.ndarray]) -> None:
    """The points that were acknowledged, as they are in a file that nothing happened to."""
    with h5py.File(file, "r") as opened:
        for point in done:
            assert checksums.states(opened)[point] == 1
            attempts = opened["attempts"][point]
            for name, samples in whole.items():
                np.testing.assert_array_equal(opened[f"raw/{name}"][point, :attempts], samples[point, :attempts])


@pytest.mark.parametrize(
    ("call", "error", "says", "samples"),
    [
        ("write", "ENOSPC", "No space left on device", 24),
        ("write", "EIO", "Input/output error", 6),
        ("read", "EIO", "Input/output error", 12),
        ("rename", "EIO", "Input/output error", 2),
        ("fsync", "EIO", "Input/output error", 5),
        ("fdatasync", "EIO", "Input/output error", 6),
        ("open", "EMFILE", "Too many open files", 6),
    ],
)
def test_any_call_of_the_recorder(write, tmp_path, call, error, says, samples):
    status, _, done, notes = write(tmp_path, f"call={call} do={error} nth={NEVER}")
    assert (status, done) == (0, [0, 1, 2, 3])
    calls = int(notes.split()[-1])
    with h5py.File(tmp_path / "a.h5", "r") as opened:
        whole = {name: opened[f"raw/{name}"][()] for name in ("begin", "send_done", "recv_done")}
    for nth in sorted({1 + i * (calls - 1) // (samples - 1) for i in range(samples)}):
        folder = tmp_path / f"{call}-{nth}"
        folder.mkdir()
        status, words, done, notes = write(folder, f"call={call} do={error} nth={nth}")
        where = f"{call} {nth} of {calls}: status {status}, {words}"
        if call == "fdatasync" and " struck " not in notes:
            assert (status, done) == (0, [0, 1, 2, 3]), where  # there are as many barriers as time allows
            continue
        assert " struck " in notes, where
        assert status in (0, 1, 2), where
        # Where it does not matter, such as at the very end, nothing need be said.
        if status != 0:
            assert len(words) == 1 and says in words[0] and str(folder) in words[0], where
        assert len(words) <= 1, where
        if done:
            holds(folder / "a.h5", done, whole)
        else:
            assert status != 0, where


def test_no_write_of_a_new_file_fails_unnoticed(write, tmp_path):
    """What HDF5 writes when it closes one is the last of them: at the creation, and of the compact copy."""
    fault = "call=write do=EIO path=.a.h5.partial"
    _, _, _, notes = write(tmp_path, f"{fault} nth={NEVER}")
    calls = int(notes.split()[-1])
    for nth in range(1, calls + 1):
        folder = tmp_path / str(nth)
        folder.mkdir()
        status, words, done, notes = write(folder, f"{fault} nth={nth}")
        where = f"write {nth} of {calls}: status {status}, {words}"
        assert " struck " in notes, where
        assert len(words) == 1 and "Input/output error" in words[0] and str(folder) in words[0], where
        # A copy that could not be made costs nothing but room.
        assert (status, done) in ((1, []), (0, [0, 1, 2, 3])), where
        assert not (folder / ".a.h5.partial").exists(), where


def test_short_reads_and_writes_are_completed(write, tmp_path):
    for call in ("read", "write"):
        folder = tmp_path / call
        folder.mkdir()
        status, words, done, notes = write(folder, f"call={call} do=short count={NEVER}")
        assert " struck " in notes
        assert (status, words, done) == (0, [], [0, 1, 2, 3])


def test_a_reader_while_the_disk_makes_the_name_last(preload, program, tmp_path):
    """Publishing syncs the file and then its folder, twice: it is read as soon as it has its name, and may be always."""
    writer = program.parents[2] / "test" / "unit" / "record" / "point-writer"
    folder = tmp_path / "results"
    folder.mkdir()
    process = subprocess.Popen(
        [writer, folder / "a.h5", *SHAPE], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        env=os.environ | preload("call=fsync do=late:300 count=100", tmp_path / "notes"),
    )  # fmt: skip
    opened = 0
    while process.poll() is None:
        if (folder / "a.h5").exists():
            with h5py.File(folder / "a.h5", "r") as file:
                opened += len(file["state"]) == 4
    assert process.returncode == 0
    assert opened > 0


def test_an_end_that_is_not_on_disk_is_a_failed_run(faulty, needs_provider):
    needs_provider("shm")
    outcome = faulty(2, "call=fsync do=EIO nth=3 rank=0", *WORDS)  # the file, its folder, and at the end the file again
    outcome.failed(r"^a2aperf: rank 0 \(\S+\): cannot sync \S+a\.h5\S*: Input/output error")
    assert outcome.complete() == [0, 1]


def test_a_barrier_that_fails_confirms_nothing(faulty, needs_provider):
    """Nor does a later one that succeeds: the kernel says once that it could not write, and does not try again."""
    needs_provider("shm")
    outcome = faulty(2, "call=fdatasync do=EIO path=a.h5 rank=0", *WORDS)
    outcome.failed(r"^a2aperf: rank 0 \(\S+\), point 0, tagged .* 1000 B: cannot sync \S+a\.h5: Input/output error")
    with h5py.File(outcome.folder / "a.h5") as file:
        assert set(file["state"][()]) == {0}
        assert END_REASONS[file["segments/0/end_reason"][()]] == "other"


def test_a_point_that_cannot_be_written(faulty, needs_provider):
    needs_provider("shm")
    outcome = faulty(2, "call=write do=ENOSPC path=a.h5 nth=1 count=1000000 rank=0", *WORDS)
    outcome.failed(r"^a2aperf: rank 0 \(\S+\), point \d, tagged .* 1000 B: cannot write .*: No space left on device")
    assert outcome.complete() == []


@pytest.mark.parametrize("nth", [1, 2])
def test_a_config_file_that_is_half_read(faulty, needs_provider, nth):
    needs_provider("shm")
    faulty.folder.joinpath("half.toml").write_text("ops = 5\n" + "# a remark\n" * 2000 + 'sizes = "1000"\n')
    words = ["--provider", "shm", "--config", "half.toml"]
    outcome = faulty(2, f"call=read do=EIO path=half.toml nth={nth} count=1000", *words)
    assert outcome.struck
    assert outcome.returncode == 2, outcome.stderr
    (line,) = outcome.says()
    assert "--config: cannot read 'half.toml': Input/output error" in line


@pytest.mark.parametrize("nth", [1, 2])
def test_an_attachment_that_is_half_read(faulty, needs_provider, nth):
    needs_provider("shm")
    faulty.folder.joinpath("notes.txt").write_text("what was done\n" * 20000)
    outcome = faulty(2, f"call=read do=EIO path=notes.txt nth={nth} count=1000", *WORDS, "--attach", "notes.txt")
    assert outcome.struck
    assert outcome.returncode == 2, outcome.stderr
    (line,) = outcome.says()
    assert "--attach: cannot read 'notes.txt': Input/output error" in line


def test_a_node_that_does_not_tell_its_memory(faulty, needs_provider):
    needs_provider("shm")
    outcome = faulty(2, "call=read do=EIO path=/proc/meminfo count=1000 rank=1", *WORDS)
    outcome.failed(r"^a2aperf: rank 1 \(\S+\): /proc/meminfo does not say how much memory this node has")


def test_a_node_that_tells_its_memory_only_at_first(faulty, needs_provider):
    """Its memory is a mere fact by then, and unknown."""
    needs_provider("shm")
    told = []
    for nth in range(1, 20):
        outcome = faulty(2, f"call=read do=EIO path=/proc/meminfo nth={nth} count=1000 rank=0", *WORDS)
        if not outcome.struck:
            break
        if outcome.returncode:
            outcome.failed(": /proc/meminfo does not say how much memory this node has")
            continue
        outcome.survived()
        with h5py.File(faulty.folder / "a.h5") as file:
            told += file["segments/0/node_facts/memory_total"].asstr()[:].tolist()
    assert "" in told
    assert "0" not in told


def test_files_that_come_in_pieces(faulty, needs_provider):
    needs_provider("shm")
    outcome = faulty(2, "call=read do=short count=1000000", *WORDS)
    outcome.survived()
    assert outcome.complete() == [0, 1]


@pytest.mark.parametrize("nth", [1, 200])
def test_a_file_that_cannot_be_made_is_told_once(faulty, needs_provider, nth):
    """By rank 0, which alone writes it; the others know that it failed, and are not said to have met it."""
    needs_provider("shm")
    outcome = faulty(2, f"call=write do=ENOSPC path=.partial nth={nth} count=1000000 rank=0", *WORDS)
    outcome.failed(r"^a2aperf: rank 0 \(\S+\): cannot (write|create) .*: No space left on device")
    assert len(outcome.says()) == 1, outcome.stderr
