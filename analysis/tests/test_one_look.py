# SPDX-License-Identifier: BSD-3-Clause
"""A figure has one legend: in all of its panels a name looks as the legend shows it."""

from pathlib import Path

from a2aperf import chart, cli, loading, plots
from a2aperf.curves import Options
from support import native_interference, native_open_loop, native_streams
from support.edited import edited
from support.native_interference import Load
from support.native_open_loop import Loop


def looks(kind: str, *paths: Path) -> dict[str, int]:
    """By name, of a figure of several panels; fails where a name has two."""
    figure = plots.made(kind, loading.load(paths), Options())
    assert len({one.title + one.subtitle for one in figure.charts}) > 1
    found: dict[str, set[int]] = {}
    for curve in (curve for one in figure.charts for curve in one.curves):
        found.setdefault(curve.name, set()).add(curve.look)
    (group,), _ = chart.entries(figure.charts)
    for entry in group.entries:
        assert entry.curve and found[entry.name] == {entry.curve.look}
    return {name: look for name, (look,) in found.items()}


def test_interconnects_that_not_every_text_has(tmp_path: Path) -> None:
    heading = "interconnect | size (B) | throughput (MB/s)\n"
    paths = []
    for number, names in enumerate((("A", "B", "C"), ("C", "B"), ("D",))):
        text, path = tmp_path / f"{number}.txt", tmp_path / f"{number}.h5"
        text.write_text(heading + "".join(f"{name} | 64 | 5\n" for name in names))
        assert cli.main(["import", str(text), "-o", str(path)]) == 0
        paths.append(path)
    assert looks("ranking", *paths) == {"A": 0, "B": 1, "C": 2, "D": 3}


SIZES = {"8\u00a0B": 0, "1\u00a0kB": 1}


def test_sizes_of_streams_that_not_every_setting_has(tmp_path: Path) -> None:
    path = native_streams.write(tmp_path / "s.h5", False, (8, 1000, 1000))
    with edited(path) as file:
        file["window"][:] = [8, 8, 16]
    assert looks("intervals", path) == SIZES


def test_sizes_of_an_open_loop_that_not_every_setting_has(tmp_path: Path) -> None:
    loops = [Loop(100_000, size) for size in (8, 1000, 1000)]
    path = native_open_loop.write(tmp_path / "o.h5", loops)
    with edited(path) as file:
        file["outstanding"][:] = [8, 8, 16]
    assert looks("seconds", path) == SIZES


def test_sizes_of_an_interference_that_not_every_setting_has(tmp_path: Path) -> None:
    loads = [Load(size=size) for size in (8, 1000, 1000)]
    path = native_interference.write(tmp_path / "i.h5", loads)
    with edited(path) as file:
        file["load_window"][:] = [8, 8, 16]
    assert looks("interference", path) == SIZES
