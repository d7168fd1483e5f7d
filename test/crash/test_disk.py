# SPDX-License-Identifier: BSD-3-Clause
"""The simulator itself: what a disk may hold; known bad orders of writing are caught, and the good one is not."""

import io
import os
import subprocess
import sys
import zlib

import h5py
import numpy as np
import pytest
from disk import SECTOR, Disk, plain_images, random_image, single_images
from notes import Note, read_notes
from promise import bytes_of
from simulation import Outcome, simulate

POINTS, ATTEMPTS, RANKS = 3, 200, 2
ONE, OTHER = "1", "2"  # inodes


def note(kind: str, *words: str | int, data: bytes = b"") -> Note:
    return Note(kind, tuple(str(word) for word in words), data)


def write(inode: str, at: int, data: bytes) -> Note:
    return note("W", inode, at, len(data), data=data)


def contents(disk: Disk, name: str) -> set[bytes | None]:
    """What the name may hold, by a great many tries."""
    chance = np.random.default_rng(1)
    found: set[bytes | None] = set()
    for file in disk.may_be_named(name):
        if file is None:
            found.add(None)
            continue
        images = [*plain_images(file), *single_images(file)]
        images += [random_image(file, chance) for _ in range(300)] if file.changed else []
        found |= {bytes_of(disk, image) for image in images}
    return found


def disk_after(*notes: Note) -> Disk:
    disk = Disk()
    for one in notes:
        disk.apply(one)
    return disk


START = [note("C", ONE, "a"), write(ONE, 0, b"a" * SECTOR * 2), note("S", ONE), note("D")]


def test_what_is_synced_is_there():
    assert contents(disk_after(*START), "a") == {b"a" * SECTOR * 2}


def test_without_a_sync_every_sector_may_be_of_any_moment():
    disk = disk_after(*START, write(ONE, 0, b"b" * SECTOR * 2), write(ONE, 0, b"c" * SECTOR))
    sectors = [(x + y) for x in (b"a", b"b", b"c") for y in (b"a", b"b")]
    assert contents(disk, "a") == {both[:1] * SECTOR + both[1:] * SECTOR for both in sectors}
    disk.apply(note("S", ONE))
    assert contents(disk, "a") == {b"c" * SECTOR + b"b" * SECTOR}


def test_what_a_sync_could_not_write_stays_in_doubt():
    disk = disk_after(*START, write(ONE, 0, b"b" * SECTOR), note("E", ONE), note("S", ONE))
    assert contents(disk, "a") == {b"a" * SECTOR * 2, b"b" * SECTOR + b"a" * SECTOR}
    disk = disk_after(*START, write(ONE, 0, b"b" * SECTOR), note("E", ONE), write(ONE, 0, b"c" * SECTOR), note("S", ONE))
    assert contents(disk, "a") == {b"c" * SECTOR + b"a" * SECTOR}


def test_a_length_may_be_old_or_new_and_what_is_missing_is_zero():
    disk = disk_after(*START, write(ONE, SECTOR * 2, b"b" * 10), note("T", ONE, SECTOR))
    found = contents(disk, "a")
    assert {len(content) for content in found} == {SECTOR, SECTOR * 2, SECTOR * 2 + 10}
    assert b"a" * SECTOR * 2 + bytes(10) in found
    assert b"a" * SECTOR + bytes(SECTOR + 10) in found


def test_a_name_may_be_missing_until_its_folder_is_synced():
    disk = disk_after(*START, note("C", OTHER, "new"), write(OTHER, 0, b"n"), note("S", OTHER), note("R", "new", "a"))
    assert contents(disk, "a") == {b"a" * SECTOR * 2, b"n"}
    assert contents(disk, "new") == {None, b"n"}
    disk.apply(note("D"))
    assert contents(disk, "a") == {b"n"}


def test_the_recorder_notes_what_was_done(preload_recorder, tmp_path):
    script = """
import os, sys
os.chdir(sys.argv[1])
one = os.open("one", os.O_RDWR | os.O_CREAT)
os.write(one, b"abc")
os.pwrite(one, b"d" * 700, 1000)
os.pwritev(one, [b"e", b"fg"], 600)
os.ftruncate(one, 1500)
os.fsync(one)
os.link("one", "two")
os.rename("one", "three")
os.close(os.open("three", os.O_WRONLY | os.O_TRUNC))
os.pwrite(one, b"h", 5)
os.fdatasync(one)
os.posix_fallocate(one, 0, 900)
folder = os.open(".", os.O_RDONLY)
os.fsync(folder)
open("elsewhere/x", "w").write("not noted")
os.unlink("two")
"""
    folder, log = tmp_path / "folder", tmp_path / "log"
    (folder / "elsewhere").mkdir(parents=True)
    subprocess.run([sys.executable, "-c", script, folder], env=os.environ | preload_recorder(folder, log), check=True)
    notes = list(read_notes(log))
    assert "".join(one.kind for one in notes) == "CWWWTSLRTWSTDU"
    disk = disk_after(*notes)
    assert set(disk.names) == {"three"}
    assert bytes(disk.names["three"].content) == (folder / "three").read_bytes() == b"\0" * 5 + b"h" + bytes(894)


