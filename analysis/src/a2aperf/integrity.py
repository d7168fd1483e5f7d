# SPDX-License-Identifier: BSD-3-Clause
"""What of a file is not as it was written, in words: by its trailer, its digest, its checksums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import checksums, file_lock, schema, sealing, strict, trailer, verified
from a2aperf.errors import DAMAGE, what_is_damaged

UNREADABLE = "cannot be read"
"""In the words of what is damaged so that HDF5 does not give it."""


def errors(file: h5py.File) -> Iterator[str]:
    """Damage, and what a file of its version lacks. Reads all samples and counters."""
    if verified.must_have_checksums(file):
        yield from _lacking(file)
    if verified.has_checksums(file):
        yield from _digest(file)
        yield from damaged_columns(file)
        for group in sealing.groups(file):
            yield from _group(file, group)
        yield from _points(file)
        for index in range(len(file["segments"])):
            yield from _end(file["segments"][str(index)], index)


def warnings(file: h5py.File) -> Iterator[str]:
    """What a launch that was killed leaves."""
    if checksums.POINTS not in file:
        return
    told = file[checksums.POINTS][()]
    for point in np.flatnonzero((file["state"][()] == schema.PENDING) & (told != checksums.NONE)):
        if _wrong(file, int(point)):
            yield f"point {point}: not all of it reached the disk: not measured"
    if _is_running(file):
        yield from _unfinished_groups(file)


def _lacking(file: h5py.File) -> Iterator[str]:
    for name in (checksums.POINTS, checksums.DIGEST):
        if name not in file:
            yield f"/{name} is missing"
    for index in range(len(file["segments"])):
        if "end_reason" not in file["segments"][str(index)]:
            yield f"launch {index}: end_reason missing"
    if _is_compact(file) and trailer.of(Path(file.filename)) is trailer.Trailer.ABSENT:
        yield "it was finished, and has no trailer: changed by another program, or cut off"


def is_digest_right(file: h5py.File) -> bool:
    """Whether all that never changes is as it was written, as far as the file can tell."""
    return not list(_digest(file))


def is_plan_damaged(file: h5py.File) -> bool:
    """Whether a copy, which gets a digest of its own, would hide that this one's is wrong."""
    if not verified.has_checksums(file):
        return False
    is_vouched_for = trailer.of(Path(file.filename)) is trailer.Trailer.RIGHT
    if is_vouched_for:
        return False
    return not is_digest_right(file) or bool(damaged_columns(file))


def is_group_right(
    file: h5py.File, name: str, instead: Mapping[str, NDArray[Any]] | None = None
) -> bool:
    """Whether a workload's group is as it was written, or would be with these arrays.

    Not while its launch goes on: its checksum comes at the end.
    """
    if not verified.has_checksums(file):
        return True
    try:
        told = strict.one_number(file[name][checksums.POINTS])
        return told == checksums.of_group(file[name], instead)
    except DAMAGE:
        return False


def is_point_right(file: h5py.File, point: int) -> bool:
    """Whether all of a point is as it was written, by its checksum."""
    return not _wrong(file, point)


def damaged_points(file: h5py.File) -> Iterator[tuple[int, str]]:
    """Points that are not as they were written, with what is wrong."""
    states, settled = (file["state"][()] for _ in range(2))
    verified.settle(file, settled)
    sums = None if checksums.POINTS in file else checksums.PointChecksums(file)
    for point in np.flatnonzero(states != schema.PENDING):
        what = _wrong(file, int(point)) if sums is None else _unreadable(sums, int(point))
        if what or settled[point] == schema.PENDING:
            what = what or "is not kept without its state"
            yield int(point), what


def damaged_columns(file: h5py.File) -> list[str]:
    """Columns of what was asked that are not as they were written, in words.

    Of a point that is measured its own checksum tells, too, and of one that is not only this.
    """
    return [
        f"column {name}, of what was asked, is not as it was written: its checksum is wrong"
        for name, column in checksums.asked(file)
        if int(column.attrs[checksums.OF_COLUMN]) != checksums.of_column(column)
    ]


def damaged_states(file: h5py.File) -> list[str]:
    """States that are not as they were written, and what follows of them (`verified.settle`)."""
    return verified.settle(file, file["state"][()])


def damaged_plan(file: h5py.File) -> list[str]:
    """Whether what was asked, or who measured, is as it was written, in words.

    Nothing while a program may be adding a launch: its digest comes with the last of it.
    """
    if not verified.has_checksums(file):
        return []
    if file_lock.writer_of(Path(file.filename)) is file_lock.Writer.THERE:
        return []
    return list(_digest(file))


