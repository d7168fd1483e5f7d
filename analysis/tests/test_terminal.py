# SPDX-License-Identifier: BSD-3-Clause
"""Nothing that a file says acts on a terminal, a page, a spreadsheet: everything is seen."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import studies
from a2aperf import cli, tables, terminal, visible
from conftest import DATA, Outcome
from support import planted, synthetic, synthetic_pairs, unread
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
PACKAGE = Path(terminal.__file__).parent
EVIL = "\x1b]0;mine\x07\x1b[2J\x9b31m\u202e\x00\r\nrun.h5: sound\t<script>alert(1)</script>"
STORED = EVIL.replace("\x00", "")  # HDF5's texts end there
SETUP = Setup(
    nodes=2,
    sizes=(1000, 8000),
    ops=30,
    baseline=True,
    sentinel=True,
    environment={"PSM2_RCVTHREAD": "0", "SLURM_JOB_ID": "7"},
    labels={"cluster": "north", "interconnect": "ib"},
    attachments={"topology.txt": "SwitchName=s1"},
)


def is_seen(text: str) -> bool:
    return all(
        line.replace("\xa0", " ").replace("\u2009", " ").isprintable() for line in text.split("\n")
    )


# The one place ------------------------------------------------------------------------------------


def test_nothing_else_writes_to_the_terminal() -> None:
    writes = {"print", "echo", "secho", "style", "write_through"}
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            last = called.rpartition(".")[2]
            if (last in writes and called not in ("terminal.style",)) or re.match(
                r"sys\.std(out|err)\.(write|buffer)", called
            ):
                found.append(f"{path.name}: {called}")
    assert found == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("node01", "node01"),
        ("µs – 60\xa0kB, 節点", "µs – 60\xa0kB, 節点"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x9b\x7f\u202e\u200b\udc9b", r"\x9b\x7f\u202e\u200b\udc9b"),
    ],
)
def test_what_is_seen(text: str, shown: str) -> None:
    assert visible.visible(text) == shown
    assert visible.visible(shown) == shown
    quoted = json.dumps(text, ensure_ascii=False)
    assert json.loads(visible.json_visible(quoted)) == text
    assert is_seen(visible.json_visible(quoted))


def test_a_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("label: x\nrun.h5: sound", terminal.Bold("head"))
    assert capsys.readouterr().out == "label: x\\nrun.h5: sound\nhead\n"


def test_a_cell_of_a_spreadsheet_is_no_formula() -> None:
    import pandas as pd

    texts = ["=1+1", "+cmd", "-x", "@SUM(A1)", "-1.5", "+2e-3", "node-1", "a\nb", 'say "x", y', ""]
    data = pd.DataFrame({"=label": texts, "number": range(len(texts)), "rate": -1.5})
    head, *rows = list(csv.reader(io.StringIO(tables.as_csv(data))))
    assert head == ["'=label", "number", "rate"]
    cells = ["'=1+1", "'+cmd", "'-x", "'@SUM(A1)", "-1.5", "+2e-3", "node-1", r"a\nb", 'say "x", y']
    assert [row[0] for row in rows] == [*cells, ""]
    assert {row[2] for row in rows} == {"-1.5"}


# Every field, every command -----------------------------------------------------------------------


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    path = synthetic.write_launch(tmp_path / "run.h5", SETUP)
    with edited(path) as file:  # and a column that nobody knows
        column = file.create_dataset("strange\x1b[31m", data=[1.5] * len(file["state"]))
        column.attrs["long_name"] = "x"
        column.dims[0].attach_scale(file["point"])
        file["segments/0/message"][()] = b"stopped"
        file["segments/0/end_state"][()] = 3
    where = planted.plant(path, STORED)
    assert len(where) > 60, where
    return path


def commands(path: Path, out: Path) -> list[tuple[object, ...]]:
    figures = [
        ("plot", kind, path, "-o", out / f"{kind}.svg") for kind in ("sizes", "ranks", "cdf")
    ]
    return [
        ("table", path),
        ("table", path, "--layout", "wide", "--role", "all"),
        ("table", path, "--layout", "compat"),
        ("table", path, "--csv"),
        ("table", path, "--json"),
        ("table", path, "--nodes"),
        ("table", path, "--columns", "mode,nic,launch,strange\x1b[31m"),
        ("table", path, "--columns", "nothing\x1b[31m"),
        ("table", path, "--where", "mode=\x1b[31m"),
        ("check", path),
        ("check", path.parent / "no\x1b[31m.h5"),
        ("explain", path),
        ("explain", path, "--json"),
        ("compare", path, "--by", "engine"),
        ("compare", path, "--by", "engine", "--json"),
        ("compare", path, "--by", "engine", "--csv"),
        ("compare", path, "--by", "mode"),
        ("gate", path, "--min-efficiency", "1%"),
        ("gate", path, "--min-efficiency", "1%", "--json"),
        ("screen", path, "--plan", out / "no\x1b[31m.json"),
        ("screen", "--provider", "psm2", "--try", "no\x1b[31m"),
        ("screen", "--provider", "psm2", "--try", "A=\x1b[31m", "--fix", "B=\x1b[31m"),
        ("screen", "--provider", "psm2", "--try", "A=\x1b[31m", "--json"),
        ("suite", path),
        ("suite", path, out / "other.h5"),
        ("suite", path, out / "other.h5", "--json"),
        ("suite", path, out / "other.h5", "--plot", out / "side.svg"),
        ("suite", "-n", "2", "--across", "\x1b[31m,shm"),
        ("suite", "-n", "2", "--across", "shm,tcp", "--workloads", "\x1b[31m"),
        ("history", path),
        ("history", path, "--json"),
        ("live", path, "--once"),
        ("report", path, "-o", out / "page.html"),
        *figures,
        ("export", path, "--anonymize", "--key", out / "key", "-o", out / "public.h5"),
        ("merge", path, path, "-o", out / "twice.h5"),
        ("merge", path, out / "other.h5", "-o", out / "both.h5"),
    ]


@pytest.mark.slow
def test_no_command_says_what_is_not_seen(a2a: A2A, evil: Path, tmp_path: Path) -> None:
    synthetic.write_launch(
        tmp_path / "other.h5", replace(SETUP, seed=9, labels={"interconnect": "shm"})
    )
    told = ""
    for words in commands(evil, tmp_path):
        outcome = a2a(*words)
        for stream in (outcome.out, outcome.err):
            assert is_seen(stream), (words, stream)
        assert "run.h5: sound" not in outcome.out.splitlines(), words
        told += outcome.out + outcome.err
    assert r"\x1b[2J" in told  # else the test would test nothing
    if (tmp_path / "sizes.svg").exists():
        ET.parse(tmp_path / "sizes.svg")


def test_a_matrix_of_pairs_too(a2a: A2A, tmp_path: Path) -> None:
    path = tmp_path / "pairs.h5"
    synthetic_pairs.write_pairs(path, Setup(nodes=4, ppn=1, sizes=(8, 60000), ops=12))
    planted.plant(path, STORED)
    for words in (
        ("table", path),
        ("table", path, "--csv"),
        ("table", path, "--json"),
        ("explain", path),
        ("check", path),
        ("plot", "matrix", path, "-o", tmp_path / "x.svg"),
        ("report", path, "-o", tmp_path / "x.html"),
    ):
        outcome = a2a(*words)
        assert is_seen(outcome.out + outcome.err), words
    ET.parse(tmp_path / "x.svg")


def test_a_page_has_no_markup_of_the_file(a2a: A2A, evil: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    outcome = a2a("report", evil, "-o", page)
    assert outcome.status == 0, outcome
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    own = text.partition("<script>")[0]
    for character in ("\x1b", "\x9b", "\u202e"):
        assert character not in own


def test_other_texts_that_commands_read(a2a: A2A, tmp_path: Path) -> None:
    """A study's folder, and a table of another program."""
    folder = studies.study(tmp_path / "study")
    for path in folder.glob("*.t*"):
        lines = path.read_text().splitlines()
        path.write_text("".join(f"{line}\x1b[2J\x9b\n" for line in lines))
    for words in (("status", folder), ("status", folder, "--json"), ("report", folder)):
        outcome = a2a(*words)
        assert is_seen(outcome.out + outcome.err), words
    foreign = tmp_path / "table.txt"
    foreign.write_text((DATA / "alltoall-omnipath-2019.txt").read_text().replace("\n", "\x1b[2J\n"))
    outcome = a2a("import", foreign, "-o", tmp_path / "table\x1b[2J.h5")
    assert is_seen(outcome.out + outcome.err)


