# SPDX-License-Identifier: BSD-3-Clause
"""What changes in a results file while it is written, in memory, and its checksums, by docs/file-format.md alone: h5py,
numpy and zlib.

A file that is being written has its arrays in one piece each. Where they lie is looked up once; of the next image whose
other bytes are the same, the numbers are taken from there, which is a hundred times as fast as HDF5.
"""

import math
import zlib
from dataclasses import dataclass, field

import h5py
import numpy as np

PENDING, COMPLETE, SKIPPED, FAILED = 0, 1, 2, 3
FINISHED = 1  # of end_state
UNCOVERED = ("point", "state", "checksum")
OPENING_MARK = slice(20, 24)  # in the superblock, of a file that is open for writing


class Unsound(Exception):
    """What is wrong with an image, in words."""


@dataclass(frozen=True)
class Rows:
    """state, checksum (nothing in a file of version 1) and what a checksum covers: columns, raw/… and counters/…

    end: how the last launch ended; groups: by name, what a workload keeps beside the points, with its checksum; counted_by:
    of raw columns that do not run along the attempts, the column that says how many of each point mean anything.
    """

    state: np.ndarray
    checksum: np.ndarray | None
    columns: dict[str, np.ndarray]
    raw: dict[str, np.ndarray]
    counters: dict[str, np.ndarray]
    end: int
    groups: dict[str, dict[str, np.ndarray]]
    counted_by: dict[str, str]
    _sums: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.state)

    def checksum_of(self, point: int) -> int:
        """Computed from what is there."""
        if point not in self._sums:
            self._sums[point] = self._compute(point)
        return self._sums[point]

    def is_group_sound(self, name: str) -> bool:
        parts = self.groups[name]
        stream = b"".join(word.encode() + b"\0" + parts[word].tobytes() for word in sorted(parts) if word != "checksum")
        return "checksum" not in parts or int(parts["checksum"]) == zlib.crc32(stream)

    def is_confirmed(self, point: int) -> bool:
        return self.state[point] in (COMPLETE, FAILED)

    def is_measured(self, point: int) -> bool:
        """As a reader sees it: confirmed, or with a checksum that is right."""
        if self.is_confirmed(point):
            return True
        return (
            self.checksum is not None
            and self.state[point] == PENDING
            and self.columns["attempts"][point] > 0
            and self.checksum[point] == self.checksum_of(point)
        )

    def _compute(self, point: int) -> int:
        parts = []
        for name, values in self.columns.items():
            parts += [name.encode() + b"\0", element(values, point)]
        for name, values in self.raw.items():
            count = max(int(self.columns[self.counted_by.get(name, "attempts")][point]), 0)
            parts += [f"raw/{name}".encode() + b"\0", values[point, :count].tobytes()]
        for name, values in self.counters.items():
            parts += [f"counters/{name}".encode() + b"\0", values[point].tobytes()]
        return zlib.crc32(b"".join(parts))


def element(values: np.ndarray, point: int) -> bytes:
    if values.dtype == object:
        text = values[point]
        return (text if isinstance(text, bytes) else text.encode()) + b"\0"
    return values[point : point + 1].tobytes()  # of a text of fixed length with what fills it up


def little_endian(values: np.ndarray) -> np.ndarray:
    return values.astype(values.dtype.newbyteorder("<"), copy=False)


def open_image(image: np.ndarray) -> h5py.File:
    try:
        return h5py.File(h5py.h5f.open_file_image(image.tobytes()))
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise Unsound(f"cannot be opened: {error}") from error


def covered(file: h5py.File) -> dict[str, list[h5py.Dataset]]:
    """The datasets that a checksum covers, by part, in the order of the format."""
    points = len(file["state"])

    def of(group: h5py.Group) -> list[h5py.Dataset]:
        return [group[name] for name in sorted(group, key=str.encode) if isinstance(group[name], h5py.Dataset)]

    columns = [data for data in of(file) if data.shape == (points,) and data.name[1:] not in UNCOVERED]
    raw = [data for data in of(file["raw"]) if data.ndim >= 2]
    return {"columns": columns, "raw": raw, "counters": [data for data in of(file["counters"]) if data.ndim >= 2]}


def of_workload(file: h5py.File) -> dict[str, h5py.Group]:
    """What a workload keeps beside the points."""
    groups = (name for name in file if name not in ("raw", "counters", "segments"))
    return {name: file[name] for name in groups if isinstance(file[name], h5py.Group)}


def counts_of(file: h5py.File) -> dict[str, str]:
    """By name, the column that says how many of a raw column mean anything, where that is not the attempts."""
    found = {name: data.attrs.get("count") for name, data in file["raw"].items()}
    return {name: count if isinstance(count, str) else count.decode() for name, count in found.items() if count}


