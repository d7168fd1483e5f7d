# SPDX-License-Identifier: BSD-3-Clause
"""Files of schema version 1, by the program of that time: every command reads them as ever."""

import gzip
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

from a2aperf import loading
from conftest import DATA, Outcome

Run = Callable[..., Outcome]
POINTS = {"alltoall": 18, "pairs": 6}  # sentinels and baselines too


@pytest.fixture
def old(tmp_path: Path) -> Callable[[str], Path]:
    def write(kind: str) -> Path:
        path = tmp_path / f"{kind}.h5"
        path.write_bytes(gzip.decompress((DATA / f"schema-1-{kind}.h5.gz").read_bytes()))
        return path

    return write


@pytest.mark.parametrize(("kind", "points"), POINTS.items())
def test_it_is_read_and_left_as_it_is(
    a2a: Run, old: Callable[[str], Path], kind: str, points: int, tmp_path: Path
) -> None:
    path = old(kind)
    before = path.read_bytes()
    with h5py.File(path) as file:
        assert file.attrs["schema_version"] == 1
        assert "checksum" not in file
    assert a2a("check", path) == Outcome(0, f"{path}: sound\n", "")
    flat = tmp_path / "flat.csv"
    for words in (("table",), ("explain",), ("export", "--flat", "-o", flat)):
        outcome = a2a(words[0], path, *words[1:])
        assert outcome.status == 0, outcome
    assert len(loading.load([path]).points) == points
    assert a2a("report", path, "-o", tmp_path / "out.html").status == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", POINTS)
def test_a_wrong_figure_is_found_without_a_checksum(
    a2a: Run, old: Callable[[str], Path], kind: str
) -> None:
    path = old(kind)
    with h5py.File(path, "r+") as file:
        file["time_p50"][0] *= 2
    outcome = a2a("check", path)
    assert outcome.status == 2
    assert "time_p50" in outcome.out + outcome.err


def test_one_is_merged_with_one_of_today(
    a2a: Run, old: Callable[[str], Path], launch: Path, tmp_path: Path
) -> None:
    both = tmp_path / "both.h5"
    assert a2a("merge", "--mixed", old("alltoall"), launch, "-o", both).status == 0
    assert a2a("check", both).status == 0
    assert len(loading.load([both]).points) == POINTS["alltoall"] + len(
        loading.load([launch]).points
    )
