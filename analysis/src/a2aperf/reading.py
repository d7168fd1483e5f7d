# SPDX-License-Identifier: BSD-3-Clause
"""Reads a results file: the one place that knows where in it things are (docs/file-format.md)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import (
    checksums,
    counted,
    regular,
    sample_columns,
    segments,
    skeleton,
    start_times,
    strict,
    trailer,
    verified,
)
from a2aperf.datasets import COUNTERS, Described
from a2aperf.errors import DAMAGE, InputError, what_is_damaged
from a2aperf.opened_once import OpenedOnce
from a2aperf.sample_columns import SampleColumn
from a2aperf.schema import (
    ALL_TO_ALL,
    COLUMN,
    COLUMNS,
    NEEDED,
    NEEDED_BY_ALL,
    NO_EXIT,
    READABLE,
    SCHEMA,
    STATES,
    SUMS,
    Column,
    Kind,
    Segment,
    is_counted,
)


@contextmanager
def open_results(path: Path, name: Path | None = None) -> Iterator[h5py.File]:
    """Open a results file for reading, whether or not a run still writes it.

    `name` is said of it in errors, where that is another one.
    Raises InputError when it is missing, not HDF5, truncated, or of another schema or version.
    """
    if path in _held:
        with refusing_damage(name or path):
            yield _held[path]
        return
    regular.require_file(path)
    if trailer.is_heeded() and trailer_of(path) is trailer.Trailer.WRONG:
        raise InputError(
            f"{path}: damaged: not every byte is as it was written; "
            f"'a2a check --repair {path} -o NEW' keeps what is sound"
        )
    try:
        file = OpenedOnce(path, "r", locking=False)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{name or path}: {_unreadable(path, str(error))}") from None
    with file, refusing_damage(name or path):
        _require_schema(name or path, file)
        yield file


_held: dict[Path, h5py.File] = {}


@contextmanager
def held(path: Path) -> Iterator[None]:
    """While it lasts the file is opened once, whoever reads it in this process."""
    opening = open_results(path)
    _held[path] = opening.__enter__()
    try:
        yield
    finally:  # what is raised meanwhile need not be of the file
        del _held[path]
        opening.__exit__(None, None, None)


@contextmanager
def refusing_damage(path: Path) -> Iterator[None]:
    """What is raised where something of a file is not as it must be becomes an InputError."""
    try:
        yield
    except MemoryError as error:
        raise InputError(f"{path}: damaged, or too large for the memory: {error}") from error
    except DAMAGE as error:
        raise InputError(f"{path}: damaged: {what_is_damaged(error)}") from error


def trailer_of(path: Path) -> trailer.Trailer:
    """What the file's own digest says; nothing where it cannot be read."""
    try:
        return trailer.Trailer.ABSENT if regular.other_kind(path) else trailer.of(path)
    except OSError:  # which opening it will tell
        return trailer.Trailer.ABSENT


def _unreadable(path: Path, reason: str) -> str:
    try:
        if path.stat().st_size == 0:
            return "empty file, not the HDF5 file of a2aperf"
        with path.open("rb") as stream:
            signed = stream.read(8) == b"\x89HDF\r\n\x1a\n"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not signed and skeleton.is_there(path):
        return "damaged: it does not begin as an HDF5 file, and was one"
    if not signed:
        return "not an HDF5 file; text of other programs is read by 'a2a import'"
    if "file locking flag" in reason:  # of HDF5, which knows what else this process has open
        return "open in this process with file locking; close it there, or open it locking=False"
    if "truncated" in reason:
        return "truncated: the file is shorter than its own header says"
    return "damaged: its beginning, or the list of what it holds, cannot be read"


def _require_schema(path: Path, file: h5py.File) -> None:
    schema = strict.text(file.attrs.get("schema", ""))
    reads = f"this a2a reads schema '{SCHEMA}' version {' and '.join(map(str, READABLE))}"
    if schema != SCHEMA:
        found = f"has schema '{schema}'" if schema else "has no schema attribute"
        raise InputError(f"{path}: HDF5, but it {found}; {reads}")
    version = file.attrs.get("schema_version")
    if not isinstance(version, np.integer):
        raise InputError(f"{path}: damaged: schema version {version!r} is no number; {reads}")
    if int(version) not in READABLE:
        raise InputError(f"{path}: schema version {version}; {reads}")
    of_other = strict.text(file.attrs.get("workload", ALL_TO_ALL)) != ALL_TO_ALL
    needed = NEEDED_BY_ALL if of_other else NEEDED
    missing = [name for name in needed if name not in file]
    if missing:
        raise InputError(f"{path}: damaged: {_some(missing)} missing")
    if file.get("state", getclass=True) is not h5py.Dataset:
        raise InputError(f"{path}: damaged: /state is no dataset")
    if "segments" not in file:
        raise InputError(f"{path}: damaged: group /segments missing")
    for name in ("segments", "raw", "counters"):
        if name in file:
            strict.group(file[name])
    if raw_samples(file) and "raw" not in file:
        raise InputError(f"{path}: damaged: raw_samples is 1 but group /raw is missing")


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"column{'s' if len(names) > 1 else ''} {listed}{more}"