def last_end(file: h5py.File) -> h5py.Dataset | None:
    """How its last launch ended; nothing in a file without launches, which tests make."""
    segments = file.get("segments", ())
    return segments[str(len(segments) - 1)]["end_state"] if len(segments) else None


def last_word(data: h5py.Dataset) -> str:
    return data.name.rsplit("/", 1)[1]


def read_rows(file: h5py.File) -> Rows:
    """By HDF5, whatever the layout."""
    parts = {
        part: {last_word(data): little_endian(data[()]) for data in datasets}
        for part, datasets in covered(file).items()
    }
    checksum = file["checksum"][()] if "checksum" in file else None
    groups = {
        name: {word: little_endian(np.asarray(data[()])) for word, data in group.items()}
        for name, group in of_workload(file).items()
    }
    end = last_end(file)
    return Rows(
        file["state"][()], checksum, **parts,
        end=int(end[()]) if end is not None else 0, groups=groups, counted_by=counts_of(file),
    )  # fmt: skip


def is_scale(data: h5py.Dataset) -> bool:
    return data.attrs.get("CLASS") == b"DIMENSION_SCALE"


def is_in_one_piece(data: h5py.Dataset) -> bool:
    return data.chunks is None and (data.size == 0 or data.id.get_offset() is not None)


Place = tuple[int, np.dtype, tuple[int, ...], int]
"""Where numbers lie: offset, type, shape, and how many they are."""


class Form:
    """Where the numbers of a file lie, and all its other bytes."""

    def __init__(self, image: np.ndarray, file: h5py.File) -> None:
        self._places: dict[str, dict[str, Place]] = {}
        self._texts: dict[str, np.ndarray] = {}
        self._mask = np.full(len(image), 0xFF, np.uint8)
        self._mask[OPENING_MARK] = 0
        end = last_end(file)
        own = [file[name] for name in ("state", "checksum") if name in file] + ([] if end is None else [end])
        parts = covered(file) | {"own": own}
        self._groups = list(of_workload(file))
        self._counted_by = counts_of(file)
        for part, datasets in (parts | {name: group.values() for name, group in of_workload(file).items()}).items():
            self._places[part] = {last_word(data): self._place(data) for data in datasets if data.dtype != object}
        self._texts = {last_word(data): data[()] for data in parts["columns"] if data.dtype == object}
        # Changes too, and belongs to no row: how segments ended, and what a workload keeps beside.
        late: list[h5py.Dataset] = []
        file.visititems(lambda _, item: late.append(item) if self._is_late(item) else None)
        for data in late:
            self._place(data)
        self._metadata = image & self._mask

    @staticmethod
    def is_of(file: h5py.File) -> bool:
        """Whether a file is of that kind: while it is compact its arrays are compressed."""
        return all(is_in_one_piece(data) for datasets in covered(file).values() for data in datasets)

    def fits(self, image: np.ndarray) -> bool:
        return len(image) == len(self._mask) and np.array_equal(image & self._mask, self._metadata)

    def rows(self, image: np.ndarray) -> Rows:
        def at(place: Place) -> np.ndarray:
            offset, dtype, shape, count = place
            return np.frombuffer(image, dtype, count, offset).reshape(shape)

        found = {part: {name: at(place) for name, place in places.items()} for part, places in self._places.items()}
        columns = dict(sorted((found["columns"] | self._texts).items(), key=lambda item: item[0].encode()))
        own = found["own"]
        end = int(own["end_state"]) if "end_state" in own else 0
        groups = {name: found[name] for name in self._groups}
        return Rows(
            own["state"], own.get("checksum"), columns, found["raw"], found["counters"], end, groups, self._counted_by
        )

    def _place(self, data: h5py.Dataset) -> Place:
        if data.size == 0 or not is_in_one_piece(data):
            return 0, data.dtype, data.shape if data.size == 0 else (0,), 0
        offset, size = data.id.get_offset(), data.id.get_storage_size()
        if not is_scale(data):  # which the digest covers
            self._mask[offset : offset + size] = 0
        return offset, data.dtype.newbyteorder("<"), data.shape, math.prod(data.shape)

    @staticmethod
    def _is_late(item: h5py.Dataset | h5py.Group) -> bool:
        if not isinstance(item, h5py.Dataset) or item.dtype == object:
            return False
        of_workload = item.name.count("/") == 2 and item.name.split("/")[1] not in ("raw", "counters", "segments")
        return of_workload or last_word(item) in ("end_state", "end_reason", "ended", "message", "end_checksum")
