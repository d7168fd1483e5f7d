# SPDX-License-Identifier: BSD-3-Clause
"""Trends, change points and named baselines of a collection."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from a2aperf import changepoints, history, loading
from a2aperf.commands.history import signed
from conftest import Outcome
from nulls.months import Months
from support import synthetic
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
Floats = NDArray[np.float64]
START = datetime(2025, 1, 1, tzinfo=UTC)


def collection(
    folder: Path, slowdowns: list[float], versions: list[str] | None = None, spread: float = 0.01
) -> list[Path]:
    """One launch every five days."""
    folder.mkdir(exist_ok=True)
    base = Setup(sizes=(1000, 16000, 60000), ops=30)
    files = []
    for i, slowdown in enumerate(slowdowns):
        made = replace(
            base,
            seed=i,
            started=START + timedelta(days=5 * i),
            effects=Effects(slowdown=slowdown, launch_spread=spread),
            attributes={"libfabric_version": versions[i]} if versions else {},
        )
        files.append(synthetic.write_launch(folder / f"day{i:03}.h5", made))
    return files


@pytest.mark.slow
def test_the_day_of_a_change_is_found_with_what_changed(a2a: A2A, tmp_path: Path) -> None:
    collection(tmp_path / "c", [1.0] * 9 + [1.08] * 7, ["1.17.0"] * 9 + ["2.1.0"] * 7)
    made = json.loads(a2a("history", tmp_path / "c", "--json").out)
    (change,) = made["changes"]
    assert (change["before"], change["after"]) == ("day008.h5#0", "day009.h5#0")
    assert change["time"] == "2025-02-15 00:00"
    assert change["differences"] == {
        "libfabric_version": {"before": ["1.17.0"], "after": ["2.1.0"]}
    }
    for line in change["lines"]:
        assert line["ratio"] == pytest.approx(1 / 1.08, rel=0.02)
        assert (line["before"], line["after"]) == (9, 7)
    told = a2a("history", tmp_path / "c").out
    assert "change between day008.h5#0 and day009.h5#0 (2025-02-15" in told
    assert ": 0 lines faster, 3 slower, from" in told and "2.1.0" in told


@pytest.mark.slow
def test_lines_that_did_not_move_are_not_counted(a2a: A2A, tmp_path: Path) -> None:
    # The step is in the largest message size alone: files of it are written apart.
    for i in range(16):
        for size, slowdown in ((1000, 1.0), (16000, 1.0), (60000, 1.0 + 0.3 * (i > 8))):
            made = Setup(
                sizes=(size,),
                ops=30,
                seed=10 * i + size % 7,
                started=START + timedelta(days=5 * i, seconds=size // 1000),
                effects=Effects(slowdown=slowdown, launch_spread=0.01),
            )
            synthetic.write_launch(tmp_path / f"{i:02}-{size}.h5", made)
    told = a2a("history", tmp_path).out
    assert told.count("change between") == 1
    assert "p ≤ 0.001: 0 lines faster, 1 slower, 2 not clear by themselves" in told


def test_the_line_that_moved_is_told_with_its_setting(a2a: A2A, tmp_path: Path) -> None:
    for i in range(16):
        made = Setup(
            sizes=(60000,),
            modes=("tagged", "write-imm"),
            ops=20,
            seed=i,
            started=START + timedelta(days=5 * i),
            effects=Effects(modes={"write-imm": 1.3} if i > 8 else {}, launch_spread=0.01),
        )
        synthetic.write_launch(tmp_path / f"{i:02}.h5", made)
    assert "clearest at 8 ranks, 60000 B, write-imm: 0.7" in a2a("history", tmp_path).out


def test_a_step_that_no_line_has_two_jobs_around(a2a: A2A, tmp_path: Path) -> None:
    """The sizes of the nights changed with it."""
    days = {1000: [*range(10), 20, *range(24, 34)], 60000: range(20, 34)}
    for size, step in ((1000, 20), (60000, 23)):
        for i in days[size]:
            made = Setup(
                nodes=2,
                ppn=1,
                sizes=(size,),
                ops=20,
                seed=100 * i + size % 7,
                started=START + timedelta(days=5 * i, seconds=size // 1000),
                effects=Effects(slowdown=1.5 if i >= step else 1.0, launch_spread=0.004),
            )
            synthetic.write_launch(tmp_path / f"{i:02}-{size}.h5", made)
    told = a2a("history", tmp_path)
    assert told.status == 0
    assert ": no line has two jobs on either side of it, so nobody knows by how much" in told.out


@pytest.mark.slow
def test_two_changes_and_a_single_bad_day(tmp_path: Path) -> None:
    speeds = [1.0] * 8 + [1.1] * 8 + [1.0] * 8
    speeds[3] = 1.5
    found = loading.load(collection(tmp_path / "c", speeds, spread=0.005)).measured()
    made = history.history(found)
    assert [change.after for change in made.changes] == ["day008.h5#0", "day016.h5#0"]


def test_a_steady_machine_has_no_change_and_a_trend_about_zero(a2a: A2A, tmp_path: Path) -> None:
    files = collection(tmp_path / "c", [1.0] * 14, spread=0.02)
    told = a2a("history", *files).out
    assert "14 launches in 14 jobs from 2025-01-01 00:00 to 2025-03-07 00:00 (UTC)" in told
    assert "no change point" in told
    for line in json.loads(a2a("history", *files, "--json").out)["lines"]:
        assert line["trend_low"] < 0 < line["trend_high"]
        assert line["launches"] == 14


@pytest.mark.parametrize(
    ("share", "text"), [(-0.0004, "0.0"), (0.0, "0.0"), (-0.0006, "-0.1"), (0.012, "+1.2")]
)
def test_a_trend_that_rounds_to_nothing_has_no_sign(share: float, text: str) -> None:
    assert signed(share) == text


def test_a_slow_decline_is_a_trend(tmp_path: Path) -> None:
    # 1 % a launch, one launch in five days: 6 launches in 30 days.
    files = collection(tmp_path / "c", [1.01**i for i in range(14)], spread=0.001)
    lines = history.history(loading.load(files).measured()).lines
    assert lines["trend"].to_numpy() == pytest.approx(1.01**-6 - 1, abs=0.004)
    assert (lines["trend_high"] < 0).all()


def test_few_launches_claim_nothing(a2a: A2A, tmp_path: Path) -> None:
    files = collection(tmp_path / "c", [1.0, 1.0, 3.0, 3.0, 3.0])
    made = json.loads(a2a("history", *files, "--json").out)
    assert made["changes"] == []
    assert all(line["trend"] is None for line in made["lines"])
    assert (made["lacking"], made["notes"]) == ("8 jobs are needed", [])
    assert "8 jobs are needed" in a2a("history", *files).out


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_change_points_without_a_change_are_rare(gaps: float) -> None:
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(120):
        y = rng.normal(0, 0.01, (20, 1)) + rng.normal(0, 0.01, (20, 6))
        y[rng.random(y.shape) < gaps] = np.nan
        wrong += bool(changepoints.splits(y))
    assert wrong <= 5  # 1 % are expected


def of_days(rng: np.random.Generator, days: int, a_day: int) -> tuple[Floats, Floats]:
    """Six lines of jobs that differ by 1 %, on days that differ by 2 %; their times."""
    day = rng.normal(0, 0.02, (days, 1)) + rng.normal(0, 0.007, (days, 6))
    y = day.repeat(a_day, axis=0) + rng.normal(0, 0.01, (days * a_day, 1))
    hours = 24.0 * np.arange(days).repeat(a_day) + np.tile(np.arange(a_day), days)
    times = np.asarray(START.timestamp() * 1e9 + hours * 3600e9, dtype=np.float64)
    return y + rng.normal(0, 0.003, y.shape), times


def steps_of_days(y: Floats, times: Floats) -> list[changepoints.Split]:
    return history.splits(y, history.days_of(times))


@pytest.mark.parametrize(
    "months",
    [
        Months(jobs=9, slow=0.5, shared=0.002),
        Months(jobs=11, slow=0.5, shared=0.002),
        Months(jobs=24, bad_pairs=2),
        Months(jobs=40, grows=10),
    ],
)
def test_noise_that_is_not_normal_makes_no_step(months: Months) -> None:
    """Two speeds, bad days two by two, a spread that grows: 9 to 30 of 100 had one."""
    rng = np.random.default_rng(2)
    called = sum(bool(changepoints.splits(months.speeds(rng)[:, :2])) for _ in range(40))
    assert called <= 5  # more once in 100, if it were 5 %


def test_a_step_must_stand_out_of_the_jobs_near_it() -> None:
    rng = np.random.default_rng(5)
    y = 0.01 * rng.normal(size=(24, 3))
    y[[10, 11, 13, 14]] -= 0.4
    assert changepoints.splits(y) == []
    y[12] -= 0.4  # five days, then
    assert [split.index for split in changepoints.splits(y)] == [10, 15]


def test_a_bad_day_after_a_step_does_not_hide_it() -> None:
    y = 0.01 * np.random.default_rng(6).normal(size=(24, 3))
    y[11:19] += 0.12
    y[21] -= 0.2
    assert [split.index for split in changepoints.splits(y)] == [11, 19]


def test_jobs_of_a_day_make_no_step() -> None:
    """They are more alike than those of other days: with each by itself half have a step."""
    rng = np.random.default_rng(5)
    assert sum(bool(steps_of_days(*of_days(rng, 15, 8))) for _ in range(40)) <= 3
    y, times = of_days(rng, 20, 4)
    y[36:] += 0.25
    (step,) = steps_of_days(y, times)
    assert step.index == 36
    y, times = of_days(rng, 7, 8)
    y[24:] += 0.25
    assert steps_of_days(y, times) == []
    day = history.days_of(times)
    assert day is not None and day[-1] == 6
    assert history.days_of(times[:8]) is None  # one day: how days differ is nothing to it
    assert history.days_of(times[::8]) is None  # a job a day


def test_too_few_days_are_told(a2a: A2A, tmp_path: Path) -> None:
    for number in range(12):
        made = Setup(
            sizes=(1000,),
            seed=number,
            started=START + timedelta(days=number // 3, hours=number % 3),
            attributes={"slurm_job_id": str(number)},
        )
        synthetic.write_launch(tmp_path / f"{number:02}.h5", made)
    told = a2a("history", tmp_path).out
    assert "12 launches in 12 jobs of 4 days from " in told
    assert "no change point; 8 days are needed" in told


def test_a_step_is_found_where_it_is() -> None:
    rng = np.random.default_rng(7)
    near = 0
    for _ in range(20):
        y = rng.normal(0, 0.01, (24, 3))
        y[11:] += 0.1
        places = [split.index for split in changepoints.splits(y)]
        near += len(places) >= 1 and min(abs(place - 11) for place in places) <= 1
    assert near >= 18


def steps_of(y: Floats) -> list[int]:
    return [split.index for split in changepoints.splits(y)]


@pytest.mark.parametrize("jobs_after", [1, 2])
def test_a_change_in_the_last_two_jobs_waits_for_the_next_ones(jobs_after: int) -> None:
    rng = np.random.default_rng(8)
    early = 0
    for _ in range(20):
        y = rng.normal(0, 0.01, (24, 3))
        y[-jobs_after:] += 0.2
        early += bool(steps_of(y))
    assert early <= 2


def test_a_step_beside_a_drift_is_found_where_it_is() -> None:
    rng = np.random.default_rng(9)
    for slope in (-0.1, 0.1):
        y = rng.normal(0, 0.005, (24, 3)) + slope * np.linspace(0, 1, 24)[:, None]
        assert steps_of(y) == []
        y[9:] += 0.1
        assert steps_of(y) == [9]


@pytest.mark.parametrize("second", [-0.12, 0.08])
def test_two_steps_are_found_where_they_are(second: float) -> None:
    y = np.random.default_rng(10).normal(0, 0.005, (70, 3))
    y[23:] += 0.1
    y[47:] += second
    assert steps_of(y) == [23, 47]


def test_a_step_of_one_line_is_found() -> None:
    y = np.random.default_rng(11).normal(0, 0.005, (24, 6))
    y[13:, 4] += 0.1
    assert steps_of(y) == [13]


@pytest.mark.slow
def test_eight_launches_of_a_job_count_once(a2a: A2A, tmp_path: Path) -> None:
    setup = Setup(sizes=(1000,), ops=20)
    for day in range(6):
        for i in range(4):
            made = replace(
                setup,
                seed=10 * day + i,
                started=START + timedelta(days=day, minutes=i),
                effects=Effects(slowdown=1.0 + 0.2 * (day > 2)),
            )
            synthetic.write_launch(tmp_path / f"{day}-{i}.h5", made)
    made = json.loads(a2a("history", tmp_path, "--json").out)
    assert made["changes"] == []
    assert (made["lines"][0]["jobs"], made["lines"][0]["launches"]) == (6, 24)
    assert "24 launches in 6 jobs" in a2a("history", tmp_path).out


def test_a_trend_is_that_since_the_step(tmp_path: Path) -> None:
    files = collection(tmp_path / "c", [1.0] * 10 + [1.3] * 10, spread=0.005)
    made = history.history(loading.load(files).measured())
    assert len(made.changes) == 1
    assert (made.lines["trend_low"] < 0).all() and (made.lines["trend_high"] > 0).all()


def test_a_big_folder_is_told_in_a_page(a2a: A2A, tmp_path: Path) -> None:
    setup = Setup(sizes=tuple(range(1000, 41000, 1000)), ops=4)
    for day in range(3):
        environment = {f"FI_X{i}": f"{day}" for i in range(40)}
        started = START + timedelta(days=day)
        made = replace(setup, seed=day, started=started, environment=environment)
        synthetic.write_launch(tmp_path / f"{day}.h5", made)
    told = a2a("history", tmp_path).out
    assert told.count("\n") < 50
    assert max(map(len, told.splitlines())) < 200
    assert "24 of 120 lines shown" in told  # each day has settings of its own
    assert a2a("history", tmp_path, "--all").out.count("\n") > 40


def test_a_line_that_ends_where_another_begins() -> None:
    y = np.random.default_rng(2).normal(0, 0.01, (16, 2))
    y[8:, 0] = np.nan
    y[:8, 1] = np.nan
    assert changepoints.splits(y) == []


def test_lines_that_never_change_have_no_change_point() -> None:
    assert changepoints.splits(np.ones((20, 3)) * 0.1) == []


def test_a_named_baseline_is_compared_against(
    a2a: A2A, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = collection(tmp_path / "c", [1.0] * 6 + [1.2] * 6)
    saved = a2a("history", *files[:6], "--save-baseline", "spring")
    assert saved.status == 0 and "spring is 6 files" in saved.out
    outcome = a2a("compare", *files[6:], "--against", "spring")
    assert outcome.status == 3 and "slower: 3 of 3 cells" in outcome.out
    assert "not interleaved" in outcome.out
    a2a("compare", *files[6:], "--against", "autumn").refused("autumn", "baselines are spring")
    (tmp_path / "a2a-baselines.json").write_text("[1]")
    a2a("compare", *files[6:], "--against", "spring").refused("a2a-baselines.json")


def test_baselines_follow_their_register(
    a2a: A2A, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = collection(tmp_path / "c", [1.0, 1.0])
    register = tmp_path / "kept" / "names.json"
    register.parent.mkdir()
    monkeypatch.setenv("A2A_BASELINES", str(register))
    assert a2a("history", files[0], "--save-baseline", "one").status == 0
    assert json.loads(register.read_text()) == {"one": ["../c/day000.h5"]}
    monkeypatch.chdir(tmp_path / "c")
    assert a2a("compare", files[1], "--against", "one").status == 4
    monkeypatch.setenv("A2A_BASELINES", str(tmp_path / "missing" / "names.json"))
    a2a("history", files[0], "--save-baseline", "two").refused("cannot be written")


def test_a_baseline_is_never_written_through_a_link(
    a2a: A2A, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (file,) = collection(tmp_path / "c", [1.0])
    precious = tmp_path / "precious"
    precious.write_text("kept")
    for name in ("a2a-baselines.json.new", "a2a-baselines.json"):
        (tmp_path / name).symlink_to(precious if name.endswith("new") else tmp_path / "none")
    assert a2a("history", file, "--save-baseline", "one").status == 0
    assert precious.read_text() == "kept"
    assert not (tmp_path / "none").exists()
    assert not (tmp_path / "a2a-baselines.json").is_symlink()


def test_values_of_a_setting_stand_by_size(a2a: A2A, tmp_path: Path) -> None:
    made = Setup(sizes=(1000,), ops=30)
    for window in (100, 8, 32):
        synthetic.write_launch(tmp_path / f"{window}.h5", replace(made, window=window, seed=window))
    lines = json.loads(a2a("history", tmp_path, "--json").out)["lines"]
    assert [line["series"] for line in lines] == ["window 8", "window 32", "window 100"]


def test_bad_input(a2a: A2A, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    a2a("history").refused("FILE|FOLDER")
    a2a("history", tmp_path / "empty").refused("no .h5 file")
    a2a("history", tmp_path / "none").refused("no such file")
    (file,) = collection(tmp_path / "c", [1.0])
    a2a("history", file, "--save-baseline", str(file)).refused("a file has that name")
