# SPDX-License-Identifier: BSD-3-Clause
"""The copy of all in a file but its measurements, read with zlib alone, as docs/file-format.md says."""

import re
import struct
import zlib
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest

SHAPE = {"points": 16, "ranks": 5, "nodes": 2, "ops": 30}
SECTOR = 4096
HEADER = re.compile(rb"a2aperf skeleton v1 crc32=([0-9a-f]{8}) bytes=([0-9]{22})\n")
OPEN = slice(20, 24)  # HDF5's mark of a file that is open for writing
LENGTH = slice(40, 48)


def copy_of(content: bytes) -> list[tuple[int, bytes]]:
    """Its parts: where in the file each begins, and what stood there."""
    (found,) = HEADER.finditer(content)
    assert found.start() % SECTOR == 0
    packed = content[found.end() : found.end() + int(found[2])]
    assert zlib.crc32(packed) == int(found[1], 16)
    unpacked, at, parts = zlib.decompress(packed), 0, []
    while at < len(unpacked):
        offset, length = struct.unpack_from("<QQ", unpacked, at)
        parts.append((offset, unpacked[at + 16 : at + 16 + length]))
        at += 16 + length
    assert at == len(unpacked)
    return parts


def without(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[OPEN] = bytes(4)
    return bytes(changed)


def laid_over(content: bytes, parts: list[tuple[int, bytes]]) -> bytes:
    changed = bytearray(content)
    for offset, part in parts:
        changed[offset : offset + len(part)] = part
    return bytes(changed)


@pytest.mark.parametrize("end", [0, 2, 3])
@pytest.mark.parametrize("launches", [1, 2])
def test_it_is_as_the_file_is_however_a_launch_ends(writer, tmp_path: Path, end: int, launches: int) -> None:
    file = tmp_path / "a.h5"
    for launch in range(launches):
        assert writer.run(file, resume=launch, stop_after=5, end=end, **SHAPE).returncode == 0
    content = file.read_bytes()
    parts = copy_of(content)
    assert without(content) == without(laid_over(content, parts))
    assert content[LENGTH] == struct.pack("<Q", len(content))
    with h5py.File(file, "r") as opened:
        assert len(opened["segments"]) == launches
    points = np.flatnonzero(checksums.require_right(file) == 1)
    assert points.size == 5 * launches
    # What nobody can open any more is the same again.
    gone = bytearray(content)
    for offset, part in parts:
        gone[offset : offset + len(part)] = b"\xff" * len(part)
    file.write_bytes(gone)
    with pytest.raises(OSError, match="signature"):
        h5py.File(file, "r")
    file.write_bytes(laid_over(bytes(gone), parts))
    np.testing.assert_array_equal(np.flatnonzero(checksums.require_right(file) == 1), points)


def test_it_is_there_before_the_first_point_and_never_written_again(writer, tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    before = b""
    with writer.start(file, step=1, **SHAPE) as process:
        for word, _ in writer.steps(process):
            if word in ("ready", "done"):
                content = file.read_bytes()
                begin = HEADER.search(content).start()
                assert not before or content[begin:] == before
                before = content[begin:]
    assert before


def test_no_measurement_is_in_it(writer, tmp_path: Path) -> None:
    """However large they are, it is as large as the structure."""
    sizes = []
    for ops in (30, 3000):
        file = tmp_path / f"{ops}.h5"
        assert writer.run(file, **(SHAPE | {"ops": ops}), end=2).returncode == 0
        sizes.append(sum(len(part) for _, part in copy_of(file.read_bytes())))
    assert sizes[1] - sizes[0] < 30_000, "the scale of the attempts, which never changes"
