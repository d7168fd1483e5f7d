# SPDX-License-Identifier: BSD-3-Clause
"""Writes files of the schema: imports, merges, anonymised copies, synthetic runs."""

import errno
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import (
    checksums,
    datasets,
    holes,
    making,
    member_attributes,
    reading,
    sample_columns,
    schema,
    sealing,
    segments,
    start_times,
    temporary,
    trailer,
)
from a2aperf.counter_group import CounterGroup, write_start
from a2aperf.errors import InputError
from a2aperf.opened_once import OpenedOnce
from a2aperf.sample_columns import SampleColumn

COMPRESSION = 4
LIBVER = ("earliest", "v110")
IN_MEMORY = 64 * 2**20
"""Bytes of samples up to which a file is put together in memory."""


@dataclass
class Document:
    """A whole results file in memory, but for its samples, which are asked for point by point.

    `raw`, `counters` and `arrival` answer None for a point that has none; `raw` itself is None for
    a file of summaries only, `arrival` for one that was not traced.
    """

    attributes: dict[str, Any]
    columns: dict[str, NDArray[Any]]
    segments: list[schema.Segment]
    raw: Callable[[int], schema.Raw | None] | None = None
    counters: Callable[[int], schema.Counters | None] | None = None
    arrival: Callable[[int], NDArray[np.int64] | None] | None = None
    own_columns: Mapping[str, SampleColumn] = field(default_factory=dict)
    """Of the samples, beside those that every workload has."""
    own_samples: Callable[[int, SampleColumn], NDArray[Any] | None] = lambda point, column: None
    own: Mapping[str, tuple[datasets.Tables, Mapping[str, NDArray[Any]]]] = field(
        default_factory=dict
    )
    """Groups that one workload has: how their datasets are described, and what is in them."""
    progress: Callable[[int], object] = field(default=lambda point: None)
    described: tuple[schema.Column, ...] = schema.COLUMNS
    kept: member_attributes.Attributes = field(default_factory=dict)
    """Of groups and datasets, what a copy has beside what is written anyway."""


def blank_columns(
    points: int, described: Iterable[schema.Column] = schema.COLUMNS
) -> dict[str, NDArray[Any]]:
    """Every column [points], each value "unknown"."""
    return {column.name: reading.blanks(column, points) for column in described}


def columns_of(
    rows: list[dict[str, Any]], described: Iterable[schema.Column] = schema.COLUMNS
) -> dict[str, NDArray[Any]]:
    """Columns from one dict per point; what a dict does not name stays unknown."""
    columns = blank_columns(len(rows), described)
    for index, row in enumerate(rows):
        for name, value in row.items():
            columns[name][index] = value
    return columns


def require_writable(path: Path, force: bool = False) -> None:
    """Refuse an output that exists (unless forced), is a folder, or whose folder cannot be used."""
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file in it")
    if path.exists() and not force:
        raise InputError(f"{path}: exists already; --force replaces it")
    if not folder.is_dir():
        raise InputError(f"{path}: folder {folder} does not exist")
    effective = os.access in os.supports_effective_ids
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
        raise InputError(f"{path}: folder {folder} is not writable")


def write(
    path: Path,
    document: Document,
    force: bool = False,
    examine: Callable[[Path], object] = lambda made: None,
) -> None:
    """Write under a temporary name in the same folder, then rename: whole or not at all.

    What `examine` raises of the file under that name leaves the output as it was. Raises InputError
    where the output cannot be written.
    """
    require_writable(path, force)
    with temporary.of(path) as made, _refusing(path):
        if _largest_size(document) <= IN_MEMORY:
            image = _image(document)
            made.write(image + trailer.text(zlib.crc32(image), len(image)))
        else:
            _require_space(path, _largest_size(document))
            with OpenedOnce(made.itself, "w", libver=LIBVER) as file:
                _write(file, document)
            trailer.append(made.itself)
        examine(made.name)
        _publish(made, path)


def write_copy(
    path: Path,
    source: Path,
    change: Callable[[Path], object],
    examine: Callable[[Path], object],
) -> None:
    """Write a changed copy of a file in the place of another one: as `write` does with `force`."""
    require_writable(path, force=True)
    with _changed(path, source, change) as made, _refusing(path):
        examine(made.name)
        _publish(made, path)


