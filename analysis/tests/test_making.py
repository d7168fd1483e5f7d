# SPDX-License-Identifier: BSD-3-Clause
"""What is made by HDF5's own calls is what h5py would have made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from a2aperf import making
from a2aperf.opened_once import OpenedOnce

VALUES = {
    "text": "receiver",
    "empty text": "",
    "other letters": "µs, 日本",
    "a text of numpy's": np.bytes_(b"four"),
    "bytes": b"four",
    "whole": 7,
    "float": 2.5,
    "truth": True,
    "a byte": np.int8(-1),
    "no sign": np.uint64(2**64 - 1),
    "half": np.float16(0.5),
    "highest byte first": np.arange(3, dtype=">i4"),
    "two dimensions": np.arange(6.0).reshape(2, 3).T,
    "none": np.array([], np.int8),
}
TEXTS = np.array(["one", "", "zwölf"], object)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[tuple[h5py.File, h5py.File]]:
    """One that h5py fills, and one of ours."""
    ours = OpenedOnce(tmp_path / "ours.h5", "w")
    with h5py.File(tmp_path / "h5py.h5", "w") as theirs, ours:
        yield theirs, ours


def alike(one: Any, other: Any) -> None:
    """Datasets or attributes of one type, shape and content."""
    assert one.get_type().encode() == other.get_type().encode()
    assert one.get_space().shape == other.get_space().shape


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("name", ["units", "größe"])
def test_an_attribute(files: tuple[h5py.File, h5py.File], name: str, value: Any) -> None:
    theirs, ours = files
    theirs.attrs[name] = value
    for _ in range(2):  # there already, the second time
        making.attribute(ours, name, value)
        alike(theirs.attrs.get_id(name), ours.attrs.get_id(name))
        np.testing.assert_array_equal(ours.attrs[name], theirs.attrs[name])


@pytest.mark.parametrize("before", ["text", "a byte", "two dimensions"])
def test_an_attribute_of_another_type_before(
    files: tuple[h5py.File, h5py.File], before: str
) -> None:
    theirs, ours = files
    for value in (VALUES[before], np.int64(5)):
        theirs.attrs["checksum"] = value
        making.attribute(ours, "checksum", value)
    alike(theirs.attrs.get_id("checksum"), ours.attrs.get_id("checksum"))
    assert ours.attrs["checksum"] == 5


@pytest.mark.parametrize("name", ["time", "a/b", "größe"])
@pytest.mark.parametrize(
    "options",
    [
        *({"data": value} for value in VALUES.values() if not isinstance(value, str)),
        {"data": "text", "dtype": making.TEXT},
        {"data": TEXTS, "dtype": making.TEXT},
        {"data": TEXTS[:0], "dtype": making.TEXT},
        {"data": np.arange(3), "dtype": "float32"},
        {"shape": (2, 3), "dtype": "i8", "fillvalue": -1},
        {"shape": (2, 3), "dtype": "i4", "fillvalue": -1},
        {"shape": (), "dtype": "f8"},
        {"shape": (2,), "dtype": making.TEXT},
        {"shape": (2, 3), "dtype": "i8", "chunks": (1, 3), "compression": 4, "shuffle": True},
    ],
    ids=str,
)
def test_a_dataset(files: tuple[h5py.File, h5py.File], name: str, options: dict[str, Any]) -> None:
    for file in files:
        file.create_dataset(name, **options)
    theirs, ours = (file[name] for file in files)
    alike(theirs.id, ours.id)
    np.testing.assert_array_equal(ours[()], theirs[()])
    for kept in ("chunks", "compression", "shuffle", "fillvalue"):
        assert getattr(ours, kept) == getattr(theirs, kept)


def test_what_was_made_is_not_opened_again(files: tuple[h5py.File, h5py.File]) -> None:
    _, ours = files
    made = ours.create_group("raw").create_dataset("begin", data=np.arange(3))
    assert ours["raw"]["begin"] is made
    assert "begin" in ours["raw"]
    del ours["raw"]["begin"]
    assert "begin" not in ours["raw"]
