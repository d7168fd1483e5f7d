# SPDX-License-Identifier: BSD-3-Clause
"""Imported texts lack what a launch has: moments, rates or times. Commands say what there is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from conftest import Outcome

A2A = Callable[..., Outcome]
DATA: Final = Path(__file__).parent / "data"
_RATE: Final = "echoBw100 22.6 MB/s bandwidth receiving 100B messages"
TEXTS: Final = (
    "alltoall-omnipath-2019.txt",  # no text has moments
    "clusterperf-2018-11.txt",
    "perftest-send-lat.json",  # no rate
    "perftest-write-bw.json",  # no time
    "without a rate",
)


def imported(a2a: A2A, folder: Path, name: str) -> Path:
    text = DATA / name
    if not text.exists():
        whole = (DATA / "clusterperf-2018-11.txt").read_text()
        assert whole.count(_RATE) == 1
        text = folder / "clusterperf.txt"
        text.write_text(whole.replace(_RATE, ""))
    path = folder / f"{text.stem}.h5"
    assert a2a("import", text, "-o", path).status == 0
    return path


def strict(text: str) -> object:
    """JSON knows no NaN."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("name", TEXTS)
def test_the_gate_judges_points_that_say_no_moment(name: str, a2a: A2A, tmp_path: Path) -> None:
    path, sums = imported(a2a, tmp_path, name), tmp_path / "a2a.prom"
    said = a2a("gate", path, "--min-efficiency", "80%", "--json", "--prometheus", sums)
    assert (said.status, said.err) == (3, "")
    made = strict(said.out)
    assert isinstance(made, dict)
    assert made["verdict"] == "unknown"
    assert "a2a_gate" in sums.read_text()


@pytest.mark.parametrize("name", TEXTS)
def test_a_history_has_what_is_known(name: str, a2a: A2A, tmp_path: Path) -> None:
    path = imported(a2a, tmp_path, name)
    told = a2a("history", path)
    if name == "perftest-write-bw.json":
        told.refused("no point tells a time")
        return
    assert (told.status, told.err) == (0, "")
    assert "nan" not in told.out
    assert strict(a2a("history", path, "--json").out)


def test_the_history_of_a_point_without_a_rate_has_none(a2a: A2A, tmp_path: Path) -> None:
    path = imported(a2a, tmp_path, "without a rate")
    (line,) = (
        one
        for one in a2a("history", path).out.splitlines()
        if re.match(r" +2 .* 100 .*  echo$", one)
    )
    assert line.split() == ["2", "-", "-", "100", "1", "-", "-", "-", "-", "-", "echo"]


@pytest.mark.parametrize("name", TEXTS)
def test_a_comparison_counts_launches_that_have_what_it_compares(
    name: str, a2a: A2A, tmp_path: Path
) -> None:
    path = imported(a2a, tmp_path, name)
    again = tmp_path / "again.h5"
    again.write_bytes(path.read_bytes())
    said = a2a("compare", path, "--against", again, "--json")
    assert said.err == ""
    made = strict(said.out)
    assert isinstance(made, list)
    count = 0 if name == "perftest-write-bw.json" else 1
    for cell in made[0]["cells"]:
        assert (cell["launches_baseline"], cell["launches_candidate"]) == (count, count)
        assert cell["verdict"] == "undecided"


def test_a_side_without_a_rate_has_as_many_launches(a2a: A2A, tmp_path: Path) -> None:
    whole = imported(a2a, tmp_path, "clusterperf-2018-11.txt")
    (tmp_path / "b").mkdir()
    without = imported(a2a, tmp_path / "b", "without a rate")
    said = a2a("compare", without, "--against", whole).out
    assert "1 job (1 launch) of A, 1 job (1 launch) of B" in said
    assert " 1:0 " not in said
