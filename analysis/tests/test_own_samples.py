# SPDX-License-Identifier: BSD-3-Clause
"""Columns of samples that a workload, or a newer writer, has beside those of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import a2aperf
from a2aperf import schema
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
SETUP = Setup(nodes=2, sizes=(1000, 8000), ops=12)
SCALES = ("/point", "attempt", "rank", "source")


def add(path: Path, name: str, dimensions: int, kind: str = "i8", **attributes: Any) -> Any:
    """What a newer writer would do; returns the values. Those of rank 0 in each op are none."""
    with edited(path) as file:
        raw = file["raw"]
        shape = (*raw["begin"].shape, raw["begin"].shape[2])[:dimensions]
        values = np.arange(np.prod(shape)).reshape(shape).astype(kind)
        if kind == "i8" and dimensions > 2:
            values[:, :, 0] = schema.NO_MOMENT
        if dimensions > 3 and "source" not in raw:
            raw["source"] = np.arange(shape[3])
            raw["source"].make_scale("source")
        dataset = raw.create_dataset(name, data=values)
        dataset.attrs.update(attributes)
        for axis, scale in enumerate(SCALES[:dimensions]):
            dataset.dims[axis].attach_scale(raw[scale])
    return values


def stored(path: Path, name: str) -> Any:
    with h5py.File(path) as file:
        dataset = file["raw"][name]
        said = {key: dataset.attrs[key] for key in ("long_name", "units") if key in dataset.attrs}
        return dataset[()], said, [dimension[0].name for dimension in dataset.dims]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return synthetic.write_launch(tmp_path / "small.h5", SETUP)


TURNED = {"long_name": "the rank turned, from the op's start", "units": "ns"}


def test_a_moment_of_each_rank_is_an_array_with_its_words(small: Path) -> None:
    values = add(small, "turned", 3, **TURNED)
    runs = a2aperf.open(small)
    found = runs.ops("turned", message_size=8000)
    assert (found.dims, found.shape, found.name) == (("op", "rank"), (12, 4), "turned")
    assert found.attrs == {**TURNED, "message_size": 8000}
    assert found[:, 0].isnull().all()
    assert np.array_equal(found[:, 1:], values[1, :, 1:])
    assert found["start"].equals(runs.ops("end", message_size=8000)["start"])


def test_whole_numbers_stay_whole_where_all_are_there(small: Path) -> None:
    values = add(small, "polls", 3, "i4")
    found = a2aperf.open(small).ops("polls", message_size=1000)
    assert (found.dtype.name, found.attrs) == ("int32", {"message_size": 1000})
    assert np.array_equal(found, values[0])


def test_a_fill_value_stands_for_none(small: Path) -> None:
    add(small, "polls", 3, "i4", _FillValue=np.int32(5))
    add(small, "load", 3, "f8", _FillValue=-1.0)
    runs = a2aperf.open(small).sel(message_size=1000)
    assert np.argwhere(np.isnan(runs.ops("polls").to_numpy())).tolist() == [[1, 1]]
    assert runs.ops("load").dtype == np.float64


def test_values_of_each_op_and_of_each_message(small: Path) -> None:
    of_op, of_message = add(small, "retries", 2), add(small, "seen", 4)
    runs = a2aperf.open(small).sel(message_size=1000)
    assert runs.ops("retries").dims == ("op",)
    assert np.array_equal(runs.ops("retries"), of_op[0])
    found = runs.ops("seen")
    assert (found.dims, found.shape) == (("op", "rank", "source"), (12, 4, 4))
    assert np.array_equal(found[:, 1:], of_message[0][:, 1:])


def test_only_valid_ops_unless_all_are_asked_for(tmp_path: Path) -> None:
    late = replace(SETUP, sizes=(1000,), ops=40, effects=synthetic.Effects(late_share=0.2))
    path = synthetic.write_launch(tmp_path / "late.h5", late)
    values = add(path, "turned", 3)
    with h5py.File(path) as file:
        count = int(file["attempts"][0])
        valid = file["raw/valid"][0][:count].astype(bool)
    assert 0 < valid.sum() < count
    runs = a2aperf.open(path)
    assert np.array_equal(runs.ops("turned")[:, 1:], values[0][:count][valid][:, 1:])
    assert np.array_equal(runs.ops("turned", valid=False)[:, 1:], values[0][:count, 1:])


def test_of_a_workload_that_is_not_known(small: Path) -> None:
    values = add(small, "turned", 3)
    with edited(small) as file:
        file.attrs["workload"] = "ring"
    runs = a2aperf.open(small)
    assert np.array_equal(runs.ops("turned", message_size=1000)[:, 1:], values[0, :, 1:])
    assert runs.ops("end", message_size=1000).shape == (12, 4)
    with pytest.raises(a2aperf.InputError, match="differ in message_size"):
        runs.ops("turned")


def test_what_no_file_has_is_refused_and_what_there_is_is_named(small: Path) -> None:
    add(small, "turned", 3)
    with pytest.raises(a2aperf.InputError, match=r"turns: expected one of end, .*, turned$"):
        a2aperf.open(small).ops("turns", message_size=1000)


@pytest.fixture
def two(small: Path, tmp_path: Path) -> list[Path]:
    """With the column, of 12 ops; and without it, of more ranks and ops."""
    add(small, "turned", 3, **TURNED)
    other = replace(SETUP, nodes=3, ops=20, seed=1)
    return [small, synthetic.write_launch(tmp_path / "without.h5", other)]


def test_a_merge_keeps_every_byte(two: list[Path], tmp_path: Path, a2a: A2A) -> None:
    for name, dimensions in (("retries", 2), ("seen", 4)):
        add(two[0], name, dimensions)
    merged = tmp_path / "merged.h5"
    outcome = a2a("merge", *two, "-o", merged)
    assert outcome.status == 0, outcome.err
    for name in ("turned", "retries", "seen"):
        before, said, _ = stored(two[0], name)
        after, said_after, scales = stored(merged, name)
        place = (slice(2), *map(slice, before.shape[1:]))
        assert after[place].tobytes() == before.tobytes(), name
        assert (after[2:] == schema.NO_MOMENT).all()
        assert said_after == said
        assert [scale.rpartition("/")[2] for scale in scales] == [
            scale.lstrip("/") for scale in SCALES[: before.ndim]
        ]
    assert a2a("check", merged).status == 0
    runs = a2aperf.open(merged)
    assert runs.sel(ranks=4, message_size=1000).ops("turned").equals(
        a2aperf.open(two[0]).ops("turned", message_size=1000).assign_coords(launch=(
            "op", np.full(12, "merged.h5#0")))
    )  # fmt: skip
    assert runs.sel(ranks=6, message_size=1000).ops("turned").isnull().all()


def test_the_same_of_files_and_of_their_merge(small: Path, tmp_path: Path, a2a: A2A) -> None:
    add(small, "turned", 3)
    other = synthetic.write_launch(tmp_path / "other.h5", replace(SETUP, seed=1))
    merged = tmp_path / "merged.h5"
    assert a2a("merge", small, other, "-o", merged).status == 0
    apart, together = (
        a2aperf.open(files).ops("turned", message_size=1000).to_numpy()
        for files in ([small, other], [merged])
    )
    assert apart.shape == (24, 4)
    assert np.array_equal(apart, together, equal_nan=True)


def test_an_anonymous_copy_keeps_every_byte(small: Path, tmp_path: Path, a2a: A2A) -> None:
    add(small, "turned", 3, **TURNED)
    add(small, "polls", 2, "i2", _FillValue=np.int16(-1))
    copy = tmp_path / "copy.h5"
    key = ("--key", tmp_path / "key")
    assert a2a("export", small, "--anonymize", *key, "-o", copy).status == 0
    for name in ("turned", "polls"):
        before, after = stored(small, name), stored(copy, name)
        assert (after[0].dtype, after[0].tobytes()) == (before[0].dtype, before[0].tobytes())
        assert after[1:] == before[1:]
    with h5py.File(copy) as file:
        assert file["raw/polls"].attrs["_FillValue"] == -1
        assert "_FillValue" not in file["raw/turned"].attrs


def test_columns_that_mean_different_things_are_not_merged(
    small: Path, tmp_path: Path, a2a: A2A
) -> None:
    other = synthetic.write_launch(tmp_path / "other.h5", replace(SETUP, seed=1))
    add(small, "turned", 3, units="ns")
    add(other, "turned", 3, units="us")
    out = tmp_path / "merged.h5"
    a2a("merge", small, other, "-o", out).refused("/raw/turned", "int64 in ns", "int64 in us")
    with pytest.raises(a2aperf.InputError, match="in us"):
        a2aperf.open(small, other).ops("turned", message_size=1000)
    assert not out.exists()


def test_what_can_not_be_told_to_be_none_is_not_merged(
    small: Path, tmp_path: Path, a2a: A2A
) -> None:
    add(small, "polls", 3, "i4")
    other = synthetic.write_launch(tmp_path / "other.h5", replace(SETUP, seed=1))
    out = tmp_path / "merged.h5"
    a2a("merge", small, other, "-o", out).refused("other.h5 has no /raw/polls", "_FillValue")
    add(other, "polls", 3, "i4")
    assert a2a("merge", small, other, "-o", out).status == 0
    assert stored(out, "polls")[0].tobytes() == 2 * stored(small, "polls")[0].tobytes()


def test_what_is_no_column_of_ops_is_not_dropped_silently(
    small: Path, tmp_path: Path, a2a: A2A
) -> None:
    with edited(small) as file:
        file["raw/per_tick"] = np.zeros((2, 5))
        tick = file.create_dataset("raw/tick", data=np.arange(5))
        tick.make_scale("tick")
        file["raw/per_tick"].dims[1].attach_scale(tick)
    outcome = a2a("check", small)
    assert "/raw/per_tick" in outcome.out
    assert "/raw/tick" not in outcome.out
    assert outcome.status == 0
    out = tmp_path / "copy.h5"
    key = ("--key", tmp_path / "key")
    a2a("export", small, "--anonymize", *key, "-o", out).refused("/raw/per_tick", "would lack it")
    other = synthetic.write_launch(tmp_path / "other.h5", replace(SETUP, seed=1))
    a2a("merge", small, other, "-o", out).refused("small.h5", "/raw/per_tick", "would lack it")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((2, 12, 3), "has shape (2, 12, 3), too small for (2, 12, 4)"),
        ((2, 11, 4), "has shape (2, 11, 4), too small for (2, 12, 4)"),
        ((3, 12, 4), "has shape (3, 12, 4), too small for (2, 12, 4)"),
        ((2, 11), "has shape (2, 11), too small for (2, 12)"),
        ((2, 12, 4, 3), "has shape (2, 12, 4, 3), too small for (2, 12, 4, 4)"),
    ],
)
def test_check_says_which_has_another_shape(
    small: Path, a2a: A2A, shape: tuple[int, ...], words: str
) -> None:
    with edited(small) as file:
        file["raw/turned"] = np.zeros(shape, "i8")
    outcome = a2a("check", small)
    assert outcome.status == 2
    assert f"/raw/turned {words}" in outcome.out


def test_check_reads_it_and_asks_for_its_scales(small: Path, a2a: A2A) -> None:
    add(small, "turned", 3)
    assert a2a("check", small).out.endswith("sound\n")
    with edited(small) as file:
        file["raw/bare"] = np.zeros((2, 12, 4), "i8")
    assert "/raw/bare has no dimension scale point, attempt, rank" in a2a("check", small).out


@pytest.mark.parametrize("fill", [np.int64(300), 0.5, np.nan, "none"])
def test_a_fill_value_that_is_none_is_damage(small: Path, a2a: A2A, fill: Any) -> None:
    add(small, "polls", 3, "i1", _FillValue=fill)
    with pytest.raises(a2aperf.InputError, match=r"damaged: /raw/polls .* as _FillValue"):
        a2aperf.open(small).ops("polls", message_size=1000)
