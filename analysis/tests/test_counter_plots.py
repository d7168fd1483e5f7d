# SPDX-License-Identifier: BSD-3-Clause
"""The figure of counters: each mark is a ratio of the table, and what is not drawn is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from a2aperf import loading, plots
from a2aperf.chart import Curve, Figure
from a2aperf.curves import Options
from a2aperf.errors import InputError
from support import synthetic
from support.edited import edited
from support.synthetic_streams import Pipe, write_streams


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = synthetic.write_launch(tmp_path / "x.h5", synthetic.Setup(sizes=(8, 1000)))
    with edited(path) as file:
        for dataset in file["counters"].values():
            if dataset.dtype.kind == "i" and dataset.ndim > 1:
                dataset[...] = 0
        file["counters/port"][...] = 0
        file["counters/minor_faults"][:2] = [[56] * 8, [112] * 8]
        file["counters/user_time"][1] = 7_000_000
    return path


def figure(path: Path, **own: str) -> Figure:
    return plots.made("counters", loading.load([path]), Options(own=own))


def line(found: Figure, name: str) -> Curve:
    (one,) = [c for chart in found.charts for c in chart.curves if c.name == name]
    return one


def test_a_mark_is_what_each_message_had(path: Path) -> None:
    found = figure(path)
    assert [chart.title for chart in found.charts] == ["Times", "Counts"]
    attempts = loading.load([path]).points["attempts"].to_numpy()
    messages = attempts * 8 * 7
    faults = line(found, "minor faults")
    assert faults.x == pytest.approx([8, 1000])
    assert faults.y == pytest.approx([8 * 56 / messages[0], 8 * 112 / messages[1]])
    busy = line(found, "user time")
    assert busy.y[1] == pytest.approx(56e3 / messages[1])  # µs
    assert busy.y[0] != busy.y[0]
    assert "where a line lacks a mark it has 0" in found.said
    looks = [c.look for chart in found.charts for c in chart.curves]
    assert len(set(looks)) == len(looks)
    per_gb = line(figure(path, per="gb"), "minor faults")
    assert per_gb.y == pytest.approx(faults.y / [8e-9, 1e-6])


def test_what_is_not_drawn_is_said(path: Path, tmp_path: Path) -> None:
    """A counter that is 0 everywhere has no line, and an imported file no counter."""
    assert any("with 0 at every point" in note for note in figure(path).left_out)
    with edited(path) as file:
        file["counters/minor_faults"][...] = 0
        file["counters/user_time"][...] = 0
    with pytest.raises(InputError, match=r"nothing to draw: .* with 0 at every point"):
        figure(path)
    imported = write_streams(tmp_path / "s.h5", [[Pipe(sizes=(8,))]])
    with pytest.raises(InputError, match="no point here has counters"):
        figure(imported)


def test_of_several_launches_a_mark_is_the_median(tmp_path: Path) -> None:
    paths = []
    for nth, count in enumerate((1, 3, 9)):
        path = synthetic.write_launch(
            tmp_path / f"{nth}.h5", synthetic.Setup(sizes=(1000,), seed=nth)
        )
        with edited(path) as file:
            file["counters/minor_faults"][...] = count * int(file["attempts"][0]) * 7
        paths.append(path)
    found = plots.made("counters", loading.load(paths), Options())
    faults = line(found, "minor faults")
    assert faults.low is not None and faults.high is not None
    assert (faults.y[0], faults.low[0], faults.high[0]) == pytest.approx((3, 1, 9))
    assert "n\u00a0=\u00a03 launches: their median, bars: their range" in found.said
