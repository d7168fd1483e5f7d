# SPDX-License-Identifier: BSD-3-Clause
"""a2a run --screen: the settings that matter, without Slurm."""

import re
import signal
import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE, wait_until
from results import Results
from run_study import CALM, FEW, HARMLESS, LATE, RunStudy
from screenings import own_catalogue, planned


@pytest.fixture
def study(run_study):
    return run_study


def make_plan(study: RunStudy, *words: str) -> Path:
    """A plan over shm of a variable without which every message comes 20 ms late, and of one that means nothing."""
    text = study.program.read_text()
    line = f"[[ ${{A2APERF_QUICK-}} ]] || export A2APERF_TEST_FAULT='{LATE.format(20)}'\n"
    if line not in text:
        study.program.write_text(text.replace("\n", "\n" + line, 1))
    tried = ["--try", "A2APERF_QUICK=1", "--try", "A2APERF_DUMMY=1"]
    made = subprocess.run(
        [study.a2a, "screen", "--provider", "shm", *tried, *words, "-o", "plan.json"],
        cwd=study.folder, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return study.folder / "plan.json"


def test_only_what_this_libfabric_knows_is_screened(study, program):
    listed = subprocess.run([program, "providers", "--variables"], capture_output=True, text=True, check=True).stdout
    known = re.findall(r"^  (FI_SHM_\w+) ", listed, re.M)
    assert "FI_SHM_TX_SIZE" in known
    outcome = study.run("-n", "2", "--screen", "shm", "--dry-run", "--sizes", "1000")
    assert outcome.returncode == 0, outcome.stderr
    left_out = re.findall(r"^not in this round: (FI_SHM_\w+): the libfabric of this machine does not know it$", outcome.stdout, re.M)
    planned_names = set(re.findall(r"FI_SHM_\w+", outcome.stdout)) - set(re.findall(r"^not in this round: (\w+)", outcome.stdout, re.M))
    assert planned_names and planned_names <= set(known)
    assert not set(left_out) & set(known)


def test_a_dry_run_tells_that_the_folder_has_its_plan(study):
    made = make_plan(study, "--seed", "5")
    study.results.mkdir()
    made.rename(study.results / "screen.json")
    outcome = study.run("-n", "2", "--screen", "shm", "--dry-run", "--sizes", "1000")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.startswith("the plan that is in results already:\n")
    assert "seed 5: 2 settings" in outcome.stdout
    assert [path.name for path in study.results.iterdir()] == ["screen.json"]


@pytest.mark.slow
def test_a_screening_that_is_not_confirmed_and_has_a_launch_that_fails(study):
    """A launch that fails is made once more; what fails twice costs its pair, and the rest is judged."""
    make_plan(study, "--seed", "5")
    study.trouble.write_text("call=send do=kill nth=5 rank=1")
    words = ["-n", "2", "--screen", "plan.json", "--no-confirm", "--sizes", "1000", "--", *CALM, "--ops", "3", "--warmup", "1"]
    outcome = study.run(*words)
    assert outcome.returncode == 1, outcome.stderr
    assert "launch 2 failed twice: its pair is left out" in outcome.stderr
    rows = planned(study.results / "screen.json")
    assert len(study.plan()) == len(rows) == 28
    other = next(i for i, row in enumerate(rows) if row["pair"] == rows[1]["pair"] and i != 1)
    tries = {number: [line for line in study.log() if line["launch"] == f"{number + 1:03d}"] for number in (1, other)}
    assert len(tries[1]) == 2 and all(line["status"] not in ("0", "-") for line in tries[1])
    if other > 1:  # else it was made before
        (line,) = tries[other]
        assert line["reason"] == "not begun: launch 2 failed twice, and its pair is left out"
    assert len([line for line in study.log() if line["status"] == "0"]) == (26 if other > 1 else 27)
    assert "with them 1 pair of launches" in outcome.stdout
    assert "candidate, to be confirmed by launches of its own" in outcome.stdout
    assert not (study.results / "confirm.json").exists()


@pytest.mark.slow
def test_a_screening_confirms_the_setting_that_matters(study):
    """It dominates, and the rest is screened again with it; stopped while its other value is tried, and gone on with."""
    (study.folder / "own.toml").write_text(own_catalogue("shm", "A2APERF_QUICK", ["1", "2"], "slow"))
    another = ["--try", "A2APERF_DUMMY_2=1", "--catalogue", "own.toml"]
    make_plan(study, *another, "--seed", "5")
    words = ["-n", "2", "--screen", "plan.json", "--sizes", "1000", "--", *CALM, *FEW]
    # What is set around it is set in no launch but those that the plan sets it in.
    study.environment["A2APERF_DUMMY"] = "1"
    process = study.start(*words)
    values = study.results / "values.json"
    last = study.results / "screen-run-n1-s57-057.h5"
    assert wait_until(lambda: last.exists() or process.poll() is not None, 8 * PATIENCE)
    process.terminate()
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM, stderr
    assert "round 2 (screen-2.json): A2APERF_QUICK dominates; the rest is screened again, 2 settings, 28 launches" in stderr
    assert "further values (values.json), 16 launches in turn with the best so far, A2APERF_QUICK=1" in stderr
    before = values.read_text()

    outcome = study.run(*words)
    assert outcome.returncode == 0, outcome.stderr
    assert values.read_text() == before
    tried = planned(values)
    assert [launch["environment"]["A2APERF_QUICK"] for launch in tried].count("2") == 8
    first = planned(study.results / "screen.json") + planned(study.results / "screen-2.json")
    confirm = planned(study.results / "confirm.json")
    # One that means nothing is left as well once in 25 times.
    assert len(first) == 56 and len(tried) == 16 and len(confirm) in (16, 32, 40)
    second = tried + confirm
    assert all(launch["environment"].get("A2APERF_QUICK") == "1" for launch in first[28:])
    assert len(study.plan()) == len(first) + len(second)
    for row, launch in zip(study.plan(), first + second, strict=True):
        segment = Results(study.results / row["file"]).segments[0]
        names = ("A2APERF_QUICK", "A2APERF_DUMMY", "A2APERF_DUMMY_2")
        assert {k: segment.environment[k] for k in names if segment.environment.get(k)} == launch["environment"]
        assert segment.labels["screen"] == launch["label"]
    assert "A2APERF_QUICK=1 dominates, +" in outcome.stdout.partition("screening of shm")[2]
    assert "A2APERF_QUICK=2: " in outcome.stdout.partition("further values: 8 new launches of each")[2]
    assert "  export A2APERF_QUICK=1" in outcome.stdout.partition("recommended: faster")[2]
    assert (study.results / "screen-run.txt").read_text() == outcome.stdout
    assert (study.results / "screen-run.svg").read_text().startswith("<?xml")
    assert "<pre>export A2APERF_QUICK=1" in (study.results / "report-run.html").read_text()
    count = len(first) + len(second)
    assert f"{count} of {count} launches good; complete" in study.status().stdout
    # Again: nothing is missing.
    log = study.log()
    assert study.run(*words).returncode == 0
    assert study.log() == log
    make_plan(study, *another, "--seed", "6")
    other = study.run(*words)
    assert (other.returncode, study.log()) == (2, log)
    assert "results has the plan of another screening" in other.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "give --compare KEY=V1,V2 or --screen PROVIDER, one of them"),
        (["--screen", "shm", "--compare", HARMLESS], "one of them"),
        (["--screen", "shm", "--launches", "8"], "--launches: the plan of a screening says how many"),
        (["--compare", HARMLESS, "--no-confirm"], "--no-confirm: only a screening is confirmed"),
        (["--screen", "shn"], "did you mean shm?"),
        (["--screen", "shm", "--minutes", "1"], "the smallest design has 44 launches, "),
        (["--screen", "shm", "--minutes", "1", "--node-hours", "1"], "--minutes or --node-hours: choose one"),
        (["--compare", HARMLESS, "--minutes", "1"], "--minutes: with --screen"),
        (["--screen", "none.json"], "none.json: not a plan: No such file"),
        (["--screen", "shm", "--hostfile", "none"], "--hostfile none: no such file"),
        (["--screen", "shm", "--hostfile", "none", "--dry-run"], "--hostfile none: no such file"),
        (["--screen", "shm", "--", "--sizes", "x"], "size 'x' does not start with a number"),
    ],
)
def test_a_screening_that_cannot_be(study, words, why):
    outcome = study.run("-n", "2", *words)
    assert outcome.returncode == 2, outcome.stderr
    assert why in outcome.stderr
    assert not study.results.exists()
