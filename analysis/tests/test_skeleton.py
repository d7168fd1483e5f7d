# SPDX-License-Identifier: BSD-3-Clause
"""The copy of a file's structure: found, or told as damaged, whatever its bytes are.

What `a2a check` and its `--repair` make of it is tested with the program's own files (test/crash).
"""

import struct
import zlib
from pathlib import Path

import pytest

from a2aperf import skeleton, writer
from support import synthetic

SECTOR = 4096
CONTENT = bytes(range(256)) * 20


def copy_of(parts: list[tuple[int, bytes]]) -> bytes:
    """As docs/file-format.md has it."""
    return packed(b"".join(struct.pack("<QQ", at, len(part)) + part for at, part in parts))


def packed(content: bytes) -> bytes:
    stream = zlib.compress(content)
    return header(stream) + stream


def header(stream: bytes) -> bytes:
    return f"a2aperf skeleton v1 crc32={zlib.crc32(stream):08x} bytes={len(stream):022d}\n".encode()


def file_of(path: Path, copy: bytes, at: int = 2 * SECTOR, behind: bytes = b"") -> Path:
    path.write_bytes(CONTENT.ljust(at, b"\0") + copy + behind)
    return path


PARTS = [(0, CONTENT[:100]), (300, CONTENT[300:1000])]


@pytest.mark.parametrize("behind", [b"", b"x" * 64, b"x" * 9000])
def test_it_is_found_and_laid_over(tmp_path: Path, behind: bytes) -> None:
    path = file_of(tmp_path / "a.h5", copy_of(PARTS), behind=behind)
    good = path.read_bytes()
    assert skeleton.of(path) == PARTS
    assert skeleton.changed_bytes(path, PARTS) == 0
    path.write_bytes(bytes(500) + good[500:])
    changed = sum(
        byte != 0
        for place in (range(100), range(300, 500))
        for byte in good[place.start : place.stop]
    )
    of_hdf5 = 4  # its mark of an open file, which may be another one
    assert skeleton.changed_bytes(path, PARTS) == changed - of_hdf5
    skeleton.lay(path, PARTS)
    assert skeleton.changed_bytes(path, PARTS) == 0
    assert path.read_bytes()[1000:] == good[1000:]


def test_the_last_one_that_is_whole_counts(tmp_path: Path) -> None:
    older, newer = copy_of([(0, b"older")]), copy_of([(0, b"newer")])
    path = file_of(tmp_path / "a.h5", older.ljust(SECTOR, b"\0") + newer)
    assert skeleton.of(path) == [(0, b"newer")]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert skeleton.of(path) == [(0, b"older")]


@pytest.mark.parametrize(
    "copy",
    [
        pytest.param(copy_of(PARTS)[:-1], id="cut off"),
        pytest.param(copy_of(PARTS).replace(b"bytes=0", b"bytes=x"), id="another header"),
        pytest.param(header(b"abc") + b"abc", id="not packed"),
        pytest.param(packed(b"12345"), id="half a part"),
        pytest.param(copy_of([(1 << 60, b"x")]), id="beyond the file"),
        pytest.param(packed(bytes(1 << 26)), id="larger than the file"),
    ],
)
def test_a_damaged_one_is_told(tmp_path: Path, copy: bytes) -> None:
    with pytest.raises(skeleton.DamagedError):
        skeleton.of(file_of(tmp_path / "a.h5", copy))


def test_files_without_one(tmp_path: Path) -> None:
    assert skeleton.of(file_of(tmp_path / "elsewhere.h5", copy_of(PARTS), at=6000)) is None
    empty = tmp_path / "empty.h5"
    empty.touch()
    assert skeleton.of(empty) is None
    assert skeleton.of(tmp_path) is None
    assert (
        skeleton.of(
            synthetic.write_launch(
                tmp_path / "launch.h5", synthetic.Setup(nodes=2, ppn=1, sizes=(8,), ops=3)
            )
        )
        is None
    )


def test_a_copy_of_a_file_with_holes_has_them(tmp_path: Path) -> None:
    """Most of what a launch that was killed leaves is one."""
    source = tmp_path / "a.h5"
    with source.open("wb") as stream:
        for place in (0, 1 << 24, 3 << 24):
            stream.seek(place)
            stream.write(CONTENT)
        stream.truncate(5 << 24)
    if source.stat().st_blocks * 512 > 1 << 24:
        pytest.skip("this file system keeps no holes")
    with writer.changed_copy(tmp_path / "b.h5", source, lambda copy: None) as copy:
        assert copy.stat().st_blocks * 512 < 1 << 24
        assert copy.read_bytes() == source.read_bytes()
