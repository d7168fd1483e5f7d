# SPDX-License-Identifier: BSD-3-Clause
"""Asks a results file, in a process of its own where no trailer vouches for the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from typing import Any, TypeVar

import h5py
from numpy.typing import NDArray

from a2aperf import (
    file_lock,
    integrity,
    isolated,
    member_attributes,
    reading,
    regular,
    sample_columns,
    schema,
    trailer,
    verified,
)
from a2aperf.datasets import Described
from a2aperf.errors import InputError
from a2aperf.sample_columns import SampleColumn

_Answer = TypeVar("_Answer")
FILES_OF_A_READER = 32
"""The fewest for which another process is worth its start."""
_MOST_READERS = 16
"""Each takes some 150 MB."""
_STOP_S = 0.1
"""Until it is tried again: one that is not waited for any more may just begin."""


def ask(path: Path, question: Callable[..., _Answer], *arguments: Any) -> _Answer:
    """What a function of a module returns of the open file, which it gets first.

    Raises InputError as `reading.open_results` does, and where HDF5 crashes.
    """
    if isolated.is_here() or not trailer.is_heeded() or not _may_crash(path):
        return _answer(path, question, *arguments)
    return _elsewhere(path, question, *arguments)


def _elsewhere(path: Path, question: Callable[..., _Answer], *arguments: Any) -> _Answer:
    answer: _Answer = isolated.call(path, _answer, path, question, *arguments)
    return answer


def ask_each(
    paths: Sequence[Path], question: Callable[..., _Answer], *arguments: Any
) -> Generator[_Answer | InputError]:
    """The same of many files, in their order: several processes read them where that pays.

    Of a file that has no answer the error. Close it where it is not read to its end.
    """
    return each(
        paths,
        lambda path: ask(path, question, *arguments),
        lambda path: _elsewhere(path, question, *arguments),
    )


def each(
    paths: Sequence[Path],
    here: Callable[[Path], _Answer],
    elsewhere: Callable[[Path], _Answer],
) -> Generator[_Answer | InputError]:
    """What is said of many files, in their order, `elsewhere` by several processes if that pays.

    Of a file of which nothing can be said the error. Close it where it is not read to its end.
    """
    readers = min(len(paths) // FILES_OF_A_READER, _cores(), _MOST_READERS)
    if readers < 2 or isolated.is_here() or not trailer.is_heeded():
        yield from (_or_error(here, path) for path in paths)
        return

    own: set[int] = set()
    with ThreadPoolExecutor(readers, initializer=lambda: own.add(get_ident())) as pool:
        asked = [pool.submit(elsewhere, path) for path in paths]
        try:
            for one in asked:
                yield _or_error(one.result)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while left := [one for one in asked if not one.done()]:
                isolated.stop(own)
                wait(left, _STOP_S)
            raise


def _or_error(call: Callable[..., _Answer], *arguments: Any) -> _Answer | InputError:
    try:
        return call(*arguments)
    except InputError as error:
        return error


def _cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _may_crash(path: Path) -> bool:
    try:
        return regular.is_file(path) and trailer.of(path) is trailer.Trailer.ABSENT
    except OSError:  # which opening it will tell
        return False


def _answer(path: Path, question: Callable[..., _Answer], *arguments: Any) -> _Answer:
    with reading.open_results(path) as file:
        return question(file, *arguments)


@dataclass(frozen=True)
class Summary:
    """What a file says, but for its samples."""

    attributes: dict[str, Any]
    described: dict[str, schema.Column]
    absent: frozenset[str]
    columns: dict[str, NDArray[Any]]
    segments: list[schema.Segment]
    damaged: list[str]
    """What is not as it was written and still costs no other point, in words."""


def summary(file: h5py.File) -> Summary:
    """A question."""
    said = _summary(file)
    verified.require_rows(file)
    return said


def look(file: h5py.File) -> Summary:
    """The same of who looks again and again, perhaps while a launch writes."""
    said = _summary(file)
    verified.require_rows(file, [file_lock.Writer.GONE])
    return said


def _summary(file: h5py.File) -> Summary:
    described = reading.columns_of(file)
    return Summary(
        reading.read_attributes(file),
        described,
        frozenset(reading.missing_columns(file)),
        reading.read_columns(file, described.values()),
        reading.read_segments(file),
        [] if _is_vouched_for(file) else _damaged(file),
    )


def _is_vouched_for(file: h5py.File) -> bool:
    return trailer.of(Path(file.filename)) is trailer.Trailer.RIGHT


def _damaged(file: h5py.File) -> list[str]:
    return [
        *integrity.damaged_plan(file),
        *integrity.damaged_states(file),
        *integrity.damaged_columns(file),
        *integrity.damaged_groups(file),
    ]


@dataclass(frozen=True)
class Content:
    """What a copy of a file begins with: all but its samples and counters."""

    columns: dict[str, NDArray[Any]]
    segments: list[schema.Segment]
    is_traced: bool
    has_samples: bool
    own_columns: dict[str, SampleColumn]
    groups: dict[str, dict[str, NDArray[Any]]]
    """Of workloads, those that are there."""
    of_members: member_attributes.Attributes
    """Of groups and datasets."""


def content(
    file: h5py.File,
    path: Path,
    columns: Iterable[schema.Column],
    groups: Mapping[str, Mapping[str, Described]],
) -> Content:
    """A question; InputError where a copy by its answer would lack something, or hide damage."""
    if integrity.is_plan_damaged(file):
        raise InputError(
            f"{path}: damaged: what was asked, who measured, or a description is not as it was "
            f"written (/digest); 'a2a check --repair {path} -o NEW' keeps what is sound"
        )
    verified.require_rows(file, [*file_lock.Writer])
    reading.require_whole_copy(path, file, groups)
    has_samples = reading.raw_samples(file)
    return Content(
        reading.read_columns(file, columns),
        reading.read_segments(file),
        reading.has_arrival(file),
        has_samples,
        sample_columns.of_copy(path, file["raw"]) if has_samples else {},
        {one: reading.read_group(file, one, groups[one]) for one in groups if one in file},
        member_attributes.of_file(file),
    )