def damaged_groups(file: h5py.File) -> list[str]:
    """What workloads keep beside the points and is not as it was written, in words.

    Of a launch that still writes nothing is said: it may be in the middle of it.
    """
    if not verified.has_checksums(file):
        return []
    if not _is_running(file):
        return [what for name in sealing.groups(file) for what in _group(file, name)]
    if file_lock.writer_of(Path(file.filename)) is file_lock.Writer.THERE:
        return []
    return list(_unfinished_groups(file))


def _unfinished_groups(file: h5py.File) -> Iterator[str]:
    """Of a launch that was killed: those that it had sealed, for that is the last of all."""
    for name in sealing.groups(file):
        if checksums.POINTS not in file[name]:
            continue
        told = strict.one_number(file[name][checksums.POINTS])
        if told != checksums.NONE:
            yield from _sum(file, name, told, ", or not all of it reached the disk")


def _unreadable(sums: checksums.PointChecksums, point: int) -> str:
    try:
        sums.of(point)
    except DAMAGE as error:
        return f"{UNREADABLE}: {what_is_damaged(error)}"
    return ""


def _digest(file: h5py.File) -> Iterator[str]:
    if checksums.DIGEST not in file:
        return
    try:
        sound = strict.one_number(file[checksums.DIGEST]) == checksums.digest(file)
    except DAMAGE as error:
        yield f"what was asked, or who measured, {UNREADABLE}: {what_is_damaged(error)}"
        return
    if not sound:
        yield "what was asked, who measured, or a description is not as it was written (/digest)"


def _group(file: h5py.File, name: str) -> Iterator[str]:
    group = file[name]
    if checksums.POINTS not in group:
        yield f"/{name}/{checksums.POINTS} is missing"
        return
    told = strict.one_number(group[checksums.POINTS])
    if _is_running(file):
        return  # comes at the end of a launch; `warnings` has a word on it
    yield from _sum(file, name, told)


def _sum(file: h5py.File, name: str, told: int, otherwise: str = "") -> Iterator[str]:
    """What a group's checksum says; `otherwise`: what else may be where it is wrong."""
    try:
        sound = told == checksums.of_group(file[name])
    except DAMAGE as error:
        yield f"/{name} {UNREADABLE}: {what_is_damaged(error)}"
        return
    if not sound:
        yield f"/{name} is not as it was written{otherwise}: its checksum is wrong"


def _is_compact(file: h5py.File) -> bool:
    return strict.text(file.attrs.get("layout", "")) == "compact"


def _is_running(file: h5py.File) -> bool:
    """Or was killed: nothing was written at its end."""
    newest = file["segments"][str(len(file["segments"]) - 1)]
    return strict.one_number(newest["end_state"]) == schema.END_STATES.index("running")


def _points(file: h5py.File) -> Iterator[str]:
    states = file["state"][()]
    if checksums.POINTS not in file or file[checksums.POINTS].shape != states.shape:
        return
    for point, state in enumerate(states):
        if state != schema.PENDING and (what := _wrong(file, point)):
            yield f"point {point}: {what}"
    yield from verified.settle(file, states)


def _wrong(file: h5py.File, point: int) -> str:
    """What is wrong of its checksum; empty where nothing is."""
    try:
        if verified.is_right(file, point):
            return ""
    except DAMAGE as error:
        return f"{UNREADABLE}: {what_is_damaged(error)}"
    if file[checksums.POINTS][point] == checksums.NONE:
        return "has no checksum"
    return "its row, samples or counters are not as they were written: its checksum is wrong"


def _end(segment: Any, index: int) -> Iterator[str]:
    """Whether what was written at the end of a launch is as it was, and fits together."""
    if strict.one_number(segment["end_state"]) == schema.END_STATES.index("running"):
        return  # the rest is written before, and need not be on the disk together with it
    if "end_reason" not in segment:
        return
    told = strict.one_number(segment[checksums.OF_END]) if checksums.OF_END in segment else None
    if told not in (None, checksums.NONE, checksums.of_end(segment)):
        yield f"launch {index}: how it ended is not as it was written: its checksum is wrong"
    state, reason = (strict.one_number(segment[name]) for name in ("end_state", "end_reason"))
    finished = schema.END_REASONS.index("finished")
    is_finished = state == schema.END_STATES.index("finished")
    if reason == schema.END_REASONS.index("running") or is_finished != (reason == finished):
        yield f"launch {index}: end_state and end_reason do not fit together"
