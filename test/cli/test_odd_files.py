# SPDX-License-Identifier: BSD-3-Clause
"""What is no regular file, given where the program reads or writes one: one line at once, status 2, nothing touched."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import PATIENCE

KINDS = {
    "fifo": "'fifo' is a pipe, not a file",
    "folder": "'folder' is a folder, not a file",
    "socket": "'socket' is a socket, not a file",
    "big": "'big' has more than the ",
    "/dev/zero": "'/dev/zero' is a device, not a file",
    "loop": "cannot read 'loop': Too many levels of symbolic links",
    "big/below": "cannot read 'big/below': Not a directory",
}


@pytest.fixture
def odd(tmp_path) -> Iterator[set[str]]:
    """Of every kind one, and their names. A gigabyte takes no room here."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "big").open("wb") as big:
        big.truncate(1 << 30)
    before = Path.cwd()
    os.chdir(tmp_path)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("socket")
            yield {entry.name for entry in tmp_path.iterdir()}
    finally:
        os.chdir(before)


def refuses(outcome, folder: Path, before: set[str], says: str) -> None:
    (line,) = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert outcome.returncode == 2, outcome.stderr
    assert says in line
    assert outcome.stdout == ""
    assert {entry.name for entry in folder.iterdir()} == before
    assert (folder / "big").stat().st_size == 1 << 30


@pytest.mark.parametrize("name", KINDS)
def test_as_config(program, tmp_path, odd, name):
    """With no more memory than the program needs for other files."""
    outcome = subprocess.run(
        ["bash", "-c", 'ulimit -v 1000000 && exec "$@"', "limited", program, "alltoall", "--config", name],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    refuses(outcome, tmp_path, odd, f"--config: {KINDS[name]}")


def test_a_pipe_as_config(program, tmp_path, odd):
    """The ranks of a launch would not have it. Nobody writes, and it never ends."""
    reading, writing = os.pipe()
    outcome = subprocess.run(
        [program, "alltoall", "--config", "/dev/stdin"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, stdin=reading, check=False,
    )  # fmt: skip
    os.close(reading)
    os.close(writing)
    refuses(outcome, tmp_path, odd, "--config: '/dev/stdin' is a pipe, not a file")


@pytest.mark.parametrize("name", KINDS)
def test_as_attachment(launch, tmp_path, odd, name):
    refuses(launch(2, "alltoall", "--attach", name), tmp_path, odd, f"--attach: {KINDS[name]}")


@pytest.mark.parametrize("name", ["fifo", "folder", "socket", "/dev/zero"])
@pytest.mark.parametrize("how", ["--resume", "--force"])
def test_as_output(launch, tmp_path, odd, name, how):
    refuses(launch(2, "alltoall", how, "-o", name), tmp_path, odd, f"{name} is not a file")
