# SPDX-License-Identifier: BSD-3-Clause
"""Checksums of a file's parts: a point, a group, all that never changes (docs/file-format.md).

The program in C++ makes the same of the same values, whatever their layout on the disk.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import making
from a2aperf.errors import DAMAGE, what_is_damaged

NONE: Final = -1
"""Stands for a checksum that was not made."""
POINTS, DIGEST, OF_END = "checksum", "digest", "end_checksum"
"""Root datasets: a checksum for each point, and the digest."""
OF_COLUMN = "checksum"
"""Attribute of each column of numbers that were asked for."""
COUNTED_BY = "counted_by"
"""Attribute of what a workload keeps: the dataset that says by 0 where nothing is."""
_AT_ONCE = 16 * 2**20  # bytes of samples
_AHEAD = 2**18  # bytes of one of the counters
_NOT_IN_ROWS = {"point", "state", POINTS}
_OF_HDF5 = {b"DIMENSION_LIST", b"REFERENCE_LIST"}  # who has which scale: addresses in the file
_LATE = {"end_state", "end_reason", "ended", "message", "end_checksum"}
"""Of a launch: what is known at its end only."""
_MOST = 1 << 27
"""Values of what never changes: the program's `--max-samples` is the length of a scale."""
_DEEPEST = 16
"""Names in the path of a group."""


class Crc:
    """zlib's CRC-32 over parts that follow one another."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, content: bytes) -> None:
        """Further bytes."""
        self.value = zlib.crc32(content, self.value)

    def add_text(self, content: str | bytes) -> None:
        """A text with a NUL behind it."""
        self.add(_encoded(content) + b"\0")

    def add_counts(self, counts: Sequence[int]) -> None:
        """How many there are, and each, as 8 bytes."""
        self.add(struct.pack(f"<{1 + len(counts)}Q", len(counts), *counts))

    def add_values(self, values: Any) -> None:
        """Numbers, lowest byte first; texts of any length with a NUL each, others as they are."""
        is_text = isinstance(values, str | bytes)  # one: numpy would cut off its end
        found = np.array(values, object) if is_text else np.asarray(values)
        if found.dtype.kind == "O":
            for text in found.ravel():
                self.add_text(text)
        elif found.size:
            self.add(np.ascontiguousarray(found, found.dtype.newbyteorder("<")).tobytes())


def _encoded(name: str | bytes) -> bytes:
    """A text as it is stored; h5py gives bytes where they are no UTF-8."""
    return name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name


def _decoded(name: str | bytes) -> str:
    return _encoded(name).decode("utf-8", "surrogateescape")


def _datasets(group: h5py.Group) -> Iterator[tuple[str, h5py.Dataset]]:
    """Ascending by name, as bytes."""
    for name in children(group):
        found = group[name]
        if isinstance(found, h5py.Dataset):
            yield _decoded(name), found


def children(group: h5py.Group) -> list[str | bytes]:
    """Names of what stands in it, ascending as bytes; not of links to somewhere else."""
    linked: list[bytes] = []

    def note(name: bytes, link: Any) -> None:
        if link.type == h5py.h5l.TYPE_HARD:
            linked.append(name)

    group.id.links.iterate(note, info=True)
    return [_told(name) for name in sorted(linked)]


def _told(name: bytes) -> str | bytes:
    """As h5py tells it."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name


# Points ------------------------------------------------------------------------------------------


class Rows:
    """The columns of all points, as they are stored."""

    def __init__(self, file: h5py.File) -> None:
        points = file["state"].shape
        self._columns: list[tuple[str, NDArray[Any]]] = [
            (name, dataset[()])
            for name, dataset in _datasets(file)
            if name not in _NOT_IN_ROWS and dataset.shape == points
        ]

    def add(self, crc: Crc, point: int) -> None:
        """A point's values."""
        for name, values in self._columns:
            crc.add_text(name)
            crc.add_values(values[point : point + 1])


