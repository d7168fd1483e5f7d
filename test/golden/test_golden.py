# SPDX-License-Identifier: BSD-3-Clause
"""What users and their scripts rely on is what it was: texts of the command line, shapes of the tables, what a file is
made of. A change here is a decision: write the goldens anew with

    A2APERF_WRITE_GOLDENS=1 .venv/bin/python -m pytest test/golden

and read the difference before it is committed. The five tables of the all-to-all, with values, are those of
test/unit/record/table_test.cpp."""

import difflib
import itertools
import os
import re
import socket
from pathlib import Path

import pytest
from structure import structure

HERE = Path(__file__).resolve().parent
ANSWERS = [
    ("--help",),
    ("alltoall", "--help-all"),
    ("pairs", "--help"),
    ("pairs", "--help-all"),
    ("open-loop", "--help-all"),
    ("providers", "--help"),
    ("--list",),
]
LARGE = ("--dry-run", "--ranks", "320", "--ranks-per-node", "4", "--memory-limit", "1GiB")
PLANS = [
    ("alltoall", *LARGE),
    ("alltoall", *LARGE, "--schedule", "shift,random", "--window", "1,all", "--sizes", "8,8MiB", "--baseline", "mpi"),
    ("pairs", *LARGE),
    ("pairs", *LARGE, "--sizes", "64KiB,8GiB", "--steps", "5", "--suspects", "0"),
    ("open-loop", *LARGE, "--rates", "1k..1M*10", "--arrivals", "poisson", "--sizes", "8,32KiB"),
]
MEASURED = ("--provider", "tcp", "--sizes", "8,4096", "--ops", "3", "--warmup", "1", "--sync", "barrier")
LOOP = ("--provider", "tcp", "--sizes", "8,4096", "--pairs", "0:1", "--rates", "1k,2k", "--messages", "20")
FORMATS = [("alltoall", name) for name in ("table", "wide", "compat", "csv", "json")]
FORMATS += [("pairs", name) for name in ("table", "csv", "json")]


def check_golden(name: str, text: str) -> None:
    golden = HERE / name
    if "A2APERF_WRITE_GOLDENS" in os.environ:
        golden.write_text(text, encoding="utf-8")
    was = golden.read_text(encoding="utf-8").splitlines()
    changed = list(difflib.unified_diff(was, text.splitlines(), f"golden/{name}", "now", lineterm="", n=1))
    assert not changed, "\n".join(["", *changed])


def answers(a2aperf, commands) -> str:
    texts = []
    for words in commands:
        outcome = a2aperf(*words)
        assert outcome.returncode == 0, outcome.stderr
        texts.append(f"$ a2aperf {' '.join(words)}\n{outcome.stdout}\n")
    return "".join(texts)


def shape(text: str, provider: str) -> str:
    """Numbers as #, lines that are then alike once; what depends on this machine is left out."""
    text = text.replace(provider, "PROVIDER").replace(socket.gethostname(), "NODE")
    kept = [line for line in text.splitlines() if not re.match(r"# oversubscribed|\d+ B: ", line)]
    lines = [re.sub(r" *(?<![\w.])-?\d[\d.]*(e[+-]?\d+)?", " #", line) for line in kept]
    return "".join(f"{line}\n" for line, _ in itertools.groupby(lines)).rstrip() + "\n"


def test_command_line_says_what_it_said(a2aperf):
    check_golden("help.txt", answers(a2aperf, ANSWERS))


def test_plans_are_what_they_were(a2aperf):
    check_golden("dry-run.txt", answers(a2aperf, PLANS))


@pytest.mark.parametrize(("command", "format"), FORMATS)
def test_tables_have_their_shape(launch, needs_provider, command, format):
    provider = needs_provider("tcp")
    alone = ["--suspects", "0"] if command == "pairs" else []
    outcome = launch(3, command, *MEASURED, *alone, "--format", format, "--quiet")
    assert outcome.returncode == 0, outcome.stderr
    check_golden(f"{command}-{format}.txt", shape(outcome.stdout, provider))


@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_tables_of_an_open_loop_have_their_shape(launch, needs_provider, format):
    provider = needs_provider("tcp")
    outcome = launch(3, "open-loop", *LOOP, "--format", format, "--quiet")
    assert outcome.returncode == 0, outcome.stderr
    check_golden(f"open-loop-{format}.txt", shape(outcome.stdout, provider))


def test_the_file_of_an_open_loop_is_made_of_what_it_was(launch, needs_provider, tmp_path):
    needs_provider("tcp")
    outcome = launch(3, "open-loop", *LOOP, "--label", "site=here", "--quiet", "-o", "r.h5")
    assert outcome.returncode == 0, outcome.stderr
    check_golden("open-loop-file.txt", structure(tmp_path / "r.h5"))


@pytest.mark.parametrize("command", ["alltoall", "pairs"])
def test_file_is_made_of_what_it_was(launch, needs_provider, tmp_path, command):
    needs_provider("tcp")
    baseline = ["--baseline", "mpi"] if command == "alltoall" else []
    outcome = launch(3, command, *MEASURED, *baseline, "--label", "site=here", "--quiet", "-o", "r.h5")
    assert outcome.returncode == 0, outcome.stderr
    check_golden(f"{command}-file.txt", structure(tmp_path / "r.h5"))
