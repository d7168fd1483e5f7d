# SPDX-License-Identifier: BSD-3-Clause
"""a2a submit, status and doctor on a real Slurm: what they print is what Slurm does."""

import functools
import json
import re
import shlex
import subprocess

import pytest
from study import BRIEF, JOBS, PATIENCE, SITE


@pytest.fixture
def a2a(cluster, study, analysis):
    """Runs a command of a2a on the login node, in the study's folder."""

    def run(*words: str, seconds: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        environment = {**study.environment, "A2APERF_JOBS": str(JOBS), "A2APERF_SITE": str(SITE)}
        command = functools.partial(cluster.run, analysis, *words, cwd=study.folder, env=environment, seconds=seconds)
        return cluster.when_all_respond(command) if words[0] == "doctor" else command()

    return run


def lines(outcome) -> list[list[str]]:
    assert outcome.returncode == 0, outcome.stderr
    return [shlex.split(line) for line in outcome.stdout.splitlines() if line.startswith("sbatch ")]


def test_separate_jobs_and_their_report(a2a, study):
    """Submitted are the lines of the dry run, with the ids of the jobs; the report waits for both."""
    words = ["submit", "-N", "2,4", "--separate", "--launches", "1", "--sizes", "1000", "--results", "of two"]
    dry = lines(a2a(*words, "--dry-run", "--", *BRIEF))
    assert study.cluster.run("squeue", "-h").stdout == ""
    outcome = a2a(*words, "--", *BRIEF)
    ids = study.note(outcome.stdout)
    real = lines(outcome)
    first, second, report = ids
    dry[2] = [word.replace("JOB1:JOB2", f"{first}:{second}") for word in dry[2]]
    assert real == dry
    for id in ids:
        assert study.done(id).status == 0
    page = (study.folder / "of two" / "report.html").read_text()
    assert "2 launches in 2 files: 2 to 4 ranks" in page
    assert 'href="#missing"' not in page
    status = a2a("status", "of two")
    assert status.returncode == 0
    assert status.stdout.count("1 of 1 launches good; complete") == 2


def test_status_follows_a_job_to_its_end(a2a, study):
    """While it runs Slurm's words; cancelled, what is missing and why, also in the report."""
    # Minutes of points in the first launch: it is still measuring, however late it is looked at.
    words = ["--launches", "3", "--sizes", "1000..600000+1000", "--", "--ops", "100000", "--time-budget", "500ms"]
    outcome = a2a("submit", "-N", "2", *words)
    (id,) = study.note(outcome.stdout)
    study.cluster.wait_for(id, lambda job: job.state == "RUNNING", PATIENCE)
    study.cluster.wait_for(id, lambda job: bool(study.files(id)), PATIENCE)
    status = a2a("status")
    assert status.returncode == 0, status.stderr
    assert re.search(r"0 of 3 launches good; running for \S+, no time limit, on node\[\d+-\d+\]", status.stdout)
    assert "launch 001: " in status.stdout
    study.cluster.run("scancel", id)
    study.cluster.wait(id, PATIENCE)
    status = a2a("status", "--json")
    assert status.returncode == 1
    (job,) = json.loads(status.stdout)
    assert [x["fate"] == "good" for x in job["launches"]] == [False] * 3
    assert all(x["why"] for x in job["launches"])
    report = a2a("report", "results")
    assert report.returncode == 0, report.stderr
    assert f"3 of 3 planned launches of job {id} have no complete file" in (study.results / "report.html").read_text()


def test_status_of_a_job_whose_dependency_failed(a2a, study, cluster):
    """Slurm keeps it for ever; its words are told whatever the paths hold, none of which it quotes."""
    script = study.folder / "my jobs|x" / "alltoall.sbatch"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    before = cluster.sbatch("-N", "1", "--wrap", "exit 1", cwd=study.folder)
    cluster.wait(before, PATIENCE)
    words = ["-N", "2", f"--dependency=afterok:{before}", script, "--results", "of two", "--ppn", "2"]
    id = cluster.sbatch(*words, cwd=study.folder)
    study.submitted.append(id)
    cluster.wait_for(id, lambda job: job.facts["Reason"] == "DependencyNeverSatisfied", PATIENCE)
    status = a2a("status", "of two")
    assert status.returncode == 1, status.stderr
    never = f"never begins (DependencyNeverSatisfied): 'scancel {id}' removes it"
    assert status.stdout == f"job {id}: alltoall\n  no plan yet; {never}\n"


def test_status_of_a_job_that_ended_before_its_plan(a2a, study):
    site = study.folder / "mine.sh"
    site.write_text(f"{SITE.read_text()}\nsite_setup() {{ ls /nowhere; }}\n")
    outcome = a2a("submit", "-N", "2", "--launches", "1", "--sizes", "1000", "--site", str(site), "--", *BRIEF)
    (id,) = study.note(outcome.stdout)
    assert study.done(id, "FAILED").status == 1
    why = f"site_setup of {site} failed: line {len(site.read_text().splitlines())} (exit status 2)"
    assert study.output(id).splitlines()[-1] == f"alltoall.sbatch: {why}"
    status = a2a("status")
    assert status.returncode == 1
    assert status.stdout == f"job {id}: alltoall\n  ended before it had a plan: {why} (exit status 1)\n"


def test_the_doctor_names_the_nodes_that_are_bad(a2a, cluster):
    """Every node is looked at; one that Slurm does not give out is bad with Slurm's reason."""
    outcome = a2a("doctor", "-p", "main", "--all")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert f"{len(cluster.names)} of {len(cluster.names)} nodes are fit to measure" in outcome.stdout
    name = cluster.names[3]
    cluster.run("scontrol", "update", f"nodename={name}", "state=drain", "reason=fan is loud")
    try:
        outcome = a2a("doctor", "-p", "main")
        assert outcome.returncode == 1
        assert re.search(rf"bad +{name} +state +drained: fan is loud", outcome.stdout), outcome.stdout
        assert f"{len(cluster.names) - 1} of {len(cluster.names)} nodes are fit" in outcome.stdout
    finally:
        cluster.run("scontrol", "update", f"nodename={name}", "state=resume")
    # psm2 needs an adapter, which these nodes lack; opa1 has one.
    outcome = a2a("doctor", "-p", "main", "-N", "2", "--provider", "verbs")
    assert outcome.returncode == 1
    assert "provider" in outcome.stdout and "0 of 2 nodes are fit" in outcome.stdout


def test_the_doctor_takes_each_node_from_its_partition(a2a, cluster):
    outcome = a2a("doctor", "--all")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    count = len(cluster.names) + 1
    assert f"{count} of {count} nodes are fit to measure" in outcome.stdout
    outcome = a2a("doctor", "--nodelist", "node001,opa1", "--json")
    assert {check["node"] for check in json.loads(outcome.stdout)} == {"node001", "opa1"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-p", "nowhere"], "unknown partition 'nowhere': expected one of main, opa"),
        (["--nodelist", "node001,nosuch"], "unknown node 'nosuch'"),
        (["-p", "opa", "--nodelist", "node001"], "node node001 is not in partition opa"),
        (["-N", "400"], "-N 400: 21 nodes are free"),
    ],
)
def test_the_doctor_is_asked_for_what_is_not_there(a2a, words, says):
    outcome = a2a("doctor", *words)
    assert outcome.returncode == 2 and outcome.stdout == ""
    assert says in outcome.stderr and outcome.stderr.count("\n") == 1


