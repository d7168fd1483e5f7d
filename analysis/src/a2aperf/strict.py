# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a file that anybody may have written: of the type, rank and length that they must have.

Everything here raises ValueError, in words, where they are not; nothing larger is read than asked.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

MOST = 1 << 24
"""Ranks, points or names: a message's tag has 24 bits for its source."""


def text(value: Any) -> str:
    """Text of a string attribute or element, whichever way HDF5 stored it."""
    value = _element(value)
    if isinstance(value, str):  # what is no UTF-8 in it is a lone surrogate
        value = value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return value.partition(b"\0")[0].decode("utf-8", "replace")
    return str(value)


def _element(value: Any) -> Any:
    """What a list of one holds; anything else as it is."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return value.reshape(-1)[0]
    return value


def texts(dataset: Any, most: int = MOST) -> list[str]:
    """All strings of a list."""
    _require_dataset(dataset)
    if dataset.shape == (0,):  # of whatever type
        return []
    if len(dataset.shape) != 1 or dataset.dtype.kind not in "OS":
        raise ValueError(f"{dataset.name} is no list of texts")
    _require_length(dataset, most)
    return [text(value) for value in _stored(dataset)]


def one_text(dataset: Any) -> str:
    """The string of a scalar."""
    _require_dataset(dataset)
    if dataset.shape != () or dataset.dtype.kind not in "OS":
        raise ValueError(f"{dataset.name} is not one text")
    return text(_stored(dataset))


def one_number(dataset: Any) -> int:
    """The integer of a scalar."""
    _require_dataset(dataset)
    if dataset.shape != () or dataset.dtype.kind not in "iu":
        raise ValueError(f"{dataset.name} is no whole number")
    return int(_stored(dataset))


def numbers(dataset: Any, kind: str, most: int = MOST) -> NDArray[Any]:
    """A list of numbers as numpy's type `kind`; whole ones may be stored as floats."""
    _require_dataset(dataset)
    if len(dataset.shape) != 1 or dataset.dtype.kind not in "iufb":
        raise ValueError(f"{dataset.name} is no list of numbers")
    _require_length(dataset, most)
    found: NDArray[Any] = _stored(dataset)
    if np.dtype(kind).kind in "iu" and not (np.abs(found.astype(float)) < 2.0**63).all():
        raise ValueError(f"{dataset.name} has values that are no whole numbers")
    return found.astype(kind)


def flags(dataset: Any, found: NDArray[Any]) -> NDArray[np.bool_]:
    """Numbers of this dataset that say yes, 1, or no, 0."""
    if not np.isin(found, (0, 1)).all():
        raise ValueError(f"{dataset.name} has values other than 0 and 1")
    return found.astype(bool)


def array(dataset: Any, dimensions: int) -> NDArray[Any]:
    """All numbers of a dataset of so many dimensions."""
    _require_dataset(dataset)
    if dataset.dtype.kind not in "iufb" or len(dataset.shape) != dimensions:
        raise ValueError(f"{dataset.name} has {dataset.ndim} dimensions of {dataset.dtype}")
    found: NDArray[Any] = _stored(dataset)
    return found


def part(dataset: Any, place: tuple[Any, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    """The whole numbers at a place, which must have this shape."""
    found = values(dataset, place, shape)
    if found.dtype.kind == "f" and not (np.abs(found) < 2.0**63).all():
        raise ValueError(f"{dataset.name} has values that are no whole numbers")
    return found


def values(dataset: Any, place: tuple[Any, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    """The numbers at a place, which must have this shape."""
    _require_dataset(dataset)
    if dataset.dtype.kind not in "iufb" or len(place) != len(dataset.shape):
        raise ValueError(f"{dataset.name} has {dataset.ndim} dimensions of {dataset.dtype}")
    found: NDArray[Any] = _stored(dataset, place)
    if found.shape != shape:
        raise ValueError(f"{dataset.name} has shape {dataset.shape}, too small for {shape}")
    return found


def plain(name: str, value: Any) -> Any:
    """An attribute as str, int or float; HDF5's tools store many as a list of one."""
    value = _element(value)
    if isinstance(value, bytes | str):
        return text(value)
    if isinstance(value, np.integer | np.bool_):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    raise ValueError(f"the attribute {name} is neither a text nor a number")


def like(name: str, value: Any, blank: Any) -> Any:
    """An attribute as str, int or float, as the value that stands for "not known" is."""
    found = plain(name, value)
    kinds: Any = str if isinstance(blank, str) else int
    if isinstance(blank, float):  # numpy's, too
        kinds = int | float
    if not isinstance(found, kinds):
        raise ValueError(f"the attribute {name} is {found!r}, not as {blank!r} is")
    return found


def group(found: Any) -> h5py.Group:
    """What must be a group."""
    if not isinstance(found, h5py.Group):
        raise ValueError(f"{_called(found)} is no group")
    return found


def dataset(found: Any) -> h5py.Dataset:
    """What must be a dataset with values."""
    _require_dataset(found)
    return found


def _called(found: Any) -> str:
    """Its name; h5py has None for a member of a group that leads nowhere."""
    return str(getattr(found, "name", "a part that cannot be opened"))


def _stored(dataset: h5py.Dataset, place: Any = ()) -> Any:
    try:
        return dataset[place]
    except (OSError, RuntimeError) as error:
        raise ValueError(f"{dataset.name} cannot be read") from error


def _require_dataset(found: Any) -> None:
    if not isinstance(found, h5py.Dataset):
        raise ValueError(f"{_called(found)} is no dataset")
    if found.shape is None:
        raise ValueError(f"{found.name} is empty")


def _require_length(dataset: h5py.Dataset, most: int) -> None:
    if len(dataset) > most:
        raise ValueError(f"{dataset.name} has {len(dataset)} values where {most} are the most")
