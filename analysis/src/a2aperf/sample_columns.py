# SPDX-License-Identifier: BSD-3-Clause
"""Columns in /raw beside those that every workload has: what the file says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import schema, strict
from a2aperf.datasets import RAW, Described
from a2aperf.errors import InputError

_SCALES = ("point", "attempt", "rank", "source")
"""Dimensions of a value of each op; of each rank in it; of each message to it."""
COUNT = "count"
"""Attribute of a column that runs along something else: the column of the points that says how many
of it a point has."""
ATTEMPTS = "attempts"


@dataclass(frozen=True)
class SampleColumn:
    """Values [P, A], [P, A, R] or [P, A, R, R]; `fill` stands for one that is not there.

    Another dimension may stand for the attempts, such as the ticks of a duration: `count` is the
    column of the points that says how many of it each has.

    `has_fill_value`: the file says so; else it is what the program leaves where there is none.
    """

    name: str
    dtype: str
    scales: tuple[str, ...]
    units: str = ""
    fill: int | float | None = None
    has_fill_value: bool = False
    long_name: str = ""
    count: str = ATTEMPTS

    @property
    def is_along_ops(self) -> bool:
        """Whether each op has its value, or values."""
        return self.count == ATTEMPTS

    @property
    def described(self) -> Described:
        """What the writer says of it and `check` asks for."""
        return Described(self.long_name, self.scales, self.units)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Those of one point's values."""
        return ("op" if self.is_along_ops else self.scales[1], *self.scales[2:])

    def shape(self, count: int, ranks: int) -> tuple[int, ...]:
        """That of one point's values."""
        return (count, *(ranks for _ in self.scales[2:]))

    def marked(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """The values with NaN where there is none; whole numbers stay whole where all are there."""
        if self.fill is None or np.isnan(self.fill):
            return values
        there = values != self.fill
        return values if there.all() else np.where(there, values, np.nan)


def declared(raw: h5py.Group) -> dict[str, SampleColumn]:
    """The columns of a file's own, by name."""
    found = {name: _column(raw, name) for name in sorted(set(raw) - set(RAW))}
    return {name: column for name, column in found.items() if column is not None}


def strangers(raw: h5py.Group) -> list[str]:
    """What else is there that nothing is known of: of other dimensions, or no numbers."""
    known = {*RAW, *declared(raw)}
    return [name for name in sorted(set(raw) - known) if not _is_scale(raw, name)]


def of_copy(path: Path, raw: h5py.Group) -> dict[str, SampleColumn]:
    """The columns of a file's own; InputError where a copy by them would lack something."""
    if left_out := strangers(raw):
        raise InputError(
            f"{path}: /raw/{left_out[0]} has no values of each op, rank or message that this "
            "a2a knows, nor says how many it has: a copy would lack it"
        )
    return declared(raw)


def joined(by_file: Mapping[str, Mapping[str, SampleColumn]]) -> dict[str, SampleColumn]:
    """The columns of all files, as the first that has one describes it.

    Raises InputError where files mean different things by one name.
    """
    found: dict[str, tuple[str, SampleColumn]] = {}
    for file, columns in by_file.items():
        for name, column in columns.items():
            other, known = found.setdefault(name, (file, column))
            if _meant(known) != _meant(column):
                raise InputError(
                    f"/raw/{name} is {_meant(known)} in {other} and {_meant(column)} in {file}; "
                    "such files stay apart"
                )
    return {name: column for name, (_, column) in found.items()}


def _meant(column: SampleColumn) -> str:
    unit = f" in {column.units}" if column.units else ""
    fill = f", {column.fill} for none," if column.has_fill_value else ""
    many = "" if column.is_along_ops else f" ({column.count} of them)"
    return f"{np.dtype(column.dtype)}{unit}{fill} by {', '.join(column.scales)}{many}"


def _is_scale(raw: h5py.Group, name: str) -> bool:
    if raw.get(name, getclass=True, getlink=True) is not h5py.HardLink:
        return False  # of another file, or of none
    found = raw[name]
    return isinstance(found, h5py.Dataset) and found.is_scale


def _column(raw: h5py.Group, name: str) -> SampleColumn | None:
    """As the file describes it; None for what is no column of samples."""
    if raw.get(name, getclass=True, getlink=True) is not h5py.HardLink:
        return None
    dataset = raw[name]
    if not isinstance(dataset, h5py.Dataset) or dataset.shape is None or dataset.is_scale:
        return None
    scales = _scales(dataset)
    count = _count(dataset)
    if dataset.dtype.kind not in "iuf" or count is None or not _is_known(scales, count):
        return None
    long_name, units = (strict.text(dataset.attrs.get(key, "")) for key in ("long_name", "units"))
    told = "_FillValue" in dataset.attrs
    fill = _fill(dataset)
    return SampleColumn(name, dataset.dtype.str, scales, units, fill, told, long_name, count)


def _count(dataset: h5py.Dataset) -> str | None:
    """The column that says how many of its second dimension a point has; None where none is it."""
    count = strict.text(dataset.attrs.get(COUNT, ATTEMPTS))
    if count == ATTEMPTS:
        return count
    column = dataset.file.get(count) if count else None
    if not isinstance(column, h5py.Dataset) or column.dtype.kind not in "iu":
        return None
    return count if column.shape == dataset.shape[:1] else None


def _is_known(scales: tuple[str, ...], count: str) -> bool:
    if count == ATTEMPTS:
        return scales in (_SCALES[:2], _SCALES[:3], _SCALES)
    along = scales[1:2]
    ends = [(_SCALES[0], *along, *_SCALES[2:last]) for last in (2, 3, 4)]
    return len(along) == 1 and along[0] not in (*_SCALES, "") and scales in ends


def _scales(dataset: h5py.Dataset) -> tuple[str, ...]:
    """The names of its dimensions; where it doesn't name one, the usual at that place."""
    usual = (*_SCALES, *("" for _ in range(dataset.ndim)))
    return tuple(
        str(dimension[0].name).rpartition("/")[2] if len(dimension) else usual[axis]
        for axis, dimension in enumerate(dataset.dims)
    )


def _fill(dataset: h5py.Dataset) -> int | float | None:
    """What stands for no value: `_FillValue`, or of what the program always leaves out."""
    if "_FillValue" in dataset.attrs:
        found: str | int | float = strict.plain("_FillValue", dataset.attrs["_FillValue"])
        if isinstance(found, str) or not _fits(found, dataset.dtype):
            raise ValueError(f"{dataset.name} has no number of its type as _FillValue")
        return found
    if dataset.dtype.kind == "f":
        return np.nan
    return schema.NO_MOMENT if dataset.dtype.str[1:] == "i8" else None


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    if dtype.kind == "f":
        return True
    limits = np.iinfo(dtype)
    return limits.min <= value <= limits.max and int(value) == value