@contextmanager
def changed_copy(path: Path, source: Path, change: Callable[[Path], object]) -> Iterator[Path]:
    """A copy of a file beside an output that is to be written, as long as it is needed."""
    with _changed(path, source, change) as made:
        yield made.name


@contextmanager
def _changed(
    path: Path, source: Path, change: Callable[[Path], object]
) -> Iterator[temporary.Temporary]:
    with temporary.of(path) as made:
        with _refusing(path):
            holes.copy(source, made.itself)
            change(made.itself)
        yield made


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _publish(made: temporary.Temporary, path: Path) -> None:
    """Give a whole file its name, in the same folder: after a power cut it is there, or the former.

    Raises OSError where the disk refuses, and where another file has the name meanwhile.
    """
    os.fsync(made.handle)
    made.rename(path)
    try:
        _sync(path.parent)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EACCES):  # folders that cannot
            raise


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _largest_size(document: Document) -> int:
    """Bytes of the samples before compression, which the file cannot exceed by much."""
    if document.raw is None:
        return 0
    columns = document.columns
    attempts, ranks = (np.maximum(columns[name], 0).astype(int) for name in ("attempts", "ranks"))
    traced = (attempts * ranks**2).sum() if document.arrival is not None else 0
    moments = len(schema.RAW_MOMENTS) + 1  # and when ranks left the barrier
    per_op = attempts.sum() * (8 + 1)  # when it started, and whether it is valid
    own = sum(
        int((np.maximum(columns[one.count], 0) * ranks ** (len(one.scales) - 2)).sum())
        * np.dtype(one.dtype).itemsize
        for one in document.own_columns.values()
    )
    return int((attempts * ranks).sum() * moments + traced) * 8 + int(per_op) + own


def _image(document: Document) -> bytes:
    """The file's content. HDF5 cannot close a file that meets a full disk; plain writes can."""
    with OpenedOnce("image", "w", libver=LIBVER, driver="core", backing_store=False) as file:
        _write(file, document)
        file.flush()
        return bytes(file.id.get_file_image())


