# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of groups and datasets, as a copy keeps them: newer programs have some of their own.

Those of the root and of a launch are read by themselves (`reading`, `segments`). A copy makes most
of the others by its own tables, and gets what these lack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import h5py
import numpy as np

from a2aperf import checksums, making, strict
from a2aperf.errors import DAMAGE, what_is_damaged

Attributes = dict[str, dict[str, Any]]
"""By the path of whose they are, without the first slash, and by name."""
_MADE_ANEW = {checksums.OF_COLUMN}
_OF_HDF5 = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"}
_DESCRIBING = {
    "count",
    "long_name",
    "units",
    "better",
    "flag_values",
    "flag_meanings",
    "_FillValue",
}
"""Of one meaning everywhere: those of one file serve for all."""
_LAUNCH = re.compile(r"segments/(\d+)")


class DifferError(ValueError):
    """Two files say otherwise of one thing."""


def of_file(file: h5py.File, unread: list[str] | None = None) -> Attributes:
    """All but the root's and the launches' own.

    ValueError for one that is neither a text nor numbers; where `unread` is given it is named there
    and the others are kept.
    """
    found: Attributes = {}
    for place, member in checksums.members(file, None if unread is None else []):
        path = place[1:]
        if not path or _LAUNCH.fullmatch(path):
            continue
        for name in _names(member, unread):
            try:
                found.setdefault(path, {})[name] = _value(path, name, member.attrs[name])
            except DAMAGE as error:
                if unread is None:
                    raise
                if name not in _DESCRIBING:  # which a copy has anyway
                    unread.append(f"/{path}: its attribute {name}: {what_is_damaged(error)}")
    return found


def _names(member: checksums.Member, unread: list[str] | None) -> list[str]:
    try:
        return [name for name in member.attrs if name not in _OF_HDF5 | _MADE_ANEW]
    except DAMAGE:
        if unread is None:
            raise
        return []  # nobody knows which; the digest tells that some are not as they were


def _value(path: str, name: str, value: Any) -> Any:
    if isinstance(value, str | bytes):
        return strict.text(value)
    if np.asarray(value).dtype.kind in "iufb":
        return value
    raise ValueError(f"attribute {name} of /{path} is neither a text nor numbers")


def of_segment(found: Attributes, by: int) -> Attributes:
    """The same of a file whose launches come behind so many others."""
    return {
        _LAUNCH.sub(lambda path: f"segments/{int(path[1]) + by}", path, count=1): values
        for path, values in found.items()
    }


def joined(files: Iterable[Attributes]) -> Attributes:
    """Of several files as one; DifferError where they say otherwise."""
    both: Attributes = {}
    for found in files:
        for path, values in found.items():
            mine = both.setdefault(path, {})
            for name, value in values.items():
                known = mine.setdefault(name, value)
                if name not in _DESCRIBING and not _is_same(known, value):
                    raise DifferError(f"attribute {name} of /{path} differs")
    return both


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(np.array_equal(one, other))
    return bool(np.array_equal(one, other, equal_nan=True))


def mapped(found: Attributes, function: Callable[[str], str]) -> Attributes:
    """With other texts."""
    return {
        path: {n: function(one) if isinstance(one, str) else one for n, one in values.items()}
        for path, values in found.items()
    }


def texts(found: Attributes) -> Iterator[tuple[str, str]]:
    """Those that are texts and say more than what a thing is: the name, and the text."""
    for values in found.values():
        for name, value in values.items():
            if isinstance(value, str) and name not in _DESCRIBING:
                yield name, value


def add(file: h5py.File, found: Attributes) -> None:
    """To what a copy has, those that it lacks."""
    for path, values in found.items():
        member = file.get(path)
        for name, value in values.items() if member is not None else ():
            if name not in member.attrs:
                making.attribute(member, name, value)
