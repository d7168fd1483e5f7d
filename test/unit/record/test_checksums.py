# SPDX-License-Identifier: BSD-3-Clause
"""What the program says of its files, computed a second time (test/support/checksums.py)."""

from pathlib import Path

import checksums
import h5py
import pytest

SHAPE = {"points": 16, "ranks": 5, "nodes": 2, "ops": 30}


@pytest.mark.parametrize(("end", "layout"), [(1, "compact"), (2, "preallocated"), (0, "preallocated")])
def test_each_point_has_the_checksum_of_what_the_file_holds(writer, tmp_path: Path, end: int, layout: str) -> None:
    file = tmp_path / "a.h5"
    assert writer.run(file, stop_after=9, end=end, **SHAPE).returncode == 0
    states = checksums.require_right(file)
    assert {0, 1, 2} <= set(states.tolist())
    with h5py.File(file, "r") as opened:
        assert opened.attrs["layout"] == layout
        assert opened["checksum"].attrs["_FillValue"] == -1
    assert writer.run(file, resume=1, end=end, **SHAPE).returncode == 0
    assert set(checksums.require_right(file).tolist()) == {1, 2}


def test_a_launch_that_goes_on_has_them_after_every_point(writer, tmp_path: Path) -> None:
    file = tmp_path / "a.h5"
    with writer.start(file, step=1, **SHAPE) as process:
        for word, point in writer.steps(process):
            if word == "done":
                checksums.require_right(file)
                with h5py.File(file, "r") as opened:
                    assert opened["checksum"][point] == checksums.of_point(opened, point)
    checksums.require_right(file)
