# SPDX-License-Identifier: BSD-3-Clause
"""What the figures show, checked against numbers computed another way."""

import io
import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from a2a import chart, drawing, interactive, plots, results, synthetic
from a2a.curves import Options
from a2a.errors import InputError
from a2a.results import Results
from a2a.synthetic import Effects, Setup
from a2a.synthetic_pairs import write_pairs
from conftest import Outcome


@pytest.fixture
def old(table_2019: Path) -> Results:
    """The table of 2019, imported."""
    return results.load([table_2019])


def curve(figure: chart.Figure, panel: int, name: str) -> dict[float, float]:
    """Points of the curve of that name."""
    found = [c for c in figure.charts[panel].curves if c.name == name and c.listed]
    assert len(found) == 1, [c.name for c in figure.charts[panel].curves]
    return dict(zip(found[0].x.tolist(), found[0].y.tolist(), strict=True))


def launches(folder: Path, *setups: Setup) -> Results:
    return results.load(
        [synthetic.write_launch(folder / f"{i}.h5", setup) for i, setup in enumerate(setups)]
    )


def test_scaling_of_2019_collapses(old: Results) -> None:
    default = old.select(old.values("PSM2_RCVTHREAD").isna())
    figure = plots.scaling(default, Options())
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
    figure = plots.sizes(ours, Options())
    assert [c.name for c in figure.charts[0].curves] == [
        "ranks per node unknown, PSM2_RCVTHREAD unknown",
        "2 per node, PSM2_RCVTHREAD=0",
    ]
    default, off = (float(c.y[0]) for c in figure.charts[0].curves)
    assert off / default == pytest.approx(2.26, abs=0.005)


def test_latency_of_2019_marks_p99_that_is_the_maximum(old: Results) -> None:
    figure = plots.latency(old.select(old.points["ranks"] == 20), Options())
    names = {c.name for c in figure.charts[0].curves}
    assert "p99 = max" in names  # n = 100 and sorted[int(0.99 n)]
    assert "p99" not in names
    assert any("too few ops" in note for note in figure.said)


def test_latency_does_not_mark_a_p99_of_its_own(tmp_path: Path) -> None:
    figure = plots.latency(launches(tmp_path, Setup(ops=200)), Options())
    assert {c.name for c in figure.charts[0].curves} >= {"p50", "p99"}
    assert "p99 = max" not in {c.name for c in figure.charts[0].curves}


def test_one_launch_has_the_interval_of_the_median(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(nodes=4, sizes=(8000,), ops=100))
    row = found.points.iloc[0]
    drawn = plots.scaling(found, Options()).charts[1].curves[0]
    assert drawn.low is not None
    assert drawn.high is not None
    assert drawn.low[0] == pytest.approx(row["gbps_rank"] * row["time_p50"] / row["time_p50_high"])
    assert drawn.high[0] == pytest.approx(row["gbps_rank"] * row["time_p50"] / row["time_p50_low"])
    assert drawn.low[0] < drawn.y[0] < drawn.high[0]


def test_several_launches_show_median_and_range(tmp_path: Path) -> None:
    setups = [Setup(sizes=(8000,), seed=i, effects=Effects(launch_spread=0.1)) for i in range(3)]
    found = launches(tmp_path, *setups)
    values = sorted(found.points["gbps_rank"])
    drawn = plots.scaling(found, Options()).charts[1].curves[0]
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
    names = [c.name for c in plots.sizes(found, Options()).charts[0].curves]
    assert names == ["PSM2_RCVTHREAD=0", "PSM2_RCVTHREAD=1"]


def test_link_rate_bounds_node_and_rank(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(nodes=4, ppn=2, sizes=(60000,), link_rate_gbps=60.0))
    node, rank = plots.scaling(found, Options()).charts
    assert [b.y[0] for b in node.bounds if b.look is None] == [60.0]
    # 2 ranks send 6 of their 7 messages each through the port
    assert [b.y[0] for b in rank.bounds if b.look is None] == [pytest.approx(60.0 / 2 * 7 / 6)]


def test_a_link_rate_far_above_is_said_not_drawn(tmp_path: Path) -> None:
    figure = plots.sizes(
        launches(tmp_path, Setup(sizes=(60000,), link_rate_gbps=1000.0)), Options()
    )
    assert figure.charts[0].bounds == ()
    assert any(note.startswith("link rate 1") for note in figure.said)


