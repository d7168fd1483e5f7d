# SPDX-License-Identifier: BSD-3-Clause
"""A text of somebody's choice in every field of a results file that holds one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from support.edited import edited

SENSE = {
    "schema", "workload", "replicate", "layout", "percentile_rule", "complete_at", "sync", "units",
    "flag_meanings", "better", "CLASS", "NAME", "role", "engine", "counters",
}  # fmt: skip
"""Texts that decide what is done with the file; of these another is another file."""
NAMES = ("environment_name", "label_name", "attachment_name", "port_names")
"""Lists of names, each of which is there once."""


def plant(path: Path, text: str, spared: tuple[str, ...] = ()) -> list[str]:
    """Append the text to every text that the file holds; says where, without the `spared`."""
    with edited(path) as file:
        return list(_everywhere(file, text, {*SENSE, *spared}))


def _everywhere(file: h5py.File, text: str, spared: set[str]) -> Iterator[str]:
    objects: list[Any] = [file]
    file.visititems(lambda _, found: objects.append(found))
    for found in objects:
        for name, value in list(found.attrs.items()):
            if isinstance(value, str) and name not in spared:
                found.attrs[name] = value + text
                yield f"{found.name}@{name}"
        name = found.name.rpartition("/")[2]
        if isinstance(found, h5py.Dataset) and found.dtype.kind in "OS" and name not in spared:
            _append(found, text)
            yield found.name


def _append(dataset: h5py.Dataset, text: str) -> None:
    kind = dataset.dtype
    if dataset.shape == ():
        dataset[()] = (_str(dataset[()]) + text).encode()
    elif dataset.shape[0]:
        values = [_str(one) + text for one in dataset[()].ravel()]
        fixed = kind.kind == "S"
        array = np.array(
            [one.encode()[: kind.itemsize] for one in values] if fixed else values, kind
        )
        dataset[...] = array.reshape(dataset.shape)


def _str(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
