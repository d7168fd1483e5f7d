# SPDX-License-Identifier: BSD-3-Clause
"""Datasets and attributes by HDF5's own calls: h5py's take thrice the time, a file has hundreds."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeAlias

import h5py
import numpy as np
from h5py import h5a, h5d, h5p, h5s, h5t

Member: TypeAlias = h5py.Group | h5py.Dataset
TEXT: Final = h5py.string_dtype()
_NUMBERS: Final = "iuf"


@lru_cache(maxsize=256)
def _type(of: str, is_stored: bool = True) -> h5t.TypeID:
    """By a type's letters, or none for a text; as it is stored or as it is in memory."""
    return h5t.py_create(np.dtype(of) if of else TEXT, logical=is_stored)


def _known(kind: np.dtype[Any]) -> str | None:
    """The letters of a type without more to it; None of one that h5py is left to."""
    if kind.kind in _NUMBERS and not kind.metadata:
        return kind.str
    return "" if h5py.check_string_dtype(kind) == h5py.check_string_dtype(TEXT) else None


def in_memory(kind: np.dtype[Any]) -> h5t.TypeID:
    """What a value of a type is read as."""
    letters = _known(kind)
    return h5t.py_create(kind) if letters is None else _type(letters, False)


@lru_cache(maxsize=64)
def _properties(fill: int | None) -> h5p.PropDCID:
    """Of a dataset whose values stand side by side, as h5py has them."""
    found = h5p.create(h5p.DATASET_CREATE)
    found.set_obj_track_times(False)
    if fill is not None:
        found.set_fill_value(np.array(fill))
    return found


def filled(group: h5py.Group, name: str, kind: Any, data: Any) -> h5py.Dataset | None:
    """As `group.create_dataset(name, data=data, dtype=kind)`; None: that is left to h5py."""
    values = np.asarray(data, order="C")
    letters = _known(np.dtype(kind or values.dtype))
    if letters is None or not _is_plain(name) or (letters == "") != (values.dtype.kind == "O"):
        return None
    made = _made(group, name, letters, values.shape, None)
    if values.size:
        made.write(h5s.ALL, h5s.ALL, values, _type(values.dtype.str if letters else "", False))
    return h5py.Dataset(made)


def blank(
    group: h5py.Group, name: str, shape: tuple[int, ...], kind: Any, fill: int | None = None
) -> h5py.Dataset | None:
    """As `group.create_dataset(name, shape, kind, fillvalue=fill)`; None: that is left to h5py."""
    letters = _known(np.dtype(kind))
    return (
        h5py.Dataset(_made(group, name, letters, shape, fill))
        if letters and _is_plain(name)
        else None
    )


def _is_plain(name: str) -> bool:
    """Whether it is stored as it stands, in the group itself."""
    return name.isascii() and "/" not in name


def _made(
    group: h5py.Group, name: str, letters: str, shape: tuple[int, ...], fill: int | None
) -> h5d.DatasetID:
    space = h5s.create_simple(shape)
    return h5d.create(group.id, name.encode(), _type(letters), space, dcpl=_properties(fill))


def attribute(member: Member, name: str, value: Any) -> None:
    """As `member.attrs[name] = value` makes it, or makes another value of it."""
    is_text = type(value) is str
    values = np.array(value, object) if is_text else np.asarray(value, order="C")
    letters = "" if is_text else _known(values.dtype) if values.dtype != object else None
    if letters is None or not name.isascii():
        member.attrs[name] = value
        return
    place, stored = name.encode(), _type(letters)
    if not h5a.exists(member.id, place):
        made = h5a.create(member.id, place, stored, h5s.create_simple(values.shape))
    else:
        made = h5a.open(member.id, place)
        if made.get_type() != stored or made.shape != values.shape:
            member.attrs[name] = value
            return
    made.write(values, _type(letters, False))
