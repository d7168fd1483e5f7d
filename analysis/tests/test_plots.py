# SPDX-License-Identifier: BSD-3-Clause
"""What the figures show, checked against numbers computed another way."""

import io
import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from a2aperf import (
    chart,
    chosen_axes,
    drawing,
    grouping,
    interactive,
    labels,
    loading,
    plots,
    raw_plots,
    style,
)
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.alltoall import plots as alltoall
from a2aperf.workloads.alltoall import sweeps
from conftest import Outcome, launches
from support import native_echo, native_interference, native_open_loop, native_streams, synthetic
from support.edited import edited
from support.synthetic import Effects, Setup
from support.synthetic_pairs import write_pairs
from support.synthetic_streams import TRIP, Pipe, write_streams, write_trips

pytestmark = pytest.mark.usefixtures("summed_once")


@pytest.fixture
def old(table_2019: Path) -> Results:
    """The table of 2019, imported."""
    return loading.load([table_2019])


def curve(figure: chart.Figure, panel: int, name: str) -> dict[float, float]:
    """Points of the curve of that name."""
    found = [c for c in figure.charts[panel].curves if c.name == name and c.listed]
    assert len(found) == 1, [c.name for c in figure.charts[panel].curves]
    return dict(zip(found[0].x.tolist(), found[0].y.tolist(), strict=True))


def test_scaling_of_2019_collapses(old: Results) -> None:
    default = old.select(old.values("PSM2_RCVTHREAD").isna())
    figure = sweeps.scaling(default, Options())
    assert [c.title for c in figure.charts] == ["Per rank"]
    assert "rate per node not shown: ranks per node unknown" in figure.said
    line = curve(figure, 0, "60\u00a0kB")
    assert line[20] == pytest.approx(33.78 * 19 / 20, rel=2e-4)
    assert line[180] == pytest.approx(11.21 * 179 / 180, rel=2e-4)
    low = figure.charts[0].curves[0].low
    assert low is not None
    assert not np.isfinite(low).any()  # a summary has no interval


def test_sizes_of_2019_tell_the_settings_apart(old: Results) -> None:
    ours = old.select((old.points["ranks"] == 160) & (old.points["message_size"] == 40000))
    figure = sweeps.sizes(ours, Options())
    assert [c.name for c in figure.charts[0].curves] == [
        "ranks per node unknown, PSM2_RCVTHREAD unknown",
        "2 per node, PSM2_RCVTHREAD=0",
    ]
    default, off = (float(c.y[0]) for c in figure.charts[0].curves)
    assert off / default == pytest.approx(2.26, abs=0.005)


def test_latency_of_2019_marks_p99_that_is_the_maximum(old: Results) -> None:
    figure = sweeps.latency(old.select(old.points["ranks"] == 20), Options())
    names = {c.name for c in figure.charts[0].curves}
    assert "p99 = max" in names  # n = 100 and sorted[int(0.99 n)]
    assert "p99" not in names
    assert any("insufficient samples" in note for note in figure.said)


def test_a_point_without_a_p99_has_no_mark_of_it(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "a.h5", Setup(ops=20, sizes=(1000,)))
    with edited(path) as file:
        file["time_p99"][:] = np.nan
    (chart,) = sweeps.latency(loading.load([path]), Options()).charts
    assert [c.name for c in chart.curves] == ["p50"]


def test_latency_does_not_mark_a_p99_of_its_own(tmp_path: Path) -> None:
    figure = sweeps.latency(launches(tmp_path, Setup(ops=200)), Options())
    assert {c.name for c in figure.charts[0].curves} >= {"p50", "p99"}
    assert "p99 = max" not in {c.name for c in figure.charts[0].curves}


def test_one_launch_has_the_interval_of_the_median(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(nodes=4, sizes=(8000,), ops=100))
    row = found.points.iloc[0]
    drawn = sweeps.scaling(found, Options()).charts[1].curves[0]
    assert drawn.low is not None
    assert drawn.high is not None
    assert drawn.low[0] == pytest.approx(row["gbps_rank"] * row["time_p50"] / row["time_p50_high"])
    assert drawn.high[0] == pytest.approx(row["gbps_rank"] * row["time_p50"] / row["time_p50_low"])
    assert drawn.low[0] < drawn.y[0] < drawn.high[0]