def test_nodes_that_the_doctor_asks(
    a2a: A2A, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    for name in ("alltoall.sbatch", "report.sbatch", "show-site.sh", "preflight.sh"):
        (jobs / name).write_text("")
    (jobs / "doctor.sh").write_text(r"printf 'n\033[2J\tload\tbad\tx\033]0;mine\007\n'")
    monkeypatch.setenv("A2APERF_JOBS", str(jobs))
    outcome = a2a("doctor", "--local")
    assert r"n\x1b[2J" in outcome.out, outcome
    assert is_seen(outcome.out + outcome.err)


def test_every_command_was_tried() -> None:
    tried = {str(words[0]) for words in commands(Path(), Path())} | {"status", "import", "doctor"}
    # What 'submit' and 'run' say comes from their user and the scripts.
    assert tried | {"submit", "run"} == {row.name for row in cli.COMMANDS}


def test_the_status_is_whole_where_nobody_reads_on(tmp_path: Path) -> None:
    """`a2a check … | head` must not call sound what it has not looked at."""
    sound = synthetic.write_launch(tmp_path / "x.h5", SETUP)
    done = unread.a2a("check", sound, sound, tmp_path / "missing.h5")
    assert (done.returncode, done.stderr.count("missing.h5")) == (2, 1)
    done = unread.a2a("table", sound)
    assert (done.returncode, done.stderr) == (0, "")