def raw_samples(file: h5py.File) -> bool:
    """Whether the file holds every sample, not only summaries."""
    return bool(strict.like("raw_samples", file.attrs.get("raw_samples", np.int32(0)), 0))


def read_attributes(file: h5py.File) -> dict[str, Any]:
    """Root attributes; strings as str, integers as int."""
    return {name: strict.plain(name, value) for name, value in file.attrs.items()}


_TAKEN = {"file", "point", "launch", "ppn", "link_rate_gbps", "rails", "has_raw", *SUMS}
"""Names that tables have for something else, and what is no figure of a point."""
_KINDS: dict[str, Kind] = {"O": "string", "S": "string", "f": "float64", "i": "int64", "u": "int64"}
_KINDS |= {"i1": "int8", "i4": "int32"}  # a copy has them as they are, for checksums are of bytes


def columns_of(file: h5py.File, only: Collection[str] = ()) -> dict[str, Column]:
    """The columns of the points: those of the schema, and what the file describes beside them.

    What newer writers add is described by attributes, as their words are. `only`: these names.
    """
    points = file["state"].shape
    found = {x.name: _as_in(file, x) for x in COLUMNS if not only or x.name in only}
    for name in sorted((set(only) & set(file) if only else set(file)) - set(COLUMN) - _TAKEN):
        if file.get(name, getclass=True, getlink=True) is not h5py.HardLink:
            continue  # of another file, or of none
        dataset = file[name]
        if not isinstance(dataset, h5py.Dataset) or dataset.shape != points or dataset.is_scale:
            continue
        kind = _KINDS.get(dataset.dtype.str[1:]) or _KINDS.get(dataset.dtype.kind)
        if kind is not None:
            found[name] = _described(name, kind, dataset)
    return found


def missing_columns(file: h5py.File) -> set[str]:
    """Columns of the schema that the file should have and has not."""
    return {column.name for column in COLUMNS if column.name not in file and not column.late}


def _described(name: str, kind: Kind, dataset: h5py.Dataset) -> Column:
    text, units, better = (
        strict.text(dataset.attrs.get(key, "")) for key in ("long_name", "units", "better")
    )
    flags = _words(dataset) if kind in ("int8", "int32", "int64") else ()
    if flags and not np.isin(dataset[()], range(len(flags))).all():
        flags = ()
    unknown = not flags and "_FillValue" in dataset.attrs
    result = checksums.OF_COLUMN not in dataset.attrs
    length = dataset.dtype.itemsize if dataset.dtype.kind == "S" else 0
    return Column(name, kind, text, units, flags, unknown, result, better=better, length=length)


def _words(dataset: h5py.Dataset) -> tuple[str, ...]:
    """What the numbers 0, 1, … of an enumeration mean; nothing where the file does not say so."""
    meanings = tuple(strict.text(dataset.attrs.get("flag_meanings", "")).split())
    values = np.asarray(dataset.attrs.get("flag_values", ()))
    return meanings if np.array_equal(values, np.arange(len(meanings))) else ()


def _as_in(file: h5py.File, column: Column) -> Column:
    """A column of the schema with what the file says of it: its better side, meaning, words."""
    dataset = file.get(column.name)
    if not isinstance(dataset, h5py.Dataset):
        return column
    said = strict.text(dataset.attrs.get("long_name", "")) or column.long_name
    column = replace(column, better=strict.text(dataset.attrs.get("better", "")), long_name=said)
    # What a state means decides what is used of a point: another one is not guessed at.
    if not column.flags or column.name == "state":
        return column
    words = _words(dataset)
    return replace(column, flags=words) if words[: len(column.flags)] == column.flags else column


def blanks(column: Column, points: int) -> NDArray[Any]:
    """A column in which nothing is known."""
    return np.full(points, column.blank, object if column.kind == "string" else column.kind)


def read_columns(file: h5py.File, described: Iterable[Column] = COLUMNS) -> dict[str, NDArray[Any]]:
    """Columns, shape [P] each; strings as objects of str, enumerations as numbers.

    What the file has not is blank.
    """
    columns: dict[str, NDArray[Any]] = {}
    # The state first: of a file that is being written, whatever it calls complete is then whole.
    for column in sorted(described, key=lambda column: column.name != "state"):
        if column.name not in file:
            columns[column.name] = blanks(column, len(file["state"]))
            continue
        dataset = file[column.name]
        if column.kind == "string":
            columns[column.name] = np.array(strict.texts(dataset), dtype=object)
        else:
            columns[column.name] = strict.numbers(dataset, column.kind)
    if "state" in columns:
        verified.settle(file, columns["state"])
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise KeyError(f"columns have different lengths {sorted(lengths)}")
    return columns


_PARTS = {"point", "raw", "counters", "segments", "checksum", "digest"}


Groups = Mapping[str, Mapping[str, Described]]
"""Those that workloads keep in the root, and what each has."""


def require_whole_copy(path: Path, file: h5py.File, groups: Groups) -> None:
    """Refuse a file with members of which nothing is known: a copy would lack them."""
    lost = strangers(file, groups)
    if lost:
        raise InputError(f"{path}: this a2a knows nothing of /{lost[0]}: a copy would lack it")