def test_several_launches_show_median_and_range(tmp_path: Path) -> None:
    setups = [Setup(sizes=(8000,), seed=i, effects=Effects(launch_spread=0.1)) for i in range(3)]
    found = launches(tmp_path, *setups)
    values = sorted(found.points["gbps_rank"])
    drawn = sweeps.scaling(found, Options()).charts[1].curves[0]
    assert drawn.low is not None
    assert drawn.high is not None
    assert [drawn.low[0], drawn.y[0], drawn.high[0]] == pytest.approx(values)
    assert drawn.hover[0].startswith("3 launches")


def test_settings_are_never_averaged(tmp_path: Path) -> None:
    setups = [
        Setup(sizes=(8000,), seed=seed, environment={"PSM2_RCVTHREAD": str(seed)})
        for seed in (0, 1)
    ]
    found = launches(tmp_path, *setups)
    names = [c.name for c in sweeps.sizes(found, Options()).charts[0].curves]
    assert names == ["PSM2_RCVTHREAD=0", "PSM2_RCVTHREAD=1"]


def test_link_rate_bounds_node_and_rank(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(nodes=4, ppn=2, sizes=(60000,), link_rate_gbps=60.0))
    node, rank = sweeps.scaling(found, Options()).charts
    assert [b.y[0] for b in node.bounds if b.look is None] == [60.0]
    # 2 ranks send 6 of their 7 messages each through the port
    assert [b.y[0] for b in rank.bounds if b.look is None] == [pytest.approx(60.0 / 2 * 7 / 6)]


def test_a_link_rate_is_that_of_each_scale(tmp_path: Path) -> None:
    setups = [Setup(nodes=n, sizes=(60000,), link_rate_gbps=g) for n, g in ((4, 60.0), (8, 90.0))]
    node, rank = sweeps.scaling(launches(tmp_path, *setups), Options()).charts
    (bound,) = (b for b in node.bounds if b.look is None)
    assert (bound.name, [*bound.x], [*bound.y]) == ("link rate", [4, 8], [60, 90])
    (shared,) = (b for b in rank.bounds if b.look is None)
    assert [*shared.y] == pytest.approx([60 / 2 * 7 / 6, 90 / 2 * 15 / 14])


def test_a_link_rate_of_one_scale_alone_is_drawn_there_alone(tmp_path: Path) -> None:
    rates = ((4, 60.0), (8, 60.0), (8, 90.0))
    setups = [
        Setup(nodes=n, sizes=(60000,), seed=i, link_rate_gbps=g, environment={"X": str(i)})
        for i, (n, g) in enumerate(rates)
    ]
    node, _ = sweeps.scaling(launches(tmp_path, *setups), Options()).charts
    (lower, higher) = (b for b in node.bounds if b.look is None)
    assert [*lower.x] == [4, 8]
    assert [*higher.y] == [90, 90]
    assert 4 < higher.x[0] < 8 < higher.x[1]


def test_link_rates_that_differ_at_one_place_have_a_line_each(tmp_path: Path) -> None:
    setups = [
        Setup(
            sizes=(8000, 60000),
            seed=i,
            link_rate_gbps=g,
            environment={"PSM2_RCVTHREAD": str(i)},
        )
        for i, g in enumerate((60.0, 90.0))
    ]
    (chart,) = sweeps.sizes(launches(tmp_path, *setups), Options()).charts
    drawn = {b.name: [*b.y] for b in chart.bounds}
    rates = ("60.0", "90.0")
    assert drawn == {f"link rate {r}\u00a0Gbit/s": [float(r)] * 2 for r in rates}


def test_settings_of_one_size_are_not_called_sizes(tmp_path: Path) -> None:
    setups = [
        Setup(sizes=(60000,), seed=i, environment={"PSM2_RCVTHREAD": str(i)}) for i in range(2)
    ]
    found = launches(tmp_path, *setups)
    figure = sweeps.scaling(found, Options())
    assert {c.legend for c in figure.charts} == {""}
    assert "messages of 60\u00a0kB per pair of ranks" in figure.notes
    alone = sweeps.scaling(found.select(found.values("PSM2_RCVTHREAD") == "0"), Options())
    assert {c.legend for c in alone.charts} == {"Message size per pair of ranks"}