@pytest.mark.parametrize(("kill", "left"), [("2", "ab"), ("C2:1", "abc"), ("C:2", "abc")])
def test_the_recorder_ends_a_process_where_it_is_told_to(preload_recorder, tmp_path, kill, left):
    folder, log = tmp_path / "folder", tmp_path / "log"
    folder.mkdir()
    script = "import os, sys\nfor name in 'abcd': os.close(os.open(sys.argv[1] + '/' + name, os.O_CREAT))"
    environment = os.environ | preload_recorder(folder, log, kill=kill)
    assert subprocess.run([sys.executable, "-c", script, folder], env=environment).returncode == -9
    assert "".join(one.words[1] for one in read_notes(log)) == left


class TinyFile:
    """A results file with the parts that a row has, and where to write what."""

    def __init__(self) -> None:
        content = io.BytesIO()
        with h5py.File(content, "w", libver="earliest") as file:
            # A sector of its own for each large part: on one, they could not be torn.
            file.attrs["schema_version"], file.attrs["layout"] = 1, "preallocated"
            for name, dtype in {"state": "i1", "checksum": "i8", "attempts": "i4", "time_p50": "f8"}.items():
                file[name] = np.zeros(POINTS, dtype)
            file["mode"] = np.array(["tagged"] * POINTS, dtype=h5py.string_dtype())
            file["raw/begin"] = np.zeros((POINTS, ATTEMPTS, RANKS), "i8")
            file["counters/threads"] = np.zeros((POINTS, RANKS * 200), "i4")
            file["pairs/gbps"] = np.zeros(ATTEMPTS)
            file["pairs/checksum"] = np.int64(-1)
            file["segments/0/end_state"] = np.int8(0)
            own = ("pairs/gbps", "pairs/checksum", "segments/0/end_state")
            rows = ("state", "checksum", "attempts", "time_p50", "raw/begin", "counters/threads")
            self.places = {
                name: (file[name].id.get_offset(), file[name].dtype, file[name].nbytes // POINTS) for name in rows
            } | {name: (file[name].id.get_offset(), file[name].dtype, 0) for name in own}
        self.content = content.getvalue()

    def created(self, inode: str) -> list[Note]:
        return [
            note("C", inode, ".a.partial"), write(inode, 0, self.content), note("S", inode),
            note("R", ".a.partial", "a"), note("D"),
        ]  # fmt: skip

    def put(self, inode: str, name: str, point: int, values: object) -> Note:
        offset, dtype, size = self.places[name]
        return write(inode, offset + point * size, np.asarray(values, dtype).tobytes())

    def data(self, inode: str, point: int) -> list[Note]:
        return [
            *(self.put(inode, name, point, values) for name, values in self.row(point).items()),
            self.put(inode, "checksum", point, [self.checksum(point)]),
        ]

    @staticmethod
    def row(point: int) -> dict[str, np.ndarray]:
        return {
            "raw/begin": np.arange(ATTEMPTS * RANKS, dtype="<i8") + 7 + point,
            "counters/threads": np.full(RANKS * 200, 3 + point, "<i4"),
            "attempts": np.array([ATTEMPTS], "<i4"),
            "time_p50": np.array([point + 0.5], "<f8"),
        }

    def checksum(self, point: int) -> int:
        row = self.row(point)
        stream = b"attempts\0" + row["attempts"].tobytes() + b"mode\0tagged\0time_p50\0" + row["time_p50"].tobytes()
        stream += (
            b"raw/begin\0" + row["raw/begin"].tobytes() + b"counters/threads\0" + row["counters/threads"].tobytes()
        )
        return zlib.crc32(stream)

    def state(self, inode: str, point: int, value: int = 1) -> Note:
        return self.put(inode, "state", point, [value])

    def group(self, inode: str) -> list[Note]:
        gbps = np.arange(ATTEMPTS, dtype="<f8") + 0.5
        checksum = zlib.crc32(b"gbps\0" + gbps.tobytes())
        return [self.put(inode, "pairs/gbps", 0, gbps), self.put(inode, "pairs/checksum", 0, [checksum])]

    def finished(self, inode: str) -> Note:
        return self.put(inode, "segments/0/end_state", 0, [1])

    def good_row(self, inode: str, point: int) -> list[Note]:
        return [*self.data(inode, point), note("S", inode), self.state(inode, point)]


def tried(notes: list[Note]) -> Outcome:
    return simulate(notes, "a", 400)


TINY = TinyFile()
LACKS = "a row says complete and does not hold what was measured"


def test_the_good_order_breaks_nothing():
    rows = [one for point in range(POINTS) for one in TINY.good_row(ONE, point)]
    outcome = tried([*TINY.created(ONE), *rows, *TINY.group(ONE), note("S", ONE), TINY.finished(ONE), note("S", ONE)])
    assert outcome.images > 40
    assert outcome.broken == 0, outcome.words()


def copied(*rows: int) -> list[Note]:
    """A second file with some of the rows, that takes the name of the first."""
    new = TINY.created(OTHER)
    return [*new[:2], *[one for point in rows for one in TINY.good_row(OTHER, point)], *new[2:]]


BAD_ORDERS: dict[str, tuple[list[Note], str]] = {
    "no barrier": ([*TINY.created(ONE), *TINY.data(ONE, 0), TINY.state(ONE, 0), note("S", ONE)], LACKS),
    "state first": ([*TINY.created(ONE), TINY.state(ONE, 0), *TINY.data(ONE, 0), note("S", ONE)], LACKS),
    "barrier too early": (
        [*TINY.created(ONE), *TINY.data(ONE, 0)[:3], note("S", ONE), *TINY.data(ONE, 0)[3:], TINY.state(ONE, 0)],
        LACKS,
    ),
    "a barrier after one that failed": (
        [*TINY.created(ONE), *TINY.data(ONE, 0), note("E", ONE), note("S", ONE), TINY.state(ONE, 0), note("S", ONE)],
        LACKS,
    ),
    "finished before its rows are there": (
        [*TINY.created(ONE), *TINY.group(ONE), note("S", ONE), *TINY.data(ONE, 0), TINY.finished(ONE)],
        "says finished, and a row is not measured",
    ),
    "finished before its group is there": (
        [*TINY.created(ONE), *TINY.group(ONE), TINY.finished(ONE)], "says finished, and a workload's group"
    ),
    "barrier of another file": (
        [note("C", OTHER, "b"), *TINY.created(ONE), *TINY.data(ONE, 0), note("S", OTHER), TINY.state(ONE, 0)],
        LACKS,
    ),
    "written again while it says complete": (
        [*TINY.created(ONE), *TINY.good_row(ONE, 0), note("S", ONE), TINY.put(ONE, "time_p50", 0, [9]), note("S", ONE)],
        LACKS,
    ),
    "written again without a barrier": (
        [
            *TINY.created(ONE), *TINY.good_row(ONE, 0), note("S", ONE), TINY.state(ONE, 0, 0),
            TINY.put(ONE, "time_p50", 0, [9]),
        ],
        LACKS,
    ),
    "renamed before it was synced": ([one for one in TINY.created(ONE) if one.kind != "S"], "its metadata is none"),
    "removed before the new one has the name": (
        [*TINY.created(ONE), note("U", "a"), *TINY.created(OTHER)], "absent, and was there"
    ),
    "a copy that lacks a row": (
        [*TINY.created(ONE), *TINY.good_row(ONE, 0), *TINY.good_row(ONE, 1), note("S", ONE), *copied(0)],
        "an acknowledged row is missing",
    ),
    "written over in place": (
        [*TINY.created(ONE), note("T", ONE, 0), write(ONE, 0, TINY.content), note("S", ONE)], "its metadata is none"
    ),
}  # fmt: skip


@pytest.mark.parametrize("order", BAD_ORDERS)
def test_a_bad_order_is_caught(order):
    notes, says = BAD_ORDERS[order]
    outcome = tried(notes)
    assert outcome.broken > 0
    assert any(says in kind for kind in outcome.kinds), outcome.words()


def test_a_whole_copy_breaks_nothing():
    outcome = tried([*TINY.created(ONE), *TINY.good_row(ONE, 0), note("S", ONE), *copied(0)])
    assert outcome.broken == 0, outcome.words()
