# SPDX-License-Identifier: BSD-3-Clause
"""Points whose checksum is right: who reads samples asks here first, and each is looked at once."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import checksums, file_lock, schema, strict, trailer
from a2aperf.errors import DAMAGE, what_is_damaged

_WITH_CHECKSUMS = 2
"""The first version of the schema whose points have them."""
_PENDING, _COMPLETE, _SKIPPED, _FAILED = range(len(schema.STATES))
_UNTOLD = -1


class _Known:
    """What was found out about the points of one file; `rows` are small, and read once."""

    def __init__(self) -> None:
        self.right: dict[int, bool] = {}
        self.rows: checksums.Rows | None = None
        self._sums: WeakKeyDictionary[h5py.File, checksums.PointChecksums] = WeakKeyDictionary()

    def sums(self, file: h5py.File) -> checksums.PointChecksums:
        """Of a file as long as it is open."""
        if file not in self._sums:
            self.rows = self.rows or checksums.Rows(file)
            self._sums[file] = checksums.PointChecksums(file, self.rows)
        return self._sums[file]


@lru_cache(maxsize=16)
def _known(_: trailer.Identity) -> _Known:
    return _Known()


def require_rows(file: h5py.File, of: Collection[file_lock.Writer] = file_lock.NOT_THERE) -> None:
    """ValueError where any point that is done with is not what was written: who shows rows asks.

    A point whose state has no meaning is none of them, unless its row is whole: see `settle`. Of a
    file whose writer is one of these: while a launch adds points, every look at its file
    would read all samples anew.
    """
    path = Path(file.filename)
    if not trailer.is_heeded() or not has_checksums(file):
        return
    if trailer.of(path) is trailer.Trailer.RIGHT or file_lock.writer_of(path) not in of:
        return
    states = file["state"][()]
    for point in np.flatnonzero((states > _PENDING) & (states <= _FAILED)):
        try:
            is_sound = is_right(file, int(point))
        except MemoryError:
            raise
        except DAMAGE as error:
            raise ValueError(f"point {point} cannot be read: {what_is_damaged(error)}") from None
        if not is_sound:
            raise _wrong(int(point))


def require(file: h5py.File, point: int) -> None:
    """ValueError where what is stored of a point is not what was written.

    Nothing is read where the trailer vouches for the file, nor in files of schema version 1.
    """
    if not trailer.is_heeded() or not has_checksums(file):
        return
    if trailer.of(Path(file.filename)) is not trailer.Trailer.RIGHT and not is_right(file, point):
        raise _wrong(point)


def _wrong(point: int) -> ValueError:
    return ValueError(
        f"point {point} is not as it was written: its checksum is wrong; 'a2a check' says more"
    )


def has_checksums(file: h5py.File) -> bool:
    """Whether its points have one each, or must have one."""
    return checksums.POINTS in file or must_have_checksums(file)


def must_have_checksums(file: h5py.File) -> bool:
    """Whether it is damage where they are missing."""
    return int(file.attrs["schema_version"]) >= _WITH_CHECKSUMS


def is_right(file: h5py.File, point: int) -> bool:
    """Whether a point is as it was written; raises what h5py raises where it can't be read."""
    known = _known(trailer.identity(Path(file.filename)))
    if point not in known.right:
        told = int(file[checksums.POINTS][point])
        crc = known.sums(file).of(point)
        known.right[point] = told != checksums.NONE and told == crc
    return known.right[point]


def settle(file: h5py.File, states: NDArray[Any]) -> list[str]:
    """States as the rows have them where the file does not say so; which are damaged, in words.

    A row may be pending though it is measured: the disk had not told so yet. No checksum covers
    another state, so one that its row contradicts is damaged, and follows from the row where that
    is whole. Of one without a meaning nothing else is known: its point counts as not measured.
    """
    if checksums.POINTS not in file:
        return []
    told = file[checksums.POINTS][()]
    if told.shape != states.shape:
        raise ValueError(f"/{checksums.POINTS} has shape {told.shape}, not {states.shape}")
    rows = _states_of_rows(file)
    pending = (states == _PENDING) & (told != checksums.NONE)
    unknown = (states < _PENDING) | (states > _FAILED)
    odd = []
    for point in np.flatnonzero(pending | unknown | _contradicted(file, states, rows)):
        state, follows = int(states[point]), rows[point] != _UNTOLD and _is_whole(file, int(point))
        if follows:
            states[point] = rows[point]
        elif unknown[point]:
            states[point] = _PENDING
        if not pending[point] and states[point] != state:
            so = schema.STATES[rows[point]] if follows else "not measured: its row cannot tell"
            odd.append(f"point {point}: its state is not as it was written ({state}): {so}")
    return odd


def _is_whole(file: h5py.File, point: int) -> bool:
    try:
        return is_right(file, point)
    except DAMAGE:
        return False


def _states_of_rows(file: h5py.File) -> NDArray[Any]:
    """What each row says, if it is whole: all but the byte that is written last."""
    ops, attempts = file["ops"][()], file["attempts"][()]
    skipped = np.zeros(ops.shape, bool)
    if "skip_reason" in file:
        skipped = np.array([reason != "" for reason in strict.texts(file["skip_reason"])], bool)
    said = [ops > 0, attempts > 0, skipped, attempts == 0]
    return np.select(said, [_COMPLETE, _FAILED, _SKIPPED, _FAILED], _UNTOLD)


def _contradicted(file: h5py.File, states: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Not where older programs or imports, which know less of a row, may have written it so."""
    measured = file["attempts"][()] > 0
    failed = (states == _FAILED) & np.isin(rows, (_COMPLETE, _SKIPPED))
    skipped = (states == _SKIPPED) & ((rows == _COMPLETE) | measured)
    complete = (states == _COMPLETE) & (rows == _SKIPPED)
    found: NDArray[np.bool_] = failed | skipped | complete
    return found