def test_points_without_a_rate_per_node_are_counted(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(sizes=(8000, 60000)), Setup(sizes=(8000,), nodes=8))
    points = found.points.copy()
    points.loc[points.index[-1], ["gbps_node_net", "ppn"]] = np.nan
    figure = sweeps.scaling(replace(found, points=points), Options())
    assert "1 point without a rate per node drawn per rank alone" in figure.left_out


def test_a_link_rate_far_above_is_said_not_drawn(tmp_path: Path) -> None:
    figure = sweeps.sizes(
        launches(tmp_path, Setup(sizes=(60000,), link_rate_gbps=1000.0)), Options()
    )
    assert figure.charts[0].bounds == ()
    assert any(note.startswith("link rate 1") for note in figure.said)


def test_many_sizes_are_thinned_and_said(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(nodes=n, sizes=synthetic.TABLE_SIZES) for n in (2, 4)))
    figure = sweeps.scaling(found, Options())
    names = [c.name for c in figure.charts[0].curves]
    assert len(names) == 6
    assert names[0] == "1\u00a0kB"
    assert names[-1] == "60\u00a0kB"
    assert "6 of 24 message sizes shown" in figure.said


# Of files that their own tests make: test_qos, test_interconnects, test_traffic, …
_ELSEWHERE = {"shares", "weights", "ranking", "traffic", "effects", "pareto", "relay"}


@pytest.mark.parametrize("kind", [kind for kind in plots.KINDS if kind not in _ELSEWHERE])
def test_every_kind_draws_and_says_n(kind: str, tmp_path: Path) -> None:
    settings = itertools.product((2, 4), ("0", "1"))
    setups = [Setup(nodes=n, ops=40, environment={"PSM2_RCVTHREAD": v}) for n, v in settings]
    if kind == "matrix":
        pairs = Setup(nodes=4, sizes=(8, 60000), ops=5)
        found = loading.load([write_pairs(tmp_path / "pairs.h5", pairs)])
    elif kind in ("rates", "credits"):
        found = loading.load([write_streams(tmp_path / "streams.h5", [[Pipe(window=1), Pipe()]])])
    elif kind in ("intervals", "counters"):
        found = loading.load([native_streams.write(tmp_path / "streams.h5")])
    elif kind in ("hockey", "seconds"):
        found = loading.load([native_open_loop.write(tmp_path / "loops.h5")])
    elif kind == "interference":
        found = loading.load([native_interference.write(tmp_path / "loads.h5")])
    elif kind == "ways":
        found = loading.load([native_echo.write_told(tmp_path / "trips.h5")])
    elif kind == "tails":
        found = loading.load([write_trips(tmp_path / "trips.h5", [[TRIP]])])
    else:
        found = launches(tmp_path, *(replace(setup, seed=i) for i, setup in enumerate(setups)))
    figure = plots.KINDS[kind].make(found, Options())
    assert figure.charts
    assert not any(c.empty for c in figure.charts)
    assert any("n\u00a0=\u00a0" in note for note in figure.said)
    drawn = interactive.spec(figure)
    assert len(drawn.charts) == len(figure.charts)
    first, second = io.BytesIO(), io.BytesIO()
    for stream in (first, second):
        drawing.save(drawing.draw(figure), stream, "svg")
    assert first.getvalue() == second.getvalue()  # the same data give the same file


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_plot_writes(
    a2a: Callable[..., Outcome], launch: Path, tmp_path: Path, suffix: str, start: bytes
) -> None:
    out = tmp_path / f"figure.{suffix}"
    outcome = a2a("plot", "sizes", launch, "-o", out, "--width", "column")
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")
    assert out.read_bytes().startswith(start)