def _require_space(path: Path, size: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if free < size:
        raise InputError(
            f"{path}: may need {size / 2**30:.1f} GiB, {free / 2**30:.1f} GiB are free there"
        )


def _write(file: h5py.File, document: Document) -> None:
    of_root = {
        "percentile_rule": "rank",
        "complete_at": "receiver",
        **document.attributes,
        "schema": schema.SCHEMA,
        "schema_version": schema.VERSION,
        "raw_samples": int(document.raw is not None),
        "layout": "compact",
    }
    for name, value in of_root.items():
        making.attribute(file, name, _number(value) if isinstance(value, int) else value)
    _write_columns(file, document.described, document.columns)
    group = file.create_group("segments")
    for index, segment in enumerate(document.segments):
        launch = group.create_group(str(index))
        segments.write(launch, segment)
        if segment.start:
            write_start(launch, segment.start)
        if segment.start_times:
            start_times.write(launch, segment.start_times)
    if document.raw is not None:
        _write_samples(file, document)
    for name, (tables, arrays) in document.own.items():
        datasets.write_group(file.create_group(name), tables, arrays)
    member_attributes.add(file, document.kept)
    sealing.seal(file)


def _number(value: int) -> np.int32 | np.int64:
    """As the program writes it; what a newer one says may be larger."""
    return np.int32(value) if abs(value) < 1 << 31 else np.int64(value)


def _write_columns(
    file: h5py.File, described: Iterable[schema.Column], columns: dict[str, NDArray[Any]]
) -> None:
    points = len(columns["state"])
    datasets.create_scale(file, "point", points)
    making.attribute(file["point"], "long_name", "point of the sweep, in declared order")
    for column in described:
        values = columns[column.name]
        if column.kind == "string":
            dataset = datasets.create_texts(file, column.name, values, column.length)
        else:
            dataset = file.create_dataset(column.name, data=values, dtype=column.kind)
        said = {"long_name": column.long_name, "units": column.units, "better": column.better}
        for name, text in said.items():
            if text:
                making.attribute(dataset, name, text)
        if column.flags:
            making.attribute(dataset, "flag_values", np.arange(len(column.flags), dtype=np.int8))
            making.attribute(dataset, "flag_meanings", " ".join(column.flags))
        if column.needs_fill_value(values):
            datasets.mark_unknown(dataset)
        if not column.result and column.kind != "string":  # sealing it makes it right
            making.attribute(dataset, checksums.OF_COLUMN, np.int64(checksums.NONE))
        dataset.dims[0].attach_scale(file["point"])


def _write_samples(file: h5py.File, document: Document) -> None:
    assert document.raw is not None
    columns = document.columns
    points = len(columns["state"])
    attempts = max(int(columns["attempts"].max(initial=0)), 1)
    ranks = int(columns["ranks"].max(initial=1))
    group = file.create_group("raw")
    chunk = (1, attempts, ranks)
    options: dict[str, Any] = {"compression": COMPRESSION, "shuffle": True}
    for name in schema.RAW_MOMENTS:
        group.create_dataset(name, (points, *chunk[1:]), "i8", chunks=chunk, **options)
    group.create_dataset(
        "exit", (points, *chunk[1:]), "i8", chunks=chunk, fillvalue=schema.NO_EXIT, **options
    )
    group.create_dataset("start", (points, attempts), "i8", chunks=(1, attempts), **options)
    group.create_dataset("valid", (points, attempts), "i1", chunks=(1, attempts), **options)
    if document.arrival is not None:
        square = (ranks, ranks)
        group.create_dataset(
            "arrival",
            (points, attempts, *square),
            "i8",
            chunks=(1, 1, *square),
            fillvalue=schema.UNKNOWN,
            **options,
        )
    _create_all_own(group, document, (points, attempts, ranks, ranks), options)
    by_source = [one for one in document.own_columns.values() if "source" in one.scales]
    if document.arrival is not None or by_source:
        datasets.create_scale(group, "source", ranks)
    datasets.create_scale(group, "attempt", attempts)
    datasets.create_scale(group, "rank", ranks)
    own = {name: column.described for name, column in document.own_columns.items()}
    datasets.describe(group, {**datasets.RAW, **own})
    if document.counters:
        nodes = max([len(segment.nodes) for segment in document.segments], default=0)
        CounterGroup(file, document.counters, points, nodes, ranks).write()
    has_exits = False
    for point in range(points):
        raw = document.raw(point)
        if raw is not None:
            n, width = raw.begin.shape
            for name in schema.RAW_MOMENTS:
                group[name][point, :n, :width] = getattr(raw, name)
            if raw.exit is not None:
                has_exits = True
                group["exit"][point, :n, :width] = raw.exit
            group["start"][point, :n] = raw.start
            group["valid"][point, :n] = raw.valid.astype(np.int8)
        arrival = document.arrival(point) if document.arrival is not None else None
        if arrival is not None:
            n, width, _ = arrival.shape
            group["arrival"][point, :n, :width, :width] = arrival
        _write_own(group, document, point)
        document.progress(point)
    if not has_exits:
        del group["exit"]


def _create_all_own(
    group: h5py.Group, document: Document, extents: tuple[int, ...], options: Mapping[str, Any]
) -> None:
    points, attempts, *ranks = extents
    for column in document.own_columns.values():
        along = column.scales[1]
        most = attempts if column.is_along_ops else _most_along(document, along)
        if not column.is_along_ops and along not in group:
            datasets.create_scale(group, along, most)
        _create_own(group, column, (points, most, *ranks), options)


def _most_along(document: Document, scale: str) -> int:
    """The length of a dimension that several columns may run along."""
    counts = {one.count for one in document.own_columns.values() if one.scales[1] == scale}
    return max(1, *(int(document.columns[name].max(initial=0)) for name in counts))


def _create_own(
    group: h5py.Group, column: SampleColumn, extents: tuple[int, ...], options: Mapping[str, Any]
) -> None:
    shape = extents[: len(column.scales)]
    chunk = (1, *shape[1:]) if len(shape) < len(extents) else (1, 1, *shape[2:])
    dataset = group.create_dataset(
        column.name, shape, column.dtype, chunks=chunk, fillvalue=column.fill, **options
    )
    if not column.is_along_ops:
        making.attribute(dataset, sample_columns.COUNT, column.count)
    if column.has_fill_value:
        making.attribute(dataset, "_FillValue", np.dtype(column.dtype).type(column.fill))


def _write_own(group: h5py.Group, document: Document, point: int) -> None:
    for name, column in document.own_columns.items():
        values = document.own_samples(point, column)
        if values is not None:
            group[name][point, *map(slice, values.shape)] = values
