# SPDX-License-Identifier: BSD-3-Clause
"""What stands under the figures: oversubscribed cores, what is left out, what a bar reaches."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from a2aperf import chart, curves, drawing, loading, plots, remarks
from a2aperf.curves import Options
from conftest import launches
from support import synthetic
from support.edited import edited
from support.synthetic import Setup
from support.synthetic_pairs import write_pairs

CROWDED = Setup(nodes=1, ppn=4, sync="barrier", node_facts={"cores_of_ranks": "2"}, ops=50)
WORDS = "oversubscribed: 4 ranks on 2 cores"


@pytest.mark.parametrize("kind", ["sizes", "scaling", "latency", "cdf", "ops", "history"])
def test_oversubscribed_cores_are_said_under_every_figure(kind: str, tmp_path: Path) -> None:
    notes = plots.made(kind, launches(tmp_path, CROWDED), Options()).notes
    assert notes[0].startswith(WORDS)


def test_how_many_launches_were_oversubscribed_is_said(tmp_path: Path) -> None:
    found = launches(tmp_path, CROWDED, Setup(nodes=1, ppn=2, seed=2))
    assert plots.made("sizes", found, Options()).notes[0] == f"{WORDS}, in 1 of 2 launches"
    (other,) = (launch for launch in found.launches if launch.startswith("1.h5"))
    sound = found.select(found.points["launch"] == other)
    assert "oversubscribed" not in plots.made("sizes", sound, Options()).said


def test_a_comparison_says_it_as_figures_do(tmp_path: Path) -> None:
    other = Setup(
        nodes=1, ppn=4, sync="barrier", node_facts={"cores_of_ranks": "3"}, ops=50, seed=3
    )
    found = launches(tmp_path, CROWDED, other, Setup(nodes=1, ppn=2, seed=2))
    told = remarks.doubts(found, list(found.launches))
    assert told == [
        f"{WORDS}, in 1 of 3 launches",
        "oversubscribed: 4 ranks on 3 cores, in 1 of 3 launches",
    ]


def test_a_matrix_says_that_cores_were_oversubscribed(tmp_path: Path) -> None:
    quiet = Setup(nodes=2, ppn=2, sizes=(8, 1_000_000), ops=9)
    crowded = replace(quiet, node_facts={"cores_of_ranks": "1"})
    path = write_pairs(tmp_path / "quiet.h5", quiet)
    assert "oversubscribed" not in plots.made("matrix", loading.load([path]), Options()).said
    path = write_pairs(tmp_path / "crowded.h5", crowded)
    notes = plots.made("matrix", loading.load([path]), Options()).notes
    assert notes[0].startswith("oversubscribed: 2 ranks on 1 core of ")


def test_ops_say_which_points_are_left_out(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "a.h5", Setup(ops=50, sizes=(1000,), baseline=True))
    with edited(path) as file:
        kinds = [role.decode() for role in file["role"]]
        assert kinds == ["measure", "baseline"]
    figure = plots.made("ops", loading.load([path]), Options())
    (left_out,) = figure.left_out
    assert left_out.startswith("1 of 2 points of these message sizes shown, without mpi")
    assert figure.charts[0].subtitle.startswith("a2aperf")
    alone = plots.made("ops", loading.load([path]).measured(), Options())
    assert alone.left_out == ()
    assert alone.charts[0].subtitle == ""


def test_an_interval_of_op_times_is_not_clipped(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "a.h5", Setup(ops=50))
    with edited(path) as file:
        file["time_p50_low"][0] = file["time_p50"][:].min() / 100
        file["time_p50_high"][0] = file["time_p99"][:].max() * 100
    figure = plots.made("latency", loading.load([path]), Options())
    low, high = figure.charts[0].y.limits or (np.inf, 0)
    (p50,) = (c for c in figure.charts[0].curves if c.name == "p50")
    assert p50.low is not None
    assert p50.high is not None
    assert low < np.nanmin(p50.low)
    assert high > np.nanmax(p50.high)


def look(curve: chart.Curve) -> tuple[object, ...]:
    return curve.look, curve.variant, curve.form


def test_every_setting_of_a_history_is_told_apart(tmp_path: Path) -> None:
    setups = [
        Setup(
            ops=20,
            sizes=(1000, 60000),
            seed=i,
            started=datetime(2026, 1, 1 + i, tzinfo=UTC),
            labels={"cable": f"c{i % 5}"},
        )
        for i in range(10)
    ]
    figure = plots.made("history", launches(tmp_path, *setups), Options())
    assert len(figure.charts) == 5
    assert {chart.subtitle for chart in figure.charts} == {f"cable=c{i}" for i in range(5)}
    for panel in figure.charts:
        looks = [look(curve) for curve in panel.curves]
        assert len(looks) == len(set(looks)) == 2


def test_points_without_a_date_are_counted(tmp_path: Path) -> None:
    found = launches(tmp_path, *(synthetic.Setup(sizes=(1000,), seed=i) for i in range(3)))
    points = found.points.assign(started=[*found.points["started"][:2], 0])
    figure = plots.made("history", replace(found, points=points), Options())
    assert figure.left_out[-1] == "1 point without a date not drawn"


@pytest.mark.slow
def test_the_count_of_ranks_is_named_where_other_counts_are_left_out(
    table_2019: Path, tmp_path: Path
) -> None:
    own = [
        synthetic.write_launch(
            tmp_path / f"{i}.h5",
            Setup(
                nodes=1, ppn=4, ops=20, sizes=(1000, 60000), seed=i, labels={"run": f"{i % 13:02}"}
            ),
        )
        for i in range(26)
    ]
    figure = plots.made("sizes", loading.load([*own, table_2019]), Options())
    assert any(text == "12 of 17 settings shown" for text in figure.left_out)
    assert {panel.title for panel in figure.charts} == {"4 ranks"}


@pytest.mark.parametrize("high", [1.03, 1.06, 1.5, 3.0, 20.0, 1e4])
@pytest.mark.parametrize("low", [9.3, 0.0042, 730.0, 1.0])
def test_an_axis_has_two_numbers_at_least(low: float, high: float) -> None:
    """Of a narrow logarithmic one none of the round numbers may lie on it."""
    ticks = drawing._log_ticks(low, low * high)
    assert 2 <= len(ticks) <= 12
    assert all(low <= tick <= low * high for tick in ticks)


def test_a_single_value_is_no_axis_of_its_own() -> None:
    low, high = curves.with_air(np.array([9.54]), log=True)
    assert low < 7 and high > 12