def test_plot_refuses(a2a: Callable[..., Outcome], launch: Path, tmp_path: Path) -> None:
    out = tmp_path / "figure.png"
    a2a("plot", "pie", launch, "-o", out).refused("pie", "scaling")
    a2a("plot", "sizes", launch, "-o", tmp_path / "x.h5").refused(".png", ".svg", ".pdf")
    a2a("plot", "sizes", launch, "-o", tmp_path / "none" / "x.png").refused("none")
    a2a("plot", "sizes", launch, "-o", out, "--by", "COLOUR").refused("COLOUR")
    a2a("plot", "sizes", launch, "-o", out, "--size", "7kB").refused("7kB")
    a2a("plot", "sizes", "-o", out).refused("FILE")
    assert not out.exists()


def test_compare_shows_ratio_interval_and_verdict(tmp_path: Path) -> None:
    values = "0110011001100110"
    setups = [
        Setup(
            sizes=(8000, 60000),
            seed=seed,
            environment={"PSM2_RCVTHREAD": value},
            effects=Effects(slowdown=1.5 if value == "1" else 1.0, launch_spread=0.01),
            started=datetime(2025, 6, 15, hour=seed, tzinfo=UTC),
        )
        for seed, value in enumerate(values)
    ]
    found = launches(tmp_path, *setups)
    speed, rates = alltoall.compare(found, Options()).charts
    line = next(c for c in speed.curves if c.form == "line")
    assert line.low is not None
    assert line.high is not None
    assert line.y == pytest.approx([1 / 1.5] * 2, rel=0.02)
    assert (line.low < line.y).all()
    assert (line.high < 1).all()
    assert line.hover[0].startswith("slower, 95\u00a0% interval")
    assert not [c for c in speed.curves if c.form == "hollow"]  # nothing is undecided
    baseline, candidate = rates.curves
    assert candidate.y / baseline.y == pytest.approx(line.y, rel=1e-6)


def test_compare_of_2019_shows_the_effect_and_claims_nothing(old: Results) -> None:
    figure = alltoall.compare(old, Options(by=("PSM2_RCVTHREAD",)))
    line = curve(figure, 0, "160 ranks on 80 nodes")
    assert line[40000] == pytest.approx(2.26, abs=0.005)
    assert any("unknown" in note for note in figure.said)
    assert "insufficient samples for an interval" in figure.said
    assert [c for c in figure.charts[0].curves if c.form == "hollow"]


def test_compare_needs_one_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--by NAME; nothing differs here"):
        alltoall.compare(launches(tmp_path, Setup()), Options())


def test_one_node_scales_over_its_ranks(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(nodes=1, ppn=k, seed=k, sizes=(8000,)) for k in (2, 4, 8)))
    figure = sweeps.scaling(found, Options())
    assert [c.title for c in figure.charts] == ["Per rank"]
    assert figure.charts[0].x.label == "Ranks"
    assert figure.charts[0].curves[0].x.tolist() == [2, 4, 8]
    assert any(note.startswith("one node") for note in figure.said)


def test_history_marks_the_change_and_names_it(tmp_path: Path) -> None:
    setups = [
        Setup(
            sizes=(8000,),
            seed=week,
            started=datetime(2025, 1, 6, tzinfo=UTC) + timedelta(weeks=week),
            node_facts={"nic_firmware": "1.27" if week < 8 else "1.28"},
            effects=Effects(slowdown=1.0 if week < 8 else 1.3, launch_spread=0.01),
        )
        for week in range(16)
    ]
    figure = plots.KINDS["history"].make(launches(tmp_path, *setups), Options())
    (panel,) = figure.charts
    assert [b.name for b in panel.bounds] == ["change, with nic_firmware"]
    when = datetime.fromtimestamp(float(panel.bounds[0].x[0]) * 86400, UTC)
    assert when.date() == (setups[8].started).date()
    rates = panel.curves[0].y
    assert rates[8:].max() < rates[:8].min()
    assert "1 change point (1\u00a0% error in a history without one)" in figure.said


# What a reader may rely on ---------------------------------------------------------------------


def with_settings(folder: Path, count: int, **more: Any) -> Results:
    values = [{"PSM2_RCVTHREAD": str(value)} for value in range(count)]
    setups = [
        Setup(sizes=(8000, 60000), ops=6, seed=i, environment=e, **more)
        for i, e in enumerate(values)
    ]
    return launches(folder, *setups)


