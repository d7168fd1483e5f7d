# SPDX-License-Identifier: BSD-3-Clause
"""Figures as a reader meets them: axes, names, legends, colours and what lies over what."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from a2aperf import chart, chosen_axes, drawing, interactive, loading, plots, report, style
from a2aperf.curves import Options
from a2aperf.results import Results
from a2aperf.workloads.alltoall import sweeps
from conftest import TABLE_2019, Outcome, launches
from support import synthetic
from support.synthetic import Effects, Setup
from support.synthetic_pairs import Truth, write_pairs
from support.synthetic_streams import Pipe, write_streams

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


def boxes(page: drawing.Page) -> Iterator[tuple[str, Text, Bbox]]:
    """Every text that is seen, with what it is and where it stands, in dots."""
    renderer = FigureCanvasAgg(page).get_renderer()  # type: ignore[no-untyped-call]
    found: list[tuple[str, Text]] = [("legend or note", text) for text in page.texts]
    for axes in page.axes:
        titles = [axes.title, axes._left_title]  # type: ignore[attr-defined]
        found += [("title", text) for text in titles if text.get_alpha() != 0]
        found += [("name", text) for text in axes.texts]
        found += [("label", axis.label) for axis in (axes.xaxis, axes.yaxis)]
        for axis in (axes.xaxis, axes.yaxis):
            found += [("tick", text) for text in axis.get_ticklabels()]
    for what, text in found:
        if text.get_text().strip() and text.get_visible():
            yield what, text, text.get_window_extent(renderer)


def require_legible(page: drawing.Page) -> None:
    """No text beyond the page, and none over a label, a title or a name."""
    seen = list(boxes(page))
    whole = page.bbox
    for what, text, box in seen:
        words = what, text.get_text()
        assert box.x0 >= whole.x0, words
        assert box.x1 <= whole.x1, words
        if what == "tick":
            continue
        for other, beside, place in seen:
            if other != "tick" and text is not beside:
                assert not box.overlaps(place), (words, beside.get_text())


@pytest.fixture
def mixed(a2a: Callable[..., Outcome], tmp_path: Path) -> list[Path]:
    """Imported results beside one's own of a variable in capitals, all with the link's rate."""
    imported = tmp_path / "2019.h5"
    assert a2a("import", TABLE_2019, "--link-rate", "100", "-o", imported).status == 0
    own = [
        synthetic.write_launch(
            tmp_path / f"{n}.h5",
            Setup(
                nodes=n,
                sizes=(1000, 8000, 60000),
                ops=10,
                seed=n,
                link_rate_gbps=100,
                environment={"PSM2_RCVTHREAD": "1"},
            ),
        )
        for n in (2, 4, 8, 16)
    ]
    return [imported, *own]


@pytest.mark.parametrize("kind", ["scaling", "sizes", "latency"])
@pytest.mark.parametrize("width", [style.COLUMN_WIDTH, style.PAGE_WIDTH])
def test_imported_results_beside_own_ones_are_legible(
    kind: str, width: float, mixed: list[Path]
) -> None:
    figure = plots.made(kind, loading.load(mixed), Options())
    names = {bound.name for panel in figure.charts for bound in panel.bounds}
    assert kind != "scaling" or "link rate, shared by the node's ranks" in names
    require_legible(drawing.draw(figure, width))
    for group in chart.entries(figure.charts)[0]:
        looks = [(entry.curve.look, entry.curve.form) for entry in group.entries if entry.curve]
        assert len(set(looks)) == len(looks)


@pytest.mark.parametrize("width", [style.COLUMN_WIDTH, style.PAGE_WIDTH])
def test_a_comparison_is_legible_in_a_column(width: float, tmp_path: Path) -> None:
    setups = [
        Setup(nodes=n, ops=10, seed=10 * n + i, environment={"PSM2_RCVTHREAD": str(i % 2)})
        for n in (2, 4)
        for i in range(2)
    ]
    found = launches(tmp_path, *setups)
    require_legible(drawing.draw(plots.made("compare", found, Options()), width))


def test_the_name_of_a_limit_stands_on_no_line(tmp_path: Path) -> None:
    setups = [
        Setup(nodes=n, sizes=(1000, 60000), ops=10, seed=n, link_rate_gbps=100) for n in (1, 2, 64)
    ]
    figure = sweeps.scaling(launches(tmp_path, *setups), Options())
    asked = chosen_axes.as_asked(figure, Options(y_scale="log"))
    page = drawing.draw(asked)
    for axes, text, box in ((text.axes, text, b) for w, text, b in boxes(page) if w == "name"):
        assert axes is not None
        for line in axes.lines:
            path = line.get_path().transformed(line.get_transform())
            assert not path.intersects_bbox(box, filled=False), text.get_text()


def test_ticks_of_a_panel_are_where_it_has_data(tmp_path: Path) -> None:
    sizes = ((1000, 8000, 60000), (2000, 16000), (1000, 60000), (5000,))
    setups = [
        Setup(nodes=n, sizes=of, ops=6, seed=10 * i + n, environment={"FI_A": str(i)})
        for i, of in enumerate(sizes)
        for n in (2, 4)
    ]
    figure = sweeps.sizes(launches(tmp_path, *setups), Options())
    assert [[place for place, _ in c.x.ticks] for c in figure.charts] == [[*of] for of in sizes]
    assert len({panel.x.limits for panel in figure.charts}) == 1


def test_one_node_has_no_tick_where_there_is_no_rate_per_node(tmp_path: Path) -> None:
    setups = [Setup(nodes=n, sizes=(1000, 8000), ops=6, seed=n) for n in (1, 2, 4)]
    node, rank = sweeps.scaling(launches(tmp_path, *setups), Options()).charts
    assert [place for place, _ in node.x.ticks] == [2, 4]
    assert [place for place, _ in rank.x.ticks] == [1, 2, 4]


def test_a_tick_without_room_for_its_text_keeps_its_mark(tmp_path: Path) -> None:
    sizes = [1000, 4000, 8000, 16000, 60000]
    found = launches(tmp_path, Setup(sizes=tuple(sizes), ops=6))
    figure = chosen_axes.as_asked(sweeps.sizes(found, Options()), Options(x_scale="linear"))
    (axes,) = drawing.draw(figure).axes
    texts, marks = axes.get_xticks(), axes.get_xticks(minor=True)
    assert len(marks) > 0
    assert sorted([*texts, *marks]) == sizes


@pytest.mark.parametrize("kind", ["scaling", "sizes", "compare", "history", "matrix"])
def test_a_rate_says_that_it_is_at_the_median(kind: str, tmp_path: Path) -> None:
    if kind == "matrix":
        found = loading.load([write_pairs(tmp_path / "a.h5", Setup(nodes=4, sizes=(8,), ops=5))])
    else:
        setups = [
            Setup(nodes=n, ops=6, seed=10 * n + i, environment={"FI_A": str(i)})
            for n in (2, 4)
            for i in range(2)
        ]
        found = launches(tmp_path, *setups)
    labels = [
        panel.y.label
        for panel in plots.made(kind, found, Options()).charts
        if panel.heat is None and "Gbit/s" in panel.y.label
    ]
    assert labels
    assert all(label.endswith(", at the median") for label in labels), labels


@pytest.mark.parametrize("what", ["gbps", "latency"])
def test_what_is_slow_is_dark_in_a_matrix(what: str, tmp_path: Path) -> None:
    setup = Setup(nodes=6, sizes=(8, 60000), ops=20)
    path = write_pairs(tmp_path / "a.h5", setup, Truth(senders={3: 0.5}, pairs={(4, 5): 3.0}))
    figure = plots.made("matrix", loading.load([path]), Options(own={"what": what}))
    heat = figure.charts[0].heat
    assert heat is not None
    known = np.isfinite(heat.z)
    slow = np.argmax(np.where(known, heat.z if what == "latency" else -heat.z, -np.inf))
    fast = np.argmin(np.where(known, heat.z if what == "latency" else -heat.z, np.inf))
    image = drawing.draw(figure).axes[0].images[0]
    pixels = image.get_array()
    assert pixels is not None
    light = image.to_rgba(pixels)[..., :3].sum(axis=-1).ravel()
    assert light[slow] < 0.5 * light[fast]
    (trace, *_) = interactive.spec(figure).charts[0]["traces"]
    # The script's Cividis is dark at its low end, unless reversed.
    assert (trace["colorscale"], trace["reversescale"]) == ("Cividis", what == "latency")


@pytest.mark.parametrize("kind", ["scaling", "rates"])
def test_dotted_is_what_a_line_would_be_at_best_and_nothing_else(kind: str, tmp_path: Path) -> None:
    if kind == "rates":
        found = loading.load([write_streams(tmp_path / "a.h5", [[Pipe(window=1), Pipe()]])])
    else:
        setups = [Setup(nodes=n, ops=6, seed=n, link_rate_gbps=60) for n in (2, 4)]
        found = launches(tmp_path, *setups)
    figure = plots.made(kind, found, Options())
    own = [b for panel in figure.charts for b in panel.bounds if b.look is not None]
    others = [b for panel in figure.charts for b in panel.bounds if b.look is None]
    assert own
    assert bool(others) == (kind == "scaling")
    for axes, panel in zip(drawing.draw(figure).axes, figure.charts, strict=True):
        dotted = [line for line in axes.lines if line.get_linestyle() == ":"]
        expected = [bound for bound in panel.bounds if bound.look is not None]
        assert [line.get_color() for line in dotted] == [
            style.look(bound.look or 0).color for bound in expected
        ]
    traces = [t for drawn in interactive.spec(figure).charts for t in drawn["traces"]]
    assert sum(t["line"]["dash"] == "dot" for t in traces if "line" in t) == len(own)
