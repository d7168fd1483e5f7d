# SPDX-License-Identifier: BSD-3-Clause
"""A window in bytes is one setting, though another number of messages is in force at each size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from a2aperf import grouping, layouts, loading, sides
from a2aperf.results import Results
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

SETUP = Setup(nodes=2, sizes=(1000, 65536, 1 << 20), ops=20)
ASKED = 262_144


def two_launches(folder: Path, *asked: int) -> Results:
    """The first one's windows are all, those of the others so many bytes."""
    paths = [
        synthetic.write_launch(folder / f"{i}.h5", replace(SETUP, seed=i))
        for i in range(1 + len(asked))
    ]
    found = loading.load(paths)
    number = found.points["launch"].map({key: i for i, key in enumerate(found.launches)})
    wanted = number.map(dict(enumerate((0, *asked)))).astype("int64")
    in_force = np.maximum(wanted // found.points["message_size"].astype("int64"), 1)
    window = found.points["window"].mask(wanted > 0, in_force)
    return replace(found, points=found.points.assign(window=window, window_bytes=wanted))


def labels_of(found: Results) -> set[str]:
    return set(grouping.setting_labels(found, found.points))


def test_it_is_one_setting_at_all_sizes(tmp_path: Path) -> None:
    found = two_launches(tmp_path, ASKED, 1_000_000)
    assert found.points.loc[found.points["window_bytes"] == ASKED, "window"].tolist() == [262, 4, 1]
    assert labels_of(found) == {"window all", "window 256\xa0KiB", "window 1\xa0MB"}


def test_the_same_number_of_messages_asked_for_otherwise_is_another_setting(tmp_path: Path) -> None:
    found = two_launches(tmp_path, ASKED)
    at_one_size = found.select(found.points["message_size"] == 65536)
    same = at_one_size.points.assign(window=4)
    found = replace(at_one_size, points=same)
    assert labels_of(found) == {"window 4", "window 256\xa0KiB"}


def test_sides_are_compared_at_every_size(tmp_path: Path) -> None:
    found = two_launches(tmp_path, ASKED)
    levels = sides.levels(found, ["window"])
    assert set(levels) == {"window=all", "window=256\xa0KiB"}
    pairing = sides.pair(found, levels == "window=256\xa0KiB", by=("window",))
    assert pairing.cells["message_size"].tolist() == list(SETUP.sizes)


def test_a_file_of_before_and_one_of_today_are_one_setting(tmp_path: Path) -> None:
    old, new = (
        synthetic.write_launch(tmp_path / f"{i}.h5", replace(SETUP, seed=i)) for i in range(2)
    )
    with edited(new) as file:
        file["window_bytes"] = np.zeros(len(file["state"]), np.int64)
        file["window_bytes"].dims[0].attach_scale(file["point"])
        file["window_bytes"].attrs["units"] = "B"
    found = loading.load([old, new])
    assert set(found.points["window_bytes"]) == {0}
    assert labels_of(found) == labels_of(loading.load([old]))


def test_files_without_the_column_are_as_before(tmp_path: Path) -> None:
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", SETUP)])
    points = found.points.drop(columns="window_bytes", errors="ignore")
    assert grouping.asked_windows(points).equals(points["window"])
    assert layouts.SHOWN["window_bytes"].write(0) == "—"
    unknown = points["window"].astype("Int64").mask(points["message_size"] > 0)
    assert grouping.asked_windows(points.assign(window=unknown)).isna().all()
