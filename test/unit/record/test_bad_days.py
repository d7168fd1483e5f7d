# SPDX-License-Identifier: BSD-3-Clause
"""Disks that fill up, folders that can't be written to, files that are something else: one clear line, nothing lost."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest

from expected import attempts_of, samples_of
from processes import PATIENCE


class MountNamespace:
    """A process of its own mounts; `enter` prefixes a command that is to see them."""

    def __init__(self) -> None:
        maps_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", "--mount", *maps_root, "sh", "-c", "echo ready; exec sleep 600"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self._process.stdout.readline() != "ready\n":
            pytest.skip(f"no mount namespaces here: {self._process.stderr.read().strip()}")
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        self.enter = ("nsenter", "--target", str(self._process.pid), "--mount", *user)

    def run(self, *command: str) -> None:
        subprocess.run([*self.enter, *command], check=True, capture_output=True, timeout=PATIENCE)

    def see(self, path: Path) -> Path:
        """The path as this process can open it."""
        return Path(f"/proc/{self._process.pid}/root{path}")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def mounts() -> Iterator[MountNamespace]:
    namespace = MountNamespace()
    yield namespace
    namespace.close()


def assert_refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr


SHAPE = {"points": 12, "ranks": 16, "ops": 100}


def fill(file: Path) -> None:
    """Takes all the space that is left."""
    with file.open("wb", buffering=0) as stream:
        try:
            while stream.write(b"x" * 4096):
                pass
        except OSError as error:
            assert error.errno == 28


def test_a_disk_that_fills_up_costs_only_the_points_that_did_not_fit(writer, mounts, tmp_path: Path) -> None:
    mounts.run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path))
    file, filler = tmp_path / "a.h5", mounts.see(tmp_path / "filler")
    acknowledged = []
    with writer.start(file, prefix=mounts.enter, step=1, **SHAPE) as process:
        for word, point in writer.steps(process):
            if word == "done":
                acknowledged.append(point)
                if len(acknowledged) == 3:
                    fill(filler)
        errors = process.stderr.read()
    assert process.returncode == 1
    assert errors.count("\n") == 1
    assert "No space left on device" in errors and "a.h5" in errors
    filler.unlink()
    with h5py.File(mounts.see(file), "r") as opened:
        assert np.flatnonzero(checksums.states(opened) == 1).tolist() == acknowledged
        for point in acknowledged:
            attempts = attempts_of(point, SHAPE["ops"])
            expected = samples_of(point, attempts, SHAPE["ranks"])["recv_done"]
            np.testing.assert_array_equal(opened["raw/recv_done"][point, :attempts], expected)
    done = writer.run(file, prefix=mounts.enter, resume=1, **SHAPE)
    assert (done.returncode, done.stderr) == (0, "")
    with h5py.File(mounts.see(file), "r") as opened:
        assert (opened["state"][()] > 0).all()


def test_without_room_to_compact_the_file_stays_as_it_was_written(writer, mounts, tmp_path: Path) -> None:
    mounts.run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path))
    file, filler = tmp_path / "a.h5", mounts.see(tmp_path / "filler")
    with writer.start(file, prefix=mounts.enter, step=1, **SHAPE) as process:
        for word, point in writer.steps(process):
            if word == "done" and point == SHAPE["points"] - 1:
                fill(filler)
        errors = process.stderr.read()
    assert process.returncode == 0
    assert "is complete but larger than necessary" in errors and "No space left on device" in errors
    names = sorted(path.name for path in mounts.see(tmp_path).iterdir())
    assert names == ["a.h5", "filler"]
    with h5py.File(mounts.see(file), "r") as opened:
        assert opened.attrs["layout"] == "preallocated"
        assert opened["segments/0/end_state"][()] == 1
        assert (opened["state"][()] > 0).all()


def test_a_disk_that_is_too_small_is_refused_at_once(writer, mounts, tmp_path: Path) -> None:
    mounts.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path))
    done = writer.run(tmp_path / "a.h5", prefix=mounts.enter, points=24, ranks=64, ops=1000)
    assert_refused(done, "24 points of up to 1000 ops on 64 ranks", "has 1 MiB free", "-o")
    assert list(mounts.see(tmp_path).iterdir()) == []


def test_a_read_only_file_system_is_refused(writer, mounts, tmp_path: Path) -> None:
    mounts.run("mount", "--bind", str(tmp_path), str(tmp_path))
    mounts.run("mount", "-o", "remount,bind,ro", str(tmp_path))
    done = writer.run(tmp_path / "a.h5", prefix=mounts.enter)
    assert_refused(done, f"{tmp_path} can't be written to", "Read-only file system")


def test_a_folder_of_someone_else_is_refused(writer, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become someone else")
    # Where anyone may go: the program and the output, not the folders of the test's user.
    place = Path("/tmp") / f"a2aperf-other-user-{os.getpid()}"
    place.mkdir(mode=0o755)
    try:
        program = shutil.copy(writer.program, place / "point-writer")
        (place / "theirs").mkdir(mode=0o755)
        other = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        command = [*other, program, str(place / "theirs" / "a.h5")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert_refused(done, "theirs can't be written to", "Permission denied")
        # A file that can't be read is no reason to stop with a riddle either.
        (place / "theirs").chmod(0o777)
        writer.run(place / "theirs" / "a.h5", points=3, end=2)
        (place / "theirs" / "a.h5").chmod(0o600)
        done = subprocess.run([*command, "resume=1"], capture_output=True, text=True, timeout=PATIENCE)
        assert_refused(done, "a.h5", "Permission denied")
    finally:
        shutil.rmtree(place)


def test_a_missing_folder_is_refused(writer, tmp_path: Path) -> None:
    assert_refused(writer.run(tmp_path / "missing" / "a.h5"), "missing", "does not exist", "-o")


def test_an_existing_file_is_refused_and_kept(writer, tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    file.write_bytes(b"precious")
    assert_refused(writer.run(file), "exists already", "--resume", "--force")
    assert file.read_bytes() == b"precious"
    assert_refused(writer.run(file, resume=1), "is not an HDF5 file")
    assert file.read_bytes() == b"precious"
    assert writer.run(file, force=1, points=3).returncode == 0
    with h5py.File(file, "r") as opened:
        assert (opened["state"][()] == 1).all()


def test_another_plan_cannot_resume(writer, tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    writer.run(file, stop_after=3, end=2, **SHAPE)
    before = file.read_bytes()
    for change, words in (
        ({"first_size": 3000}, "message_size 1000 in the file and 3000 in this launch"),
        ({"ranks": 8}, "measured with 16 ranks and this launch has 8"),
        ({"points": 13}, "it has 12 points and this launch 13"),
        ({"nodes": 2}, "nodes 1 in the file and 2 in this launch"),
    ):
        assert_refused(writer.run(file, resume=1, **(SHAPE | change)), words)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_cannot_be_resumed_while_it_is_written(writer, tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    with writer.start(file, step=1, **SHAPE) as process:
        for word, point in writer.steps(process):
            if word == "ready" or (word, point) == ("done", 3):
                assert_refused(writer.run(file, resume=1, **SHAPE), "is being written by another launch")
                assert_refused(writer.run(file, force=1, **SHAPE), "is being written by another launch")
    assert process.returncode == 0
    with h5py.File(file, "r") as opened:
        assert len(opened["segments"]) == 1


def test_points_that_are_measured_again_have_nothing_of_before(writer, tmp_path: Path) -> None:
    """No op of theirs was valid; every figure that stood there all the same goes."""
    shape = {"points": 5, "ranks": 2, "ops": 10}
    again, new = tmp_path / "again.h5", tmp_path / "new.h5"
    assert writer.run(again, failed=1, end=2, **shape).returncode == 0
    with h5py.File(again, "r+") as file:
        assert (file["state"][()] == 3).all()
        datasets = {name: one for name, one in file.items() if isinstance(one, h5py.Dataset)}
        figures = [name for name, one in datasets.items() if one.dtype.kind == "f" and "checksum" not in one.attrs]
        assert "gbps_rank" in figures
        for name in figures:
            file[name][...] = 0.77
        for point, checksum in checksums.of_points(file, range(5)).items():
            file["checksum"][point] = checksum
    assert writer.run(again, resume=1, **shape).returncode == 0
    assert writer.run(new, **shape).returncode == 0
    with h5py.File(again) as one, h5py.File(new) as other:
        for name in figures:
            np.testing.assert_array_equal(one[name][()], other[name][()], name)