def test_many_sizes_are_thinned_and_said(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(nodes=n, sizes=synthetic.TABLE_SIZES) for n in (2, 4)))
    figure = plots.scaling(found, Options())
    names = [c.name for c in figure.charts[0].curves]
    assert len(names) == 6
    assert names[0] == "1\u00a0kB"
    assert names[-1] == "60\u00a0kB"
    assert "6 of 24 message sizes shown" in figure.said


@pytest.mark.parametrize("n", [1, 2, 99, 400, 401, 5000])
def test_steps_are_the_distribution_function(n: int) -> None:
    times = np.random.default_rng(n).lognormal(size=n)
    x, y = plots.steps(times)
    assert y[0] == 0
    assert y[-1] == 1
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) > 0).all()
    assert x.size <= 402
    for place, share in zip(x[1:], y[1:], strict=True):
        assert share == pytest.approx(np.mean(times <= place))


def test_cdf_has_a_line_per_launch(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(sizes=(8000,), ops=50, seed=i) for i in range(3)))
    drawn = plots.cdf(found, Options()).charts[0].curves
    assert len(drawn) == 3
    assert [c.listed for c in drawn] == [True, False, False]
    for p50, line in zip(found.points["time_p50"], drawn, strict=True):
        assert np.median(line.x[1:]) == pytest.approx(p50 / 1000, rel=0.05)


def test_ops_shows_every_attempt(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(sizes=(8000,), ops=100, effects=Effects(late_share=0.1)))
    row = found.points.iloc[0]
    valid, invalid = plots.ops(found, Options()).charts[0].curves
    assert valid.x.size == row["ops"]
    assert invalid.x.size == row["invalid"] > 0
    assert np.max(valid.y) == pytest.approx(row["time_max"] / 1000)


def test_ranks_finds_the_straggler(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(sizes=(8000,), ops=200, effects=Effects(straggler=(5, 0.5))))
    row = found.points.iloc[0]
    heat, shares = plots.ranks(found, Options()).charts
    assert heat.heat is not None
    assert heat.heat.z.shape == (200, 8)
    share = shares.curves[0].y
    assert int(share.argmax()) == 5 == row["last_rank"]
    assert share[5] == pytest.approx(row["last_rank_share"])
    assert share.sum() == pytest.approx(1)
    chance, limit = (float(b.y[0]) for b in shares.bounds)
    assert chance == pytest.approx(1 / 8)
    assert chance < limit < share[5]
    assert limit > np.delete(share, 5).max()


def test_raw_figures_refuse_a_summary(old: Results) -> None:
    for kind in (plots.cdf, plots.ops, plots.ranks):
        with pytest.raises(InputError, match="without raw samples"):
            kind(old, Options())


@pytest.mark.parametrize("kind", plots.KINDS)
def test_every_kind_draws_and_says_n(kind: str, tmp_path: Path) -> None:
    settings = itertools.product((2, 4), ("0", "1"))
    setups = [Setup(nodes=n, ops=40, environment={"PSM2_RCVTHREAD": v}) for n, v in settings]
    if kind == "matrix":
        pairs = Setup(nodes=4, sizes=(8, 60000), ops=5)
        found = results.load([write_pairs(tmp_path / "pairs.h5", pairs)])
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
    speed, rates = plots.compare(found, Options()).charts
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
    figure = plots.compare(old, Options(by=("PSM2_RCVTHREAD",)))
    line = curve(figure, 0, "160 ranks on 80 nodes")
    assert line[40000] == pytest.approx(2.26, abs=0.005)
    assert any("unknown" in note for note in figure.said)
    assert "too few launches for an interval" in figure.said
    assert [c for c in figure.charts[0].curves if c.form == "hollow"]


def test_compare_needs_one_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--by NAME; nothing differs here"):
        plots.compare(launches(tmp_path, Setup()), Options())


def test_one_node_scales_over_its_ranks(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(nodes=1, ppn=k, seed=k, sizes=(8000,)) for k in (2, 4, 8)))
    figure = plots.scaling(found, Options())
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
    assert [b.name for b in panel.bounds] == ["nic_firmware"]
    when = datetime.fromtimestamp(float(panel.bounds[0].x[0]) * 86400, UTC)
    assert when.date() == (setups[8].started).date()
    rates = panel.curves[0].y
    assert rates[8:].max() < rates[:8].min()
    assert "1 change point (1\u00a0% error in all)" in figure.said
