# SPDX-License-Identifier: BSD-3-Clause
"""Reads a results file: the one place that knows where in it things are (docs/file-format.md)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2a.errors import InputError
from a2a.schema import (
    COLUMNS,
    COUNTERS_PER_RANK,
    END_STATES,
    IMPOSSIBLE_NS,
    NO_EXIT,
    RAW_MOMENTS,
    SCHEMA,
    SEGMENT_ATTRIBUTES,
    VERSION,
    Counters,
    Ends,
    Pairs,
    Raw,
    Segment,
)

# What h5py and numpy raise where a dataset is missing, unreadable, or of another type or shape.
_DAMAGE = (OSError, RuntimeError, KeyError, ValueError, IndexError, TypeError)


@contextmanager
def open_results(path: Path) -> Iterator[h5py.File]:
    """Open a results file for reading, whether or not a run still writes it.

    Raises InputError when it is missing, not HDF5, truncated, or of another schema or version.
    """
    if not path.is_file():
        what = "is a folder, not a results file" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {what}")
    try:
        file = h5py.File(path, "r", locking=False)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path}: {_unreadable(path, str(error))}") from None
    with file:
        try:
            _require_schema(path, file)
            yield file
        except _DAMAGE as error:
            raise InputError(f"{path}: damaged: {str(error).strip(chr(34))}") from error
        except MemoryError as error:
            raise InputError(f"{path}: damaged, or too large for the memory: {error}") from error


def _unreadable(path: Path, reason: str) -> str:
    try:
        if path.stat().st_size == 0:
            return "empty file, not the HDF5 file of a2aperf"
        with path.open("rb") as stream:
            signed = stream.read(8) == b"\x89HDF\r\n\x1a\n"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not signed:
        return "not an HDF5 file; text of other programs is read by 'a2a import'"
    if "truncated" in reason:
        return "truncated: the file is shorter than its own header says"
    return f"damaged HDF5 file ({reason})"


def _require_schema(path: Path, file: h5py.File) -> None:
    schema = text(file.attrs.get("schema", ""))
    reads = f"this a2a reads schema '{SCHEMA}' version {VERSION}"
    if schema != SCHEMA:
        found = f"has schema '{schema}'" if schema else "has no schema attribute"
        raise InputError(f"{path}: HDF5, but it {found}; {reads}")
    version = file.attrs.get("schema_version")
    if version is None or int(version) != VERSION:
        raise InputError(f"{path}: schema version {version}; {reads}")
    missing = [column.name for column in COLUMNS if column.name not in file and not column.late]
    if missing:
        raise InputError(f"{path}: damaged: {_some(missing)} missing")
    if "segments" not in file:
        raise InputError(f"{path}: damaged: group /segments missing")
    if raw_samples(file) and "raw" not in file:
        raise InputError(f"{path}: damaged: raw_samples is 1 but group /raw is missing")


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"column{'s' if len(names) > 1 else ''} {listed}{more}"


def text(value: Any) -> str:
    """Text of a string attribute or element, whichever way HDF5 stored it."""
    if isinstance(value, bytes):
        return value.rstrip(b"\0").decode("utf-8", "replace")
    return str(value)


def texts(dataset: h5py.Dataset) -> list[str]:
    """All strings of a dataset, flattened."""
    return [text(value) for value in dataset[()].ravel()]


def raw_samples(file: h5py.File) -> bool:
    """Whether the file holds every sample, not only summaries."""
    return bool(file.attrs.get("raw_samples", 0))


def read_attributes(file: h5py.File) -> dict[str, Any]:
    """Root attributes; strings as str, integers as int."""
    return {name: _plain(value) for name, value in file.attrs.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | str):
        return text(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    return value


def read_columns(file: h5py.File) -> dict[str, NDArray[Any]]:
    """All columns, shape [P] each; strings as objects of str, enumerations as numbers."""
    columns: dict[str, NDArray[Any]] = {}
    # The state first: of a file that is being written, whatever it calls complete is then whole.
    for column in sorted(COLUMNS, key=lambda column: column.name != "state"):
        if column.name not in file:  # a late one
            columns[column.name] = np.full(len(file["state"]), column.blank, column.kind)
            continue
        dataset = file[column.name]
        if column.kind == "string":
            columns[column.name] = np.array(texts(dataset), dtype=object)
        else:
            columns[column.name] = dataset[()].astype(column.kind)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise KeyError(f"columns have different lengths {sorted(lengths)}")
    return columns


def segment_count(file: h5py.File) -> int:
    """Number of launches in the file."""
    return len(file["segments"])


def _attachments(group: h5py.Group) -> dict[str, str]:
    if "attachment_name" not in group:  # older than --attach
        return {}
    names = texts(group["attachment_name"])
    return dict(zip(names, texts(group["attachment_text"]), strict=True))


def _flags(group: h5py.Group, names: Sequence[str], flag: str) -> dict[str, bool]:
    return dict(zip(names, group[flag][()].astype(bool), strict=True))


def _of_points(file: h5py.File, numbers: h5py.Dataset) -> NDArray[np.int32]:
    """One for each point; a damaged file may say that there are more than memory holds."""
    if numbers.ndim != 1 or len(numbers) > len(file["state"]):
        raise ValueError(f"{numbers.name} is longer than there are points")
    found: NDArray[np.int32] = numbers[()]
    return found


def read_segment(file: h5py.File, index: int) -> Segment:
    """Provenance of one launch."""
    group = file["segments"][str(index)]
    names = texts(group["environment_name"])
    # Copies by an older a2a lack two parts; `check` says so.
    planned = np.empty(0, np.int32)
    if "planned_order" in group:
        planned = _of_points(file, group["planned_order"])
    return Segment(
        attributes={
            **SEGMENT_ATTRIBUTES,
            **{name: _plain(value) for name, value in group.attrs.items()},
        },
        end_state=END_STATES[int(group["end_state"][()])],
        ended=int(group["ended"][()]),
        message=text(group["message"][()]),
        nodes=texts(group["nodes"]),
        node_of_rank=group["node_of_rank"][()],
        clock_domain_of_rank=group["clock_domain_of_rank"][()],
        clock_offset=group["clock_offset"][()],
        clock_drift=group["clock_drift"][()],
        environment=dict(zip(names, texts(group["environment_value"]), strict=True)),
        uniform=_flags(group, names, "environment_uniform"),
        required=_flags(group, names, "environment_required")
        if "environment_required" in group
        else {},
        labels=dict(zip(texts(group["label_name"]), texts(group["label_value"]), strict=True)),
        attachments=_attachments(group),
        fi_info=text(group["fi_info"][()]),
        node_facts={name: texts(values) for name, values in group["node_facts"].items()},
        rank_facts={name: texts(values) for name, values in group["rank_facts"].items()},
        rank_order=group["rank_order"][()],
        planned_order=planned,
    )


def read_raw(file: h5py.File, point: int, attempts: int, ranks: int) -> Raw:
    """Every attempt of one point; reads nothing else."""
    group = file["raw"]
    moments = {name: group[name][point, :attempts, :ranks] for name in RAW_MOMENTS}
    return Raw(
        **moments,
        start=group["start"][point, :attempts],
        valid=group["valid"][point, :attempts].astype(bool),
        exit=_read_exit(group, point, attempts, ranks),
    )


def _read_exit(
    group: h5py.Group, point: int, attempts: int, ranks: int
) -> NDArray[np.int64] | None:
    if "exit" not in group:
        return None
    found: NDArray[np.int64] = group["exit"][point, :attempts, :ranks]
    return None if (found == NO_EXIT).all() else found


def read_ends(file: h5py.File, point: int, attempts: int, ranks: int) -> Ends:
    """The ends of every attempt of one point: two thirds of `read_raw`, for op times."""
    group = file["raw"]
    return Ends(
        group["send_done"][point, :attempts, :ranks],
        group["recv_done"][point, :attempts, :ranks],
        group["valid"][point, :attempts].astype(bool),
    )


def has_arrival(file: h5py.File) -> bool:
    """Whether the launch was traced."""
    return "raw" in file and "arrival" in file["raw"]


def read_arrival(
    file: h5py.File, point: int, attempts: slice | NDArray[np.int64], ranks: int
) -> NDArray[np.int64] | None:
    """When each message came, [attempts, destination, source], ns; None where nobody traced.

    `attempts` are those that are wanted, in ascending order: all of a point may be gigabytes.
    """
    if not has_arrival(file):
        return None
    found: NDArray[np.int64] = file["raw"]["arrival"][point, attempts, :ranks, :ranks]
    return found


def has_pairs(file: h5py.File) -> bool:
    """Whether the file is of `a2aperf pairs`."""
    return "pairs" in file


def read_pairs(file: h5py.File) -> Pairs:
    """The matrices of all pairs and the second look at some of them."""
    group = file["pairs"]
    pairs = Pairs(**{one.name: group[one.name][()] for one in fields(Pairs)})
    shape = (pairs.message_size.size, *pairs.gbps.shape[-1:] * 2)
    if not all(m.shape == shape for m in (pairs.time_p50, pairs.time_min, pairs.gbps, pairs.ops)):
        raise ValueError(f"/pairs: matrices are not all {shape}")
    if 0 in shape:
        raise ValueError("/pairs: the matrices are empty")
    looked = pairs.suspect_source, pairs.suspect_destination, pairs.suspect_size
    within = zip(looked, (shape[1], shape[1], shape[0]), strict=True)
    if any((one >= limit).any() for one, limit in within):
        raise ValueError("/pairs: a second look is at a pair that is not there")
    counts = {len(one) for one in (*looked, pairs.isolated_time, pairs.isolated_gbps)}
    if len(counts) > 1 or pairs.isolated_time.ndim != 2:
        raise ValueError("/pairs: second looks have different lengths")
    for matrix in (pairs.time_p50, pairs.time_min, pairs.gbps):
        # Of a file that is being written, too: where no op is counted there may be anything.
        matrix[(pairs.ops <= 0) | ~np.isfinite(matrix)] = np.nan
    # No message takes no time: nothing is derived from it (`check` refuses the file).
    pairs.gbps[pairs.time_p50 <= IMPOSSIBLE_NS] = np.nan
    for matrix in (pairs.time_p50, pairs.time_min):
        matrix[matrix <= IMPOSSIBLE_NS] = np.nan
    return pairs


def read_counters(file: h5py.File, point: int, ranks: int, nodes: int) -> Counters | None:
    """What the operating system and the ports counted during one point; None if not recorded."""
    if "counters" not in file:
        return None
    group = file["counters"]
    names = texts(group["port_names"])
    port = group["port"][point, :nodes]
    return Counters(
        per_rank={name: group[name][point, :ranks].astype(np.int64) for name in COUNTERS_PER_RANK},
        thread_affinity=[text(value) for value in group["thread_affinity"][point, :ranks]],
        interrupts=group["interrupts"][point, :nodes],
        ports={name: port[:, index] for index, name in enumerate(names)},
    )
