# SPDX-License-Identifier: BSD-3-Clause
"""What many findings and figures need is read and worked out once; memory stays bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import a2aperf
from a2aperf import counted, grouping, loading, remarks
from a2aperf.explain import finders
from a2aperf.results import Results
from a2aperf.sample_reader import SampleReader
from conftest import Outcome
from support import synthetic
from support.synthetic import Setup

Reads = Counter[tuple[str, str, int]]
"""How often a dataset of samples was read at a point, by file."""

SETUP = Setup(sizes=(1000, 8000, 60000), ops=60, baseline=True, sentinel=True)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    seen: Reads = Counter()
    read = h5py.Dataset.__getitem__

    def noted(self: h5py.Dataset, place: Any, *more: Any, **other: Any) -> Any:
        name = str(self.name)
        if name.startswith("/raw/"):
            seen[Path(self.file.filename).name, name, int(place[0])] += 1
        return read(self, place, *more, **other)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", noted)
    return seen


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [
        synthetic.write_launch(
            tmp_path / f"{build}{seed}.h5",
            Setup(**{**vars(SETUP), "seed": seed, "labels": {"build": build}}),
        )
        for seed, build in enumerate(("a", "b", "b", "a"))
    ]


@pytest.mark.parametrize("words", [("explain",), ("compare", "--by", "build"), ("report",)])
def test_a_command_reads_the_samples_of_a_point_once(
    words: tuple[str, ...],
    files: list[Path],
    reads: Reads,
    a2a: Callable[..., Outcome],
    tmp_path: Path,
) -> None:
    out = ("-o", tmp_path / "page.html") if words[0] == "report" else ()
    assert a2a(words[0], *files, *words[1:], *out).status in (0, 4)
    assert len(reads) > 3 * len(files)
    assert {place: times for place, times in reads.items() if times > 1} == {}


def test_a_session_reads_them_once_too(files: list[Path], reads: Reads) -> None:
    runs = a2aperf.open(*files)
    runs.sel(build="a").findings()
    runs.findings()
    runs.sel(build="b").plot.cdf()
    runs.compare("build")
    assert reads
    assert set(reads.values()) == {1}


def test_what_is_kept_has_a_limit_and_the_oldest_goes_first(
    files: list[Path], reads: Reads
) -> None:
    names, shape = ("begin", "valid"), (60, 8)
    room = 60 * 8 * 8 + 60
    reader = SampleReader(most=2 * room)

    def begin(point: int) -> int:
        reader.read(files[0], point, names, *shape)
        return reads[files[0].name, "/raw/begin", point]

    assert [begin(point) for point in (1, 3, 1, 3)] == [1, 1, 1, 1]
    assert [begin(point) for point in (5, 3, 1)] == [1, 1, 2]
    found = SampleReader(most=0).read(files[0], 1, names, *shape)["begin"]
    assert found is not None
    assert found.shape == shape


def test_nobody_changes_what_others_are_given(files: list[Path]) -> None:
    found = loading.load(files[:1])
    raw = found.raw(files[0].name, 1)
    with pytest.raises(ValueError, match="read-only"):
        raw.begin[0] = 1
    times = found.op_times(files[0].name, 1)
    times += 1
    assert not np.array_equal(times, found.op_times(files[0].name, 1))


def test_who_lost_its_core_is_read_once_for_all_comparisons(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[tuple[str, int]] = Counter()
    read = counted.involuntary_switches

    def noted(file: h5py.File, point: int, ranks: int) -> Any:
        asked[file.filename, point] += 1
        return read(file, point, ranks)

    monkeypatch.setattr(counted, "involuntary_switches", noted)
    found = loading.load(files).measured()
    for _ in range(2):
        remarks.doubts(found.select(found.points["point"] >= 0), list(found.launches))
    assert len(asked) == len(found.points)
    assert set(asked.values()) == {1}


def test_what_is_a_setting_is_worked_out_once_for_all_findings(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Results] = []  # kept: what is freed leaves its id to another
    labels = grouping.setting_labels

    def noted(found: Results, *arguments: Any) -> Any:
        asked.append(found)
        return labels(found, *arguments)

    monkeypatch.setattr(grouping, "setting_labels", noted)
    found = loading.load(files).complete(finders.ROLES)
    assert finders.explain(found)
    assert set(Counter(map(id, asked)).values()) == {1}
