# SPDX-License-Identifier: BSD-3-Clause
"""The clusterperf layout: every figure of any text comes back, or line and column are told."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pytest

from a2aperf import loading
from a2aperf.errors import InputError
from a2aperf.importers import clusterperf
from a2aperf.importers.block import Block
from a2aperf.results import Results
from conftest import DATA, Outcome
from support import texts

Run = Callable[..., Outcome]
TEXT = DATA / "clusterperf-2018-11.txt"
COLUMN = {
    "": "time_p50",
    ".min": "time_min",
    ".9": "time_p90",
    ".99": "time_p99",
    ".999": "time_p999",
    ".9999": "time_p9999",
    "Bw": "byte_rate",
}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "KB/s": 2**10, "MB/s": 2**20, "GB/s": 2**30}


@pytest.fixture
def trips(a2a: Run, tmp_path: Path) -> Results:
    outcome = a2a("import", TEXT, "-o", tmp_path / "x.h5")
    assert outcome.err == ""
    assert "90 figures of 15 points in 1 table" in outcome.out
    return loading.load([tmp_path / "x.h5"])


def size_of(text: str) -> int:
    return int(text.rstrip("KM")) * {"K": 2**10, "M": 2**20}.get(text[-1], 1)


def known(points: pd.DataFrame) -> dict[tuple[object, ...], float]:
    """Every figure by section, run, operation, size and column."""
    return {
        (row["section"], row["run"], row["operation"], row["message_size"], column): row[column]
        for _, row in points.iterrows()
        for column in COLUMN.values()
        if not pd.isna(row[column])
    }


def expected(figures: Iterable[texts.Figure]) -> dict[tuple[object, ...], float]:
    return {
        (one.section, one.run, one.operation, size_of(one.size), COLUMN[one.statistic]): (
            float(one.value) * UNITS[one.unit]
        )
        for one in figures
    }


def test_every_figure_of_the_published_text_comes_back(trips: Results) -> None:
    name = r"(echo|basic\.read|basic\.write)(Bw)?(\d+[KM]?)(\.\d+|\.min)?"
    printed = re.findall(rf"(?<!\S){name} (\S+) (us|ms|MB/s|GB/s) ", TEXT.read_text())
    assert len(printed) == 90
    figures = [
        texts.Figure(1, 1, operation, size, rate or statistic, value, unit)
        for operation, rate, size, statistic, value, unit in printed
    ]
    assert known(trips.points) == pytest.approx(expected(figures))


def test_units_are_binary_and_one_is_outstanding(trips: Results) -> None:
    row = trips.points[trips.points["operation"] == "echo"].iloc[4]
    assert row["message_size"] == 2**20
    assert row["byte_rate"] * row["time_p50"] / 1e9 / 2**20 == pytest.approx(0.996, abs=0.001)
    assert row["gbps"] == pytest.approx(2.874 * 2**30 * 8e-9)


def test_a_heading_of_a2aperf_names_the_mode(a2a: Run, tmp_path: Path) -> None:
    heading = "clusterperf 2 ranks on 1 node, shm, mode {}, outstanding 1"
    line = "echo100                1.4 us    send 30B message, receive 100B message median"
    of_modes = [part for mode in ("write-imm", "read") for part in (heading.format(mode), line)]
    lines = [*of_modes, "clusterperf November 24, 2018", line, ""]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    assert a2a("import", tmp_path / "a.txt", "-o", tmp_path / "x.h5").status == 0
    points = loading.load([tmp_path / "x.h5"]).points
    assert list(points["mode"].fillna("")) == ["write-imm", "read", ""]


def test_what_is_told_of_requests_and_keys_is_known(trips: Results) -> None:
    points = trips.points
    is_echo = points["operation"] == "echo"
    assert set(points["request_size"][is_echo]) == {30}
    assert points["request_size"][~is_echo].isna().all()
    assert set(points["key_size"][~is_echo]) == {30}
    assert points["nodes"].isna().all()
    assert points["ops"].isna().all()
    (launch,) = trips.launches.values()
    assert launch.labels == {"heading": "clusterperf November 24, 2018"}
    assert launch.attributes["started"] == "2018-11-24"
    assert launch.attachments == {TEXT.name: TEXT.read_text()}


def test_file_is_sound_and_shown(a2a: Run, trips: Results, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    assert a2a("check", path).out.endswith("sound\n")
    assert trips.attributes["x.h5"]["workload"] == "echo"
    heading, *rows = a2a("table", path).out.splitlines()
    assert ("operation" in heading, "p999 µs" in heading, len(rows)) == (True, True, 15)
    a2a("plot", "sizes", path, "-o", tmp_path / "x.svg").refused("a file of round trips")
    assert a2a("report", path, "-o", tmp_path / "x.html").status == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_every_figure_of_any_text_comes_back(a2a: Run, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    made = texts.figures(rng, sections=rng.randint(1, 5))
    path = tmp_path / "x.txt"
    text = texts.clusterperf(rng, made)
    path.write_bytes(text.replace("\n", "\r\n").encode() if seed % 3 == 0 else text.encode())
    outcome = a2a("import", path, "-o", tmp_path / "x.h5")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"{tmp_path / 'x.h5'}: {len(made)} figures of ")
    found = loading.load([tmp_path / "x.h5"])
    assert known(found.points) == pytest.approx(expected(made))
    assert not found.points.duplicated(["section", "run", "operation", "message_size"]).any()
    notes = "\n".join(str(one.attributes["note"]) for one in found.launches.values())
    for words in ("$ clusterperf.py -v", "once more", "and other operations"):
        assert notes.count(words) == text.count(words)
    assert a2a("check", tmp_path / "x.h5").status == 0


def test_a_break_at_any_space_changes_nothing(tmp_path: Path) -> None:
    text = TEXT.read_text()
    head = text.index("\n") + 1
    whole = [row for block in clusterperf.parse(tmp_path, text) for row in block.rows]
    spaces = [at for at in range(head, len(text)) if text[at] == " "]
    for at in random.Random(2).sample(spaces, 150):
        blocks = clusterperf.parse(tmp_path, text[:at] + " \n\t" + text[at + 1 :])
        assert [row for block in blocks for row in block.rows] == whole
    every = text[:head] + re.sub(r"\s+", "\n", text[head:])
    assert [row for one in clusterperf.parse(tmp_path, every) for row in one.rows] == whole


def test_a_text_that_is_cut_anywhere_says_so_or_has_no_other_figures(tmp_path: Path) -> None:
    text = TEXT.read_text()
    whole = expected_rows(clusterperf.parse(tmp_path, text))
    for at in random.Random(3).sample(range(200, len(text)), 250):
        try:
            blocks = clusterperf.parse(tmp_path, text[:at])
        except InputError as error:
            assert re.search(r"line \d+, column \d+", str(error))
            continue
        assert expected_rows(blocks).items() <= whole.items()


def expected_rows(blocks: list[Block]) -> dict[tuple[object, ...], object]:
    return {
        (row["operation"], row["message_size"], name): value
        for block in blocks
        for row in block.rows
        for name, value in row.items()
        if name in COLUMN.values()
    }


def test_words_within_a_point_keep_it_whole(tmp_path: Path) -> None:
    text = (
        "Results:\n\n• echo100 3.9 us send 30B message, receive 100B message median\n"
        "and then a long explanation of 3 lines\n"
        "• echo100.min 0.999999 s send 30B message, receive 100B message minimum\n"
    )
    (block,) = clusterperf.parse(tmp_path, text)
    (row,) = block.rows
    assert (row["time_p50"], row["time_min"]) == (3900, pytest.approx(999_999_000))
    assert block.note == "and then a long explanation of 3 lines"
    assert block.labels == {"heading": "Results"}


def test_a_run_whose_last_one_lacked_its_first_figure_is_not_joined_to_it(tmp_path: Path) -> None:
    figure = "echo100{} {} us send 30B message, receive 100B message {}\n"
    run = figure.format(".min", 3.8, "minimum") + figure.format(".9", 5.0, "90%")
    text = run + figure.format("", 3.9, "median") + run
    blocks = clusterperf.parse(tmp_path, text)
    assert [block.rows[0]["run"] for block in blocks] == [1, 2]
    assert "time_p50" not in blocks[0].rows[0]
    assert blocks[1].rows[0]["time_p50"] == 3900


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("echo100 3.9 us send 30B message, receive 100B\n", ["line 1, column 1", "ends within"]),
        ("\n  echo100 -- us send 30B message\n", ["line 2, column 11", "'--'"]),
        ("echo100 3.9 ls send 30B message\n", ["line 1, column 13", "expected one of ns, us"]),
        ("echoBw100 3.9 us bandwidth receiving\n", ["line 1, column 15", "expected one of B/s"]),
        ("echo100 -3.9 us send 30B\n", ["line 1, column 9", "positive number"]),
    ],
)
def test_what_is_not_understood_is_told_with_its_place(
    a2a: Run, tmp_path: Path, text: str, words: list[str]
) -> None:
    path = tmp_path / "x.txt"
    path.write_text(text)
    outcome = a2a("import", path, "--format", "clusterperf", "-o", tmp_path / "x.h5")
    outcome.refused("x.txt", *words)
    assert list(tmp_path.iterdir()) == [path]


def test_a_figure_of_another_kind_is_told_and_kept(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(TEXT.read_text() + " multiRead.oneMaster 12.3 us read 30 objects\n")
    outcome = a2a("import", path, "-o", tmp_path / "x.h5")
    assert outcome.status == 0
    assert "line 4, column" in outcome.err
    assert "'multiRead.oneMaster 12.3 us' is kept as a note" in outcome.err
    (launch,) = loading.load([tmp_path / "x.h5"]).launches.values()
    assert "multiRead.oneMaster 12.3 us read 30 objects" in str(launch.attributes["note"])
