# SPDX-License-Identifier: BSD-3-Clause
"""a2a suite: launches over several interconnects, stopped and gone on with, and what they end in."""

import json
import signal
from pathlib import Path

import pytest
from launched_study import LaunchedStudy
from processes import PATIENCE, wait_until

TWO = ["-n", "2", "--across", "shm,tcp@lo=loop", "--launches", "2", "--sizes", "64,4KiB"]
SHORT = ["--", "--poll", "yield"]

pytestmark = pytest.mark.slow


@pytest.fixture
def suite(program: Path, analysis: Path, tmp_path: Path) -> LaunchedStudy:
    return LaunchedStudy("suite", tmp_path, program, analysis)


def test_every_workload_over_each_interconnect(suite: LaunchedStudy) -> None:
    made = suite.run(*TWO, *SHORT)
    assert made.returncode == 0, made.stderr + made.stdout
    planned = suite.plan()
    assert {row["settings"] for row in planned} == {"--provider=shm", "--provider=tcp;--nic=lo"}
    assert len(planned) == len(suite.log())
    assert "side by side" in made.stdout
    assert "from 2 launches over each of 2 interconnects nothing can be decided: it takes 5" in made.stdout
    assert (suite.folder / "results/suite-run.txt").read_text() in made.stdout
    assert (suite.folder / "results/suite-run.svg").stat().st_size > 0
    assert (suite.folder / "results/report-run.html").stat().st_size > 0
    status = suite.asked("status", "results")
    assert status.returncode == 0
    assert f"{len(planned)} of {len(planned)} launches good; complete" in status.stdout
    told = json.loads(suite.asked("suite", "results", "--json").stdout)
    assert told["interconnects"] == ["loop", "shm"]
    assert len(told["workloads"]) == len({row["file"].split("-")[3] for row in planned}) >= 3
    for of in told["workloads"]:
        assert [cell["message_size"] for cell in of["cells"]] == [64, 4096]
        for cell in of["cells"]:
            assert all(one["launches"] == 2 for one in cell["interconnects"].values())
            costs = cell["interconnects"]["shm"]["per_gb"]
            assert "resident" in costs, (of["role"], cell)
            # What a starved one of these moved while its ranks were counted may not be known.
            assert {"cpu", "switches"} <= set(costs) or of["role"] in ("stream", "open-loop"), (of["role"], cell)


def test_stopped_and_gone_on_with(suite: LaunchedStudy) -> None:
    words = [*TWO, "--workloads", "alltoall", *SHORT]
    begun = suite.start(*words)
    log = suite.folder / "results/log-run.tsv"
    wait_until(lambda: log.exists() and len(log.read_text().splitlines()) > 1, PATIENCE)
    begun.send_signal(signal.SIGINT)
    _, err = begun.communicate(timeout=PATIENCE)
    assert begun.returncode == 128 + signal.SIGINT, err
    good = [row["launch"] for row in suite.log() if row["status"] == "0"]
    assert good
    other = suite.run(*TWO, "--workloads", "echo", *SHORT)
    assert (other.returncode, "the plan of another suite" in other.stderr) == (2, True)
    again = suite.run(*words)
    assert again.returncode == 0, again.stderr + again.stdout
    ended = [row["launch"] for row in suite.log() if row["status"] == "0"]
    assert sorted(ended) == sorted({row["launch"] for row in suite.plan()})
    assert all(ended.count(launch) == 1 for launch in good)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-n", "2", "--across", "shm,nothing"], "nothing"),
        (["-n", "2", "--across", "shm"], "two or more"),
        (["-n", "2", "--across", "shm,tcp@lo", "--sizes", "many"], "many"),
        (["-n", "2", "--across", "shm,tcp@lo", "--workloads", "ring"], "ring"),
        (["-n", "2", "--across", "shm,tcp@lo", "--", "--bogus"], "--bogus"),
    ],
)
def test_bad_input_touches_nothing(suite: LaunchedStudy, words: list[str], why: str) -> None:
    outcome = suite.run(*words)
    assert outcome.returncode == 2, outcome.stderr
    assert why in outcome.stderr.splitlines()[-1]
    assert not (suite.folder / "results").exists()
