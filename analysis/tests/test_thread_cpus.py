# SPDX-License-Identifier: BSD-3-Clause
"""The CPUs of threads, below the counters of a point."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from a2aperf import thread_cpus
from conftest import Outcome
from support import native_streams
from support.edited import edited

Run = Callable[..., Outcome]
HEADING = "threads × CPUs that each may use"


def below(outcome: Outcome) -> list[list[str]]:
    """The rows below the counters, without the heading."""
    lines = outcome.out.splitlines()
    (at,) = [index for index, line in enumerate(lines) if HEADING in line]
    assert lines[at - 1] == ""
    return [line.split("  ") for line in lines[at + 1 :]]


@pytest.mark.parametrize(
    ("cpus", "told"),
    [
        ("0-1;0-1;0", "2 × 0-1, 1 × 0"),
        ("5", "1 × 5"),
        ("0;?", "1 × 0, 1 × ?"),
        ("0;0;0;…", "3 × 0, …"),
        ("0-15,32-47;0-15,32-47;0-15…", "2 × 0-15,32-47, …"),
        ("0,2,4…", "…"),
    ],
)
def test_a_list_is_shortened(cpus: str, told: str) -> None:
    assert thread_cpus.text(cpus) == told


@pytest.mark.parametrize("how", [(), ("--values",)])
def test_ranks_and_points_of_each_list(a2a: Run, launch: Path, how: tuple[str, ...]) -> None:
    with edited(launch) as file:
        file["counters/thread_affinity"][:] = b"0-15;0-15"
        file["counters/thread_affinity"][0, 3] = b"3;3"
    rows = [
        [cell.strip() for cell in row if cell]
        for row in below(a2a("table", launch, "--counters", *how))
    ]
    assert rows == [["2 × 0-15", "0, 1, 2, 3, 4, 5 and 2 more", "4"], ["2 × 3", "3", "1"]]


def test_streams_have_them(a2a: Run, tmp_path: Path) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    assert " × " in below(a2a("table", path, "--counters"))[0][0]


def test_no_more_than_a_page_of_them(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        lists = file["counters/thread_affinity"]
        for point in range(lists.shape[0]):
            for rank in range(lists.shape[1]):
                lists[point, rank] = f"{point * 10 + rank}".encode()
    outcome = a2a("table", launch, "--counters")
    assert len(below(outcome)) == 20
    assert "a2a: left out: 12 lists of CPUs; --values --csv has all" in outcome.err


@pytest.mark.parametrize("phase", ["verification", "start"])
def test_they_are_of_the_timed_part(a2a: Run, launch: Path, phase: str) -> None:
    assert HEADING not in a2a("table", launch, "--counters", "--phase", phase).out


def test_files_that_lack_them(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["counters/thread_affinity"][:] = b""
    assert HEADING not in a2a("table", launch, "--counters").out


def test_csv_and_json_have_each_rank(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["counters/thread_affinity"][0, 3] = b"3;0-15"
    rows = list(
        csv.DictReader(a2a("table", launch, "--counters", "--values", "--csv").out.splitlines())
    )
    own = [row for row in rows if row["point"] == "0" and row["cpus"]]
    assert {row["counter"] for row in own} == {"threads"}
    assert [row["cpus"] for row in own if row["rank"] == "3"] == ["3;0-15"]
    document = json.loads(a2a("table", launch, "--counters", "--values", "--json").out)
    assert "of threads" in document["columns"]["cpus"]["long_name"]
