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
    ("stream", "--help"),
    ("stream", "--help-all"),
    ("echo", "--help"),
    ("echo", "--help-all"),
    ("open-loop", "--help-all"),
    ("qos", "--help"),
    ("qos", "--help-all"),
    ("interference", "--help"),
    ("interference", "--help-all"),
    ("providers", "--help"),
    ("--list",),
]
LARGE = ("--dry-run", "--ranks", "320", "--ranks-per-node", "4", "--memory-limit", "1GiB")
PLANS = [
    ("alltoall", *LARGE),
    ("alltoall", *LARGE, "--schedule", "shift,random", "--window", "1,all", "--sizes", "8,8MiB", "--baseline", "mpi"),
    ("pairs", *LARGE),
    ("pairs", *LARGE, "--sizes", "64KiB,8GiB", "--steps", "5", "--suspects", "0"),
    ("stream", *LARGE, "--sizes", "8,8MiB", "--mode", "tagged,read", "--window", "1,32"),
    ("echo", *LARGE, "--sizes", "8,8MiB", "--clients", "319", "--outstanding", "1,4"),
    ("open-loop", *LARGE, "--rates", "1k..1M*10", "--arrivals", "poisson", "--sizes", "8,32KiB"),
    ("qos", *LARGE, "--sizes", "8,8MiB", "--path", "0:4", "--path", "0:4,size=64KiB,start=5s"),
    ("interference", *LARGE, "--sizes", "8,1MiB", "--placement", "other", "--load-size", "4KiB"),
]
OPS = ("--ops", "3", "--warmup", "1", "--sync", "barrier")
MEASURED = {
    "alltoall": (3, *OPS),
    "pairs": (3, *OPS),
    "stream": (2, "--messages", "500"),
    "echo": (3, "--ops", "20", "--clients", "2"),
    "open-loop": (3, "--messages", "20", "--rates", "1k,2k", "--clients", "2"),
    "qos": (2, "--paths", "2", "--duration", "300ms", "--interval", "100ms"),
    "interference": (4, "--levels", "100", "--phase", "40ms", "--alternations", "2"),
}
FORMATS = {
    "alltoall": ("table", "wide", "compat", "csv", "json"),
    "pairs": ("table", "csv", "json"),
    "stream": ("table", "loopback", "csv"),
    "echo": ("table", "clusterperf", "csv"),
    "open-loop": ("table", "csv"),
    "qos": ("table", "csv"),
    "interference": ("table", "csv"),
}


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
    lines = [re.sub(r"# [nuµm]?s ", "# TIME ", line) for line in lines]  # its unit is that of the value
    return "".join(f"{line}\n" for line, _ in itertools.groupby(lines)).rstrip() + "\n"


def test_command_line_says_what_it_said(a2aperf):
    check_golden("help.txt", answers(a2aperf, ANSWERS))


def test_plans_are_what_they_were(a2aperf):
    check_golden("dry-run.txt", answers(a2aperf, PLANS))


def measured(launch, command: str, *words: str):
    ranks, *options = MEASURED[command]
    outcome = launch(ranks, command, "--provider", "tcp", "--sizes", "8,4096", *options, *words, "--quiet")
    assert outcome.returncode == 0, outcome.stderr
    return outcome


@pytest.mark.parametrize(("command", "format"), [(command, name) for command in FORMATS for name in FORMATS[command]])
def test_tables_have_their_shape(launch, needs_provider, command, format):
    provider = needs_provider("tcp")
    alone = ["--suspects", "0"] if command == "pairs" else []
    outcome = measured(launch, command, *alone, "--format", format)
    # Whether a duration's figures have an interval depends on them: an empty field is not another shape.
    header = {"stream csv": 1, "echo csv": 1, "open-loop csv": 1, "qos csv": 1, "qos table": 2, "interference csv": 1, "interference table": 2}.get(f"{command} {format}")
    lines = [line for line in outcome.stdout.splitlines() if not line.startswith("# oversubscribed")]
    text = "\n".join(lines[:header])
    check_golden(f"{command}-{format}.txt", shape(text, provider))


@pytest.mark.parametrize("command", MEASURED)
def test_file_is_made_of_what_it_was(launch, needs_provider, tmp_path, command):
    needs_provider("tcp")
    baseline = ["--baseline", "mpi"] if command == "alltoall" else []
    measured(launch, command, *baseline, "--label", "site=here", "-o", "r.h5")
    check_golden(f"{command}-file.txt", structure(tmp_path / "r.h5"))
