# SPDX-License-Identifier: BSD-3-Clause
"""a2a run: a study without Slurm, from its plan to its exit status."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE, running_in, wait_until
from results import Results
from run_study import CALM, FEW, HARMLESS, LATE, SHM

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def study(run_study):
    return run_study


def test_a_variable_that_matters(study):
    """With one value every message comes 50 ms late. 8 a side: by chance alone a p as small comes once in 600."""
    values = ["call=none", LATE.format(50)]
    words = ["-n", "2", "--compare", f"A2APERF_TEST_FAULT={values[0]},{values[1]}", "--sizes", "1000", "--", *SHM, *FEW]
    outcome = study.run(*words)
    assert outcome.returncode == 3, outcome.stderr
    letters = {f"A2APERF_TEST_FAULT={values[0]}": "A", f"A2APERF_TEST_FAULT={values[1]}": "B"}
    assert "".join(letters[row["settings"]] for row in study.plan()) == "ABBA" * 4
    for row in study.plan():
        environment = Results(study.results / row["file"]).segments[0].environment
        assert row["settings"] == f"A2APERF_TEST_FAULT={environment['A2APERF_TEST_FAULT']}"
    assert [row["status"] for row in study.log()] == ["0"] * 16
    assert "slower: 1 of 1 cell" in outcome.stdout
    assert (study.results / "compare-run.txt").read_text() in outcome.stdout
    assert (study.results / "compare-run.svg").read_text().startswith("<?xml")
    assert (study.results / "report-run.html").is_file()
    # Nobody looks on: only what is at the end is told.
    assert "launch 1 of 16" not in outcome.stderr
    told = study.status()
    assert told.returncode == 0
    assert "16 of 16 launches good; complete" in told.stdout
    # Again: nothing is missing, and the answer is the same.
    again = study.run(*words)
    assert again.returncode == 3, again.stderr
    assert len(study.log()) == 16


@pytest.mark.slow
def test_an_option_over_tcp(study):
    """Two launches a side decide nothing."""
    outcome = study.run(
        "-n", "2", "--compare=--window=1,all", "--launches", "2", "--sizes", "1000", "--", "--provider", "tcp", *CALM,
        "--ops", "5",
    )  # fmt: skip
    assert outcome.returncode == 4, outcome.stderr
    assert [row["settings"] for row in study.plan()] == ["--window=1", "--window=all", "--window=all", "--window=1"]
    windows = [Results(study.results / row["file"]).columns["window"].tolist() for row in study.plan()]
    assert windows[0] == windows[3] != windows[1] == windows[2]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_and_gone_on_with(study, number):
    words = ["-n", "2", "--compare", HARMLESS, "--launches", "2", "--sizes", "1000,2000", "--", *SHM, "--ops", "100"]
    study.trouble.write_text(LATE.format(3000))
    process = study.start(*words)
    second = study.results / "compare-run-n1-s2-002.h5"
    assert wait_until(lambda: second.exists() or process.poll() is not None, PATIENCE)
    told = study.status()
    assert told.returncode == 0, told.stdout
    assert "1 of 4 launches good; running; launch 002: 0 of 2 points" in told.stdout
    other = study.run(*words)
    assert other.returncode == 2
    assert other.stderr.endswith(f"another run is at work in {study.results}: --results names another folder\n")
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number, stderr
    assert "1 of 4 launches are good" in stderr
    assert stderr.endswith("stopped: the same command again goes on\n")
    assert running_in(study.folder) == []
    first, *rest = study.log()
    assert first["status"] == "0"
    name = number.name
    assert rest[0]["reason"] == f"the run was stopped by {name}: stopped at an op, what was complete is kept"
    assert {row["reason"] for row in rest[1:]} == {f"not begun: the run was stopped by {name}"}
    told = study.status()
    assert told.returncode == 1
    assert "1 of 4 launches good; ended: the same 'a2a run' makes what is missing" in told.stdout

    study.trouble.unlink()
    before = Path(study.results / study.plan()[0]["file"]).read_bytes()
    outcome = study.run(*words)
    assert outcome.returncode == 4, outcome.stderr
    assert Path(study.results / study.plan()[0]["file"]).read_bytes() == before
    assert [row["launch"] for row in study.log()[4:]] == ["002", "003", "004"]
    assert {row["status"] for row in study.log()[4:]} == {"0"}
    assert len(Results(second).segments) == 2
    assert study.status().returncode == 0


@pytest.mark.slow
def test_a_launch_that_fails(study):
    words = ["-n", "2", "--compare", HARMLESS, "--launches", "2", "--sizes", "1000", "--", *SHM, "--ops", "5"]
    study.trouble.write_text("call=send do=kill nth=5 rank=1")
    outcome = study.run(*words)
    assert outcome.returncode == 1, outcome.stderr
    reason = study.log()[1]["reason"]
    assert reason.startswith("signal 9 (Killed) ended a rank on ")
    assert f"launch 2 failed: {reason}" in outcome.stderr
    assert [row["status"] == "0" for row in study.log()] == [True, False, True, True]
    assert "undecided: 1 of 1 cell" in outcome.stdout
    told = study.status()
    assert told.returncode == 1
    assert "3 of 4 launches good" in told.stdout
    assert reason in told.stdout
    study.trouble.unlink()
    assert study.run(*words).returncode == 4
    assert study.status().returncode == 0


@pytest.mark.slow
def test_hosts(study):
    """Two hosts of a file: UTS namespaces, into which the launcher's daemons are put."""
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True).returncode:
        pytest.skip("no host names can be made here")
    agent = study.folder / "agent"
    agent.write_text(
        "#!/usr/bin/env bash\n"
        """exec unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$1" "${*:2}"\n"""
    )
    agent.chmod(0o755)
    (study.folder / "hosts").write_text("# both\nh1 slots=1\nh2 slots=3  # more than is asked of it\n")
    words = ["-n", "2", "--hostfile", "hosts", "--compare=--window=1,all", "--launches", "2", "--sizes", "1000"]
    words += ["--", "--provider", "tcp", *CALM, "--ops", "3"]
    remote = {"OMPI_MCA_plm_rsh_agent": str(agent)}
    outcome = study.run(*words, env=remote)
    assert outcome.returncode == 4, outcome.stderr
    assert {(row["nodes"], row["ppn"], row["subset"]) for row in study.plan()} == {("2", "1", "h1,h2")}
    assert {line.split("\t")[0] for line in (study.results / "nodes-run.txt").read_text().splitlines()} == {"h1", "h2"}
    # With the launches on other hosts it would be another comparison.
    (study.folder / "hosts").write_text("h1\nh3\n")
    other = study.run(*words, env=remote)
    assert other.returncode == 2
    assert "has launches on h1,h2, and this run is on h1,h3" in other.stderr


