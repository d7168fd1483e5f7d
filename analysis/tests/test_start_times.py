# SPDX-License-Identifier: BSD-3-Clause
"""How long launches took to start: as the file has it, in the table, in copies, as a finding."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import loading
from a2aperf.explain import start
from conftest import Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]
TIMES = "segments/0/start_times"
RANKS = 8  # of `launch`, on 4 nodes


def changed(path: Path, change: Callable[[h5py.File], None]) -> Path:
    with edited(path) as file:
        change(file)
    return path


def rows_of(a2a: Run, path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(a2a("table", path, "--start-times", "--csv").out.splitlines()))


def test_a_phase_takes_as_long_as_who_decides(a2a: Run, launch: Path) -> None:
    """The slowest where each is alone; the last to come where they wait for one another."""
    rows = {row["phase"]: row for row in rows_of(a2a, launch)}
    named = ("waits", "took", "least", "median", "most", "most_at", "whole")
    whole = "263000000"  # 250 + 8 + 5 ms
    memory = ["no", "8000000", "1000000", "4500000.0", "8000000", "rank 7 (node004)", whole]
    addresses = ["yes", "5000000", "5000000", "8500000.0", "12000000", "rank 0 (node001)", whole]
    assert [rows["memory"][name] for name in named] == memory
    assert [rows["addresses"][name] for name in named] == addresses
    assert rows["payload"]["most_at"] == ""


def test_as_text_and_json(a2a: Run, launch: Path) -> None:
    heading, *lines = a2a("table", launch, "--start-times").out.splitlines()
    assert heading.split()[:4] == ["file", "phase", "took", "s"]
    assert [line.split()[:3] for line in lines[:2]] == [
        [launch.name, "mpi_init", "0.250"],
        ["memory", "0.008", "0.001"],
    ]
    assert [line.split()[0] for line in lines] == [launch.name, "memory", "addresses", "all"]
    assert lines[-1].split()[1] == "0.263"
    document = json.loads(a2a("table", launch, "--start-times", "--json").out)
    assert document["columns"]["took"]["units"] == "ns"
    assert len(document["rows"]) == 4


@pytest.mark.parametrize("other", ["--counters", "--columns=mode", "--layout=wide"])
def test_one_table_at_a_time(a2a: Run, launch: Path, other: str) -> None:
    outcome = a2a("table", launch, "--start-times", other)
    said = f"a2a: give {other.partition('=')[0]} or --start-times, not both\n"
    assert (outcome.status, outcome.err) == (2, said)


def test_files_that_lack_them_say_so(a2a: Run, launch: Path, tmp_path: Path) -> None:
    def older(file: h5py.File) -> None:
        del file[TIMES]

    without = synthetic.write_launch(tmp_path / "older.h5", synthetic.Setup(seed=2))
    changed(without, older)
    outcome = a2a("table", without, "--start-times")
    assert (outcome.status, "no launch here has the times" in outcome.err) == (2, True)
    outcome = a2a("table", without, launch, "--start-times")
    assert (outcome.status, outcome.err) == (
        0,
        "a2a: left out: 1 launch without times of the start\n",
    )


def test_copies_have_them(a2a: Run, launch: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.h5"
    assert a2a("export", launch, "--anonymize", "-o", copy).status == 0
    with h5py.File(launch) as one, h5py.File(copy) as other:
        for name in one[TIMES]:
            assert np.array_equal(one[TIMES][name][()], other[TIMES][name][()])
        assert dict(one[TIMES]["time"].attrs) == dict(other[TIMES]["time"].attrs)


def negative(file: h5py.File) -> None:
    file[TIMES]["time"][1, 3] = -5


def of_one_rank_less(file: h5py.File) -> None:
    times = file[TIMES]["time"][:, :-1]
    del file[TIMES]["time"]
    file[TIMES]["time"] = times


def of_a_type(file: h5py.File) -> None:
    """In the place of the times, as one flipped bit of the structure can have it."""
    del file[TIMES]["time"]
    file[TIMES]["time"] = np.dtype("int64")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (of_a_type, "start_times/time is no dataset"),
        (negative, "launch 0: start_times has -5 ns"),
        (of_one_rank_less, f"launch 0: start_times has {RANKS - 1} ranks, not {RANKS}"),
    ],
)
def test_check_says_what_cannot_be(
    a2a: Run, launch: Path, change: Callable[[h5py.File], None], says: str
) -> None:
    outcome = a2a("check", changed(launch, change))
    assert (outcome.status, says in outcome.out + outcome.err) == (2, True)


def slow(row: int, rank: int | slice, seconds: float) -> Callable[[h5py.File], None]:
    def change(file: h5py.File) -> None:
        times = file[TIMES]["time"][()]
        times[row, rank] += int(seconds * 1e9)
        file[TIMES]["time"][...] = times

    return change


def told(path: Path) -> list[str]:
    return [one.text for one in start.find(loading.load([path]))]


def test_what_took_long_is_told(launch: Path) -> None:
    assert told(launch) == []
    long = changed(launch, slow(0, slice(None), 41))
    assert told(long) == ["MPI_Init took 41 of 41 s"]


def test_who_kept_the_others_is_told(launch: Path) -> None:
    """The others wait for it at their addresses, which is not what took the time."""

    def change(file: h5py.File) -> None:
        times = file[TIMES]["time"][()]
        times[1, 6] += int(30e9)
        times[2, np.arange(RANKS) != 6] += int(30e9)
        file[TIMES]["time"][...] = times

    (text,) = told(changed(launch, change))
    assert (
        text == "allocating the buffers took 30 of 30 s (rank 6 of node004 longest; median 0.0 s)"
    )


def test_nobody_is_blamed_without_a_core_of_its_own(tmp_path: Path) -> None:
    setup = synthetic.Setup(nodes=1, ppn=4, node_facts={"cores_of_ranks": "2"})
    path = synthetic.write_launch(tmp_path / "crowded.h5", setup)
    (text,) = told(changed(path, slow(1, 2, 30)))
    assert text == "allocating the buffers took 30 of 30 s"
