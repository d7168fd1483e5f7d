# SPDX-License-Identifier: BSD-3-Clause
"""Latency at a rate: figures are those of the samples, and the server's known speed is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import a2aperf
from a2aperf import loading
from a2aperf.curves import Options
from a2aperf.workloads.open_loop import findings, hockey, latency_parts, rates, relay, seconds
from conftest import Outcome
from support import native_open_loop
from support.edited import edited
from support.native_open_loop import BACK, RATES, SERVICE, STAY, Loop

Run = Callable[..., Outcome]
CAPACITY = 1e9 / SERVICE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_open_loop.write(tmp_path / "o.h5")


def _launch(path: Path, loops: tuple[Loop, ...], name: str) -> Path:
    native_open_loop.write(path, loops)
    with edited(path) as file:
        file["segments/0"].attrs["command_line"] = f"a2aperf open-loop {name}"
    return path


def test_waiting_is_no_time_under_way(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["raw/wait_time"][3, 0, 0] += 1
    assert "littles_law is 1.0, its round trips say 0" in a2a("check", path).out


def test_a_round_trip_without_its_wait(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["raw/request_wait"][0, 3, 0] = np.iinfo(np.int64).min
    assert "/raw/request_wait has not a value for each round trip" in a2a("check", path).out


def test_the_knee_is_the_speed_of_the_server(path: Path) -> None:
    (one,) = a2aperf.open(path).findings("saturation")
    assert one.numbers["knee"] == pytest.approx(CAPACITY, rel=0.03)
    assert "100 000/s were kept, 200 000/s were not" in one.text.replace("\u2009", " ")
    assert "an interval needs 3 launches, here is 1" in one.text
    assert one.weight > 0


def test_no_knee_where_every_rate_is_kept(tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "o.h5", tuple(map(Loop, RATES[:3])))
    (one,) = a2aperf.open(path).findings("saturation")
    assert (one.weight, "knee" in one.numbers) == (0.0, False)
    assert one.numbers["kept"] == RATES[2]


def test_a_rate_below_the_highest_that_was_not_kept_is_told(tmp_path: Path) -> None:
    pause = Loop(RATES[0], stop=19_000_000, pause=2_000_000)  # its last messages have no answer
    path = native_open_loop.write(tmp_path / "o.h5", (pause, *map(Loop, RATES[1:3])))
    (one,) = a2aperf.open(path).findings("saturation")
    assert one.text.replace("\u2009", " ").startswith(
        "the highest rate, 100 000/s, was kept, and 25 000/s below it was not"
    )


def test_a_rate_that_is_too_high_from_the_start(tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "o.h5", (Loop(400_000), Loop(200_000)))
    (one,) = a2aperf.open(path).findings("saturation")
    assert one.text.startswith("not even the lowest rate, 200\u2009000/s, was kept")


def test_launches_give_the_knee_its_interval(tmp_path: Path) -> None:
    speeds = (6800, 7000, 7200)
    paths = [
        _launch(
            tmp_path / f"{service}.h5",
            tuple(Loop(rate, service=service) for rate in RATES),
            str(service),
        )
        for service in speeds
    ]
    (one,) = a2aperf.open(*paths).findings("saturation")
    assert one.n == 3
    assert one.numbers["low"] < CAPACITY < one.numbers["high"]  # type: ignore[operator]
    assert one.numbers["knee"] == pytest.approx(CAPACITY, rel=0.03)
    (fewer,) = a2aperf.open(*paths[:2]).findings("saturation")
    assert "here are 2" in fewer.text


@pytest.mark.parametrize("launches", [3, 8])
def test_the_interval_holds_the_knee_in_95_of_100_studies(launches: int) -> None:
    draw = np.random.default_rng(3)
    studies = 2000
    told = [rates.interval(list(draw.lognormal(11, 0.05, launches))) for _ in range(studies)]
    held = sum(1 for one in told if one and one[1] <= np.exp(11) <= one[2])
    assert 0.935 <= held / studies <= 0.965
    assert rates.interval([1.0, 2.0]) is None


PAUSE = Loop(50_000, stop=5_000_000, pause=10_000_000)
"""Half of all messages are due in it, and none is sent."""


def test_who_counts_from_the_send_would_miss_a_pause(tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "o.h5", (PAUSE,))
    (one,) = a2aperf.open(path).findings("omission")
    assert one.numbers["p99_from_sent"] == SERVICE
    assert one.numbers["p99"] > 9_000_000  # type: ignore[operator]
    assert one.weight > 2
    steady = native_open_loop.write(tmp_path / "s.h5", (Loop(50_000),))
    (one,) = a2aperf.open(steady).findings("omission")
    assert one.weight == 0


def test_a_pause_of_a_rate_that_is_kept_is_told(tmp_path: Path) -> None:
    paused = Loop(50_000, stop=2_000_000, pause=3_000_000)
    path = native_open_loop.write(tmp_path / "o.h5", (paused,))
    (one,) = a2aperf.open(path).findings("held-up")
    assert "that message waited for so long" in one.text
    assert one.numbers["share"] == pytest.approx(3_000_000 / native_open_loop.DURATION, rel=0.1)
    too_much = native_open_loop.write(tmp_path / "n.h5")  # rates up to more than the server has
    assert not list(a2aperf.open(too_much).findings("held-up"))


def test_late_pacing_is_the_clients_own(tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "o.h5", (Loop(50_000), Loop(100_000, late=2_000)))
    (one,) = a2aperf.open(path).findings("pacing")
    assert "at 100\u2009000/s" in one.text
    assert "the client itself sent late" in one.text
    steady = native_open_loop.write(tmp_path / "n.h5")
    assert not list(a2aperf.open(steady).findings("pacing"))


def test_what_a_relay_adds(a2a: Run, tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "r.h5", (Loop(25_000, relays=1),))
    assert a2a("check", path).out == f"{path}: sound\n"
    (one,) = a2aperf.open(path).findings("relay")
    assert one.numbers["relay"] == STAY == one.numbers["expected"]
    assert one.numbers["back"] == BACK
    assert one.numbers["rest"] == pytest.approx(SERVICE - STAY - BACK)
    assert "in the relay, by Lindley's recursion" in one.text
    assert not list(a2aperf.open(native_open_loop.write(tmp_path / "n.h5")).findings("relay"))


def test_a_point_with_messages_without_an_answer_is_not_split(tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "r.h5", (Loop(400_000, relays=1),))
    assert not list(a2aperf.open(path).findings("relay"))


def test_the_times_in_a_relay_add_up(a2a: Run, tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "r.h5", (Loop(50_000, relays=1),))
    with edited(path) as file:
        file["raw/request_wait"][0, 2, 3] += 1
    assert "relay_time of rank 3 is " in a2a("check", path).out
    with edited(path) as file:
        file["raw/request_wait"][0, 2, 3] = np.iinfo(np.int64).min
    assert "/raw/request_due of the relay 3 has not a value" in a2a("check", path).out


def test_waits_by_lindley_are_those_of_a_queue_that_is_played() -> None:
    draw = np.random.default_rng(5)
    arrivals = np.cumsum(draw.exponential(10, 2000)).astype(np.int64)
    free, played = 0, []
    for moment in arrivals:
        begin = max(free, int(moment))
        played.append(begin - moment)
        free = begin + 9
    assert relay.waits(arrivals, 9) == pytest.approx(np.array(played, dtype=float), abs=1e-6)
    mean = relay.waits(np.cumsum(draw.exponential(10, 400_000)), 6).mean()
    assert mean == pytest.approx(6 * 0.6 / (2 * (1 - 0.6)), rel=0.05)  # Pollaczek and Khinchine


def test_points_are_a_hockey_stick(a2a: Run, path: Path, tmp_path: Path) -> None:
    assert a2a("plot", "hockey", path, "-o", tmp_path / "h.svg").status == 0
    figure = hockey.figure(loading.load([path]), Options())
    median, tail = figure.charts
    assert (median.title, tail.title) == ("p50 from the due time", "p99 from the due time")
    line, hollow = median.curves
    assert list(line.x) == list(RATES)
    assert list(hollow.x) == [RATES[-1]]
    assert (hollow.form, hollow.listed) == ("hollow", False)
    assert line.y[-1] > 100 * line.y[0]
    assert any(note.startswith("hollow: less than 99 %") for note in figure.notes)
    kept = native_open_loop.write(tmp_path / "k.h5", tuple(map(Loop, RATES[:3])))
    assert "hollow" not in " ".join(hockey.figure(loading.load([kept]), Options()).said)


def _relayed(path: Path, *rates_: int) -> Path:
    return native_open_loop.write(path, tuple(Loop(rate, relays=1) for rate in rates_))


def test_latency_over_a_relay_is_drawn_in_its_parts(a2a: Run, tmp_path: Path) -> None:
    path = _relayed(tmp_path / "r.h5", 25_000, 100_000)
    assert a2a("plot", "relay", path, "-o", tmp_path / "r.svg").status == 0
    figure = latency_parts.figure(loading.load([path]), Options())
    times, shares = figure.charts
    rest, there, back, client = times.curves
    assert (list(there.x), list(there.y)) == ([25_000, 100_000], [STAY / 1000] * 2)
    assert list(back.y) == [BACK / 1000] * 2
    found = loading.load([path]).points
    whole = found["time_mean"].to_numpy() / 1000
    assert rest.y + there.y + back.y + client.y == pytest.approx(whole)
    tops = [curve for curve in shares.curves if curve.form == "points"]
    assert tops[-1].y == pytest.approx(100)
    assert tops[1].y[0] - tops[0].y[0] == pytest.approx(100 * there.y[0] / whole[0])
    # Nothing is drawn at rates, or between rates, that were not offered.
    assert {curve.form for curve in shares.curves} == {"bars", "points"}
    assert all(list(curve.x) == [25_000, 100_000] for curve in shares.curves)
    bars = [curve for curve in shares.curves if curve.form == "bars"]
    for one, top in zip(bars, tops, strict=True):
        assert one.high is not None
        assert list(one.high) == list(top.y)
    assert any("by its own clock" in note for note in figure.notes)
    assert latency_parts.is_there(loading.load([path]))


def test_parts_of_several_launches_are_their_means(tmp_path: Path) -> None:
    paths = []
    for late in (100, 300):
        path = native_open_loop.write(tmp_path / f"{late}.h5", (Loop(25_000, relays=1, late=late),))
        with edited(path) as file:
            file["segments/0"].attrs["command_line"] = f"a2aperf open-loop {late}"
        paths.append(path)
    found = loading.load(paths)
    figure = latency_parts.figure(found, Options())
    assert "means of 2 launches" in figure.notes
    whole = sum(curve.y[0] for curve in figure.charts[0].curves)
    assert whole == pytest.approx(found.points["time_mean"].mean() / 1000)


def test_no_parts_without_a_relay_or_without_answers(a2a: Run, path: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.svg"
    a2a("plot", "relay", path, "-o", out).refused("no point here has messages over a relay")
    lost = _relayed(tmp_path / "l.h5", 400_000)
    a2a("plot", "relay", lost, "-o", out).refused("1 point with messages without an answer")
    assert not out.exists()
    assert not latency_parts.is_there(loading.load([path]))
    both = _relayed(tmp_path / "b.h5", 25_000, 400_000)
    figure = latency_parts.figure(loading.load([both]), Options())
    assert figure.left_out == (
        "1 point with messages without an answer, or without samples, not drawn",
    )


def test_means_over_time_show_a_pause(a2a: Run, tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "o.h5", (PAUSE,))
    assert a2a("plot", "seconds", path, "-o", tmp_path / "s.svg").status == 0
    found = loading.load([path])
    means = seconds.of(found, found.points.iloc[0])
    assert means is not None
    assert (means.length, means.is_cut, means.means.size) == (10**6, False, 20)
    assert means.means[0] == pytest.approx(SERVICE / 1000, abs=0.2)
    assert int(np.argmax(means.means)) == 5
    assert means.means[5] == pytest.approx(9500 + SERVICE / 1000, rel=0.05)
    assert not seconds.has_course(found)


def test_means_end_where_round_trips_are_no_longer_kept(tmp_path: Path) -> None:
    path = native_open_loop.write(tmp_path / "o.h5", (PAUSE,))
    with edited(path) as file:
        file["ticks_lost"][0] = 1
        file["raw/round_trips"][0, 0, 0] += 1
    found = loading.load([path])
    means = seconds.of(found, found.points.iloc[0])
    assert means is not None
    assert (means.is_cut, means.edges[-1]) == (True, pytest.approx(0.019))
    (one,) = [row for _, row in found.points.iterrows()]
    assert findings.round_trips(found, one) is not None
    assert not list(a2aperf.open(path).findings("omission"))


def test_table_explain_compare_and_report(a2a: Run, path: Path, tmp_path: Path) -> None:
    heading, first, *_ = a2a("table", path).out.splitlines()
    assert [x for x in heading.split() if x.endswith("d/s")] == ["offered/s", "achieved/s"]
    assert f" {RATES[0]} " in first
    explained = " ".join(a2a("explain", path).out.split())
    assert "The rate that is kept" in explained
    other = _launch(tmp_path / "b.h5", tuple(Loop(rate, service=8000) for rate in RATES), "b")
    compared = a2a("compare", path, "--against", other)
    assert "the median latency from the due time" in " ".join(compared.out.split())
    report = tmp_path / "r.html"
    assert a2a("report", path, "-o", report).status == 0
    text = " ".join(report.read_text(encoding="utf-8").split())
    assert "1 of them did not keep their rate" in text
    assert "Latency against the offered rate" in text


def test_it_stays_in_copies(a2a: Run, path: Path, tmp_path: Path) -> None:
    other = _launch(tmp_path / "b.h5", tuple(map(Loop, RATES[:2])), "b")
    for words in (
        ("merge", path, other, "-o", tmp_path / "c.h5"),
        ("export", path, "--anonymize", "-o", tmp_path / "x.h5"),
        ("check", path, "--repair", "-o", tmp_path / "m.h5"),
    ):
        outcome = a2a(*words)
        assert outcome.status == 0, outcome.err
        assert a2a("check", words[-1]).out == f"{words[-1]}: sound\n"
        assert loading.load([Path(str(words[-1]))]).points["pacing_p50"].notna().any()