@pytest.mark.slow
def test_values_with_commas_in_parentheses(study):
    moe = "moe(experts=8,top=2,capacity=1.25,tokens=64)"
    words = ["-n", "2", f"--compare=--traffic=uniform,{moe}", "--launches", "2", "--sizes", "1000", "--", *SHM, "--ops", "3"]
    outcome = study.run(*words)
    assert "4 of 4 launches are good" in outcome.stderr
    rows = study.plan()
    assert sorted(row["settings"] for row in rows) == sorted(2 * ["--traffic=uniform", f"--traffic={moe}"])
    for row in rows:
        found = set(Results(study.results / row["file"]).words("traffic"))
        assert found == {row["settings"].removeprefix("--traffic=")}


GOOD = ["-n", "2", "--compare", HARMLESS]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-n", "1", "--compare", HARMLESS], "--ranks: 1 is less than 2"),
        (["-n", "2", "--compare", "FI_SHM_TX_SIZE"], "--compare FI_SHM_TX_SIZE: expected a variable or an option"),
        (["-n", "2", "--compare", "1A=2,3"], "'1A' is neither a variable nor an option of a2aperf"),
        (["-n", "2", "--compare", "A=1"], "A=1: expected two or more different values, such as A=0,1"),
        (["-n", "2", "--compare", "A=1,1"], "A=1,1: expected two or more different values"),
        ([*GOOD, "--launches", "1"], "--launches: 1 is less than 2"),
        ([*GOOD, "--until-decided", "--launches", "8"], "--until-decided: with --compare, and without --launches"),
        ([*GOOD[2:], "-n", "99999"], "--ranks 99999: not enough cores: this machine has "),
        ([*GOOD, "--hostfile", "none"], "--hostfile none: no such file that can be read"),
        ([*GOOD, "--hostfile", "empty"], "--hostfile empty: there is no host in it"),
        ([*GOOD, "--hostfile", "odd"], "odd, line 2: 'slots=many': expected a line such as 'node1 slots=4'"),
        (["-n", "3", "--compare", HARMLESS, "--hostfile", "two"], "--ranks 3: the 2 hosts of two have equally many ranks"),
        (["-n", "4", "--compare", HARMLESS, "--hostfile", "two"], "--ranks 4: not enough slots: b has 1 of them in two"),
        ([*GOOD, "--hostfile", "less"], "--hostfile less: a has 4 slots, and at most 2: expected max_slots no smaller than slots"),
        (["-n", "4", "--compare", HARMLESS, "--hostfile", "most"], "--ranks 4: not enough slots: a has 3 of them in most"),
        ([*GOOD, "--program", "nowhere"], "nowhere cannot be run"),
        ([*GOOD, "--sizes", "many"], "--sizes"),
        ([*GOOD, "--", "--odd"], "--odd"),
        ([*GOOD, "--", "-o", "a.h5"], "the job sets -o itself"),
    ],
)
def test_bad_input(study, words, said):
    for name, text in {"empty": "# nobody\n", "odd": "a\nb slots=many\n", "two": "a slots=2\nb slots=1\n",
                       "less": "a slots=4 max_slots=2\n", "most": "a max_slots=3\n"}.items():
        (study.folder / name).write_text(text)
    before = sorted(study.folder.iterdir())
    outcome = study.run(*words)
    assert outcome.returncode == 2, outcome.stderr
    assert said in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert sorted(study.folder.iterdir()) == before


