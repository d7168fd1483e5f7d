# SPDX-License-Identifier: BSD-3-Clause
"""Columns of samples that run along something else than ops, of which the file says how many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import a2aperf
from a2aperf import checksums, loading
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
SETUP = Setup(nodes=2, sizes=(1000, 8000), ops=12)
COUNTS = (5, 3)
"""Ticks of each point; there is room for more."""
ROOM = 7
WORDS = {"long_name": "messages that came in the tick", "units": "B"}


def add(path: Path, dimensions: int = 3, counts: tuple[int, ...] = COUNTS) -> Any:
    """What a program with durations writes; returns the values."""
    with edited(path) as file:
        points, _, ranks = file["raw/begin"].shape
        ticks = file.create_dataset("ticks", data=np.array(counts, "i4"))
        ticks.attrs["long_name"] = "ticks of the duration in /raw"
        ticks.attrs["_FillValue"] = np.int32(-1)
        ticks.dims[0].attach_scale(file["point"])
        raw = file["raw"]
        raw["tick"] = np.arange(ROOM)
        raw["tick"].make_scale("tick")
        shape = (points, ROOM, ranks)[:dimensions]
        values = np.arange(np.prod(shape)).reshape(shape) + 10
        for name in ("came", "went"):
            dataset = raw.create_dataset(name, data=values)
            dataset.attrs.update({**WORDS, "count": "ticks"})
            for axis, scale in enumerate(("/point", "tick", "rank")[:dimensions]):
                dataset.dims[axis].attach_scale(raw[scale])
    return values


def values_of(path: Path, name: str) -> list[Any]:
    """Of every point that has samples."""
    found = loading.load([path])
    (file,) = found.files
    column = found.own_columns(file)[name]
    points = np.flatnonzero(found.points["has_raw"])
    return [found.own(file, int(point), column) for point in points]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return synthetic.write_launch(tmp_path / "small.h5", SETUP)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_each_point_has_as_many_as_its_row_says(small: Path, a2a: A2A, dimensions: int) -> None:
    values = add(small, dimensions)
    for point, (found, count) in enumerate(zip(values_of(small, "came"), COUNTS, strict=True)):
        assert np.array_equal(found, values[point, :count])
    assert a2a("check", small).out.endswith("sound\n")


def test_what_lies_behind_them_is_no_part_of_the_point(small: Path) -> None:
    add(small)
    with h5py.File(small, "r+") as file:
        before = checksums.PointChecksums(file).of(0)
        file["raw/came"][0, COUNTS[0] :] = -5
        assert checksums.PointChecksums(file).of(0) == before
        file["raw/came"][0, COUNTS[0] - 1] = -5
        assert checksums.PointChecksums(file).of(0) != before


def test_a_change_in_one_of_them_is_found(small: Path, a2a: A2A) -> None:
    add(small)
    with h5py.File(small, "r+") as file:
        file["raw/came"][1, COUNTS[1] - 1, 2] ^= 1
    outcome = a2a("check", small)
    assert outcome.status == 2
    assert "point 1" in outcome.out


def test_more_than_there_is_room_for_is_told(small: Path, a2a: A2A) -> None:
    add(small, counts=(5, ROOM + 1))
    outcome = a2a("check", small)
    assert outcome.status == 2
    assert f"/raw/came has shape (2, {ROOM}, 4), too small for (2, {ROOM + 1}, 4)" in outcome.out


@pytest.mark.parametrize("count", ["none", "tacks", "role", "attempts"])
def test_one_whose_number_nothing_tells_is_not_dropped_silently(
    small: Path, tmp_path: Path, a2a: A2A, count: str
) -> None:
    add(small)
    with edited(small) as file:
        file["raw/went"].attrs["count"] = count
    outcome = a2a("check", small)
    assert "/raw/went" in outcome.out
    out = tmp_path / "copy.h5"
    key = ("--key", tmp_path / "key")
    assert a2a("export", small, "--anonymize", *key, "-o", out).status != 0
    assert not out.exists()


def test_an_anonymous_copy_keeps_them(small: Path, tmp_path: Path, a2a: A2A) -> None:
    values = add(small)
    copy = tmp_path / "copy.h5"
    key = ("--key", tmp_path / "key")
    assert a2a("export", small, "--anonymize", *key, "-o", copy).status == 0
    found = values_of(copy, "went")
    assert all(np.array_equal(one, values[p, : COUNTS[p]]) for p, one in enumerate(found))
    with h5py.File(copy) as file:
        went = file["raw/went"]
        assert went.shape == (2, max(COUNTS), 4)
        assert went.attrs["count"] == "ticks"
        assert went.attrs["long_name"] == WORDS["long_name"]
        assert went.dims[1][0].name == "/raw/tick"
    assert a2a("check", copy).out.endswith("sound\n")


def test_a_merge_keeps_them_beside_points_that_have_none(
    small: Path, tmp_path: Path, a2a: A2A
) -> None:
    values = add(small)
    other = synthetic.write_launch(tmp_path / "other.h5", replace(SETUP, seed=1))
    merged = tmp_path / "merged.h5"
    outcome = a2a("merge", small, other, "-o", merged)
    assert outcome.status == 0, outcome.err
    found = values_of(merged, "came")
    assert [len(one) for one in found] == [*COUNTS, 0, 0]
    assert all(np.array_equal(found[p], values[p, :n]) for p, n in enumerate(COUNTS))
    assert a2a("check", merged).out.endswith("sound\n")


def test_a_repaired_file_keeps_those_of_sound_points(small: Path, tmp_path: Path, a2a: A2A) -> None:
    values = add(small)
    with h5py.File(small, "r+") as file:
        file["raw/came"][1, 0, 0] ^= 1
    repaired = tmp_path / "repaired.h5"
    a2a("check", "--repair", small, "-o", repaired)
    (found,) = values_of(repaired, "came")
    assert np.array_equal(found, values[0, : COUNTS[0]])


def test_they_are_no_quantity_of_ops(small: Path) -> None:
    add(small)
    with pytest.raises(a2aperf.InputError, match="came: expected one of"):
        a2aperf.open(small).ops("came", message_size=1000)
