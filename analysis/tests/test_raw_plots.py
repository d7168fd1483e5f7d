# SPDX-License-Identifier: BSD-3-Clause
"""What the figures of raw samples show: distributions, the course of ops, who is last."""

from pathlib import Path

import numpy as np
import pytest

from a2aperf import chart, loading, raw_plots
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.explain import equal
from a2aperf.plots import KINDS as PLOTS
from a2aperf.results import Results
from conftest import launches
from support import synthetic
from support.edited import edited
from support.synthetic import Effects, Setup


@pytest.fixture
def old(table_2019: Path) -> Results:
    """The table of 2019, imported."""
    return loading.load([table_2019])


@pytest.mark.parametrize("n", [1, 2, 99, 400, 401, 5000])
def test_steps_are_the_distribution_function(n: int) -> None:
    times = np.random.default_rng(n).lognormal(size=n)
    x, y = raw_plots.steps(times)
    assert y[0] == 0
    assert y[-1] == 1
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) > 0).all()
    assert x.size <= 402
    for place, share in zip(x[1:], y[1:], strict=True):
        assert share == pytest.approx(np.mean(times <= place))


def test_cdf_has_a_line_per_launch(tmp_path: Path) -> None:
    found = launches(tmp_path, *(Setup(sizes=(8000,), ops=50, seed=i) for i in range(3)))
    drawn = raw_plots.cdf(found, Options()).charts[0].curves
    assert len(drawn) == 3
    assert [c.listed for c in drawn] == [True, False, False]
    for p50, line in zip(found.points["time_p50"], drawn, strict=True):
        assert np.median(line.x[1:]) == pytest.approx(p50 / 1000, rel=0.05)


def test_ops_shows_every_attempt(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(sizes=(8000,), ops=100, effects=Effects(late_share=0.1)))
    row = found.points.iloc[0]
    invalid, valid = raw_plots.ops(found, Options()).charts[0].curves
    assert valid.x.size == row["ops"]
    assert invalid.x.size == row["invalid"] > 0
    assert np.max(valid.y) == pytest.approx(row["time_max"] / 1000)


def test_ranks_finds_the_straggler(tmp_path: Path) -> None:
    found = launches(tmp_path, Setup(sizes=(8000,), ops=200, effects=Effects(straggler=(5, 0.5))))
    row = found.points.iloc[0]
    heat, shares = PLOTS["ranks"].make(found, Options()).charts
    assert heat.heat is not None
    assert heat.heat.z.shape == (200, 8)
    share = shares.curves[0].y
    assert int(share.argmax()) == 5 == row["last_rank"]
    assert share[5] == pytest.approx(row["last_rank_share"])
    assert share.sum() == pytest.approx(1)
    chance, limit = (float(b.y[0]) for b in shares.bounds)
    assert chance == pytest.approx(1 / 8)
    assert chance < limit < share[5]
    assert shares.bounds[1].name == f"significantly more often: above {limit:.3g}"
    assert limit > np.delete(share, 5).max()


def test_raw_figures_refuse_a_summary(old: Results) -> None:
    for kind in (PLOTS[name].make for name in ("cdf", "ops", "ranks")):
        with pytest.raises(InputError, match="without raw samples"):
            kind(old, Options())


def test_ops_have_one_scale_that_invalid_ops_do_not_squash(tmp_path: Path) -> None:
    late = Setup(sizes=(1000, 60000), ops=50, effects=Effects(late_share=0.2))
    path = synthetic.write_launch(tmp_path / "x.h5", late)
    with edited(path) as file:
        for point in range(2):
            ends = file["raw/recv_done"][point]
            ends[file["raw/valid"][point] == 0] *= 50
            file["raw/recv_done"][point] = ends
    charts = raw_plots.ops(loading.load([path]), Options()).charts
    assert len({(c.y.limits, c.y.log, c.y.label) for c in charts}) == 1
    limits = charts[0].y.limits
    assert limits is not None
    valid = np.concatenate([c.curves[-1].y for c in charts])
    assert limits[1] < 1.1 * valid.max()
    for panel in charts:
        assert np.median(panel.curves[-1].y) == pytest.approx(1, abs=0.02)
        assert panel.curves[0].y.max() <= limits[1]


def test_no_limit_of_chance_where_ops_depend_on_each_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    once = rng.integers(0, 8, 40)
    for behind, limits in ((rng.integers(0, 8, 200), 2), (np.repeat(once, 5), 1)):
        ends = rng.uniform(1, 2, (200, 8))
        ends[np.arange(200), behind] += 5
        panel = raw_plots._share_chart(ends, chart.Axis("Rank"), True, equal.limit_of_share)
        assert len(panel.bounds) == limits


def test_who_is_last_is_said_only_of_a_common_clock(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", Setup(sync="barrier", ops=20))
    with edited(path) as file:
        if "exit" in file["raw"]:
            del file["raw/exit"]  # as an older program wrote it
    figure = PLOTS["ranks"].make(loading.load([path]), Options())
    assert figure.title == "Which rank took longest"
    told = [c.title for c in figure.charts] + [x.name for c in figure.charts for x in c.curves]
    assert not [text for text in told if "last" in text]
    assert any(note.startswith("barrier start") for note in figure.said)


def test_n_is_said_once_for_all_panels(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", Setup(sizes=(8, 1000), ops=20))
    found = loading.load([path])
    for make, said in ((raw_plots.cdf, "20 ops per line"), (raw_plots.ops, "20 valid ops of 20")):
        figure = make(found, Options())
        assert len(figure.charts) == 2
        assert [said in note for note in figure.said if note.startswith("n\u00a0=")] == [True]


@pytest.mark.parametrize(("ops", "ticks"), [(1, ["0"]), (7, ["0", "2", "4", "6"])])
def test_ops_are_counted_whole(tmp_path: Path, ops: int, ticks: list[str]) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", Setup(sizes=(8,), ops=ops))
    late = PLOTS["ranks"].make(loading.load([path]), Options()).charts[0]
    assert [text for _, text in late.y.ticks] == ticks