def strangers(file: h5py.File, groups: Groups) -> list[str]:
    """The members that a copy would lack."""
    lost = sorted(set(file) - set(columns_of(file)) - _PARTS - set(groups))
    for name, described in {"counters": COUNTERS, **groups}.items():
        if name in file:
            scales = {scale for table in described.values() for scale in table.scales}
            known = {*described, *scales, checksums.POINTS}
            lost += [f"{name}/{one}" for one in sorted(set(strict.group(file[name])) - known)]
    if "counters" in file:
        lost += [f"counters/{one}" for one in counted.strangers_of_values(file["counters"])]
    for index, launch in file["segments"].items():
        lost += [f"segments/{index}/{one}" for one in segments.strangers(launch)]
        of_start = counted.strangers_of_start(launch)
        lost += [f"segments/{index}/{segments.START}/{one}" for one in of_start]
    return lost


def segment_count(file: h5py.File) -> int:
    """Number of launches in the file."""
    return len(file["segments"])


def read_segment(file: h5py.File, index: int, unread: list[str] | None = None) -> Segment:
    """Provenance of one launch; where `unread` is given, as `segments.read` has it."""
    group = _launch(file, index)
    # No list of a launch is longer than this: a damaged file may say so, and memory would end.
    ranks = int(strict.numbers(file["ranks"], "int32").max(initial=0))
    segment = segments.read(group, ranks, len(file["state"]), unread)
    segment.start = segments.part(segments.START, counted.read_start, group, ranks, unread)
    segment.start_times = segments.part(
        segments.START_TIMES, start_times.read, group, ranks, unread
    )
    return segment


def read_segments(file: h5py.File) -> list[Segment]:
    """Provenance of all launches."""
    return [read_segment(file, index) for index in range(segment_count(file))]


def launches(file: h5py.File) -> list[tuple[dict[str, Any], list[str]]]:
    """Of all launches what tells them from others: far less to read than their provenance."""
    return [segments.who(_launch(file, index)) for index in range(segment_count(file))]


def _launch(file: h5py.File, index: int) -> h5py.Group:
    return strict.group(strict.group(file["segments"])[str(index)])


def points_done(file: h5py.File) -> tuple[int, int]:
    """Points that are done with, and all points, as people count them."""
    state = file["state"][()]
    verified.settle(file, state)
    counts = np.array([is_counted(role) for role in strict.texts(file["role"])], dtype=bool)
    return int((counts & (state != STATES.index("pending"))).sum()), int(counts.sum())


def read_samples(
    file: h5py.File, names: Iterable[str], point: int, attempts: int, ranks: int
) -> dict[str, NDArray[Any] | None]:
    """Every attempt of one point, of what is named; reads nothing else.

    None for `exit` where it was not kept (docs/file-format.md).
    """
    verified.require(file, point)
    return {name: _samples(file["raw"], name, point, attempts, ranks) for name in names}


def _samples(
    group: h5py.Group, name: str, point: int, attempts: int, ranks: int
) -> NDArray[Any] | None:
    if name in ("start", "valid"):
        found = strict.part(group[name], np.s_[point, :attempts], (attempts,))
        return strict.flags(group[name], found) if name == "valid" else found
    if name == "exit" and name not in group:
        return None
    found = strict.part(group[name], np.s_[point, :attempts, :ranks], (attempts, ranks))
    return None if name == "exit" and (found == NO_EXIT).all() else found


def has_arrival(file: h5py.File) -> bool:
    """Whether the launch was traced."""
    return "raw" in file and "arrival" in file["raw"]


def read_arrival(
    file: h5py.File, point: int, attempts: NDArray[np.int64], ranks: int
) -> NDArray[np.int64] | None:
    """When each message came, [attempts, destination, source], ns; None where nobody traced.

    `attempts` are those that are wanted, in ascending order: all of a point may be gigabytes.
    """
    if not has_arrival(file):
        return None
    verified.require(file, point)
    place = np.s_[point, attempts, :ranks, :ranks]
    return strict.part(file["raw"]["arrival"], place, (len(attempts), ranks, ranks))


def own_columns(file: h5py.File) -> dict[str, SampleColumn]:
    """The columns of samples that its workload has beside those of all."""
    return sample_columns.declared(file["raw"]) if raw_samples(file) else {}


def read_own(
    file: h5py.File, column: SampleColumn, point: int, wanted: range, ranks: int
) -> NDArray[Any]:
    """What it says of these attempts, or what it runs along, of one point, as it is stored."""
    verified.require(file, point)
    shape = column.shape(len(wanted), ranks)
    place = (point, slice(wanted.start, wanted.stop), *map(slice, shape[1:]))
    return strict.values(file["raw"][column.name], place, shape)


def read_group(
    file: h5py.File, name: str, described: Mapping[str, Described]
) -> dict[str, NDArray[Any]]:
    """The datasets of a group that one workload has, as they are described."""
    group = strict.group(file[name])
    return {one: table.read(group, one) for one, table in described.items()}