def test_twelve_settings_differ_in_colour_and_symbol(tmp_path: Path) -> None:
    (panel,) = sweeps.sizes(with_settings(tmp_path, 12), Options()).charts
    looks = [style.look(c.look) for c in panel.curves]
    assert len({look.color for look in looks}) == len({look.marker for look in looks}) == 12
    assert len({look.symbol for look in looks}) == 12


def test_more_settings_have_further_panels(tmp_path: Path) -> None:
    first, second = sweeps.sizes(with_settings(tmp_path, 14), Options()).charts
    assert [len(first.curves), len(second.curves)] == [12, 2]
    assert first.x.limits == second.x.limits
    assert first.y.limits == second.y.limits


def test_every_setting_has_a_panel_where_colours_are_sizes(tmp_path: Path) -> None:
    figure = sweeps.scaling(with_settings(tmp_path, 9), Options())
    assert [c.title for c in figure.charts] == ["Per node"] * 9 + ["Per rank"] * 9
    assert len({c.subtitle for c in figure.charts}) == 9
    assert figure.left_out == ()
    names = {c.name for chart in figure.charts for c in chart.curves}
    assert names == {"8\u00a0kB", "60\u00a0kB"}  # the panel's title says the setting


def test_dotted_is_ideal_scaling_alone() -> None:
    dashes = [look.dash for look in style.LOOKS] + [dash for _, dash in style.VARIANTS]
    assert all(not dash or dash[0] > 2 for dash in dashes)


def test_ideal_scaling_keeps_the_rate_of_a_node(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(nodes=n, ppn=4, sizes=(60000,), seed=n) for n in (2, 4, 16)))
    node, rank = sweeps.scaling(found, Options()).charts
    assert node.x.limits == rank.x.limits
    (per_node,) = [b for b in node.bounds if b.look is not None]
    (per_rank,) = [b for b in rank.bounds if b.look is not None]
    assert per_node.name == per_rank.name == "ideal scaling"
    assert per_node.y == pytest.approx([node.curves[0].y[0]] * 3)
    # R − 1 messages of a rank, R − k of them through the port that its k ranks share
    sent = {n: (4 * n - 1) / (4 * (4 * n - 4)) for n in (2, 4, 16)}
    assert per_rank.y == pytest.approx([per_node.y[0] * sent[n] for n in (2, 4, 16)])
    assert per_rank.y[-1] < 0.7 * per_rank.y[0]


def test_where_nothing_leaves_a_node_there_is_no_ideal(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(nodes=1, ppn=k, seed=k, sizes=(8000,)) for k in (2, 4)))
    assert not [b for c in sweeps.scaling(found, Options()).charts for b in c.bounds]


def test_both_panels_of_a_comparison_share_one_legend(tmp_path: Path) -> None:
    figure = alltoall.compare(with_settings(tmp_path, 2), Options())
    speed, rates = figure.charts
    baseline, candidate = rates.curves
    ratio = next(c for c in speed.curves if c.form == "line")
    assert ratio.look == candidate.look == baseline.look  # colour: the scale
    assert ratio.variant == candidate.variant == 0
    assert style.VARIANTS[baseline.variant or 0] == ("full", (3, 1.5))  # dash: the baseline
    assert not [b for b in speed.bounds if b.dashed]
    keys = {key.name: key for key in interactive.spec(figure).keys}
    assert [name for name, key in keys.items() if key.hollow] == []  # hollow: undecided, noted
    assert [name for name, key in keys.items() if key.dash not in ("", "none")] == ["baseline"]


def test_nothing_is_drawn_between_sizes_that_were_not_measured(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(sizes=(1000, 8000, 60000)))
    (panel,) = sweeps.latency(found, Options()).charts
    assert {c.form for c in panel.curves} == {"bars", "line", "points"}
    assert [place for place, _ in panel.x.ticks] == [1000, 8000, 60000]


