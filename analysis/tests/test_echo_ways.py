# SPDX-License-Identifier: BSD-3-Clause
"""The two ways of round trips are told apart where the clocks carry them, or the reason is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import loading
from a2aperf.curves import Options
from a2aperf.workloads.echo import ways, ways_figure
from conftest import Outcome
from support import native_echo
from support.edited import edited

Run = Callable[..., Outcome]
GOOD, BAD = 100.0, 2000.0


@pytest.mark.parametrize("bound", [0.0, GOOD, BAD])
def test_sound(a2a: Run, tmp_path: Path, bound: float) -> None:
    path = native_echo.write_told(tmp_path / "e.h5", bound)
    assert a2a("check", path).out == f"{path}: sound\n"


def test_a_point_that_is_older_has_none(a2a: Run, tmp_path: Path) -> None:
    path = native_echo.write_told(tmp_path / "e.h5", 0.0, is_old=True)
    assert a2a("check", path).out == f"{path}: sound\n"
    assert "(ways)" not in a2a("explain", path).out
    assert "way" not in a2a("table", path).out.splitlines()[0]


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (0.0, "100 B 1.25 µs, 0.2 µs, "),
        (0.0, "(the clocks of both ends are one)"),
        (GOOD, "(the clocks of both ends are within 0.1 µs of each other)"),
        (BAD, "at 2 points the ways are not told apart: the clocks may differ by 2 µs, more than "
              "5 % of the median round trip"),
    ],
)  # fmt: skip
def test_explain_tells_the_ways_or_why_not(
    a2a: Run, tmp_path: Path, bound: float, said: str
) -> None:
    path = native_echo.write_told(tmp_path / "e.h5", bound)
    outcome = " ".join(a2a("explain", path).out.split())
    assert said in outcome
    assert "one-way latency" not in outcome


def test_the_table_has_them_where_there_are_any(a2a: Run, tmp_path: Path) -> None:
    told, not_told = (native_echo.write_told(tmp_path / f"{b}.h5", b) for b in (GOOD, BAD))
    assert "way there p50 µs" in a2a("table", told).out.splitlines()[0]
    assert "way there" not in a2a("table", not_told).out.splitlines()[0]


def test_a_way_that_is_no_longer_than_the_bound_is_absent(tmp_path: Path) -> None:
    path = native_echo.write_told(tmp_path / "e.h5", 0.0)
    row = loading.load([path]).points.iloc[0].copy()
    values = {
        "request_begin": np.array([[0], [0]]),
        "round_trip": np.array([[10_000], [10_000]]),
        "request_came": np.array([[90], [110]]),
        "answer_begin": np.array([[200], [200]]),
    }
    row["way_bound"], row["time_p50"] = 100.0, 10_000.0
    figures = ways.figures(row, values)
    assert np.isnan(figures["way_there_min"])
    assert np.isnan(figures["way_there_p50"])
    assert figures["way_back_min"] == 9800
    assert figures["server_p50"] == 90


def _answered_before(file: h5py.File) -> None:
    file["raw/answer_begin"][0, 3, 0] = file["raw/request_came"][0, 3, 0] - 1


def _untold(file: h5py.File) -> None:
    file["raw/request_came"][0, 3, 0] = np.iinfo(np.int64).min


def _late(file: h5py.File) -> None:
    file["raw/request_came"][0, :, 0] += 150


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_answered_before, "an answer was sent before its request came, by the server's own clock"),
        (_untold, "/raw/request_came has not a value for each round trip"),
        (_late, "way_there_p99 is 1495.0, its round trips say 1643"),
    ],
)
def test_what_contradicts_them(
    a2a: Run, tmp_path: Path, change: Callable[[h5py.File], None], said: str
) -> None:
    path = native_echo.write_told(tmp_path / "e.h5", 0.0)
    with edited(path) as file:
        change(file)
    assert said in a2a("check", path).out


def test_they_stay_in_copies(a2a: Run, tmp_path: Path) -> None:
    """Merged with another launch of a program that did not tell them, too."""
    path, other = native_echo.write_told(tmp_path / "t.h5"), native_echo.write(tmp_path / "o.h5")
    with edited(other) as file:
        file["segments/0"].attrs["command_line"] = "a2aperf echo --provider other"
    for words in (
        ("merge", path, other, "-o", tmp_path / "c.h5"),
        ("export", path, "--anonymize", "-o", tmp_path / "x.h5"),
        ("check", path, "--repair", "-o", tmp_path / "m.h5"),
    ):
        outcome = a2a(*words)
        assert outcome.status == 0, outcome.err
        copy = Path(words[-1])
        assert a2a("check", copy).out == f"{copy}: sound\n"
        points = loading.load([copy]).points
        assert points["way_there_p50"].notna().tolist() == [True, True, False, False][: len(points)]
        assert points["way_trips"].isna().tolist() == [False, False, True, True][: len(points)]
        with h5py.File(path) as file, h5py.File(copy) as again:
            for name in ways.TOLD:
                there = again[f"raw/{name}"][:2, : native_echo.TRIPS]
                np.testing.assert_array_equal(there, file[f"raw/{name}"][:])


def test_the_figure_has_a_line_for_each_part(a2a: Run, tmp_path: Path) -> None:
    path = native_echo.write_told(tmp_path / "e.h5", GOOD)
    drawn = ways_figure.figure(loading.load([path]), Options())
    (chart,) = drawn.charts
    assert [curve.name for curve in chart.curves] == ["way there", "at the server", "way back"]
    assert list(chart.curves[1].y) == [0.2, 0.2]
    assert drawn.notes == (
        "medians of n\u00a0=\u00a01800 round trips of a point",
        "the clocks of both ends may differ by 0.100 µs",
    )
    assert a2a("plot", "ways", path, "-o", tmp_path / "w.svg").status == 0


def test_no_figure_where_the_clocks_do_not_tell(a2a: Run, tmp_path: Path) -> None:
    path = native_echo.write_told(tmp_path / "e.h5", BAD)
    outcome = a2a("plot", "ways", path, "-o", tmp_path / "w.svg")
    assert outcome.status == 2
    assert "may differ by more than 5 % of the median" in outcome.err
    assert not ways_figure.is_there(loading.load([path]))
