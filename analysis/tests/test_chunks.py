# SPDX-License-Identifier: BSD-3-Clause
"""Chunks, endpoints and their queues are settings, told apart and compared; they are checked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest

from a2aperf import differences, grouping, layouts, loading, sides
from a2aperf.oversubscription import oversubscription
from a2aperf.results import Results
from a2aperf.workloads.alltoall import verify
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

SIZES = (1000, 65536, 1 << 20)
CHUNK = 16_384


def launches(folder: Path, queues: str = "", threads: str = "", **second: int) -> Results:
    """Two launches; the columns of the second one have these values, and the first has none."""
    paths = [
        synthetic.write_launch(folder / f"{i}.h5", Setup(nodes=2, sizes=SIZES, ops=20, seed=i))
        for i in range(2)
    ]
    with edited(paths[1]) as file:
        sizes = file["message_size"][:]
        chunks = np.maximum(-(-sizes // second.get("chunk", 1 << 30)), 1)
        for name, values in (
            ("chunk", np.full(len(sizes), second.get("chunk", 0), np.int64)),
            ("chunks", chunks.astype(np.int32)),
            ("endpoints", np.full(len(sizes), second.get("endpoints", 1), np.int32)),
        ):
            if name in file:
                del file[name]
            file[name] = values
            file[name].dims[0].attach_scale(file["point"])
            file[name].attrs["units"] = "B" if name == "chunk" else ""
        for name, words in (("queues", queues), ("threads", threads)):
            if words:
                file[name] = np.full(len(sizes), words, h5py.string_dtype())
                file[name].dims[0].attach_scale(file["point"])
    return loading.load(paths)


def replace_value(row: pd.Series[Any], name: str, value: Any) -> pd.Series[Any]:
    changed = row.copy()
    changed[name] = value
    return changed


def test_a_file_of_before_has_whole_messages_over_one_endpoint(tmp_path: Path) -> None:
    found = launches(tmp_path)
    assert set(found.points["chunk"]) == {0}
    assert set(found.points["endpoints"]) == {1}
    assert grouping.setting_names(found, found.points, ()) == []


@pytest.mark.parametrize(("name", "value"), [("chunk", CHUNK), ("endpoints", 2)])
def test_each_is_a_side(tmp_path: Path, name: str, value: int) -> None:
    second: dict[str, Any] = {name: value}
    found = launches(tmp_path, **second)
    assert grouping.setting_names(found, found.points, ()) == [name]
    levels = sides.levels(found, [name])
    other = f"{name}={value}"
    assert other in set(levels)
    pairing = sides.pair(found, levels == other, by=(name,))
    assert pairing.cells["message_size"].tolist() == list(SIZES)


def test_so_are_queues(tmp_path: Path) -> None:
    found = launches(tmp_path, "one", endpoints=2)
    assert set(found.points["queues"]) == {"each", "one"}  # of a file of before, and this one
    found = replace(found, points=found.points.assign(endpoints=2))
    assert grouping.setting_names(found, found.points, ()) == ["queues"]
    assert set(grouping.setting_labels(found, found.points)) == {"queues each", "queues one"}
    levels = sides.levels(found, ["queues"])
    pairing = sides.pair(found, levels == "queues=one", by=("queues",))
    assert pairing.cells["message_size"].tolist() == list(SIZES)


def test_queues_are_checked(tmp_path: Path) -> None:
    found = launches(tmp_path, "one", endpoints=2)
    row = found.points[found.points["queues"] == "one"].iloc[0]
    assert list(verify._queues(row)) == []
    assert list(verify._queues(found.points[found.points["queues"] == "each"].iloc[0])) == []
    (wrong,) = verify._queues(replace_value(row, "endpoints", 1))
    assert "a rank has one endpoint" in wrong
    (wrong,) = verify._queues(replace_value(row, "queues", "two"))
    assert wrong == "queues is 'two', it can be each or one"
    assert list(verify._queues(row.drop("queues"))) == []


def test_so_are_threads(tmp_path: Path) -> None:
    found = launches(tmp_path, threads="each", endpoints=2)
    assert set(found.points["threads"]) == {"each", "one"}  # of a file of before, and this one
    found = replace(found, points=found.points.assign(endpoints=2))
    assert grouping.setting_names(found, found.points, ()) == ["threads"]
    assert set(grouping.setting_labels(found, found.points)) == {"threads each", "threads one"}


def test_threads_of_endpoints_take_a_core_each(tmp_path: Path) -> None:
    """`--threads each` on as many cores as a node has ranks."""
    for threads, told in (("each", "2 threads each of 2 ranks on 2 cores"), ("one", "")):
        found = launches(tmp_path, threads=threads, endpoints=2)
        first, second = found.launches.values()
        for one in (first, second):
            one.node_facts["cores_of_ranks"] = ["2", "2"]
        assert oversubscription(first) == ""
        assert told in oversubscription(second) and bool(oversubscription(second)) == bool(told)


def test_threads_are_checked(tmp_path: Path) -> None:
    found = launches(tmp_path, "each", "each", endpoints=2)
    row = found.points[found.points["threads"] == "each"].iloc[0]
    assert list(verify._threads(row)) == []
    for name, value in (("endpoints", 1), ("queues", "one")):
        (wrong,) = verify._threads(replace_value(row, name, value))
        assert wrong == "threads is each, and a rank has one endpoint, or one queue for all"
    (wrong,) = verify._threads(replace_value(row, "threads", "two"))
    assert wrong == "threads is 'two', it can be one or each"
    assert list(verify._threads(row.drop("threads"))) == []
    for pinned in (0, 2):
        assert list(verify._threads(replace_value(row, "pinned_threads", pinned))) == []
    for pinned, by in ((3, "each"), (-2, "each"), (1, "one")):
        changed = replace_value(replace_value(row, "threads", by), "pinned_threads", pinned)
        (wrong,) = verify._threads(changed)
        assert wrong.startswith(f"pinned_threads is {pinned}, with threads {by} it can be 0 to ")


def test_threads_that_were_given_a_core_are_told_of_sides(tmp_path: Path) -> None:
    found = launches(tmp_path, threads="each", endpoints=2)
    pinned = [2 if name == "each" else 0 for name in found.points["threads"]]
    found = replace(found, points=found.points.assign(pinned_threads=pinned))
    first, second = found.launches
    (told,) = [
        one
        for one in differences.between(found, [first], [second], ()).between
        if one.name == "point pinned_threads"
    ]
    assert (told.baseline, told.candidate) == (("0",), ("2",))


def test_what_it_made_of_a_message_is_checked(tmp_path: Path) -> None:
    found = launches(tmp_path, chunk=CHUNK)
    ours = found.points[found.points["chunk"] == CHUNK]
    assert ours.sort_values("message_size")["chunks"].tolist() == [1, 4, 64]
    for _, row in ours.iterrows():
        assert list(verify._chunks(row)) == []
        wrong = replace_value(row, "chunks", int(row["chunks"]) + 1)
        assert len(list(verify._chunks(wrong))) == 1
    whole = replace_value(ours.iloc[0], "chunk", 0)
    assert list(verify._chunks(replace_value(whole, "chunks", 1))) == []


def test_a_window_in_bytes_holds_chunks(tmp_path: Path) -> None:
    found = launches(tmp_path, chunk=CHUNK)
    row = found.points[found.points["chunk"] == CHUNK].sort_values("message_size").iloc[-1]
    row = replace_value(row, "window_bytes", 4 * CHUNK)
    nodes = found.launches[str(row["launch"])].node_of_rank
    assert list(verify._window(replace_value(row, "window", 4), nodes)) == []
    assert len(list(verify._window(replace_value(row, "window", 1), nodes))) == 1


def test_a_setting_without_chunks_says_that_messages_are_whole(tmp_path: Path) -> None:
    found = launches(tmp_path, chunk=CHUNK)
    named = set(grouping.setting_labels(found, found.points))
    assert any("whole messages" in one for one in named)
    assert not any("chunk 0 B" in one for one in named)


def test_no_chunk_is_shown_as_none() -> None:
    assert layouts.SHOWN["chunk"].write(0) == "—"
    assert layouts.SHOWN["chunk"].write(CHUNK) == "16384"
