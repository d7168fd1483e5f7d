# SPDX-License-Identifier: BSD-3-Clause
"""What the program says about itself is true: its examples run, its man page names what there is."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE
from workload_names import WORKLOADS

ROOT = Path(__file__).resolve().parents[2]
MAN_PAGE = ROOT / "docs" / "man" / "a2aperf.1"


def long_options(text: str) -> set[str]:
    """Every --word that begins a row of the help."""
    rows = re.findall(r"^  (?:-\w, )?(--[a-z-]+(?:, --[a-z-]+)*)", text, re.MULTILINE)
    return {word for row in rows for word in row.split(", ")}


def examples(text: str) -> list[str]:
    section = text.split("\nExamples\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S.*)$", section, re.MULTILINE)


@pytest.mark.parametrize(
    "words", [(), ("--help",), ("--help-all",), ("--list",), ("--version",), ("alltoall", "-h"), ("pairs", "-h"),
     ("pairs", "--help-all"), ("providers", "-h")]
)
def test_answers_without_mpi(a2aperf, words):
    outcome = a2aperf(*words)
    assert outcome.returncode == 0
    assert outcome.stdout and not outcome.stderr


def test_ten_options_of_every_day(a2aperf):
    assert len(long_options(a2aperf("--help").stdout.split("Examples")[0])) == 10


def test_eight_options_of_pairs(a2aperf):
    assert len(long_options(a2aperf("pairs", "--help").stdout.split("Examples")[0])) == 8


@pytest.mark.slow
@pytest.mark.parametrize("command", WORKLOADS)
def test_examples_run(a2aperf, launch, command):
    found = examples(a2aperf(command, "--help").stdout)
    assert len(found) >= 4
    for line in found:
        words = shlex.split(line)
        if words[:2] == ["mpirun", "-n"]:
            assert words[3] == "a2aperf"
            outcome = launch(int(words[2]), *words[4:], seconds=900)
        else:
            assert words[0] == "a2aperf"
            outcome = a2aperf(*words[1:])
        assert outcome.returncode == 0, f"{line}\n{outcome.stderr}"


def test_one_rank_answers_for_all(launch):
    outcome = launch(3, "--version")
    assert outcome.returncode == 0
    assert outcome.stdout.count("a2aperf") == 1


def test_man_page_says_which_workload_lacks_an_option(a2aperf):
    """And which ones are of one workload alone."""
    text = MAN_PAGE.read_text().split(".Sh OPTIONS\n")[1].split(".Ss Where it runs")[0]
    have = {name: long_options(a2aperf(name, "--help-all").stdout) for name in WORKLOADS}
    name = said = ""
    lacking, alone = set(), set()
    for line in text.splitlines():
        if line.startswith(".Cm ") and line.split()[1] in WORKLOADS and said != "is as":
            name, said = line.split()[1], ""
        elif not line.startswith(".Fl "):
            said = line if line in ("has no", "and only it has", "has none of these and no", "is as") else said
            said = "" if line.startswith(("takes", "All three", "without")) else said
        elif said:
            options = {f"-{word}" for word in line.split() if word.startswith("-")}
            (alone if said == "and only it has" else lacking).update((name, one) for one in options)
    assert {one for one, _ in lacking} == set(WORKLOADS) - {"alltoall", "open-loop"}
    for one, option in lacking:
        assert option not in have[one], (one, option)
    assert len(alone) > 10
    for one, option in alone:
        assert [other for other in have if option in have[other]] == [one], option


def test_man_page_names_the_options_there_are(a2aperf):
    named = {f"--{name}" for name in re.findall(r"Fl -([a-z-]+)", MAN_PAGE.read_text(encoding="utf-8"))}
    pages = [a2aperf(command, "--help-all") for command in WORKLOADS]
    assert named == set().union(*(long_options(page.stdout) for page in (*pages, a2aperf("providers", "--help"))))


@pytest.mark.parametrize("script", ["jobs/local.sh", "test/run.sh", "test/compat/newest.sh", "test/support/mpirun.sh",
     "test/support/as_rank.sh", "test/support/with_psm2.sh"])
def test_scripts_explain_themselves(script):
    outcome = subprocess.run([ROOT / script, "-h"], capture_output=True, text=True, timeout=PATIENCE)
    assert outcome.returncode == 0
    assert outcome.stdout.startswith("Usage: ")


@pytest.mark.parametrize("ranks", ["0", "-1", "four", "1e3"])
def test_local_job_refuses_a_wrong_number_of_ranks(ranks, monkeypatch):
    monkeypatch.setenv("RANKS", ranks)
    outcome = subprocess.run([ROOT / "jobs/local.sh"], capture_output=True, text=True, timeout=PATIENCE)
    assert outcome.returncode == 2
    assert outcome.stderr == f"local.sh: RANKS={ranks} is not a number of ranks, e.g. RANKS=4\n"