class PointChecksums:
    """Of the points, each over its row, its samples and its counters."""

    def __init__(self, file: h5py.File, rows: Rows | None = None) -> None:
        self._rows = rows or Rows(file)
        self._samples = [(*one, _count(one[1])) for one in _of_points(file, "raw")]
        self._counts = {count: _counts(file, count) for _, _, count in self._samples}
        self._counters = [(name, _Ahead(found)) for name, found in _of_points(file, "counters")]

    def of(self, point: int) -> int:
        """Raises what h5py raises where a part of the point cannot be read."""
        crc = Crc()
        self._rows.add(crc, point)
        for name, samples, count in self._samples:
            crc.add_text(name)
            for first, last in _parts(samples, max(int(self._counts[count][point]), 0)):
                crc.add_values(samples[point, first:last])
        for name, counters in self._counters:
            crc.add_text(name)
            crc.add_values(counters.of(point))
        return crc.value


class _Ahead:
    """What a dataset has of each point, read for ever more at once while they are asked in turn."""

    def __init__(self, dataset: h5py.Dataset) -> None:
        self._dataset = dataset
        size = int(np.prod(dataset.shape[1:], dtype=np.int64)) * dataset.dtype.itemsize
        self._most = max(_AHEAD // max(size, 1), 1)
        self._first = 0
        self._values: NDArray[Any] = np.empty(0)

    def of(self, point: int) -> NDArray[Any]:
        """Raises what h5py raises where they cannot be read."""
        read = len(self._values)
        if not self._first <= point < self._first + read:
            step = min(2 * read, self._most) if read and point == self._first + read else 1
            try:
                self._values = self._dataset[point : point + step]
            except DAMAGE:  # perhaps of another point
                self._values = self._dataset[point : point + 1]
            self._first = point
        found: NDArray[Any] = self._values[point - self._first]
        return found


def _count(samples: h5py.Dataset) -> str:
    """The column of the points that says how many of its second dimension each has."""
    return str(samples.attrs.get("count", "attempts"))


def _counts(file: h5py.File, column: str) -> NDArray[Any]:
    found: NDArray[Any] = file[column][()]
    if found.shape != file["state"].shape:
        raise ValueError(f"{column} does not say how many samples each point has")
    return found


def _of_points(file: h5py.File, group: str) -> Iterator[tuple[str, h5py.Dataset]]:
    """Those with values of each point; the others are dimension scales and names."""
    if group in file:
        for name, dataset in _datasets(file[group]):
            if dataset.ndim >= 2:
                yield f"{group}/{name}", dataset


def _parts(samples: h5py.Dataset, count: int) -> Iterator[tuple[int, int]]:
    """From, to of its second dimension: whole chunks, of no more bytes than fit at once."""
    count = min(count, samples.shape[1])
    each = samples.chunks[1] if samples.chunks else 1
    size = int(np.prod(samples.shape[2:], dtype=np.int64)) * samples.dtype.itemsize * each
    step = each * max(_AT_ONCE // max(size, 1), 1)
    for first in range(0, count, step):
        yield first, min(first + step, count)


def of_group(group: h5py.Group, instead: Mapping[str, NDArray[Any]] | None = None) -> int:
    """Of what a workload keeps beside the points; `instead` of the datasets of these names."""
    crc = Crc()
    for name, dataset in _datasets(group):
        if name != POINTS:
            crc.add_text(name)
            values = (instead or {}).get(name)
            found = dataset[()] if values is None else values.astype(dataset.dtype)
            crc.add_values(_without_uncounted(group, dataset, found, instead or {}))
    return crc.value


def _without_uncounted(
    group: h5py.Group,
    dataset: h5py.Dataset,
    values: NDArray[Any],
    instead: Mapping[str, NDArray[Any]],
) -> NDArray[Any]:
    """NaN where the column that counts its values has 0: nothing is there, whatever is stored."""
    if COUNTED_BY not in dataset.attrs:
        return values
    counts = str(dataset.attrs[COUNTED_BY])
    of_cells = instead[counts] if counts in instead else group[counts][()]
    return np.where(of_cells == 0, np.nan, values).astype(values.dtype)


# How a launch ended ------------------------------------------------------------------------------


def of_end(launch: h5py.Group, state: int | None = None) -> int:
    """Of what is known of a launch at its end only; `state` instead of the one that it has."""
    crc = Crc()
    crc.add_values(launch["end_state"][()] if state is None else np.int8(state))
    for name in ("end_reason", "ended"):
        crc.add_values(launch[name][()])
    crc.add_text(bytes(launch["message"][()]))
    return crc.value


# What was asked ----------------------------------------------------------------------------------


def asked(file: h5py.File) -> Iterator[tuple[str, h5py.Dataset]]:
    """Columns that have a checksum of their own, and their names."""
    points = file["state"].shape
    for name, dataset in _datasets(file):
        if h5py.h5a.exists(dataset.id, OF_COLUMN.encode()) and dataset.shape == points:
            yield name, dataset


def of_column(column: h5py.Dataset) -> int:
    """Of all its values, which are numbers."""
    crc = Crc()
    crc.add_values(column[()])
    return crc.value


# All that never changes --------------------------------------------------------------------------


def digest(file: h5py.File) -> int:
    """Of names, types, shapes and attributes, of what was asked and of who measured."""
    crc = Crc()
    for path, found in members(file):
        _add_object(crc, path, found)
    return crc.value


Member: TypeAlias = h5py.Group | h5py.Dataset


def members(file: h5py.File, unread: list[str] | None = None) -> Iterator[tuple[str, Member]]:
    """The root and all that stands below it, depth first, each once, with its path.

    ValueError for what has two names: in groups that have two, and so on, such a file has more
    paths than anybody can go. No file of ours has one. Where `unread` is given what cannot be
    opened is named there, and the rest is gone through.
    """
    yield from _members(file, "/", set(), unread)


def _members(
    found: Member, path: str, seen: set[int], unread: list[str] | None
) -> Iterator[tuple[str, Member]]:
    place = h5py.h5o.get_info(found.id).addr
    if place in seen:
        raise ValueError(f"{path} is there twice")
    if isinstance(found, h5py.Group) and path.count("/") > _DEEPEST:
        raise ValueError(f"{path} is too deep in other groups")
    seen.add(place)
    yield path, found
    for name in children(found) if isinstance(found, h5py.Group) else ():
        below = f"{path.rstrip('/')}/{_decoded(name)}"
        try:
            child = found[name]
        except DAMAGE as error:
            if unread is None:
                raise
            unread.append(f"{below}: {what_is_damaged(error)}")
            continue
        if isinstance(child, h5py.Group | h5py.Dataset):
            yield from _members(child, below, seen, unread)


def _add_object(crc: Crc, path: str, found: Member) -> None:
    crc.add_text(path)
    shape: tuple[int, ...] = ()
    if isinstance(found, h5py.Dataset):
        crc.add(b"D")
        shape = found.shape or ()
        _add_type(crc, found.dtype, shape)
    else:
        crc.add(b"G")
    names: list[bytes] = []
    h5py.h5a.iterate(found.id, names.append)
    for name in sorted(names):
        if name not in _OF_HDF5:
            _add_attribute(crc, name, h5py.h5a.open(found.id, name))
    if isinstance(found, h5py.Dataset) and _never_changes(path, found):
        if (size := math.prod(shape)) > _MOST:
            raise ValueError(f"{path} has {size} values")
        crc.add_values(found[()])


def _add_type(crc: Crc, dtype: np.dtype[Any], shape: Sequence[int]) -> None:
    letters = {"O": "t", "S": f"s{dtype.itemsize}"}
    crc.add_text(letters.get(dtype.kind, f"{dtype.kind}{dtype.itemsize}"))
    crc.add_counts(shape)


def _add_attribute(crc: Crc, name: bytes, attribute: h5py.h5a.AttrID) -> None:
    """By what h5py's dictionary of attributes does, too, which takes thrice the time."""
    dtype, shape = attribute.dtype, attribute.shape
    crc.add_text(name)
    _add_type(crc, dtype, shape)
    base, inner = dtype.subdtype or (dtype, ())
    values: NDArray[Any] = np.zeros(shape + inner, base)
    attribute.read(values, mtype=making.in_memory(dtype))
    if dtype.kind == "S":  # without what fills it up
        values = np.array([bytes(text) for text in np.ravel(values)], object)
    crc.add_values(values)


def _never_changes(path: str, dataset: h5py.Dataset) -> bool:
    if path.startswith("/segments/"):
        return path.rpartition("/")[2] not in _LATE
    return dataset.dtype.kind == "O" or bool(dataset.is_scale)