def test_no_program(study):
    """Neither beside the scripts nor in PATH."""
    jobs = study.folder / "jobs"
    shutil.copytree(ROOT / "jobs", jobs)
    outcome = subprocess.run(
        [study.a2a, "run", *GOOD], cwd=study.folder, env=study.environment | {"A2APERF_JOBS": str(jobs)},
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("a2a: a2aperf is not found")


@pytest.mark.slow
def test_the_folder_of_another_plan(study):
    words = ["-n", "2", "--compare", HARMLESS, "--launches", "2", "--sizes", "1000", "--", *SHM, "--ops", "3"]
    assert study.run(*words).returncode == 4
    before = {file: file.stat().st_mtime_ns for file in study.results.rglob("*.*") if file.is_file()}
    outcome = study.run(*words, "--seed", "4")  # an option of the program: another plan all the same
    assert outcome.returncode == 2
    assert f"{study.results} has the plan of another run (FI_SHM_TX_SIZE=512" in outcome.stderr
    assert {file: file.stat().st_mtime_ns for file in study.results.rglob("*.*") if file.is_file()} == before


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="root alone makes a small disk")
def test_a_folder_without_room_is_refused_and_good_again_when_there_is(study):
    """Room for one file of a study's own, and not for the next: the second refusal finds what the first has left."""
    words = ["-n", "2", "--compare", HARMLESS, "--launches", "2", "--sizes", "1000", "--", *SHM, "--ops", "3"]
    study.results.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", study.results], check=True)
    try:
        filler = study.results / "filler"
        for room in (0, 4096):
            filler.write_bytes(bytes(65536 - room))
            outcome = study.run(*words)
            assert outcome.returncode == 2
            assert re.fullmatch(rf"a2a: nothing can be written to the results folder {study.results} \(\S+ free\)\n", outcome.stderr)
            assert {file.name for file in study.results.iterdir()} == {"filler", "run.lock"}
        filler.unlink()
        subprocess.run(["mount", "-o", "remount,size=8m", study.results], check=True)
        assert study.run(*words).returncode == 4
        assert "4 of 4 launches good; complete" in study.status().stdout
    finally:
        subprocess.run(["umount", study.results], check=True)
