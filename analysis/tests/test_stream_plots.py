# SPDX-License-Identifier: BSD-3-Clause
"""Figures of streams and round trips: each mark is a figure of the file, and nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import a2aperf
from a2aperf import labels, loading, plots, schema, workloads
from a2aperf.chart import Chart, Curve, Figure
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.workloads.stream import intervals
from conftest import DATA, Outcome
from support import native_streams
from support.edited import edited
from support.synthetic_streams import SIZES, TRIP, Pipe, write_streams, write_trips

Run = Callable[..., Outcome]


@pytest.fixture
def published(a2a: Run, tmp_path: Path) -> Callable[[str], Path]:
    """A published text, imported."""

    def imported(name: str) -> Path:
        path = tmp_path / name.replace(".txt", ".h5")
        assert a2a("import", DATA / name, "-o", path).status == 0
        return path

    return imported


def figure(kind: str, path: Path, options: Options | None = None) -> Figure:
    return plots.made(kind, loading.load([path]), options or Options())


def line(chart: Chart, name: str) -> Curve:
    (found,) = [curve for curve in chart.curves if curve.name == name]
    return found


# Rates --------------------------------------------------------------------------------------------


def test_published_modes_have_a_line_each_of_their_rows(published: Callable[[str], Path]) -> None:
    found = figure("rates", published("loopback-32-buffers.txt"))
    bandwidth, messages = found.charts
    assert [curve.name for curve in messages.curves] == ["write", "write-imm", "msg"]
    write = line(messages, "write")
    assert write.x.tolist() == [1 << power for power in range(25)]
    assert write.y[[0, -1]] == pytest.approx([2.047870, 165e-6])
    assert line(bandwidth, "msg").y[-1] == pytest.approx(2757391214 * 8e-9, rel=1e-3)
    assert not any(
        np.isfinite(curve.low).any() for curve in messages.curves if curve.low is not None
    )


def test_what_rates_leave_out_is_told(published: Callable[[str], Path], a2a: Run) -> None:
    path = published("loopback-32-buffers.txt")
    found = figure("rates", path)
    assert found.left_out[0].startswith("6 points whose receiver pauses not drawn")
    assert found.left_out[1].startswith("messages of 0\u00a0B are not drawn")
    assert any("n\u00a0=\u00a01 launch, so no interval" in note for note in found.said)
    assert any(note.startswith("197 to ") for note in found.said)
    told = a2a("plot", "rates", path, "-o", path.with_suffix(".svg")).err
    assert told.count("a2a: ") == 2
    assert "choose" not in told  # nothing that one could choose would draw them


def test_pauses_are_drawn_when_asked_for(published: Callable[[str], Path]) -> None:
    asked = Options(by=("mode", "free_delay"))
    found = figure("rates", published("loopback-32-buffers.txt"), asked)
    names = {curve.name for curve in found.charts[1].curves}
    assert "write, free delay 10\u2009000\u00a0µs" in names
    assert "write, no free delay" in names


def test_bounds_are_those_of_the_stream(tmp_path: Path) -> None:
    pipe = Pipe(messages=1e6, gbps=8.0, round_trip_ns=1.0)
    found = figure("rates", write_streams(tmp_path / "x.h5", [[pipe]]))
    for chart, low, high in zip(found.charts, (0.008, 1e3 / 2**20), (8.0, 1.0), strict=True):
        (bound,) = chart.bounds
        assert (bound.y.min(), bound.y.max()) == pytest.approx((low, high), rel=1e-3)
        curve = dict(zip(chart.curves[0].x, chart.curves[0].y, strict=True))
        assert all(
            curve[x] <= y * 1.001 for x, y in zip(bound.x, bound.y, strict=True) if x in curve
        )
        assert 1000 in bound.x.round()  # the corner


def test_without_both_bounds_none_is_drawn_and_why_is_told(tmp_path: Path) -> None:
    small = Pipe(sizes=SIZES[:5])
    found = figure("rates", write_streams(tmp_path / "x.h5", [[small]]))
    assert not any(chart.bounds for chart in found.charts)
    assert any("do not show both" in note for note in found.said)


def test_repeated_streams_are_a_median_with_their_range(tmp_path: Path) -> None:
    launches = [[Pipe(speed=speed)] for speed in (0.9, 1.0, 1.2)]
    found = figure("rates", write_streams(tmp_path / "x.h5", launches))
    (curve,) = found.charts[1].curves
    assert curve.low is not None
    assert curve.high is not None
    assert (curve.low[0], curve.y[0], curve.high[0]) == pytest.approx((1.8, 2.0, 2.4))
    assert any(
        "n\u00a0=\u00a03 launches: their median, bars: their range" in note for note in found.said
    )


def test_scales_have_a_line_each(tmp_path: Path) -> None:
    """The rates are of all ranks together: a median of two scales is of nothing."""
    pipes = [Pipe(ranks=2), Pipe(ranks=4, speed=2.0)]
    path = write_streams(tmp_path / "x.h5", [[pipe] for pipe in pipes])
    for by in ((), ("mode",)):
        found = figure("rates", path, Options(by=by))
        names = [curve.name.split(", ")[-1] for curve in found.charts[1].curves]
        assert names == ["2 ranks on 2 nodes", "4 ranks on 4 nodes"]
        assert line(found.charts[1], found.charts[1].curves[1].name).y[0] == pytest.approx(4)
        assert any("n\u00a0=\u00a01 launch" in note for note in found.said)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        *(("halves", "4 streams"), ("0:1,2:3,4:5", "3 streams"), ("neighbours", "4 streams")),
        *(("all-to-one", "7 streams"), ("one-to-all", "7 streams"), ("loopback", "8 streams")),
    ],
)
def test_rates_say_of_how_many_streams_they_are(tmp_path: Path, pairs: str, said: str) -> None:
    found = figure("rates", write_streams(tmp_path / "x.h5", [[Pipe(ranks=8, pairs=pairs)]]))
    assert f"rates are of all {said} of a point together" in found.said
    (knee,) = a2aperf.open(tmp_path / "x.h5").findings("knee")
    assert knee.text.startswith(f"{said} together: at most ")
    one = figure("rates", write_streams(tmp_path / "y.h5", [[Pipe(pairs="0:1")]]))
    assert not any("together" in note for note in one.said)


def test_both_directions_of_a_pair_are_two_streams(tmp_path: Path) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    for duplex, said in (
        ("one way", "(2 streams together)"),
        ("both ways", "(4 streams together)"),
    ):
        with edited(path) as file:
            file["duplex"][:] = duplex
        (sentence,) = workloads.of_role("stream").sentences(loading.load([path]))
        assert said in sentence


# Credits ------------------------------------------------------------------------------------------


def test_surface_has_a_cell_for_each_window_and_size(tmp_path: Path) -> None:
    pipes = [Pipe(window=window, messages=4e6) for window in (4, 8, 16)]
    share, rate = figure("credits", write_streams(tmp_path / "x.h5", [pipes])).charts
    assert share.heat is not None
    assert rate.heat is not None
    assert share.heat.z.shape == (len(SIZES), 3)
    assert share.heat.z[0] == pytest.approx([25, 50, 100])  # 1, 2 and 4 million a second
    assert rate.heat.z[-1] == pytest.approx([20, 20, 20], rel=1e-3)
    assert [text for _, text in share.x.ticks] == ["4", "8", "16"]


def test_what_the_window_tells_has_a_surface_of_its_own(tmp_path: Path) -> None:
    """Two scales, each with windows of its own: no map holds both."""
    pipes = [Pipe(window=window, ranks=ranks) for window, ranks in ((4, 2), (8, 2), (16, 4))]
    found = figure("credits", write_streams(tmp_path / "x.h5", [pipes]))
    assert [chart.subtitle for chart in found.charts[::2]] == [
        "2 ranks on 2 nodes", "4 ranks on 4 nodes",
    ]  # fmt: skip
    delays = [Pipe(window=4, mode="msg"), Pipe(window=8), Pipe(window=16)]
    found = figure("credits", write_streams(tmp_path / "y.h5", [delays]))
    assert [chart.subtitle for chart in found.charts[::2]] == ["msg", "tagged"]


def test_a_cell_that_was_not_measured_is_not_drawn(tmp_path: Path) -> None:
    pipes = [Pipe(window=4), Pipe(window=8, sizes=SIZES[:3])]
    found = figure("credits", write_streams(tmp_path / "x.h5", [pipes]))
    heat = found.charts[0].heat
    assert heat is not None
    assert np.isnan(heat.z).tolist() == [[False, size not in SIZES[:3]] for size in SIZES]
    assert "hatched: not measured" in found.said


def test_a_cell_whose_point_is_left_out_is_not_called_not_measured(tmp_path: Path) -> None:
    path = write_streams(tmp_path / "x.h5", [[Pipe(window=4), Pipe(window=8)]])
    with edited(path) as file:
        file["msg_rate"][0] = float("nan")
    found = figure("credits", path)
    assert "1 point without a rate" in found.left_out
    assert "hatched: not measured, or left out" in found.said


def test_windows_that_are_not_told_are_counted(tmp_path: Path) -> None:
    pipes = [Pipe(window=4), Pipe(window=8), Pipe(window=None)]
    found = figure("credits", write_streams(tmp_path / "x.h5", [pipes]))
    assert f"{len(SIZES)} points whose window is unknown not drawn" in found.left_out


def test_no_surface_of_one_window(published: Callable[[str], Path]) -> None:
    path = published("loopback-32-buffers.txt")
    with pytest.raises(InputError, match="needs two windows; the points here have window 32 alone"):
        figure("credits", path)


# Tails --------------------------------------------------------------------------------------------


def test_published_percentiles_stand_at_their_nines(published: Callable[[str], Path]) -> None:
    found = figure("tails", published("clusterperf-2018-11.txt"))
    assert [chart.title for chart in found.charts] == ["echo", "basic.read", "basic.write"]
    curve = line(found.charts[0], "100\u00a0B")
    assert curve.y == pytest.approx([3.8, 3.9, 5.0, 5.6, 9.4])
    assert curve.x[2:] == pytest.approx([1, 2, 3])
    assert found.said[0] == "n unknown: the text does not tell it"


def test_a_percentile_that_is_missing_has_no_mark(tmp_path: Path) -> None:
    row = {name: value for name, value in TRIP.items() if name != "time_p90"}
    found = figure("tails", write_trips(tmp_path / "x.h5", [[row]]))
    (curve,) = found.charts[0].curves
    assert curve.y == pytest.approx([1.0, 1.1, 3.0, 9.0])
    assert curve.x[-1] == pytest.approx(np.log10(500))
    assert "right of the percentiles: the longest" in found.said


@pytest.mark.parametrize(
    ("n", "drawn", "said"),
    [
        (1000, [1.0, 1.1, 1.5, 3.0, 9.0, 9.0], ""),
        (500, [1.0, 1.1, 1.5, 3.0, 9.0], "a percentile that is the longest, since n is too small"),
        (10, [1.0, 1.1, 1.5, 9.0], "a percentile that is the longest, since n is too small"),
        (-1, [1.0, 1.1, 1.5, 3.0, 9.0], "p99.9 is the longest here and there: n, which is unknown"),
    ],
)
def test_percentiles_that_n_is_too_small_for(
    tmp_path: Path, n: int, drawn: list[float], said: str
) -> None:
    """The longest stands for them, once."""
    row = {**TRIP, "ops": n, "time_p999": TRIP["time_max"]}
    found = figure("tails", write_trips(tmp_path / "x.h5", [[row]]))
    assert found.charts[0].curves[0].y == pytest.approx(drawn)
    assert any(note.startswith(said) for note in found.said)
    assert bool(said) == any("longest," in note or "longest here" in note for note in found.said)


@pytest.mark.parametrize("n", [1, -1])
def test_the_longest_is_not_told_where_it_is_not_drawn(tmp_path: Path, n: int) -> None:
    """Of one, and of an unknown number beside a known one, it has no place on the axis."""
    rows = [TRIP, {**TRIP, "run": 2, "ops": n}]
    found = figure("tails", write_trips(tmp_path / "x.h5", [rows]), Options(by=("operation",)))
    assert found.charts[0].curves[0].x[-1] == pytest.approx(2)
    assert "right of the percentiles: the longest" not in found.said


def test_repeated_runs_are_called_runs(tmp_path: Path) -> None:
    path = write_trips(tmp_path / "x.h5", [[TRIP, {**TRIP, "run": 2}]])
    found = figure("tails", path, Options(by=("operation",)))
    assert "median of 2 runs, bars: their range" in found.said


def test_runs_are_never_merged(tmp_path: Path) -> None:
    found = figure("tails", write_trips(tmp_path / "x.h5", [[TRIP], [TRIP]]))
    assert [chart.title for chart in found.charts] == ["run 1", "run 2"]


# What they are for --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rates", "credits", "tails"])
def test_files_of_another_workload_are_refused(
    a2a: Run, launch: Path, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "x.svg"
    a2a("plot", kind, launch, "-o", out).refused("no point has role")
    assert not out.exists()


def test_an_option_of_another_kind_is_refused(a2a: Run, launch: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    said = ("--topology is for matrix",)
    a2a("plot", "sizes", launch, "-o", out, "--topology", "x").refused(*said)
    a2a("plot", "credits", launch, "-o", out, "--what", "colour").refused("share, gbps, messages")


# Intervals ----------------------------------------------------------------------------------------


def test_each_interval_has_what_all_receivers_got_in_it(tmp_path: Path) -> None:
    """Rank 3 is over a tick earlier; the last one of each came after its end."""
    found = figure("intervals", native_streams.write(tmp_path / "s.h5"))
    chart, share = found.charts
    assert (chart.title, share.title) == ("Rate", "Share of the mean rate")
    small = line(chart, labels.size_text(8))
    assert small.form == "step" and small.x == pytest.approx([0, 0.1, 0.2], abs=1e-6)
    came = np.array([97 + 90, 110, 110])  # the last is drawn to its end
    assert small.y == pytest.approx(came * 8 * 8e-9 / 0.1, rel=1e-5)
    large = line(chart, labels.size_text(1000))
    assert large.y[0] == pytest.approx((187 + 20) * 8e-6 / 0.1, rel=1e-5)
    row = loading.load([tmp_path / "s.h5"]).points.iloc[0]
    of_mean = 100 * came / 0.1 / (row["messages"] / row["stream_time"] * 1e9)
    assert line(share, labels.size_text(8)).y == pytest.approx(of_mean, rel=1e-5)


def test_a_stream_of_one_interval_is_not_drawn(tmp_path: Path) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    with edited(path) as file:
        file["raw/tick_end"][0, 1:] = schema.NO_MOMENT
    assert figure("intervals", path).left_out == ("1 point without two intervals not drawn",)
    imported = write_streams(tmp_path / "x.h5", [[Pipe(sizes=(8,))]])
    with pytest.raises(InputError, match="1 point without two intervals not drawn"):
        figure("intervals", imported)


def test_every_setting_without_a_panel_is_told_once(tmp_path: Path) -> None:
    """Two panels a setting; of those left out the sizes are missing, too."""
    count = 14
    path = native_streams.write(tmp_path / "s.h5", False, (*[1000] * (count - 1), 4000))
    with edited(path) as file:
        file["window"][:] = np.arange(1, count + 1)
    found = figure("intervals", path)
    assert len(found.charts) == 12
    assert found.left_out == ("1 of 2 message sizes shown", "6 of 14 settings shown")
    assert found.left_out == tuple(found.said[:2])


def test_intervals_end_where_one_receiver_has_no_more(tmp_path: Path) -> None:
    """Rank 2's trace ran full a tick earlier than rank 3's: what it got afterwards is not known."""
    path = native_streams.write(tmp_path / "s.h5")
    with edited(path) as file:
        file["ticks_lost"][:] = 1
        file["raw/tick_end"][0, 2:, 2] = schema.NO_MOMENT
        file["raw/tick_received"][0, 2:, 2] = schema.NO_MOMENT
        file["raw/tick_end"][0, 2, 3] = 300_000_003
        file["raw/tick_received"][0, 2, 3] = 0
    found = figure("intervals", path)
    small = line(found.charts[0], labels.size_text(8))
    assert small.x == pytest.approx([0, 0.1, 0.2], abs=1e-6)
    came = np.array([97 + 90, 110 + 96, 110 + 96])  # both have their second one
    assert small.y == pytest.approx(came * 8 * 8e-9 / 0.1, rel=1e-5)
    told = "1 point drawn to where the file has no more intervals (--max-samples)"
    assert told in found.left_out


def test_a_rank_that_was_held_up_has_its_intervals_at_once() -> None:
    """Three ticks ended when it looked again: they are one of theirs."""
    ends = np.array([[100, 400], [200, 400], [300, 400], [400, 400]]) * 1_000_000
    alone = intervals._as_they_are(ends[:, 1:], np.array([[9], [0], [0], [1]]), ends[:, 1:] > 0)
    assert alone is None
    both = intervals._as_they_are(ends, np.array([[1, 9], [2, 0], [3, 0], [4, 1]]), ends > 0)
    assert both is not None
    assert both.ends == pytest.approx([0.25, 0.3, 0.35, 0.4])
    assert both.messages == pytest.approx([10, 2, 3, 5])


@pytest.mark.parametrize("seen", [2, 50, 5000])
def test_what_was_traced_is_counted_in_equal_parts(seen: int) -> None:
    random = np.random.default_rng(7)
    ends = np.sort(random.integers(1, 10**9, (seen, 2)), axis=0)
    messages = random.integers(0, 9, (seen, 2))
    found = intervals._binned(ends, messages, np.ones((seen, 2), bool))
    assert found is not None
    assert found.messages.sum() == messages.sum()
    assert len(found.ends) == min(100, 2 * seen)
    assert found.ends[-1] == pytest.approx(ends.max() / 1e9)
    assert (found.rates * np.diff(found.ends, prepend=0)).sum() == pytest.approx(messages.sum())
