# SPDX-License-Identifier: BSD-3-Clause
"""jobs/check.sbatch, and a2a submit --check, which waits for its verdict."""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest
from processes import wait_until
from study import BRIEF, JOBS, PATIENCE, SITE

STATES = ["OK", "WARNING", "CRITICAL", "UNKNOWN"]
NODES = "node[011-014]"


@pytest.fixture
def speed(cluster, study):
    """Nodes that say what a test decides: they are idle, and have a link, whose speed is in this file."""
    idle, link = study.folder / "loadavg", study.folder / "net/eth0"
    idle.write_text("0.00 0.00 0.00 1/100 1\n")
    (link / "device").mkdir(parents=True)
    for name, text in {"operstate": "up", "speed": "25000", "mtu": "9000"}.items():
        (link / name).write_text(f"{text}\n")
    names = [f"node{i:03}" for i in range(11, 15)]
    for name in names:
        cluster.run_on(name, "mount", "--bind", idle, "/proc/loadavg")
    study.environment = {**study.environment, "A2APERF_NET": str(link.parent)}
    yield link / "speed"
    for name in names:
        cluster.run_on(name, "umount", "/proc/loadavg")


@pytest.fixture
def submit(cluster, study, analysis):
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**study.environment, "A2APERF_JOBS": str(JOBS), "A2APERF_SITE": str(SITE)}
        command = [analysis, "submit", "-N", "4", f"--sbatch=--nodelist={NODES}", "--check", *words, "--", *BRIEF]
        outcome = cluster.run(*command, cwd=study.folder, env=environment, seconds=2 * PATIENCE)
        study.note(outcome.stdout)
        return outcome

    return run


def verdict(outcome, study) -> list[str]:
    """Its lines, which are those of the file, and whose first has the word of the exit status."""
    (id,) = study.submitted
    text = (study.results / f"check-{id}.txt").read_text()
    assert outcome.stdout.endswith("\n\n" + text), outcome.stdout + outcome.stderr
    assert STATES.index(text.split(":")[0]) == outcome.returncode
    assert study.done(id, "COMPLETED" if outcome.returncode == 0 else "FAILED").status == outcome.returncode
    return text.splitlines()


def rows(lines: list[str], name: str) -> list[str]:
    return [line for line in lines if re.match(rf"(ok|warning|critical|unknown) +{name} ", line)]


def test_a_check_from_its_submission_to_its_verdict(submit, study, speed, analysis):
    limits = study.folder / "limits.toml"
    limits.write_text('[[limit]]\nmax_p50_us = 1e9\n')
    outcome = submit("--limits", str(limits))
    lines = verdict(outcome, study)
    (nodes,) = rows(lines, "nodes")
    assert re.match(r"ok +nodes +4 nodes .*all are fit, and of one kind", nodes)
    (time,) = rows(lines, "p50")
    assert time.startswith("ok ") and "3 launches, 15 ops" in time
    assert rows(lines, "weak links")
    assert not rows(lines, "launches") and not rows(lines, "files")
    (id,) = study.submitted
    assert [row["status"] for row in study.log(id)] == ["0"] * 4
    assert [file.name.split("-")[3] for file in study.files(id)] == ["base"] * 3 + ["pairs"]
    again = subprocess.run(
        [analysis, "gate", study.results, "--job", id, "--limits", limits, "--json"], capture_output=True, text=True
    )
    made = json.loads(again.stdout)
    assert made["status"] == again.returncode == outcome.returncode and made["sum"] == lines[0]
    assert any(re.fullmatch(r"note: [01] nights? in .*; from 15 on its nodes are compared over time", x) for x in made["notes"])


