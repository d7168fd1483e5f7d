# SPDX-License-Identifier: BSD-3-Clause
"""a2a suite: launches over several interconnects, stopped and gone on with, and what they end in."""

import csv
import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE, wait_until

ROOT = Path(__file__).resolve().parents[2]
TWO = ["-n", "2", "--across", "shm,tcp@lo=loop", "--launches", "2", "--sizes", "64,4KiB"]
SHORT = ["--", "--poll", "yield"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def analysis() -> Path:
    """The command a2a."""
    candidates = [os.environ.get("A2A", ""), ROOT / "build/a2a/bin/a2a", ROOT / ".venv/bin/a2a"]
    found = [Path(one) for one in candidates if one and Path(one).is_file()]
    if not found:
        pytest.skip("the analysis is not installed")
    return found[0]


class Suite:
    """A folder in which `a2a suite` launches."""

    def __init__(self, folder: Path, program: Path, a2a: Path) -> None:
        self.folder, self.program, self.a2a = folder, program, a2a
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "A2APERF"))}
        self.environment = kept | {"A2APERF_JOBS": str(ROOT / "jobs"), "A2A": str(a2a)}

    def words(self, *words: str) -> list[str | Path]:
        return [self.a2a, "suite", "--program", self.program, *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.words(*words), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words(*words), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def a2a_of(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.a2a, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE
        )

    def rows(self, name: str) -> list[dict[str, str]]:
        text = (self.folder / "results" / name).read_text()
        lines = [line for line in text.splitlines() if not line.startswith("# ")]
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture
def suite(program: Path, analysis: Path, tmp_path: Path) -> Suite:
    return Suite(tmp_path, program, analysis)


def test_every_workload_over_each_interconnect(suite: Suite) -> None:
    made = suite.run(*TWO, *SHORT)
    assert made.returncode == 0, made.stderr + made.stdout
    planned = suite.rows("plan-run.tsv")
    assert {row["settings"] for row in planned} == {"--provider=shm", "--provider=tcp;--nic=lo"}
    assert len(planned) == len(suite.rows("log-run.tsv"))
    assert "side by side" in made.stdout
    assert "from 2 launches over each of 2 interconnects nothing can be decided: it takes 5" in made.stdout
    assert (suite.folder / "results/suite-run.txt").read_text() in made.stdout
    assert (suite.folder / "results/suite-run.svg").stat().st_size > 0
    assert (suite.folder / "results/report-run.html").stat().st_size > 0
    status = suite.a2a_of("status", "results")
    assert status.returncode == 0
    assert f"{len(planned)} of {len(planned)} launches good; complete" in status.stdout
    told = json.loads(suite.a2a_of("suite", "results", "--json").stdout)
    assert told["interconnects"] == ["loop", "shm"]
    assert len(told["workloads"]) == len({row["file"].split("-")[3] for row in planned}) >= 3
    for of in told["workloads"]:
        assert [cell["message_size"] for cell in of["cells"]] == [64, 4096]
        for cell in of["cells"]:
            assert all(one["launches"] == 2 for one in cell["interconnects"].values())
            assert {"cpu", "switches"} <= set(cell["interconnects"]["shm"]["per_gb"])


def test_stopped_and_gone_on_with(suite: Suite) -> None:
    words = [*TWO, "--workloads", "alltoall", *SHORT]
    begun = suite.start(*words)
    log = suite.folder / "results/log-run.tsv"
    wait_until(lambda: log.exists() and len(log.read_text().splitlines()) > 1, PATIENCE)
    begun.send_signal(signal.SIGINT)
    _, err = begun.communicate(timeout=PATIENCE)
    assert begun.returncode == 128 + signal.SIGINT, err
    good = [row["launch"] for row in suite.rows("log-run.tsv") if row["status"] == "0"]
    assert good
    other = suite.run(*TWO, "--workloads", "echo", *SHORT)
    assert (other.returncode, "the plan of another suite" in other.stderr) == (2, True)
    again = suite.run(*words)
    assert again.returncode == 0, again.stderr + again.stdout
    ended = [row["launch"] for row in suite.rows("log-run.tsv") if row["status"] == "0"]
    assert sorted(ended) == sorted({row["launch"] for row in suite.rows("plan-run.tsv")})
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
def test_bad_input_touches_nothing(suite: Suite, words: list[str], why: str) -> None:
    outcome = suite.run(*words)
    assert outcome.returncode == 2, outcome.stderr
    assert why in outcome.stderr.splitlines()[-1]
    assert not (suite.folder / "results").exists()
