# SPDX-License-Identifier: BSD-3-Clause
"""The checksums of a results file as docs/file-format.md defines them, computed with h5py and zlib alone: a second time,
beside the program's and a2a's own."""

import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import h5py
import numpy as np

NOT_OF_POINTS = {"point", "state", "checksum"}
LATE = {"end_state", "end_reason", "ended", "message", "end_checksum"}
TRAILER = re.compile(rb"a2aperf digest v1 crc32=([0-9a-f]{8}) bytes=([0-9]{24})\n")


def word(item: h5py.Dataset | h5py.h5a.AttrID) -> str:
    """The type's word: i1, i4, i8, f8, s16, t."""
    kind = (item.id if isinstance(item, h5py.Dataset) else item).get_type()
    if isinstance(kind, h5py.h5t.TypeStringID):
        return "t" if kind.is_variable_str() else f"s{kind.get_size()}"
    return {h5py.h5t.TypeIntegerID: "i", h5py.h5t.TypeFloatID: "f"}[type(kind)] + str(kind.get_size())


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def as_stored(values: object, kind: str) -> bytes:
    """Values as stored: numbers little-endian, fixed texts with their padding, other texts with a NUL."""
    if kind == "t":
        texts = np.asarray(values, dtype=object).reshape(-1)
        return b"".join(as_bytes(text) + b"\0" for text in texts)
    numbers = np.asarray(values)
    return numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).tobytes()


def stored(dataset: h5py.Dataset, where: object = ()) -> bytes:
    return b"" if 0 in dataset.shape else as_stored(dataset[where], word(dataset))


def of_points(file: h5py.File, points: Iterable[int]) -> dict[int, int]:
    """The checksum of each; a column is read once for all of them."""
    crcs = dict.fromkeys(map(int, points), 0)
    if not crcs:
        return crcs
    count = len(file["point"])
    for name in sorted(file):
        item = file[name]
        if isinstance(item, h5py.Dataset) and item.shape == (count,) and name not in NOT_OF_POINTS:
            column, kind = item[()], word(item)
            for point in crcs:
                part = as_stored(column[point : point + 1], kind)
                crcs[point] = zlib.crc32(name.encode() + b"\0" + part, crcs[point])
    for group in ("raw", "counters"):
        for name in sorted(file.get(group, ())):
            item = file[group][name]
            if item.ndim >= 2:
                counts = file[item.attrs.get("count", "attempts")][()]
                for point in crcs:
                    which = (slice(point, point + 1), slice(0, max(int(counts[point]), 0)))
                    part = stored(item, which if group == "raw" else which[:1])
                    crcs[point] = zlib.crc32(f"{group}/{name}".encode() + b"\0" + part, crcs[point])
    return crcs


def of_point(file: h5py.File, point: int) -> int:
    return of_points(file, [point])[point]


def states(file: h5py.File) -> np.ndarray:
    """As readers take them: a row that waits for the disk counts, where its checksum is right."""
    found = file["state"][()]
    if "checksum" not in file:
        return found
    said = file["checksum"][()]
    for point, checksum in of_points(file, np.flatnonzero((found == 0) & (said != -1))).items():
        if said[point] == checksum:
            found[point] = 1 if file["ops"][point] > 0 else 3
    return found


def of_group(group: h5py.Group) -> int:
    crc = 0
    for name in sorted(set(group) - {"checksum"}):
        if "counted_by" in group[name].attrs:  # nothing counts as NaN
            counts = group[group[name].attrs["counted_by"]][()]
            values = np.where(counts == 0, np.nan, group[name][()]).astype("<f8").tobytes()
        else:
            values = stored(group[name])
        crc = zlib.crc32(name.encode() + b"\0" + values, crc)
    return crc


def _extents(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f"<{1 + len(shape)}Q", len(shape), *shape)


def _attribute(item: h5py.Dataset | h5py.Group, name: str) -> bytes:
    identifier = item.attrs.get_id(name)
    value = item.attrs[name]
    kind = word(identifier)
    if kind[0] in "st":
        texts = np.asarray(value, dtype=object).reshape(-1)
        said = b"".join(as_bytes(text).rstrip(b"\0") + b"\0" for text in texts)
    else:
        values = np.asarray(value)
        said = values.astype(values.dtype.newbyteorder("<")).tobytes()
    return name.encode() + b"\0" + kind.encode() + b"\0" + _extents(identifier.shape) + said


def _stream(item: h5py.Dataset | h5py.Group, path: str) -> Iterator[bytes]:
    yield path.encode() + b"\0"
    is_dataset = isinstance(item, h5py.Dataset)
    yield b"D" + word(item).encode() + b"\0" + _extents(item.shape) if is_dataset else b"G"
    for name in sorted(set(item.attrs) - {"DIMENSION_LIST", "REFERENCE_LIST"}):
        yield _attribute(item, name)
    if is_dataset:
        is_scale = as_bytes(item.attrs.get("CLASS", b"")) == b"DIMENSION_SCALE"
        is_of_launch = path.startswith("/segments/") and path.rsplit("/", 1)[1] not in LATE
        if word(item) == "t" or is_scale or is_of_launch:
            yield stored(item)
        return
    for name in sorted(item):
        yield from _stream(item[name], path.rstrip("/") + "/" + name)


def digest(file: h5py.File) -> int:
    crc = 0
    for part in _stream(file, "/"):
        crc = zlib.crc32(part, crc)
    return crc


def trailer(path: Path) -> bool | None:
    """Whether the bytes before the trailer are what it says; None without one."""
    content = path.read_bytes()
    match = TRAILER.fullmatch(content[-64:])
    if not match:
        return None
    body = content[:-64]
    return (zlib.crc32(body), len(body)) == (int(match[1], 16), int(match[2]))


def make_older(file: h5py.File) -> None:
    """As a program wrote it that knew no checksums."""
    for name in ("checksum", "digest", "pairs/checksum"):
        if name in file:
            del file[name]
    file.attrs["schema_version"] = np.int32(1)


def require_right(path: Path) -> np.ndarray:
    """Checks all that a file says of itself; gives the points' states as readers take them."""
    with h5py.File(path, "r") as file:
        said, stored_sums = file["state"][()], file["checksum"][()]
        for point, checksum in of_points(file, np.flatnonzero((said != 0) | (stored_sums != -1))).items():
            assert stored_sums[point] == checksum, point
        assert file["digest"][()] == digest(file)
        newest = file["segments"][str(len(file["segments"]) - 1)]
        if "pairs" in file:
            is_changing = newest["end_state"][()] == 0 and file["pairs/checksum"][()] == -1
            assert is_changing or file["pairs/checksum"][()] == of_group(file["pairs"])
        assert trailer(path) is (True if file.attrs["layout"] == "compact" else None)
        return states(file)