def test_ticks_are_measured_sizes() -> None:
    sizes = [*range(1000, 15000, 1000), 20000, 25000, 60000]
    ticks = [place for place, _ in labels.size_ticks(sizes)]
    assert set(ticks) <= set(sizes)
    assert (ticks[0], ticks[-1]) == (1000, 60000)
    assert len(labels.size_ticks(2**power for power in range(3, 23))) < 12


def test_what_is_left_out_is_said_on_stderr(a2a: Callable[..., Outcome], tmp_path: Path) -> None:
    setups = [Setup(sizes=(1000, 8000), ops=6, seed=seed) for seed in range(3)]
    files = [synthetic.write_launch(tmp_path / f"{i}.h5", s) for i, s in enumerate(setups)]
    out = tmp_path / "figure.png"
    assert "a2a: 1 of 3 launches shown" in a2a("plot", "ops", *files, "-o", out).err
    said = a2a("plot", "ranks", *files, "-o", out).err
    assert "1 of 3 launches shown" in said
    assert "1 of 2 points of the launch shown" in said
    assert a2a("plot", "sizes", *files, "-o", out).err == ""
    figure = raw_plots.ops(loading.load(files), Options())
    assert figure.said[0] == "1 of 3 launches shown"


def test_axes_title_and_ranks_can_be_chosen(a2a: Callable[..., Outcome], tmp_path: Path) -> None:
    setups = [Setup(nodes=n, sizes=(1000, 8000), ops=6, seed=n) for n in (2, 3, 4)]
    found = launches(tmp_path, *setups)
    figure = sweeps.scaling(found, Options())
    assert not figure.charts[0].x.log
    asked = chosen_axes.as_asked(figure, Options(x_scale="log", y_scale="log", title="Here"))
    assert asked.heading == "Here"
    assert all(c.x.log and c.y.log and (c.y.limits or (0,))[0] > 0 for c in asked.charts)
    assert "Here" in [text.get_text() for text in drawing.draw(asked).texts]
    linear = chosen_axes.as_asked(sweeps.sizes(found, Options()), Options(x_scale="linear"))
    assert not linear.charts[0].x.log
    files = [tmp_path / f"{i}.h5" for i in range(3)]
    out = tmp_path / "figure.svg"
    words = ("--ranks", "4,6", "--x", "log", "--y", "linear", "--title", "Here")
    assert a2a("plot", "scaling", *files, "-o", out, *words).status == 0
    a2a("plot", "ranks", files[0], "-o", tmp_path / "x.png", "--x", "log").refused("heat map")
    a2a("plot", "scaling", *files, "-o", out, "--ranks", "5").refused("ranks=5")


def test_imported_results_beside_own_ones(table_2019: Path, tmp_path: Path) -> None:
    own = [
        synthetic.write_launch(
            tmp_path / f"{i}.h5",
            Setup(nodes=1, ppn=4, seed=i, provider=p, environment={"HFI_NO_BACKTRACE": "1"}),
        )
        for i, p in enumerate(("shm", "tcp;ofi_rxm"))
    ]
    found = loading.load([table_2019, *own])
    names = grouping.setting_names(found, found.points, ())
    assert "HFI_NO_BACKTRACE" not in names  # psm2's own doing
    texts = set(grouping.setting_labels(found, found.points))
    assert "a2aperf, shm, 4 per node" in texts  # PSM2_RCVTHREAD is of another library
    for kind in ("sizes", "scaling", "latency"):
        page = drawing.draw(plots.KINDS[kind].make(found, Options()))
        renderer = FigureCanvasAgg(page).get_renderer()  # type: ignore[no-untyped-call]
        legend = [text.get_window_extent(renderer) for text in page.texts]
        for axes in page.axes:
            titles = [axes.title, axes._left_title, *axes.texts]  # type: ignore[attr-defined]
            for title in (t for t in titles if t.get_text() and t.get_alpha() != 0):
                box = title.get_window_extent(renderer)
                assert not any(box.overlaps(other) for other in legend), title.get_text()
                assert box.x1 <= page.bbox.x1, title.get_text()


def test_a_plot_without_a_kind_is_refused_in_one_line(a2a: Callable[..., Outcome]) -> None:
    a2a("plot").refused("scaling, sizes, latency", "(see 'a2a plot --help')")