def test_the_doctor_passes_busy_nodes_over(a2a, cluster):
    id = cluster.sbatch("-w", "node[001-002]", "--exclusive", "--wrap", "sleep 1000", cwd=cluster.folder)
    try:
        cluster.wait_for(id, lambda job: job.state == "RUNNING", 60)
        outcome = a2a("doctor", "--nodelist", "node[002-003]")
        assert "1 of 1 nodes are fit" in outcome.stdout
        assert outcome.stderr == "a2a: busy, and not looked at: node002\n"
        outcome = a2a("doctor", "--nodelist", "node[001-002]")
        assert outcome.returncode == 2 and "no node is free to be looked at: 2 are busy" in outcome.stderr
    finally:
        cluster.run("scancel", id)
        cluster.wait(id, 60)


def test_the_doctor_and_a_node_that_hangs(a2a, cluster):
    """Of those that answer it says what they said; the one that does not is named."""
    slurmd = (cluster.folder / "node007/slurmd.pid").read_text().strip()
    cluster.run("kill", "-STOP", slurmd)
    try:
        outcome = a2a("doctor", "--nodelist", "node[006-008]")
    finally:
        cluster.run("kill", "-CONT", slurmd)
        cluster.revive()
    assert outcome.returncode == 1, outcome.stderr
    assert re.search(r"bad +node007 +answer +none", outcome.stdout)
    assert "2 of 3 nodes are fit" in outcome.stdout


def test_a_job_that_can_never_run_is_not_submitted(a2a, cluster):
    outcome = a2a("submit", "-N", "400", "--launches", "1")
    assert outcome.returncode == 2 and outcome.stdout == ""
    assert outcome.stderr == (
        "a2a: -N 400: a job in partition main gets up to 20 nodes, so this one would wait for ever\n"
    )
    assert cluster.run("squeue", "-h").stdout == ""


def test_a_study_that_would_measure_nothing_is_not_submitted(a2a, cluster):
    outcome = a2a("submit", "-N", "2", "--launches", "1", "--sizes", "1000", "--", "--memory-limit", "1kB")
    assert outcome.returncode == 2 and outcome.stdout == ""
    assert outcome.stderr == (
        "a2a: a2aperf: nothing can be measured, 1 point skipped: tagged needs 1 kB of receive space and --memory-limit "
        "leaves 333 B; where it is not given, it is half of the free memory of this machine\n"
    )
    assert cluster.run("squeue", "-h").stdout == ""


def test_what_slurm_would_say_is_said_before(a2a):
    """Cores of a node and the time limit, as Slurm knows them."""
    outcome = a2a("submit", "-N", "2", "--launches", "1", "--ppn", "32", "--dry-run")
    assert "oversubscribed: 32 ranks on 16 cores of a node" in outcome.stdout
    found = re.search(r"^job 1: without -t it has no time limit.* with -t (\S+) it may start sooner$", outcome.stdout, re.M)
    assert found, outcome.stdout
    again = a2a("submit", "-N", "2", "--launches", "1", "-t", found[1], "--dry-run")
    assert again.returncode == 0 and "job 1:" not in again.stdout and "oversubscribed" not in again.stdout
    assert "below the estimate" in a2a("submit", "-N", "20", "--launches", "99", "-t", "1", "--dry-run").stdout


def test_what_slurm_refuses_is_said_in_its_words(a2a, study):
    outcome = a2a("submit", "-N", "2", "--launches", "1", "--sbatch=--begin=soon")
    assert outcome.returncode == 2
    assert outcome.stderr.startswith("a2a: sbatch refused: ") and outcome.stderr.count("\n") == 1
    outcome = a2a("submit", "-N", "2", "--launches", "1", "-p", "nowhere")
    assert outcome.returncode == 2
    assert outcome.stderr == "a2a: unknown partition 'nowhere': expected one of main, opa\n"
    outcome = a2a("doctor", "--nodelist", "nosuchnode")
    assert outcome.returncode == 2 and outcome.stderr.count("\n") == 1
