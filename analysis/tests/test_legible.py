# SPDX-License-Identifier: BSD-3-Clause
"""Figures as a reader meets them: axes, names, legends, colours and what lies over what."""

from pathlib import Path

import pytest

from a2aperf import chart, chosen_axes, drawing, interactive, loading, report, style
from a2aperf.curves import Options
from a2aperf.results import Results
from a2aperf.workloads.alltoall import sweeps
from conftest import launches
from support import synthetic
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")


@pytest.mark.parametrize("kind", ["scaling", "sizes"])
def test_a_chosen_axis_reaches_the_lines_that_have_a_name(kind: str, tmp_path: Path) -> None:
    setups = [
        Setup(nodes=n, sizes=(1000, 60000), ops=10, seed=n, link_rate_gbps=100) for n in (2, 64)
    ]
    figure = getattr(sweeps, kind)(launches(tmp_path, *setups), Options())
    bounds = [(panel, bound) for panel in figure.charts for bound in panel.bounds]
    assert any(max(b.y) > max(max(c.y) for c in panel.curves) for panel, b in bounds)
    for axes in (("", "log"), ("log", "log"), ("linear", "log"), ("log", "linear")):
        for panel in chosen_axes.as_asked(figure, Options(x_scale=axes[0], y_scale=axes[1])).charts:
            for bound in panel.bounds:
                for axis, values in ((panel.x, bound.x), (panel.y, bound.y)):
                    low, high = axis.limits or (-1e9, 1e9)  # else drawn to what is there
                    assert low < min(values), (axes, bound.name)
                    assert max(values) < high, (axes, bound.name)


def with_thresholds(folder: Path, count: int, nodes: tuple[int, ...] = (4,)) -> list[Path]:
    """Launches with 1000, 2000, … of a variable, in the order of a shell: 1000, 10000, 11000, …"""
    values = sorted(str(1000 * (i + 1)) for i in range(count))
    return [
        synthetic.write_launch(
            folder / f"{n}-{value}.h5",
            Setup(
                nodes=n,
                sizes=(8000, 60000),
                ops=6,
                seed=int(value) + n,
                environment={"FI_LIMIT": value},
            ),
        )
        for n in nodes
        for value in values
    ]


def named(first: int, last: int) -> list[str]:
    return [f"FI_LIMIT={1000 * i}" for i in range(first, last + 1)]


def lettering(panel: chart.Chart) -> dict[str, str]:
    """What the names of a panel's lines are, by look."""
    return {curve.name: style.look(curve.look).color for curve in panel.curves}


def test_settings_of_several_panels_are_listed_under_their_panels_names(tmp_path: Path) -> None:
    files = with_thresholds(tmp_path, 14)
    figure = sweeps.sizes(loading.load(files), Options())
    assert [panel.subtitle for panel in figure.charts] == ["settings 1 to 12", "settings 13 to 14"]
    groups, others = chart.entries(figure.charts)
    assert others == []
    told = [(group.title, [entry.name for entry in group.entries]) for group in groups]
    assert told == [
        ("Settings 1 to 12", named(1, 12)),
        ("Settings 13 to 14", named(13, 14)),
    ]
    for group in groups:
        looks = [entry.curve.look for entry in group.entries if entry.curve]
        assert len(set(looks)) == len(group.entries)
    for panel, group in zip(figure.charts, groups, strict=True):
        assert list(lettering(panel)) == [entry.name for entry in group.entries]
    texts = [text.get_text() for text in drawing.draw(figure).texts]
    first, second = (texts.index(f"{group.title}:") for group in groups)
    assert texts[first + 1 : second] == named(1, 12)
    assert texts[second + 1 : second + 3] == named(13, 14)
    keys = interactive.spec(figure).keys
    assert [(key.group, key.name) for key in keys] == [(t, n) for t, ns in told for n in ns]
    page = report.render(loading.load(files))
    legend = page[page.index('id="sizes"') :]
    legend = legend[legend.index('class="legend"') : legend.index('class="panels')]
    assert legend.count('<span class="group">') == 2
    parts = legend.split('<span class="group">')
    assert [part.count("<button") for part in parts] == [0, 12, 2]
    assert parts[2].startswith("Settings 13 to 14<")


def test_one_setting_alone_in_the_last_panel_has_its_name(tmp_path: Path) -> None:
    figure = sweeps.sizes(loading.load(with_thresholds(tmp_path, 13)), Options())
    assert [panel.subtitle for panel in figure.charts] == ["settings 1 to 12", "setting 13"]
    assert [curve.name for curve in figure.charts[1].curves] == named(13, 13)


def test_settings_are_in_the_order_of_their_values(tmp_path: Path) -> None:
    files = with_thresholds(tmp_path, 14, (2, 4))
    for given in (files, files[::-1]):
        figure = sweeps.sizes(loading.load(given), Options())
        assert [panel.subtitle for panel in figure.charts] == named(1, 12)
        assert "12 of 14 settings shown" in figure.left_out


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("9", "10", "1"), ("1", "9", "10")),
        (("64K", "1M", "8K", ""), ("", "8K", "64K", "1M")),
        (("v10", "v9", "7"), ("7", "v9", "v10")),
    ],
)
def test_values_that_are_numbers_count_as_such(
    values: tuple[str, ...], expected: tuple[str, ...], tmp_path: Path
) -> None:
    setups = [
        Setup(sizes=(8000, 60000), ops=6, seed=i, environment={"FI_LIMIT": value} if value else {})
        for i, value in enumerate(values)
    ]
    (panel,) = sweeps.sizes(launches(tmp_path, *setups), Options()).charts
    names = [f"FI_LIMIT={value}" if value else "FI_LIMIT not set" for value in expected]
    assert [curve.name for curve in panel.curves] == names


def test_modes_stay_in_the_order_in_which_they_were_asked_for(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(sizes=(8000, 60000), ops=6, modes=("write", "msg", "tagged")))
    (panel,) = sweeps.sizes(found, Options()).charts
    assert [curve.name for curve in panel.curves] == ["write", "msg", "tagged"]


def slower_and_slower(folder: Path) -> Results:
    setups = [
        Setup(
            nodes=n,
            sizes=(8000, 60000),
            ops=6,
            seed=10 * i + n,
            environment={"FI_LIMIT": str(i)},
            effects=Effects(slowdown=1 + 0.6 * i),
            link_rate_gbps=100,
        )
        for i in range(4)
        for n in (2, 4)
    ]
    return launches(folder, *setups)


@pytest.mark.parametrize("kind", ["scaling", "sizes"])
def test_panels_of_one_scale_have_the_link_rate_or_none_has(kind: str, tmp_path: Path) -> None:
    figure = getattr(sweeps, kind)(slower_and_slower(tmp_path), Options())
    of_node = [panel for panel in figure.charts if "per node" in panel.y.label]
    assert len(of_node) == 4
    highest = [max(max(curve.y) for curve in panel.curves) for panel in of_node]
    assert min(highest) < 100 / 2.5 < max(highest)  # a panel alone would leave its line out
    assert [[b.name for b in panel.bounds if b.look is None] for panel in of_node] == [
        ["link rate"]
    ] * 4
