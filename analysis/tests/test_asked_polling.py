# SPDX-License-Identifier: BSD-3-Clause
"""How ranks waited is a setting where points of a launch differ by it, and nothing elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np

from a2aperf import grouping, loading
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

SETUP = Setup(nodes=2, sizes=(1000, 65536), ops=20)


def _write(file: Path, seed: int, ways: list[str] | None) -> Path:
    """`ways`: of each point; None: a file of before there was the column."""
    path = synthetic.write_launch(file, replace(SETUP, seed=seed))
    if ways is not None:
        with edited(path) as opened:
            column = np.array(ways, dtype=h5py.string_dtype())
            opened["polling"] = column[np.arange(len(opened["state"])) % len(ways)]
            opened["polling"].dims[0].attach_scale(opened["point"])
    return path


def _labels(*paths: Path) -> set[str]:
    found = loading.load(paths)
    return set(grouping.setting_labels(found, found.points))


def test_points_of_one_launch_are_told_apart(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.h5", 1, ["spin", "throttle=16"])
    assert _labels(path) == {"poll spin", "poll throttle=16"}


def test_launches_of_one_way_have_no_word_of_it(tmp_path: Path) -> None:
    old = _write(tmp_path / "a.h5", 1, None)
    assert _labels(old, _write(tmp_path / "b.h5", 2, [""])) == {""}


def test_beside_several_ways_one_way_is_not_called_unknown(tmp_path: Path) -> None:
    old = _write(tmp_path / "a.h5", 1, None)
    several = _write(tmp_path / "b.h5", 2, ["spin", "yield"])
    assert _labels(old, several) == {"poll as in all of the launch", "poll spin", "poll yield"}
