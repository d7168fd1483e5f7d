# SPDX-License-Identifier: BSD-3-Clause
"""Round trips beside a load: an impact is told where there is one, and none where there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import a2aperf
from a2aperf import loading, summary
from a2aperf.curves import Options
from a2aperf.workloads.interference import curve, findings, impact
from conftest import Outcome
from support import native_interference
from support.edited import edited
from support.native_interference import Load

Run = Callable[..., Outcome]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_interference.write(tmp_path / "i.h5")


def test_phases_without_a_round_trip_are_sound(a2a: Run, tmp_path: Path) -> None:
    few = native_interference.write(tmp_path / "few.h5", (Load(alternations=5, silent=3),))
    assert a2a("check", few).out == f"{few}: sound\n"


def test_a_round_trip_of_the_wrong_phase(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        kind = file["raw/sample_kind"]
        kind[1, 200, 0] = {2: 3, 3: 2}[int(kind[1, 200, 0])]
    assert "/raw/sample_kind is not that of the phase" in a2a("check", path).out


def test_an_impact_is_found_with_its_interval(path: Path) -> None:
    full, half, none = a2aperf.open(path).findings("impact")  # the heaviest first
    assert "no impact on the median can be told" in none.text
    assert none.weight == 0
    assert half.numbers["p50"] == pytest.approx(1.5, rel=0.15)
    assert full.numbers["p50"] == pytest.approx(3, rel=0.15)
    assert "at 100 % of the load's full rate" in full.text
    assert "the median round trip takes" in full.text
    assert full.weight > half.weight > 1


def test_an_interval_that_excludes_1_by_itself_alone_is_called_that(path: Path) -> None:
    """The claims of a launch hold together: its intervals are each by itself."""
    points = loading.load([path]).points
    row = points[points["load_level"] == 50].iloc[0]
    assert row["impact_p50_low"] > 1
    told = findings.impact_of(row, [], "i.h5#0").text
    assert "no impact on the median can be told beside so many others: by itself it is" in told
    none = findings.impact_of(points[points["load_level"] == 0].iloc[0], [], "i.h5#0").text
    assert "no impact on the median can be told: it is between" in none


def test_silent_phases_and_load_that_lingers(tmp_path: Path) -> None:
    loads = (Load(silent=2), Load(rest=50), Load(50))
    found = a2aperf.open(native_interference.write(tmp_path / "i.h5", loads))
    (silent,) = found.findings("silent")
    assert "in 1 phase of 20 there was no round trip" in silent.text
    (rest,) = found.findings("lingering")
    assert "5.0 % of it still came" in rest.text
    assert [one.abstains for one in found.findings("level")] == []
    with pytest.raises(a2aperf.InputError):
        curve.figure(
            loading.load([native_interference.write(tmp_path / "s.h5", loads[:1])]), Options()
        )


def test_load_that_lingers_where_nothing_is_sent_is_no_share(tmp_path: Path) -> None:
    path = native_interference.write(tmp_path / "i.h5", (Load(0, rest=50), Load(0)))
    (rest,) = a2aperf.open(path).findings("lingering")
    assert "at 0 % of the load's full rate" in rest.text
    assert "Gbit/s still came in phases that should have none" in rest.text


def test_a_load_that_did_not_come_has_no_impact(a2a: Run, tmp_path: Path) -> None:
    """What the file has of it is chance, or the work of something else."""
    loads = (Load(0), Load(50, 1.5), Load(100, 3.0, comes=False))
    path = native_interference.write(tmp_path / "i.h5", loads)
    assert a2a("check", path).status == 0
    rows = a2a("table", path).out.splitlines()
    assert rows[-1].endswith(f"  {impact.NO_LOAD}") and " 3.0" not in rows[-1]
    assert impact.NO_LOAD not in rows[1] + rows[2] and " 1.5" in rows[2]
    told = json.loads(a2a("table", path, "--json").out)["rows"]
    assert [one["impact_p50"] is None for one in told] == [False, False, True]
    assert all(one["loaded_p50"] for one in told)
    figure = curve.figure(loading.load([path]), Options())
    assert list(figure.charts[0].curves[0].x) == [0, 50]
    assert f"1 point: {impact.NO_LOAD}" in figure.said
    found = a2aperf.open(path)
    assert len(found.findings("impact")) == 2
    (level,) = found.findings("level")
    assert "no message of it came: of an impact nothing can be said" in level.text
    told = " ".join(summary.sentences(found.results))
    assert re.search(r"the largest impact on a median is 1\.5\d* \(95 % by itself: 1\.\d", told)
    outcome = a2a("compare", path, "--by", "load_level")
    assert "1 point without a median under a load that came" in outcome.out
    assert "load level 100" not in outcome.out
    alone = native_interference.write(tmp_path / "s.h5", loads[2:])
    with pytest.raises(a2aperf.InputError, match=impact.NO_LOAD):
        curve.figure(loading.load([alone]), Options())


def test_what_no_load_was_beside_is_no_impact(tmp_path: Path) -> None:
    path = native_interference.write(tmp_path / "i.h5", (Load(0, spread=1.0),))
    assert "largest" not in " ".join(summary.sentences(loading.load([path])))
    both = native_interference.write(tmp_path / "b.h5", (Load(0, 2.0), Load(50, 1.5)))
    assert "a median is 1.5" in " ".join(summary.sentences(loading.load([both])))
    few = native_interference.write(tmp_path / "f.h5", (Load(50, 1.5, alternations=4),))
    assert ", without an interval" in " ".join(summary.sentences(loading.load([few])))


def test_the_figure_has_levels_and_intervals(path: Path) -> None:
    figure = curve.figure(loading.load([path]), Options())
    medians, tails = figure.charts
    (line,) = medians.curves
    assert list(line.x) == [0, 50, 100]
    assert line.low is not None
    assert line.high is not None
    assert (line.low < line.y).all()
    assert (line.y < line.high).all()
    assert tails.title == "p99 round trip"


def test_without_impact_the_interval_has_one(tmp_path: Path) -> None:
    """In 95 % of runs, by the code that checks files; and claims of a launch hold together."""
    random = np.random.default_rng(14)
    runs, covered, claimed = 2000, 0, 0
    for _ in range(runs):
        levels = 20_000 * np.exp(0.3 * random.standard_normal((10, 2)))
        of = [(level + 4000 * random.random((2, 60)) for level in pair) for pair in levels]
        pairs = [(alone[0], loaded[1]) for alone, loaded in of]
        one = impact.impact("p50", pairs)
        covered += one.low <= 1 <= one.high
        claimed += impact.chance(one.ratio, one.low, one.high, 10) < 0.05
    assert 0.935 * runs < covered < 0.965 * runs
    assert claimed == runs - covered


def phases(rng: np.random.Generator, count: int, loaded: float) -> list[impact.Alternation]:
    """Without an impact; a phase is like the one before (0.8), and those under load differ more."""
    level = rng.normal(size=2 * count)
    for at in range(1, level.size):
        level[at] = 0.8 * level[at - 1] + 0.6 * level[at]
    made = []
    for at in range(count):
        first, second = level[2 * at : 2 * at + 2]
        alone, beside = (first, second) if at % 2 == 0 else (second, first)
        made.append((np.array([np.exp(0.05 * alone)]), np.array([np.exp(0.05 * loaded * beside)])))
    return made


@pytest.mark.parametrize("count", [6, 10, 20])
def test_a_spread_under_load_that_lasts_is_no_impact(count: int) -> None:
    """31 to 36 of 100 are called one by alternations that are taken as independent."""
    rng = np.random.default_rng(count)
    called = 0
    for _ in range(200):
        of = phases(rng, count, 5)
        one = impact.impact("p50", of)
        called += not one.low <= 1 <= one.high and impact.lasts("p50", of)
    assert called <= 10


def test_too_few_times_for_a_figure_last_in_nothing() -> None:
    few, many = np.array([1000.0, 1001.0]), np.arange(1.0, 2001.0)
    of = [(few if at == 3 else many, 2 * many) for at in range(10)]
    assert impact.lasts("p50", of)
    assert not impact.lasts("p99", of)
    assert not impact.lasts("p50", [*of, (np.array([]), many)])


def test_an_impact_that_only_independent_alternations_would_show(path: Path) -> None:
    points = loading.load([path]).points
    row = points[points["load_level"] == 50].iloc[0]
    told = findings.impact_of(row, [], "i.h5#0", ["p50"]).text
    assert (
        "no impact on the median can be told of 10 alternations, which may be like one another: "
        "if they are not, it is between 1.4" in told
    )


@pytest.mark.slow
def test_claims_of_a_launch_without_impact_are_few(tmp_path: Path) -> None:
    """Three levels and two figures each: less than one launch in ten claims any."""
    false = 0
    for seed in range(20):
        loads = tuple(Load(level, seed=seed, alternations=6) for level in (25, 50, 100))
        found = a2aperf.open(native_interference.write(tmp_path / f"{seed}.h5", loads))
        false += any(one.weight for one in found.findings("impact"))
    assert false <= 4


@pytest.mark.parametrize(
    ("kind", "thing", "of"),
    [
        ("stream", "window of the stream", "a stream"),
        ("all-to-all", "all-to-all", "an all-to-all"),
    ],
)
def test_other_victims_have_their_own_words_and_rates(
    a2a: Run, tmp_path: Path, kind: str, thing: str, of: str
) -> None:
    loads = (Load(impact=2, kind=kind),)
    path = native_interference.write(tmp_path / "i.h5", loads)
    assert a2a("check", path).out == f"{path}: sound\n"
    (found,) = a2aperf.open(path).findings("impact")
    assert f"the median {thing} takes" in found.text
    assert f"messages of {of} of 1\u00a0KiB" in found.where
    with edited(path) as file:
        file["gbps"][0] *= 2
    assert "gbps is" in a2a("check", path).out


def _aged(path: Path) -> None:
    """As it was before there were other victims."""
    with edited(path) as file:
        file["raw"].move("victim_time", "round_trip")
        for name in ("victim_kind", "victim_window", "gbps"):
            del file[name]
        for name in ("load_class", "load_class_granted", "load_class_trouble"):
            del file[name]
        del file["raw/class_granted"]


WHY = "tcp is told no service level"


def _with_class(path: Path, **of: str) -> Path:
    return native_interference.write(path, (Load(100, 2.0, **of), Load(50, 1.5, **of)))  # type: ignore[arg-type]


def test_why_the_class_of_a_load_was_not_granted(a2a: Run, tmp_path: Path) -> None:
    """As the program stores it, too: texts of a fixed length."""
    path = _with_class(tmp_path / "i.h5", asked="sl1", trouble=WHY)
    for is_fixed in (False, True):
        if is_fixed:
            with edited(path) as file:
                del file["load_class_trouble"]
                file["load_class_trouble"] = np.array([WHY] * 2, "S64")
        assert a2a("check", path).out == f"{path}: sound\n"
        assert a2a("table", path).out.count(WHY) == 2
        (found,) = a2aperf.open(path).findings("granted")
        assert (
            found.text == f"sl1 was asked for the load, and not granted to every rank of it: {WHY}"
        )
    with edited(path) as file:  # of a program that had no reasons
        del file["load_class_trouble"]
    (found,) = a2aperf.open(path).findings("granted")
    assert found.text.endswith("not granted to every rank of it")


def test_of_a_class_that_was_granted_or_not_asked_for_nothing_is_said(
    a2a: Run, path: Path, tmp_path: Path
) -> None:
    granted = _with_class(tmp_path / "g.h5", asked="dscp10")
    for file in (path, granted):
        assert not a2aperf.open(file).findings("granted")
        assert "trouble" not in a2a("table", file).out


def test_a_file_of_before_there_were_other_victims(a2a: Run, path: Path) -> None:
    _aged(path)
    assert a2a("check", path).out == f"{path}: sound\n"
    found = a2aperf.open(path).findings("impact")
    assert "the median round trip takes" in found[0].text
    said = (
        "no point has a median under a load that came, with its rate (gbps, which older files lack)"
    )
    a2a("compare", path, "--by", "load_level").refused(said)


def test_a_file_of_before_beside_one_of_today(a2a: Run, tmp_path: Path) -> None:
    """No class was asked for in either, and none is called refused; samples have two names."""
    old, new = (native_interference.write(tmp_path / f"{name}.h5") for name in ("old", "new"))
    _aged(old)
    with edited(old) as file:
        file["segments/0"].attrs["command_line"] = "a2aperf interference"
    table = a2a("table", old, new).out
    assert "impact p50" in table
    assert "class" not in table
    merged = a2a("merge", old, new, "-o", tmp_path / "both.h5")
    merged.refused("has /raw/round_trip, which")
    assert not (tmp_path / "both.h5").exists()


def test_answers_of_no_bytes_are_compared(a2a: Run, tmp_path: Path) -> None:
    """Their rate is 0, and their time is known."""
    loads = (Load(100, 3.0, size=0), Load(0, size=0))
    path = native_interference.write(tmp_path / "i.h5", loads)
    told = a2a("compare", path, "--by", "load_level").out
    assert "left out" not in told
    (row,) = [line.split() for line in told.splitlines() if line.endswith("undecided")]
    rates, times = row[5:8], [float(one) for one in row[8:11]]
    assert rates == ["0", "0", "0"]
    assert times[2] == pytest.approx(times[0] / times[1], rel=1e-3) and 2.8 < times[2] < 3.0


def test_a_point_without_samples_is_not_sound(a2a: Run, tmp_path: Path) -> None:
    path = native_interference.write(tmp_path / "i.h5", (Load(100, 3.0), Load(0)))
    with edited(path) as file:
        file["attempts"][0] = 0
    told = a2a("check", path)
    assert told.status == 2
    assert "it is complete, and has no samples" in told.out


def _launches(folder: Path, impact: float, seed: int) -> list[Path]:
    folder.mkdir()
    files = []
    for i in range(6):
        load = Load(impact=impact, spread=0.02, seed=seed + i)
        files.append(native_interference.write(folder / f"{i}.h5", (load,)))
        with edited(files[-1]) as file:
            file["segments/0"].attrs["command_line"] = f"a2aperf interference {seed + i}"
    return files


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "status"), [(2.0, 3), (1.0, 0)])
def test_what_a_load_does_is_compared(a2a: Run, tmp_path: Path, factor: float, status: int) -> None:
    """By the median under load, of launches; twice the time is half the speed."""
    before = _launches(tmp_path / "a", 1.5, 1)
    today = _launches(tmp_path / "b", 1.5 * factor, 11)
    told = a2a("compare", *today, "--against", *before)
    assert told.status == status, told.out
    assert "of a victim under load" in told.out
    assert "µs of the median under load" in told.out


def test_nights_of_a_load(a2a: Run, tmp_path: Path) -> None:
    files = [
        *_launches(tmp_path / "a", 1.5, 1),
        *_launches(tmp_path / "b", 3.0, 11),
    ]
    assert "Gbit/s" in a2a("history", *files).out


def test_a_history_has_a_line_for_each_victim_and_load(a2a: Run, tmp_path: Path) -> None:
    loads = (Load(0), Load(50), Load(100), Load(100, kind="stream"))
    told = a2a("history", native_interference.write(tmp_path / "i.h5", loads))
    assert told.status == 0, told.err
    lines = [line for line in told.out.splitlines() if "load level" in line]
    assert len(lines) == 4
    for level, kind in ((0, "echo"), (50, "echo"), (100, "echo"), (100, "stream")):
        (line,) = [one for one in lines if kind in one and f"load level {level}," in one + ","]
        assert " 1024 " in line
