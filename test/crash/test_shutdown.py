# SPDX-License-Identifier: BSD-3-Clause
"""The real thing beside the simulation: an ext4 that is shut down under a launch, mounted again and looked at.

A2APERF_CRASH_CUTS asks for more than a handful of cuts.
"""

import ctypes
import fcntl
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import h5py
import pytest
from disk import Disk, replay
from launches import CALM, IN_OPS, MPIRUN
from notes import read_notes
from processes import PATIENCE, wait_until
from promise import Promise
from rows import read_rows

pytestmark = pytest.mark.slow

CUTS = int(os.environ.get("A2APERF_CRASH_CUTS", "5"))
SHUTDOWN = 0x8004587D  # EXT4_IOC_SHUTDOWN
FLUSH_LOG, FLUSH_NOTHING = 1, 2
WRITE_BACK = 2  # SYNC_FILE_RANGE_WRITE
NAME = "a.h5"
WORDS = [*CALM, *IN_OPS, "--sizes", "8..24008+400", "--ops", "100"]
CREATION, POINTS = 160_000, 500_000  # about as many bytes are noted of each


class FileSystem:
    """An ext4 of 64 MiB in a file."""

    def __init__(self, folder: Path) -> None:
        self.image, self.place = folder / "disk", folder / "mounted"
        self.place.mkdir()
        with self.image.open("wb") as made:
            made.truncate(64 << 20)

    def _root_does(self, *words: str | Path) -> None:
        outcome = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        if outcome.returncode != 0:
            raise OSError(f"{words[0]}: {outcome.stderr.strip()}")

    def make(self) -> None:
        self._root_does("mkfs.ext4", "-q", "-F", self.image)

    def mount(self, options: str) -> None:
        self._root_does("mount", "-o", f"loop,{options}", self.image, self.place)

    def unmount(self) -> None:
        # Whoever looks at every new file system may have it open for a moment.
        assert wait_until(lambda: subprocess.run(["umount", self.place], capture_output=True).returncode == 0, PATIENCE)

    def shut_down(self, how: int) -> None:
        descriptor = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", how))
        finally:
            os.close(descriptor)


@pytest.fixture
def file_system(tmp_path) -> Iterator[FileSystem]:
    if os.geteuid() != 0:
        pytest.skip("a file system of its own needs root")
    if not shutil.which("mkfs.ext4"):
        pytest.skip("no mkfs.ext4 here")
    found = FileSystem(tmp_path)
    try:
        found.make()
        found.mount("defaults")
        found.shut_down(FLUSH_NOTHING)
    except OSError as error:
        pytest.skip(f"no ext4 that can be shut down: {error}")
    finally:
        subprocess.run(["umount", found.place], capture_output=True)
    yield found
    subprocess.run(["umount", found.place], capture_output=True)


def write_back_some(file: Path, chance: random.Random) -> None:
    """The kernel writes pages back when it likes; here some are, in no order."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        descriptor = os.open(file, os.O_RDWR)
    except FileNotFoundError:
        return
    for page in range(os.fstat(descriptor).st_size // 4096 + 1):
        if chance.random() < 0.4:
            libc.sync_file_range(descriptor, ctypes.c_int64(page * 4096), ctypes.c_int64(4096), WRITE_BACK)
    os.close(descriptor)


def promised(log: Path) -> Promise:
    disk, promise = Disk(), Promise(NAME)
    for note in replay(disk, read_notes(log)):
        promise.follow(disk, note)
    return promise


def test_power_cuts_of_a_real_file_system(program, preload_recorder, needs_provider, file_system, tmp_path):
    needs_provider("shm")
    chance = random.Random(20191)
    kept = named = 0
    for cut in range(CUTS):
        log = tmp_path / f"{cut}.log"
        file_system.make()
        file_system.mount(chance.choice(["data=ordered", "data=writeback", "data=writeback,commit=1"]))
        file = file_system.place / NAME
        workload = chance.choice(["alltoall", "pairs"])
        environment = [f"{name}={value}" for name, value in preload_recorder(file_system.place, log).items()]
        launch = subprocess.Popen(
            [MPIRUN, "-t", str(PATIENCE), "2", "env", *environment, program, workload, *WORDS, "-o", file],
            cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        until = chance.randrange(CREATION) if chance.random() < 0.2 else CREATION + chance.randrange(POINTS)
        noted = lambda log=log, until=until: log.exists() and log.stat().st_size > until
        assert wait_until(lambda noted=noted, launch=launch: noted() or launch.poll() is not None, PATIENCE)
        write_back_some(file, chance)
        file_system.shut_down(chance.choice([FLUSH_LOG, FLUSH_NOTHING]))
        launch.wait(PATIENCE)
        file_system.unmount()
        file_system.mount("defaults")
        promise = promised(log)
        assert file.exists() or not promise.must_exist
        if file.exists():
            named += 1
            with h5py.File(file, "r") as opened:
                rows = read_rows(opened)
            assert not promise.breaches_of(rows), f"cut {cut}"
            kept += len(promise.acknowledged())
        file_system.unmount()
    print(f"{CUTS} cuts, {named} files, {kept} acknowledged points found")
    assert named > 0
