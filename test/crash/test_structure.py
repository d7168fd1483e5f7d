# SPDX-License-Identifier: BSD-3-Clause
"""A launch was killed, or ended, and then the disk damages what HDF5 finds its way by: `a2a check --repair` keeps every point of
which no byte was hit, calls none complete that is not what was measured, and says what is lost.

A2A_MUTANTS asks for another number of damaged files of each launch.
"""

import json
import os
import subprocess
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
from processes import PATIENCE
from scene import Scene, Tools

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("A2A_MUTANTS", "50"))
HERE = Path(__file__).resolve().parent
SUPPORT = HERE.parent / "support"
OF_ANALYSIS = HERE.parents[1] / "analysis/tests"


@pytest.fixture(scope="module")
def tools(program, a2a, preload_recorder) -> Tools:
    return Tools(program, a2a, preload_recorder)


def alltoall(scene: Scene) -> None:
    scene.launch("alltoall", kill="D:220")


def resumed(scene: Scene) -> None:
    scene.launch("alltoall", kill="D:220")
    scene.launch("alltoall", "--resume", kill="D:120")


def pairs(scene: Scene) -> None:
    scene.launch("pairs", kill="D:230")


def finished(scene: Scene) -> None:
    scene.launch("alltoall")


@pytest.fixture(scope="module", params=[alltoall, resumed, pairs, finished], ids=lambda play: play.__name__)
def content(request, tools, tmp_path_factory) -> bytes:
    scene = Scene(tools, tmp_path_factory.mktemp("launches") / "folder")
    scene.folder.mkdir()
    request.param(scene)
    return scene.file.read_bytes()


@pytest.fixture
def written(content: bytes, tmp_path: Path) -> Path:
    file = tmp_path / "a.h5"
    file.write_bytes(content)
    return file


def test_repair_keeps_every_point_that_was_not_hit(written: Path, a2a: Path) -> None:
    done = subprocess.run(
        [a2a.parent / "python", HERE / "damaged_structure.py", written, "12", str(COUNT)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": f"{SUPPORT}:{OF_ANALYSIS}", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["fates"] == {"whole": COUNT}, (told, done.stderr)


def test_words_tell_what_is_damaged_and_what_was_mended(written: Path, a2a: Path) -> None:
    """The whole beginning is gone, and so is a byte of one point."""
    content = written.read_bytes()
    points = complete_points(written)
    assert points.size > 1, "killed too early: of no other point the copy's structure could be seen to be right"
    lost = last_that_says_so(written)
    hit = place_of(written, lost)
    damaged, new = written.with_name("damaged.h5"), written.with_name("new.h5")
    damaged.write_bytes(bytes(3000) + content[3000:hit] + bytes([content[hit] ^ 1]) + content[hit + 1 :])
    checked = command(a2a, "check", damaged)
    assert checked.returncode == 2
    assert "error: its structure, what was asked or who measured is not as it was written (" in checked.stdout
    assert "error: damaged: it does not begin as an HDF5 file, and was one" in checked.stdout
    repaired = command(a2a, "check", "--repair", damaged, "-o", new)
    assert "mended: its structure, what was asked or who measured was not as it was written (" in repaired.stdout
    assert f"lost: point {lost}: " in repaired.stdout
    np.testing.assert_array_equal(complete_points(new), points[points != lost])
    assert "its structure" not in command(a2a, "check", new).stdout


def test_a_damaged_copy_is_told_and_costs_nothing(written: Path, a2a: Path) -> None:
    content = bytearray(written.read_bytes())
    content[content.index(b"a2aperf skeleton v1") + 100] ^= 1
    points = complete_points(written)
    written.write_bytes(content)
    said = command(a2a, "check", written)
    assert (said.returncode, "error: its copy of its own structure is not as it was written" in said.stdout) == (2, True)
    new = written.with_name("new.h5")
    assert "lost: point" not in command(a2a, "check", "--repair", written, "-o", new).stdout
    np.testing.assert_array_equal(complete_points(new), points)


def complete_points(file: Path) -> np.ndarray:
    with h5py.File(file, "r", locking=False) as opened:
        return np.flatnonzero(checksums.states(opened) == 1)


def last_that_says_so(file: Path) -> int:
    """Of the complete points: one whose state was not written yet was not lost, where its checksum is wrong."""
    with h5py.File(file, "r", locking=False) as opened:
        return int(np.flatnonzero(opened["state"][()] == 1)[-1])


def place_of(file: Path, point: int) -> int:
    """Where the file has a figure of a point."""
    with h5py.File(file, "r", locking=False) as opened:
        column = opened["time_p50"]
        return int(column.id.get_offset() + point * column.dtype.itemsize)


def command(a2a: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([a2a, *words], capture_output=True, text=True, timeout=PATIENCE)
