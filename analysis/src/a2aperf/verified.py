# SPDX-License-Identifier: BSD-3-Clause
"""Points whose checksum is right: who reads samples asks here first, and each is looked at once."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import checksums, schema, trailer

_UNREADABLE = (OSError, RuntimeError, KeyError, ValueError, IndexError, TypeError)
_WITH_CHECKSUMS = 2
"""The first version of the schema whose points have them."""
_PENDING, _COMPLETE, _SKIPPED, _FAILED = range(len(schema.STATES))


class _Known:
    """What was found out about the points of one file; `rows` are small, and read once."""

    def __init__(self) -> None:
        self.right: dict[int, bool] = {}
        self.rows: checksums.Rows | None = None


@lru_cache(maxsize=16)
def _known(_: trailer.Identity) -> _Known:
    return _Known()


def require(file: h5py.File, point: int) -> None:
    """ValueError where what is stored of a point is not what was written.

    Nothing is read where the trailer vouches for the file, nor in files of schema version 1.
    """
    if not trailer.is_heeded() or not has_checksums(file):
        return
    if trailer.of(Path(file.filename)) is not trailer.Trailer.RIGHT and not is_right(file, point):
        raise ValueError(
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
        known.rows = known.rows or checksums.Rows(file)
        sums = checksums.PointChecksums(file, known.rows)
        known.right[point] = told != checksums.NONE and told == sums.of(point)
    return known.right[point]


def settle(file: h5py.File, states: NDArray[Any]) -> None:
    """Rows that are pending though they are measured: whole, but the disk had not told so yet."""
    if checksums.POINTS not in file:
        return
    told = file[checksums.POINTS][()]
    if told.shape != states.shape:
        raise ValueError(f"/{checksums.POINTS} has shape {told.shape}, not {states.shape}")
    for point in np.flatnonzero((states == _PENDING) & (told != checksums.NONE)):
        try:
            right = is_right(file, int(point))
        except _UNREADABLE:
            continue
        if right:
            states[point] = _measured(file, int(point))


def _measured(file: h5py.File, point: int) -> int:
    """The state that its row has but for the last byte that was to be written."""
    if file["ops"][point] > 0:
        return _COMPLETE
    return _SKIPPED if file["attempts"][point] < 0 else _FAILED
