# SPDX-License-Identifier: BSD-3-Clause
"""Figures of round trips are those of their samples, and are printed as clusterperf prints them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from a2aperf import curves, loading
from a2aperf.curves import Options
from a2aperf.workloads.echo import tails
from conftest import DATA, Outcome
from support import native_echo
from support.edited import edited

Run = Callable[..., Outcome]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_echo.write(tmp_path / "e.h5")


def test_a_round_trip_that_is_missing_contradicts_the_law(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["raw/trip_time"][0, 0, 1] -= 6000
    assert "littles_law is 1.0, its round trips say 0" in a2a("check", path).out


def test_a_sample_that_does_not_fit(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["raw/round_trip"][0, 7, 0] *= 2
    assert "time_mean is " in a2a("check", path).out


def test_table_and_figure_show_them(a2a: Run, path: Path, tmp_path: Path) -> None:
    heading, first, *_ = a2a("table", path).out.splitlines()
    assert "p999 µs" in heading
    assert "echo" in first
    assert a2a("plot", "tails", path, "-o", tmp_path / "tails.svg").status == 0
    assert (tmp_path / "tails.svg").exists()


@pytest.mark.parametrize(
    ("time", "shown"),
    [(350, "0.4 us"), (450, "0.5 us"), (1_005_000, "1.01 ms"), (999_949, "999.9 us")],
)
def test_a_time_in_the_middle_is_printed_as_the_program_prints_it(
    a2a: Run, path: Path, time: int, shown: str
) -> None:
    """Which has `time * 1e-3`: of 350 ns that is more than 0.35."""
    with edited(path) as file:
        file["time_p50"][...] = time
    first = a2a("table", "--layout", "clusterperf", path).out.splitlines()[1]
    assert " ".join(first.split()[1:3]) == shown


def test_lines_of_clusterperf_come_back(a2a: Run, path: Path, tmp_path: Path) -> None:
    text = a2a("table", path, "--layout", "clusterperf").out
    heading, *lines = text.splitlines()
    assert heading.startswith("clusterperf ")
    assert [line.split()[0] for line in lines] == [
        f"echo{size}"
        for one in ("100", "1K")
        for size in (one, f"{one}.min", f"{one}.9", f"{one}.99", f"{one}.999", f"Bw{one}")
    ]
    assert (
        lines[0].split() == "echo100 5.9 us send 30B message, receive 100B message median".split()
    )
    (tmp_path / "lines.txt").write_text(text, encoding="utf-8")
    outcome = a2a("import", tmp_path / "lines.txt", "-o", tmp_path / "back.h5")
    assert "12 figures of 2 points in 1 table" in outcome.out
    here, back = (loading.load([one]).points for one in (path, tmp_path / "back.h5"))
    for name, within in (("time_p50", 0.02), ("time_p999", 0.02), ("byte_rate", 0.02)):
        assert back[name].to_numpy() == pytest.approx(here[name].to_numpy(), rel=within)


def test_published_lines_are_printed_as_they_were(a2a: Run, tmp_path: Path) -> None:
    text = DATA / "clusterperf-2018-11.txt"
    a2a("import", text, "-o", tmp_path / "x.h5")
    only = ("--where", "operation=echo", "--layout", "clusterperf")
    _, *lines = a2a("table", tmp_path / "x.h5", *only).out.splitlines()
    published = " ".join(text.read_text(encoding="utf-8").split())
    assert len(lines) == 30
    assert [line for line in lines if " ".join(line.split()) not in published] == []
    others = a2a("table", tmp_path / "x.h5", "--layout", "clusterperf")
    assert (others.status, "'basic.read' are only read" in others.err) == (2, True)


def test_an_absent_percentile_has_no_line(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["time_p999"][:] = float("nan")
    assert ".999 " not in a2a("table", path, "--layout", "clusterperf").out


def test_the_longest_stands_right_of_every_percentile(path: Path) -> None:
    """Where launches differ in n, too: the smaller n would lie among the percentiles."""
    found = loading.load([path])
    points = pd.concat([found.points.assign(ops=n, time_p999=9e9) for n in (50, 1000)])
    points["time_max"] = 1e10
    size = points["message_size"].iloc[0]
    rows = points[points["message_size"] == size]
    curve = tails._curve(rows, ["time_p50", "time_p99", "time_p999"], float(size), 0)
    assert (np.diff(curve.x) > 0).all()
    assert curve.y[-1] == 1e7
    assert curve.y[-2] == 9e6


def test_settings_without_a_panel_are_told_with_the_sizes_that_go_with_them(path: Path) -> None:
    found = loading.load([path])
    count = curves.MOST_PANELS + 2
    points = pd.concat([found.points.iloc[:1]] * count, ignore_index=True)
    points = points.assign(outstanding=range(1, count + 1))
    points.loc[count - 1, "message_size"] = 4096
    drawn = tails.figure(replace(found, points=points), Options())
    assert len(drawn.charts) == curves.MOST_PANELS
    assert drawn.left_out == (
        "1 of 2 message sizes shown",
        f"{curves.MOST_PANELS} of {count} settings shown",
    )


def test_explain_keeps_numbers_of_outstanding_ones_apart(a2a: Run, path: Path) -> None:
    """And holds none that is recorded to one at a time."""
    with edited(path) as file:
        file["outstanding"][0] = 4
    text = " ".join(
        a2a("explain", path, "--kind", "round-trips", "--kind", "outstanding").out.split()
    )
    assert text.count("median and bandwidth") == 2
    assert "outstanding 4: median" in text
    assert "one outstanding round trip" not in text
