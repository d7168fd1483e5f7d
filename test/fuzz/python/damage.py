# SPDX-License-Identifier: BSD-3-Clause
"""Damage to a results file, by the scripts that ../damage.hpp describes."""

import contextlib
import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

MOST_EDITS = 8
_MOST_ELEMENTS = 1 << 20  # more than any real dataset has here: a made-up shape
_LONGEST_TEXT = 4096
_NUMBERS = {"i8": "<i1", "i32": "<i4", "i64": "<i8", "u64": "<u8", "f64": "<f8"}


def damage(path: Path, script: str) -> None:
    """Make the edits, one a line; those that cannot be made are left out."""
    length = None
    edits = [line.split() for line in script.split("\n")]
    with h5py.File(path, "r+", libver=("earliest", "latest")) as file:
        for words in [words for words in edits if len(words) > 1][:MOST_EDITS]:
            if words[0] == "truncate":
                length = int(words[1]) if words[1].isdecimal() and len(words[1]) < 10 else length
                continue
            # such as: no object of that name, a value that is no number, a text that cannot be stored
            with contextlib.suppress(Exception):
                _edit(file, words)
    if length is not None and length < path.stat().st_size:
        os.truncate(path, length)


def _edit(file: h5py.File, words: list[str]) -> None:
    verb, path = words[0], words[1]
    if verb in ("drop", "attribute"):
        owner, _, name = path.rpartition("@")
        _attribute(file[owner or "/"], verb, name, words[2:])
    elif verb == "set":
        _set(file[path], int(words[2]), " ".join(words[3:]))
    elif verb in ("delete", "group", "link", "dataset"):
        if path in file:
            del file[path]
        if verb == "group":
            file.create_group(path)
        elif verb == "link":
            file[path] = h5py.SoftLink(words[2])
        elif verb == "dataset":
            shape = tuple(int(word) for word in words[3:7])
            file.create_dataset(path, shape, _type(words[2]))


def _attribute(owner: Any, verb: str, name: str, words: list[str]) -> None:
    if name in owner.attrs:
        del owner.attrs[name]
    if verb == "attribute":
        kind = _type(words[0])
        owner.attrs.create(name, _value(kind, " ".join(words[1:])), (), kind)


def _set(dataset: h5py.Dataset, index: int, text: str) -> None:
    if not 0 < dataset.size <= _MOST_ELEMENTS:
        return
    place = np.unravel_index(index % dataset.size, dataset.shape) if dataset.shape else ()
    dataset[place] = _value(dataset.dtype, text)


def _type(name: str) -> np.dtype[Any]:
    if name in _NUMBERS:
        return np.dtype(_NUMBERS[name])
    if name == "text":
        return h5py.string_dtype()
    prefix = "opaque" if name.startswith("opaque") else "s"
    length = min(max(int(name.removeprefix(prefix)), 1), _LONGEST_TEXT)
    return np.dtype(f"V{length}") if prefix == "opaque" else h5py.string_dtype(length=length)


def _value(kind: np.dtype[Any], text: str) -> Any:
    if kind.kind in "iu":
        return np.int64(int(text)).astype(kind)
    if kind.kind == "f":
        return float(text)
    return np.zeros((), kind) if kind.kind == "V" else text.encode(errors="surrogateescape")
