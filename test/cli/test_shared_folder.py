# SPDX-License-Identifier: BSD-3-Clause
"""A folder that others may write to: what they put there is neither followed, written nor replaced."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import pytest
from processes import PATIENCE

NOBODY = 65534
SHAPE = ["points=2", "ranks=2", "ops=3"]

Outcome = subprocess.CompletedProcess[str]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as two users")


@pytest.fixture
def shared() -> Iterator[Path]:
    """As /tmp is: everybody may write, and remove what is theirs."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def write(program, shared) -> Callable[..., Outcome]:
    """The recorder alone, as another user: write("a.h5", "force=1")."""
    writer = shared / "point-writer"  # where that user may reach it
    shutil.copy(program.parents[2] / "test" / "unit" / "record" / "point-writer", writer)

    def run(name: str, *words: str, user: int = NOBODY) -> Outcome:
        identity = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        return subprocess.run(
            [*identity, writer, shared / name, *SHAPE, *words], capture_output=True, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL, umask=0o027,
        )  # fmt: skip

    return run


def refused(outcome: Outcome, *says: str) -> None:
    assert outcome.returncode == 2, outcome.stderr
    (line,) = outcome.stderr.splitlines()
    for words in says:
        assert words in line, line
    assert outcome.stdout == ""


def test_a_file_of_one_s_own(write, shared):
    assert write("a.h5").returncode == 0
    found = (shared / "a.h5").stat()
    assert (found.st_uid, found.st_mode & 0o777) == (NOBODY, 0o640)
    assert write("a.h5", "resume=1").returncode == 0
    with h5py.File(shared / "a.h5") as file:
        assert len(file["segments"]) == 2


def test_a_leftover_of_the_same_user_is_taken_over(write, shared):
    left = shared / ".a.h5.partial"
    assert write("b.h5", "stop_after=1", "end=0").returncode == 0
    (shared / "b.h5").rename(left)
    assert write("a.h5").returncode == 0
    assert not left.exists()


def test_a_file_of_one_s_own_that_no_launch_left(write, shared):
    left = shared / ".a.h5.partial"
    left.write_text("precious")
    os.chown(left, NOBODY, NOBODY)
    refused(write("a.h5"), ".a.h5.partial is in the way: it is not what a launch begins")
    assert left.read_text() == "precious"
    assert not (shared / "a.h5").exists()


@pytest.mark.parametrize("user", [NOBODY, 0])
def test_a_link_in_the_way(write, shared, user):
    victim = shared / "victim"
    victim.write_text("theirs")
    victim.chmod(0o666)
    for target in ("victim", "dangling"):
        (shared / ".a.h5.partial").symlink_to(target)
        refused(write("a.h5", "force=1", user=user), ".a.h5.partial", "a symbolic link")
        (shared / ".a.h5.partial").unlink()
    assert victim.read_text() == "theirs"
    assert not (shared / "dangling").exists()
    assert not (shared / "a.h5").exists()


@pytest.mark.parametrize(("owner", "user"), [(0, NOBODY), (NOBODY, 0)])
def test_an_unfinished_file_of_another_user(write, shared, owner, user):
    left = shared / ".a.h5.partial"
    left.write_text("theirs")
    left.chmod(0o666)
    os.chown(left, owner, owner)
    refused(write("a.h5", user=user), ".a.h5.partial", "a file of " + ("root" if owner == 0 else "nobody"))
    assert left.read_text() == "theirs"


@pytest.mark.parametrize("how", ["force=1", "resume=1"])
def test_a_file_of_another_user(write, shared, how):
    assert write("a.h5", user=1000).returncode == 0
    (shared / "a.h5").chmod(0o666)
    before = (shared / "a.h5").read_bytes()
    refused(write("a.h5", how), "a.h5 belongs to ", "sticky bit")
    assert (shared / "a.h5").read_bytes() == before


def test_an_output_that_another_user_made_a_link(write, shared):
    own = shared / "thesis.h5"
    own.write_text("mine")
    os.chown(own, NOBODY, NOBODY)
    (shared / "a.h5").symlink_to("thesis.h5")
    os.chown(shared / "a.h5", 1000, 1000, follow_symlinks=False)
    refused(write("a.h5", "force=1"), "a.h5 is a symbolic link of ", "not followed")
    assert own.read_text() == "mine"