def test_a_node_that_is_not_fit_is_a_candidate_to_drain(submit, study, speed, cluster):
    """It is left out, and the others are measured; one of them has a slower link."""
    slow = study.folder / "slow"
    slow.write_text("1000\n")
    (study.folder / "spring").mkdir()
    (study.folder / "spring" / "a.h5").write_text("no results\n")
    cluster.run_on("node013", "mount", "--bind", "/bin/false", study.environment["A2APERF"])
    cluster.run_on("node014", "mount", "--bind", slow, speed)
    try:
        outcome = submit("--against", "spring")
    finally:
        cluster.run_on("node013", "umount", study.environment["A2APERF"])
        cluster.run_on("node014", "umount", speed)
    assert outcome.returncode == 2, outcome.stdout + outcome.stderr
    lines = verdict(outcome, study)
    bad, *others = rows(lines, "nodes")
    assert re.match(r"critical +nodes +node013 .*program: .* does not run", bad)
    (other,) = others
    assert re.match(r"warning +nodes +node014 .*link: eth0 1000 Mbit/s, MTU 9000, and 3 of 4 nodes have eth0 25000", other)
    assert rows(lines, "baseline") and "spring" in rows(lines, "baseline")[0]
    assert lines[-1].startswith("candidates to drain: node013")
    (id,) = study.submitted
    assert {row["nodes"] for row in study.plan(id)} == {"3"}


def test_a_check_that_cannot_be_made_is_unknown(submit, study, speed, script):
    outcome = submit("--limits", "nowhere.toml")
    assert outcome.returncode == 3 and not study.submitted
    assert outcome.stderr == "a2a: --limits nowhere.toml: no such file that can be read\n"
    outcome = script("check.sbatch", "--min-efficiency", "much")
    assert outcome.returncode == 3
    assert outcome.stderr.startswith("check.sbatch: --min-efficiency 'much': expected a share of the link rate")
    held = study.cluster.sbatch("-w", NODES, "--exclusive", "--wrap", "sleep 1000", cwd=study.folder)
    try:
        outcome = submit("--wait", "0:02")
    finally:
        study.cluster.run("scancel", held)
    (id,) = study.submitted
    assert outcome.returncode == 3
    assert re.fullmatch(
        rf"a2a: job {id} is PENDING \(\w+\) after 2 s, and is left to Slurm: results/check-{id}.txt will have "
        r"its verdict\n", outcome.stderr,
    )  # fmt: skip
    study.cluster.run("scancel", id)
    study.cluster.wait(id, PATIENCE)


def test_who_waits_is_told_what_becomes_of_the_job(cluster, study, analysis):
    """By ^C it is left to Slurm; one that is cancelled before it has begun has no output that could say why."""
    held = cluster.sbatch("-w", NODES, "--exclusive", "--wrap", "sleep 1000", cwd=study.folder)
    words = ["submit", "-N", "4", f"--sbatch=--nodelist={NODES}", "--check", "--min-efficiency", "80%"]
    squeue, asked = study.folder / "bin/squeue", study.folder / "asked"
    squeue.parent.mkdir()
    squeue.write_text(f'#!/bin/sh\n>>"{asked}"\nexec "{shutil.which("squeue")}" "$@"\n')
    squeue.chmod(0o755)
    environment = {**study.environment, "A2APERF_JOBS": str(JOBS), "A2APERF_SITE": str(SITE)}
    environment["PATH"] = f"{squeue.parent}:{os.environ['PATH']}"

    def until_it_waits() -> tuple[subprocess.Popen[str], str]:
        asked.unlink(missing_ok=True)
        waiting = cluster.begin(analysis, *words, cwd=study.folder, env=environment)
        while not (ids := study.note(line := waiting.stdout.readline())):
            assert line, waiting.communicate()
        assert wait_until(asked.exists, PATIENCE)
        return waiting, ids[0]

    try:
        waiting, first = until_it_waits()
        os.killpg(waiting.pid, signal.SIGINT)
        assert waiting.communicate(timeout=PATIENCE)[1] == (
            f"a2a: no longer waiting: job {first} is left to Slurm, and results/check-{first}.txt will have its verdict; "
            f"'scancel {first}' ends it\n"
        )
        assert cluster.job(first).state == "PENDING"
        waiting, second = until_it_waits()
        cluster.run("scancel", first, second)
        assert waiting.communicate(timeout=PATIENCE)[1] == (
            f"a2a: job {second} has ended (CANCELLED), and results/check-{second}.txt is not there: where it has begun its "
            f"output says why (check-{second}.out, where sbatch put it)\n"
        )
        assert waiting.returncode == 3
    finally:
        cluster.run("scancel", held)
