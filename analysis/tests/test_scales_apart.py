# SPDX-License-Identifier: BSD-3-Clause
"""Launches of other ranks or nodes are no repetitions of each other, wherever launches are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from a2aperf import loading
from a2aperf.chart import Figure
from a2aperf.curves import Options
from a2aperf.labels import count_text
from a2aperf.results import Results
from a2aperf.workloads.echo import tails
from a2aperf.workloads.interference import curve
from a2aperf.workloads.open_loop import findings, hockey, latency_parts
from support import native_echo, native_interference, native_open_loop
from support.edited import edited
from support.native_open_loop import Loop

RANKS, NODES = (2, 4, 8), (1, 2, 4)


def launched(
    write: Callable[[Path], Path], folder: Path, nodes: Sequence[int], ranks: Sequence[int] = ()
) -> Results:
    """The same launch as if it had been made on so many nodes, with so many ranks."""
    folder.mkdir()
    paths = [write(folder / f"{number}.h5") for number in range(len(nodes))]
    for path in paths:
        with edited(path) as file:
            file["segments/0"].attrs["command_line"] = f"a2aperf {path.name}"
    found = loading.load(paths)
    points = found.points
    for name, values in (("nodes", nodes), ("ranks", ranks)):
        if values:
            of = dict(zip(sorted(found.files), values, strict=True))
            points = points.assign(**{name: points["file"].map(of).astype(points[name].dtype)})
    return replace(found, points=points)


def over_a_relay(path: Path) -> Path:
    return native_open_loop.write(path, tuple(Loop(rate, relays=1) for rate in (25_000, 100_000)))


def test_a_knee_is_that_of_a_number_of_ranks(tmp_path: Path) -> None:
    same = launched(native_open_loop.write, tmp_path / "a", (4, 4, 4))
    (one,) = findings.saturation(same)
    assert (one.n, "in the mean of 3 launches" in one.text) == (3, True)
    apart = launched(native_open_loop.write, tmp_path / "b", (1, 2, 4, 4), (*RANKS, 8))
    told = findings.saturation(apart)
    assert [one.n for one in told] == [1, 1, 2]
    assert not any("in the mean of" in one.text for one in told)
    for one, ranks, nodes in zip(told, RANKS, NODES, strict=True):
        assert f"{ranks} ranks on {count_text(nodes, 'node')}" in one.where


@pytest.mark.parametrize(
    ("write", "figure"),
    [
        (native_open_loop.write, hockey.figure),
        (over_a_relay, latency_parts.figure),
        (native_interference.write, curve.figure),
        (native_echo.write, tails.figure),
    ],
    ids=["hockey", "relay", "interference", "tails"],
)
def test_a_figure_has_a_panel_for_each(
    write: Callable[[Path], Path], figure: Callable[[Results, Options], Figure], tmp_path: Path
) -> None:
    alike = figure(launched(write, tmp_path / "a", (4, 4, 4)), Options())
    apart = figure(launched(write, tmp_path / "b", NODES), Options())
    assert any("3" in note and "launches" in note for note in alike.notes)
    assert not any("launches" in note and "of 3" in note for note in apart.notes)
    assert len(apart.charts) == len(NODES) * len(alike.charts)
    for nodes in NODES:
        assert any(f" on {count_text(nodes, 'node')}" in str(one) for one in apart.charts)
