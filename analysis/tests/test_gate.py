# SPDX-License-Identifier: BSD-3-Clause
"""`a2a gate`: its checks, its one status, and what it makes of bad input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from a2aperf import schema
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Effects, Setup
from support.synthetic_jobs import SETUP, START, baseline, night

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]


@pytest.fixture
def nights(tmp_path: Path) -> Path:
    return baseline(tmp_path / "spring", 6)


def toml(folder: Path, text: str) -> Path:
    path = folder / "limits.toml"
    path.write_text(text)
    return path


def unknown(outcome: Outcome, *words: str) -> None:
    assert outcome.status == 3, outcome
    assert outcome.out.startswith("UNKNOWN: "), outcome
    for word in words:
        assert word in outcome.out, (word, outcome.out)


def nothing_judged(outcome: Outcome, *words: str) -> None:
    """What was asked makes no sense: unknown, and one line on stderr alone."""
    assert outcome.status == 3, outcome
    replace(outcome, status=2).refused(*words)


def test_one_launch_is_said_to_be_checked_by_limits_alone(a2a: A2A, tmp_path: Path) -> None:
    files = [
        synthetic.write_launch(tmp_path / f"{seed}.h5", replace(SETUP, seed=seed))
        for seed in range(2)
    ]
    said = "note: one launch: nothing is compared with a baseline, which takes several"
    for given, is_said in ((files[:1], True), (files, False)):
        made = json.loads(a2a("gate", *given, "--min-efficiency", "1%", "--json").out)
        assert (said in made["notes"]) == is_said
        # Where the output is piped, too: in the line that a monitor shows.
        first, *_ = a2a("gate", *given, "--min-efficiency", "1%").out.splitlines()
        assert first == made["sum"]
        assert first == "OK: 1 ok of 1 check" + "; one launch: only limits are checked" * is_said


# Against a baseline ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slowdown", "status", "words"),
    [(1.0, 0, "OK: "), (1.07, 1, "WARNING: "), (1.4, 2, "CRITICAL: ")],
)
def test_a_night_against_six(
    a2a: A2A, nights: Path, tmp_path: Path, slowdown: float, status: int, words: str
) -> None:
    files = night(tmp_path / "now", 30, slowdown=slowdown)
    outcome = a2a("gate", *files, "--against", nights)
    assert outcome.status == status, outcome
    first, *checks = outcome.out.splitlines()
    assert first.startswith(words)
    assert len(checks) == 2  # psm2: below 16 kB, and above
    assert all("2 launches, baseline 6 jobs" in line for line in checks)
    assert "1 kB to 8 kB" in outcome.out.replace("\xa0", " ")
    made = json.loads(a2a("gate", *files, "--against", nights, "--json").out)
    assert made["status"] == status and made["sum"] == first
    for check in made["checks"]:
        assert check["measured"] == pytest.approx(1 / slowdown - 1, abs=0.04)
        assert check["limit"] < 0 and check["baseline_jobs"] == 6


def test_a_size_that_lost_much_is_named_though_its_band_did_not(
    a2a: A2A, nights: Path, tmp_path: Path
) -> None:
    steps = replace(SETUP, effects=replace(SETUP.effects, steps={60000: 1.3}))
    files = night(tmp_path / "now", 30, setup=steps)
    made = json.loads(a2a("gate", *files, "--against", nights, "--json", "--loss", "20%").out)
    small, large, one = (check["status"] for check in made["checks"])
    assert (small, one, made["status"]) == (0, 2, 2)
    assert large != 2
    one = made["checks"][2]
    assert one["measured"] == pytest.approx(1 / 1.3 - 1, abs=0.04)
    assert "60 kB: slower by" in made["sum"].replace("\xa0", " ")


def test_jobs_of_one_day_are_told(a2a: A2A, nights: Path, tmp_path: Path) -> None:
    (tmp_path / "day").mkdir()
    for number in range(12):
        made = replace(
            SETUP,
            seed=number,
            started=START + timedelta(minutes=40 * number),
            attributes={"slurm_job_id": str(number // 2)},
        )
        synthetic.write_launch(tmp_path / "day" / f"{number}.h5", made)
    files = night(tmp_path / "now", 30)
    said = "6 jobs of the baseline are of 1 day: how far days differ is not in their spread"
    assert said in a2a("gate", *files, "--against", tmp_path / "day").out
    assert said in a2a("compare", *files, "--against", tmp_path / "day").out
    assert "are of" not in a2a("gate", *files, "--against", nights).out


def test_a_day_counts_once_where_the_baseline_has_several_jobs_a_day(
    a2a: A2A, nights: Path, tmp_path: Path
) -> None:
    """Their jobs are more alike than those of different days."""
    folder = tmp_path / "days"
    folder.mkdir()
    for number in range(12):
        made = replace(
            SETUP,
            seed=number,
            started=START + timedelta(days=number // 2, hours=number % 2),
            attributes={"slurm_job_id": str(number)},
        )
        synthetic.write_launch(folder / f"{number}.h5", made)
    files = night(tmp_path / "now", 30)
    outcome = a2a("gate", *files, "--against", folder)
    assert "2 launches, baseline 6 days" in outcome.out
    assert "how far days differ" not in outcome.out
    made = json.loads(a2a("gate", *files, "--against", folder, "--json").out)
    assert {check["baseline_days"] for check in made["checks"]} == {6}
    compared = a2a("compare", *files, "--against", folder)
    assert "6 days (12 launches) of A, 1 day (2 launches) of B; prediction" in compared.out
    assert "the spread between the days of A" in compared.out
    assert "days a side needed" in compared.out
    few = sorted(folder.glob("[0-7].h5"))  # of four days
    outcome = a2a("gate", *files, "--against", *few)
    assert "baseline 8 jobs" in outcome.out
    assert "8 jobs of the baseline are of 4 days: how far days differ" in outcome.out


def test_fewer_than_five_jobs_decide_nothing(a2a: A2A, tmp_path: Path) -> None:
    few = baseline(tmp_path / "few", 4)
    files = night(tmp_path / "now", 30, slowdown=1.4)
    unknown(a2a("gate", *files, "--against", few), "4 jobs of the baseline; at least 5 are needed")


def test_jobs_that_differ_much_say_how_many_are_needed(a2a: A2A, tmp_path: Path) -> None:
    for day, slowdown in enumerate((0.95, 1.05, 1.0, 0.97, 1.03)):
        night(tmp_path / "wild", day, slowdown=slowdown)
    files = night(tmp_path / "now", 30)
    outcome = a2a("gate", *files, "--against", tmp_path / "wild", "--loss", "11.8%")
    unknown(outcome, "a loss of 11.8 % is not excluded")
    assert re.search(
        r"; with \d+ of them that differ no more an equal cluster is ok in", outcome.out
    )
    outcome = a2a("gate", *files, "--against", tmp_path / "wild", "--loss", "1%")
    unknown(outcome, "of them would not do: measure in more jobs")


def test_one_launch_has_its_limits_checked_and_no_more(
    a2a: A2A, nights: Path, tmp_path: Path
) -> None:
    (file,) = night(tmp_path / "now", 30, launches=1)
    outcome = a2a("gate", file, "--against", nights, "--min-efficiency", "10%")
    unknown(outcome, "one launch decides nothing here, and only limits are checked")
    assert "\nok " in outcome.out
    assert a2a("gate", file, "--min-efficiency", "10%").status == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setup", "words"),
    [
        (replace(SETUP, provider="tcp"), ("provider is tcp, of the baseline psm2",)),
        (replace(SETUP, nodes=6), ("nodes is 6, of the baseline 4", "ranks is 12")),
        (replace(SETUP, node_facts={"cpu_model": "other"}), ("cpu_model is other",)),
        (replace(SETUP, labels={"cluster": "north"}), ()),  # the baseline does not say which
        (replace(SETUP, sync="barrier"), ("there is no verdict",)),
        (replace(SETUP, sizes=(500, 700)), ("message_size",)),
        (replace(SETUP, sizes=(1000, 8000, 700)), ("no counterpart of 2 points",)),
    ],
)
def test_another_baseline_is_refused(
    a2a: A2A, nights: Path, tmp_path: Path, setup: Setup, words: tuple[str, ...]
) -> None:
    files = night(tmp_path / "now", 30, setup=setup)
    outcome = a2a("gate", *files, "--against", nights)
    if words:
        unknown(outcome, *words)
    else:
        assert outcome.status == 0


def test_the_same_file_on_both_sides(a2a: A2A, nights: Path, tmp_path: Path) -> None:
    inside = sorted(nights.iterdir())
    outcome = a2a("gate", *inside[:2], "--against", nights, "--min-efficiency", "10%")
    unknown(outcome, "on both sides", "efficiency")
    copy = tmp_path / "copy.h5"
    copy.write_bytes(inside[0].read_bytes())
    unknown(a2a("gate", copy, "--against", nights), "holds the same launch as")
    later = night(tmp_path / "now", 0, launches=4)[2:]  # of the job of the first day
    unknown(a2a("gate", *later, "--against", nights), "is on both sides", "12 hours")


def test_an_empty_baseline(a2a: A2A, tmp_path: Path) -> None:
    files = night(tmp_path / "now", 30)
    (tmp_path / "empty").mkdir()
    unknown(a2a("gate", *files, "--against", tmp_path / "empty"), "no .h5 file")
    unknown(a2a("gate", *files, "--against", tmp_path / "none"), "no such file")
    unknown(a2a("gate", tmp_path / "empty", "--min-efficiency", "10%"), "no .h5 file")


def test_damaged_files_are_listed_and_never_ok(a2a: A2A, nights: Path, tmp_path: Path) -> None:
    files = night(tmp_path / "now", 30, launches=3)
    files[0].write_bytes(b"no results")
    broken = sorted(nights.iterdir())[0]
    data = bytearray(broken.read_bytes())
    data[len(data) // 2] ^= 1
    broken.write_bytes(data)
    outcome = a2a("gate", *files, "--against", nights, "--min-efficiency", "10%")
    unknown(outcome, files[0].name, broken.name)
    assert outcome.out.count("\nok ") == 3  # the sound ones are judged all the same


def test_oversubscribed_launches_are_left_out(a2a: A2A, nights: Path, tmp_path: Path) -> None:
    crowded = replace(SETUP, node_facts={"cores_of_ranks": "1"})
    files = night(tmp_path / "now", 30) + night(tmp_path / "full", 31, 1, crowded, slowdown=3)
    outcome = a2a("gate", *files, "--against", nights, "--min-efficiency", "10%")
    unknown(outcome, "oversubscribed: 2 ranks on 1 core", "in 1 of 3 launches")
    assert outcome.out.count("\nok ") == 3
    unknown(a2a("gate", files[-1], "--min-efficiency", "10%"), "oversubscribed")


# Limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "status"), [("10%", 0), ("0.1", 0), ("99.5%", 2)])
def test_the_least_efficiency_is_that_of_the_best_size(
    a2a: A2A, tmp_path: Path, least: str, status: int
) -> None:
    outcome = a2a("gate", *night(tmp_path / "now", 1), "--min-efficiency", least)
    assert outcome.status == status
    assert "60 kB, the best size" in outcome.out.replace("\xa0", " ")


def test_limits_are_for_the_last_job_of_a_folder(a2a: A2A, tmp_path: Path) -> None:
    folder = baseline(tmp_path / "nightly", 4)
    smaller = night(folder, 20, launches=1, setup=replace(SETUP, nodes=2))
    last = night(folder, 30, slowdown=2.0)
    (alone,) = json.loads(a2a("gate", *last, "--min-efficiency", "1%", "--json").out)["checks"]
    least = str(1.2 * alone["measured"])  # which the nights before have
    outcome = a2a("gate", folder, "--min-efficiency", least, "--json")
    assert outcome.status == 2
    made = json.loads(outcome.out)
    small, usual = made["checks"]
    assert usual["measured"] == alone["measured"] and usual["n"] == alone["n"]
    assert "on 2 nodes" in small["at"]  # the last of its scale is judged, too
    assert any("8 launches before it are left out" in note for note in made["notes"])
    assert a2a("gate", folder, "--where", "nodes=2", "--min-efficiency", "1%").status == 0
    named = "nodes = 4\nmessage_size = 60000"
    limits = toml(tmp_path, f"[[limit]]\n{named}\nmin_efficiency = {least}\n")
    assert a2a("gate", folder, "--limits", limits).status == 2
    before = set(folder.iterdir()) - {*last, *smaller}
    assert a2a("gate", *before, "--limits", limits).status == 0


def test_a_night_that_lacks_points_is_told_of_the_last_one_alone(a2a: A2A, tmp_path: Path) -> None:
    """What was not reached a night ago, in a folder of nights, is history."""
    folder = tmp_path / "nightly"
    for day, segment in ((1, 0), (2, -1)):
        (file,) = night(folder, day, launches=1)
        with edited(file) as opened:
            opened["state"][1] = schema.STATES.index("pending")
            opened["segment"][1] = segment
            opened["segments/0/end_state"][()] = 3
        unknown(a2a("gate", folder, "--min-efficiency", "1%"), "1 pending of 4 points")
    night(folder, 3)
    assert a2a("gate", folder, "--min-efficiency", "1%").status == 0


@pytest.mark.parametrize("chosen", [(), ("--where", "nodes=4")])
def test_a_night_that_measured_nothing_is_told_until_a_later_one_did(
    a2a: A2A, tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    folder = tmp_path / "nightly"
    night(folder, 1)
    (file,) = night(folder, 2, launches=1)
    with edited(file) as opened:
        opened["state"][...] = schema.STATES.index("pending")
        opened["segment"][...] = -1
        opened["started"][...] = -1
        opened["segments/0/end_state"][()] = 3
    asked = ("gate", folder, "--min-efficiency", "1%", *chosen)
    unknown(a2a(*asked), "4 pending of ")
    night(folder, 3, launches=1, setup=replace(SETUP, nodes=2))  # of another scale
    unknown(a2a(*asked), "4 pending of ")
    night(folder, 4)
    outcome = a2a(*asked, "--json")
    assert outcome.status == 0
    (note,) = [one for one in json.loads(outcome.out)["notes"] if "measured nothing" in one]
    assert str(file) in note


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("max_p50_us = 1", 2, "4 of 4 points"),
        ("max_p50_us = 1e9", 0, "the worst of 4 points"),
        ("max_p50_us = {warning = 1, critical = 1e9}", 1, "at most 1.00"),
        ("max_p90_us = 1e9", 0, "ok"),
        ("message_size = '60kB'\nnodes = 4\nmin_efficiency = '5%'", 0, "60 kB"),
        ("message_size = [1000, '8kB']\nmax_p50_us = 1e9", 0, "the worst of 2 points"),
        ("nodes = 8\nmin_efficiency = 0.5", 3, "leaves no point"),
        ("where = 'message_size>=30kB'\nmin_gbps_node_net = 1", 0, "the worst of 2 points"),
        ("max_p99_us = 1e9", 3, "p99 of 40 ops is their maximum"),
        ("max_p99_over_p50 = 3", 3, "p99 of 40 ops is their maximum"),
        ("max_invalid = 0", 0, "0.0 %"),
    ],
)
def test_limits_of_a_file(a2a: A2A, tmp_path: Path, text: str, status: int, words: str) -> None:
    files = night(tmp_path / "now", 1)
    outcome = a2a("gate", *files, "--limits", toml(tmp_path, f"[[limit]]\n{text}\n"))
    assert outcome.status == status, outcome
    assert words in outcome.out.replace("\xa0", " ")


def test_tails_and_invalid_ops(a2a: A2A, tmp_path: Path) -> None:
    effects = Effects(late_share=0.2, timer=(0.05, 3e6))
    file = synthetic.write_launch(tmp_path / "x.h5", Setup(ops=200, effects=effects))
    text = "[[limit]]\nmax_invalid = '1%'\n[[limit]]\nmax_p99_over_p50 = {warning = 1.5}\n"
    made = json.loads(a2a("gate", file, "--limits", toml(tmp_path, text), "--json").out)
    invalid, tail = made["checks"]
    assert (invalid["verdict"], tail["verdict"]) == ("critical", "warning")
    assert invalid["measured"] == pytest.approx(0.2, abs=0.01) and tail["measured"] > 1.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", ("not a file of limits",)),
        pytest.param("x = " + "[" * 5000, ("nested too deeply",), id="nested"),
        ("", ("limit: expected tables",)),
        ("limits = 1", ("unknown key 'limits'", "did you mean limit?")),
        ("[[limit]]\nmin_eficiency = 1", ("limit 1", "min_eficiency", "did you mean min_eff")),
        ("[[limit]]\nmin_efficiency = 80", ("min_efficiency", "80%", "not 80")),
        ("[[limit]]\nmax_p50_us = 'x'", ("max_p50_us", "a number above 0")),
        ("[[limit]]\nmax_p50_us = true", ("max_p50_us", "a number above 0")),
        ("[[limit]]\nmax_p50_us = nan", ("max_p50_us", "a number above 0")),
        ("[[limit]]\nmax_p50_us = {bad = 1}", ("max_p50_us", "unknown key 'bad'")),
        ("[[limit]]\nmax_p50_us = {}", ("warning, critical or both",)),
        ("[[limit]]\nmax_p50_us = {warning = 2, critical = 1}", ("expected a warning below",)),
        ("[[limit]]\nnodes = 4", ("limits nothing",)),
        ("[[limit]]\nnodes = []\nmax_p50_us = 1", ("nodes", "not []")),
        ("[[limit]]\nmessage_size = 'big'\nmax_p50_us = 1", ("message_size", "'big'")),
        ("[[limit]]\nwhere = 3\nmax_p50_us = 1", ("where", "not 3")),
        ("[[limit]]\nwhere = 'ppn'\nmax_p50_us = 1", ("limit 1: where: 'ppn': expected NAME=",)),
        (
            "[[limit]]\nwhere = 'message_size>>1'\nmax_p50_us = 1",
            ("limit 1: where: 'message_size>>1': '>1' is not a number",),
        ),
    ],
)
def test_a_faulty_limits_file(a2a: A2A, tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    path = toml(tmp_path, text)
    nothing_judged(a2a("gate", tmp_path, "--limits", path), str(path), *words)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("message_size>>1",), "--where 'message_size>>1': '>1' is not a number"),
        (("ppn",), "--where 'ppn': expected NAME=VALUE"),
        (("ppn=2", "a=b\nc"), "expected values such as"),
    ],
)
def test_a_choice_that_makes_no_sense_is_no_verdict(
    a2a: A2A, tmp_path: Path, words: tuple[str, ...], why: str
) -> None:
    chosen = [one for word in words for one in ("--where", word)]
    nothing_judged(a2a("gate", tmp_path, "--min-efficiency", "1%", *chosen), why)


def test_a_choice_of_a_limit_that_leaves_no_point_has_its_place_once(
    a2a: A2A, tmp_path: Path
) -> None:
    files = night(tmp_path / "now", 1)
    for chosen in ("nodes = 8", "where = 'time_p50>900s'", "where = 'colour=red'"):
        text = f"[[limit]]\n{chosen}\nmax_p50_us = 1e9\n"
        outcome = a2a("gate", *files, "--limits", toml(tmp_path, text), "--json")
        assert outcome.status == 3 and not outcome.err
        (one,) = json.loads(outcome.out)["checks"]
        assert one["verdict"] == "unknown" and one["at"] == "limits.toml, limit 1"
        assert "limits.toml" not in one["why"], one["why"]


def test_no_limits_file(a2a: A2A, tmp_path: Path) -> None:
    nothing_judged(a2a("gate", tmp_path, "--limits", tmp_path / "no.toml"), "No such file")
    nothing_judged(a2a("gate", tmp_path, "--limits", tmp_path), "a folder")


def test_points_without_a_result_are_never_ok(a2a: A2A, tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "x.h5", SETUP)
    with edited(file) as h5:
        h5["state"][1] = 0
        h5["segments/0/end_state"][()] = 3
    outcome = a2a("gate", file, "--min-efficiency", "10%")
    unknown(outcome, "1 pending of 4 points", "x.h5#0 did not finish")


def test_on_one_node_there_is_no_efficiency(a2a: A2A, tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "x.h5", replace(SETUP, nodes=1, ppn=4))
    unknown(
        a2a("gate", file, "--min-efficiency", "10%"), "on one node nothing leaves it; 4 of 4 points"
    )


@pytest.mark.parametrize("sizes", ["[1000, 7]", '["1 kB", "7 B"]'])
def test_a_size_that_is_not_there_is_unknown(a2a: A2A, tmp_path: Path, sizes: str) -> None:
    file = synthetic.write_launch(tmp_path / "x.h5", SETUP)
    limits = toml(tmp_path, f"[[limit]]\nmessage_size = {sizes}\nmax_p50_us = 1e9\n")
    unknown(a2a("gate", file, "--limits", limits), "1 unknown, 1 ok", "no point has message_size=7")


def test_a_size_has_to_be_there_at_each_scale(a2a: A2A, tmp_path: Path) -> None:
    files = [synthetic.write_launch(tmp_path / "x.h5", SETUP)]
    fewer = replace(SETUP, nodes=2, sizes=SETUP.sizes[:2])
    files.append(synthetic.write_launch(tmp_path / "y.h5", fewer))
    limits = toml(tmp_path, "[[limit]]\nmessage_size = [1000, 60000]\nmax_p50_us = 1e9\n")
    unknown(a2a("gate", *files, "--limits", limits), "message_size=60000 at", "on 2 nodes")


def test_an_efficiency_above_the_link_is_not_ok(a2a: A2A, tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "x.h5", SETUP)
    with edited(file) as h5:
        h5["efficiency"][-1] = 1.3
    unknown(a2a("gate", file, "--min-efficiency", "1%"), "130.0 % is above the link rate")


# What it writes ----------------------------------------------------------------------------------


def test_junit_and_prometheus(a2a: A2A, nights: Path, tmp_path: Path) -> None:
    junit, prom = tmp_path / "g.xml", tmp_path / "g.prom"
    files = night(tmp_path / "now", 30, slowdown=1.4)
    label = replace(SETUP, labels={"rack": 'a"b\\c'})
    files += night(tmp_path / "other", 30, launches=1, setup=replace(label, seed=7))
    limits = toml(tmp_path, "[[limit]]\nmax_p99_us = 1e9\n[[limit]]\nmax_p50_us = 1e9\n")
    outcome = a2a("gate", *files[:2], "--against", nights, "--limits", limits,
                  "--junit", junit, "--prometheus", prom)  # fmt: skip
    assert outcome.status == 2
    suite = ET.parse(junit).getroot()
    assert suite.attrib["tests"] == "4" and suite.attrib["failures"] == "2"
    assert suite.attrib["errors"] == "1"
    assert [case.find("failure") is not None for case in suite] == [False, False, True, True]
    told = prom.read_text()
    assert "\na2a_gate_status 2.0\n" in told and told.endswith("\n")
    assert "a2a_gate_measured_timestamp_seconds 1769" in told
    sample = re.compile(r'a2a_gate_\w+(\{\w+="([^"\\]|\\.)*"(,\w+="([^"\\]|\\.)*")*\})? \S+')
    seen = set()
    for line in told.splitlines():
        if not line.startswith("#"):
            assert sample.fullmatch(line), line
            seen.add(line.rpartition(" ")[0])
    assert len(seen) == sum(not line.startswith("#") for line in told.splitlines())
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_files_for_machines_are_written_where_nothing_can_be_judged(
    a2a: A2A, tmp_path: Path
) -> None:
    prom = tmp_path / "g.prom"
    unknown(a2a("gate", tmp_path / "no.h5", "--min-efficiency", "1%", "--prometheus", prom))
    assert "a2a_gate_status 3.0" in prom.read_text()


def test_a_command_line_that_makes_no_sense_is_unknown(a2a: A2A, tmp_path: Path) -> None:
    for arguments in (
        ("x.h5", "--min-efficiency", "much"),
        ("x.h5", "--min-efficiency", "1%", "--loss", "0"),
        ("x.h5", "--min-efficiency", "1%", "--junit", "x.h5"),
        ("x.h5", "--min-efficiency", "1%", "--prometheus", tmp_path / "no" / "x.prom"),
        ("x.h5", "--minimum", "1%"),
        ("--min-efficiency", "1%"),
    ):
        outcome = a2a("gate", *arguments)
        assert (outcome.status, outcome.out) == (3, ""), arguments
        assert outcome.err.startswith("a2a: ") and outcome.err.count("\n") == 1


def test_a_reader_that_leaves_early_changes_no_status(tmp_path: Path) -> None:
    (file,) = night(tmp_path / "now", 1, launches=1)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "a2aperf", "gate", str(file), "--min-efficiency", "99%"]
    assert subprocess.run(command, stdout=writer, check=False).returncode == 2
    os.close(writer)


def test_a_verdict_that_cannot_be_printed_is_never_ok(tmp_path: Path) -> None:
    (file,) = night(tmp_path / "now", 1, launches=1)
    limits = toml(tmp_path, "[[limit]]\nmax_p50_us = 1e9\n")
    command = [sys.executable, "-m", "a2aperf", "gate", str(file), "--limits", str(limits)]
    with Path("/dev/full").open("w") as full:
        made = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (made.returncode, made.stderr.count(b"\n")) == (3, 1)
    closed = ["bash", "-c", 'exec "$@" >&-', "bash", *command]
    made = subprocess.run(closed, stderr=subprocess.PIPE, check=False)
    assert (made.returncode, made.stderr) == (3, b"")
    # What is critical stays so.
    worse = [*command[:5], "--min-efficiency", "99%"]
    with Path("/dev/full").open("w") as full:
        made = subprocess.run(worse, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (made.returncode, made.stderr.count(b"\n")) == (2, 1)


def test_a_fault_of_the_command_itself_is_no_warning(
    a2a: A2A, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("of the test")

    monkeypatch.setattr("a2aperf.commands.gate.gate", fail)
    monkeypatch.setattr("a2aperf.commands.submit.words_of", fail)
    for arguments in (("gate", tmp_path, "--min-efficiency", "1%"), ("submit", "--check", "-N", 2)):
        outcome = a2a(*arguments)
        assert (outcome.status, outcome.out) == (3, "")
        assert outcome.err.startswith("a2a: a fault of a2a itself: ZeroDivisionError: of the")
