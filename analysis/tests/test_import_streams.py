# SPDX-License-Identifier: BSD-3-Clause
"""The loopback layout: every figure comes back, of any text of it, or line and column are told."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from a2aperf import loading
from a2aperf.errors import InputError
from a2aperf.importers import loopback
from a2aperf.results import Results
from conftest import DATA, Outcome
from support import texts

Run = Callable[..., Outcome]
TEXT = DATA / "loopback-32-buffers.txt"
COLUMNS = (
    "stream_time message_size messages bytes msg_rate byte_rate free_delay longest_wait".split()
)


@pytest.fixture
def streams(a2a: Run, tmp_path: Path) -> Results:
    assert a2a("import", TEXT, "-o", tmp_path / "x.h5").err == ""
    return loading.load([tmp_path / "x.h5"])


def values(found: Results, launch: int) -> list[tuple[int, ...]]:
    """The rows of a table as they were printed: time in µs, then the values; 8 of them, or 6."""
    points = found.points[found.points["segment"] == launch]
    rows = []
    for _, row in points.iterrows():
        printed = [int(row[name]) for name in COLUMNS if not pd.isna(row[name])]
        assert all(printed[i] % 1000 == 0 for i in (0, *range(6, len(printed))))
        if len(printed) == 7:  # no delay, which is known, and the wait is not
            assert printed.pop() == 0
        rows.append((printed[0] // 1000, *printed[1:6], *(x // 1000 for x in printed[6:])))
    return rows


def tables_of(text: str) -> list[list[tuple[int, ...]]]:
    """Rows of numbers below each heading, read in the plainest way."""
    found: list[list[tuple[int, ...]]] = []
    for line in text.splitlines():
        if line.startswith("Test duration"):
            found.append([])
        elif re.fullmatch(r"\s*\d+\.\d{6}(\s+\d+){5,7}\s*", line):
            time, *others = line.split()
            found[-1].append((int(time.replace(".", "")), *map(int, others)))
    return found


def test_every_row_of_the_published_text_comes_back(streams: Results) -> None:
    expected = tables_of(TEXT.read_text())
    assert [len(rows) for rows in expected] == [28, 28, 28]
    assert [values(streams, i) for i in range(3)] == expected
    assert set(streams.points["role"]) == {"stream"}
    assert streams.points["mode"].unique().tolist() == ["write", "write-imm", "msg"]


def test_published_bytes_and_rates_agree() -> None:
    blocks = loopback.parse(TEXT, TEXT.read_text())
    assert [one.remarks for one in blocks] == [[], [], []]


def test_what_is_not_told_is_unknown(streams: Results) -> None:
    points = streams.points
    assert points["window"].isna().tolist() == [True] * 28 + [False] * 56
    assert set(points["window"].dropna()) == {32}
    assert set(points["threads"]) == {""}
    assert points["ops"].isna().all()
    without = points["longest_wait"].isna()
    assert (points["free_delay"][without] == 0).all()
    assert sorted(set(points["free_delay"][~without])) == [10_000, 10_000_000]


def test_what_stands_above_a_table_is_kept(streams: Results) -> None:
    first, second, _ = streams.launches.values()
    told = first.attributes
    assert told["device"] == told["domain"] == "mlx4_0"
    assert told["device_fw_ver"] == "2.9.1000"
    assert told["device_max_ee_init_rd_atom"] == "0"
    assert told["source_port"] == "1"
    assert (told["source_port_lid"], told["destination_port_lid"]) == ("1", "2")
    assert told["message_send_qp_max_send_wr"] == "223"
    assert "message_send_qp_max_send_wr" not in second.attributes
    assert second.attributes["receiver_qp_max_inline_data"] == "28"
    switches = "infiniband_multi_threaded_message_transfers_voluntary_context_switches"
    assert (told[switches], second.attributes[switches]) == ("48 → 132 (84)", "200 → 284 (84)")
    assert "opensm was stopped" in told["preamble"]
    assert first.labels["heading"].startswith("Results when intel_pstate driver running")
    assert first.attachments == {TEXT.name: TEXT.read_text()}


@pytest.mark.parametrize("mode", ["tagged", "msg", "write-imm", "write", "read"])
def test_what_a2aperf_prints_in_this_layout_has_its_mode_and_window(
    tmp_path: Path, mode: str
) -> None:
    """As in `a2aperf stream --format loopback`."""
    lines = TEXT.read_text().splitlines()
    (first, *_) = (i for i, line in enumerate(lines) if line.startswith("Test duration"))
    said = "send" if mode == "msg" else mode
    test = f"Testing using {said}, halves inject off memory huge and 512 buffers"
    text = "\n".join(["# 2 ranks on 1 node, shm", "", test, *lines[first : first + 3], ""])
    (block,) = loopback.parse(tmp_path, text)
    assert block.remarks == []
    assert [(row["mode"], row["window"]) for row in block.rows] == [(mode, 512)] * 2
    assert block.labels == {"stream": "halves inject off memory huge"}
    assert block.attributes["command_line"] == ""


HEADING, *ROWS = TEXT.read_text().splitlines()[61:65]


def test_streams_that_were_asked_for_otherwise_stay_apart(a2a: Run, tmp_path: Path) -> None:
    text = ""
    for inject in ("on", "off"):
        text += (
            f"Testing using tagged, halves inject {inject} and 32 buffers\n{HEADING}\n{ROWS[0]}\n\n"
        )
    (tmp_path / "x.txt").write_text(text)
    a2a("import", tmp_path / "x.txt", "-o", tmp_path / "x.h5")
    told = a2a("history", tmp_path / "x.h5").out
    assert "stream=halves inject on" in told
    assert "stream=halves inject off" in told


def test_remarks_of_a2aperf_do_not_cut_a_table(tmp_path: Path) -> None:
    """A point that was skipped, and one whose start does not carry a time."""
    text = "\n".join([
        *("# 2 ranks on 1 node, shm", "", "Testing using tagged, halves and 32 buffers", HEADING),
        *(ROWS[0], "# 16 B skipped: not by shm", ROWS[1], "# 32 B without a time: 7 messages", ""),
    ])  # fmt: skip
    (block,) = loopback.parse(tmp_path, text)
    assert len(block.rows) == 2
    assert block.attributes["command_line"] == ""


def test_rows_are_of_no_heading_but_their_own(tmp_path: Path) -> None:
    """A heading that is not known, or a test without one, is none of the table above."""
    for between in ("Testing using send and 64 buffers\n", "Messages per sec  Bytes  Time\n"):
        text = f"Testing using send and 32 buffers\n{HEADING}\n{ROWS[0]}\n{between}{ROWS[1]}\n"
        with pytest.raises(InputError, match="line 5, column 1: a row of numbers without a head"):
            loopback.parse(tmp_path, text)


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ("RDMA_WRITE_WITH_IMM", "write-imm"),
        ("RDMA_WRITE_WITH_IMMEDIATE", "write-imm"),
        ("RDMA_READ", "read"),
        ("RDMA_WRITE", "write"),
    ],
)
def test_modes_as_verbs_spells_them(tmp_path: Path, words: str, mode: str) -> None:
    (block,) = loopback.parse(tmp_path, f"Testing using {words}\n{HEADING}\n{ROWS[0]}\n")
    assert [row["mode"] for row in block.rows] == [mode]


def test_below_a_row_two_numbers_are_one(tmp_path: Path) -> None:
    text = f"Testing using send\n{HEADING}\n{ROWS[0]}\n 8 100 of what\n"
    with pytest.raises(InputError, match="line 4, column"):
        loopback.parse(tmp_path, text)


def test_what_is_no_row_is_a_note_and_a_dash_is_no_value(tmp_path: Path) -> None:
    row = " ".join(ROWS[0].split()[:6])
    text = f"Testing using send\n{HEADING}\n{row} - -\n\n2 4 cores were taken away by then\n"
    (block,) = loopback.parse(tmp_path, text)
    assert [(one["free_delay"], "longest_wait" in one) for one in block.rows] == [(0, False)]
    assert "2 4 cores were taken away by then" in block.note


def test_frequency_asked_for_and_seen_are_two_facts(a2a: Run, tmp_path: Path) -> None:
    text = TEXT.read_text()
    heading = next(line for line in text.splitlines() if line.startswith("Results when"))
    path = tmp_path / "x.txt"
    path.write_text(text.replace(heading, "Results with the CPU frequency set to 2.5 GHz"))
    assert a2a("import", path, "-o", tmp_path / "x.h5").status == 0
    (first, *_) = loading.load([tmp_path / "x.h5"]).launches.values()
    assert first.attributes["cpu_frequency_asked_khz"] == "2500000"
    assert first.attributes["cpu_frequency_seen_khz"] == "3197136 3075246 3099261 3099941"


@pytest.mark.parametrize("told", ["", " . ."])
def test_a_frequency_that_is_not_there_is_unknown(tmp_path: Path, told: str) -> None:
    text = re.sub(r"(Current CPU frequencies \(MHz\) :).*", rf"\1{told}", TEXT.read_text())
    (first, *_) = loopback.parse(tmp_path, text)
    assert "cpu_frequency_seen_khz" not in first.attributes


def test_file_is_sound_and_its_columns_say_what_they_are(
    a2a: Run, streams: Results, tmp_path: Path
) -> None:
    assert a2a("check", tmp_path / "x.h5").out.endswith("sound\n")
    assert streams.attributes["x.h5"]["workload"] == "stream"
    assert streams.columns["stream_time"].units == "ns"
    assert streams.columns["byte_rate"].better == "higher"
    heading, *rows = a2a("table", tmp_path / "x.h5").out.splitlines()
    for words in ("mode", "window", "time s", "messages", "longest wait µs"):
        assert words in heading
    assert len(rows) == 84
    assert "1.000007" in rows[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_every_row_of_any_text_comes_back(a2a: Run, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    made = texts.tables(rng, sections=rng.randint(1, 6))
    text = texts.loopback(rng, made)
    if seed % 3 == 0:
        text = text.replace("\n", "\r\n")
    if seed % 4 == 0:
        text = "\ufeff" + text
    path = tmp_path / "x.txt"
    path.write_bytes(text.encode())
    outcome = a2a("import", path, "-o", tmp_path / "x.h5")
    assert (outcome.status, outcome.err) == (0, "")
    rows = sum(len(table.rows) for table in made)
    assert re.search(rf"{len(made)} tables? with {rows} rows? in \d+ section", outcome.out)
    found = loading.load([tmp_path / "x.h5"])
    for index, (table, launch) in enumerate(zip(made, found.launches.values(), strict=True)):
        assert values(found, index) == table.rows
        mine = found.points[found.points["segment"] == index]
        assert set(mine["section"]) == {table.section}
        assert set(mine["mode"]) == {table.mode}
        known = table.buffers == 512 or table.mode in ("write-imm", "msg")
        assert mine["window"].dropna().unique().tolist() == ([table.buffers] if known else [])
        told = launch.attributes
        assert told["device"] == table.device
        assert told["device_fw_ver"] == f"2.{table.section}"
        assert f"prose of section {table.section}" in told["note"]
        assert f"a remark on {table.mode} in section {table.section}" in told["note"]
        assert launch.labels["heading"] == table.heading
        for phase, (before, after) in table.counters.items():
            assert told[f"{phase}_page_reclaims"] == f"{before} → {after} ({after - before})"
    assert a2a("check", tmp_path / "x.h5").status == 0
    assert a2a("table", tmp_path / "x.h5").status == 0


def test_starts_of_the_program_are_sections_of_their_own(tmp_path: Path) -> None:
    """One heading, or none, and the program started three times."""
    text = TEXT.read_text()
    at = text.index("$ ibv_functional")
    again = "without prefetching:\n" + text[at:]
    blocks = loopback.parse(tmp_path, text + again + again.replace("without", "with"))
    assert [block.rows[0]["section"] for block in blocks] == [1] * 3 + [2] * 3 + [3] * 3
    assert "without prefetching:" in blocks[3].note
    assert "with prefetching:" in blocks[6].note
    assert "prefetching" not in blocks[2].note
    assert len({block.labels["heading"] for block in blocks}) == 1


def test_rows_below_other_words_are_a_table_of_their_own(tmp_path: Path) -> None:
    lines = TEXT.read_text().splitlines()
    lines.insert(70, "now on another core")
    blocks = loopback.parse(tmp_path, "\n".join(lines))
    assert sum(len(block.rows) for block in blocks) == 84
    assert len(blocks) == 4
    assert blocks[1].note.endswith("now on another core")
    assert blocks[1].rows[0]["mode"] == "write"


def test_a_text_that_is_cut_anywhere_says_so_or_has_no_other_figures(tmp_path: Path) -> None:
    text = TEXT.read_text()
    whole = [row for block in loopback.parse(tmp_path, text) for row in block.rows]
    rng = random.Random(1)
    for at in (*rng.sample(range(len(text)), 200), *range(len(text) - 150, len(text) - 1)):
        try:
            blocks = loopback.parse(tmp_path, text[:at])
        except InputError as error:
            assert re.search(r"line \d+, column \d+", str(error))
            continue
        rows = [row for block in blocks for row in block.rows]
        same = rows == whole[: len(rows)]
        if not same:  # the last number may be cut
            assert rows[:-1] == whole[: len(rows) - 1]
            assert any("may be cut" in words for words in blocks[0].remarks)


ROW = next(line for line in TEXT.read_text().splitlines(True) if "2215496" in line)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((ROW, ROW.replace("  0  \n", "\n")), ["line 65", "expected 8 values or 6, found 5"]),
        ((ROW, ROW.replace("  0  \n", "0 1 2 3\n")), ["line 65", "column", "found 9"]),
        ((ROW, ROW.replace("2215496", "22,5496")), ["line 65, column 60", "'22,5496'"]),
        ((ROW, ROW.replace("2215496", "2215.96")), ["line 65, column 60", "whole number"]),
        ((ROW, ROW.replace("1.000006", "0.000000")), ["line 65, column 13", "positive"]),
        ((ROW, ROW.replace("1.000006", "nan")), ["line 65, column 13", "'nan'"]),
        (("Messages per sec ", "Messages per min "), ["line 62", "unknown heading"]),
        (("Messages per sec ", ""), ["line 62", "'Messages per sec' is not"]),
    ],
)
def test_what_is_not_understood_is_told_with_its_place(
    a2a: Run, tmp_path: Path, change: tuple[str, str], words: list[str]
) -> None:
    path, text = tmp_path / "x.txt", TEXT.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change, 1))
    a2a("import", path, "-o", tmp_path / "x.h5").refused("x.txt", *words)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("2047886    ", "2047887    "), "not length × messages"),
        (("2215482    ", "2215485    "), "not total / time"),
        (("38 (10 -> 48)", "39 (10 -> 48)"), "10 to 48 is not 39"),
        (("Testing using sender using send", "Testing using pigeons"), "no known mode"),
    ],
)
def test_figures_that_do_not_agree_are_told(
    a2a: Run, tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    path, text = tmp_path / "x.txt", TEXT.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change, 1).replace("receiver using recv", "receiver waiting"))
    outcome = a2a("import", path, "-o", tmp_path / "x.h5")
    assert outcome.status == 0
    assert words in outcome.err


def test_other_commands_say_what_they_lack(a2a: Run, streams: Results, tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    a2a("plot", "sizes", path, "-o", tmp_path / "x.svg").refused("a file of streams")
    a2a("table", path, "--layout", "compat").refused("a file of streams")
    assert a2a("report", path, "-o", tmp_path / "x.html").status == 0
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "84 points of 3 launches or tables (mode write, write-imm and msg)" in page
    assert "stream time" in page or "time s" in page
    both = a2a("merge", path, _again(a2a, tmp_path), "-o", tmp_path / "both.h5")
    assert (both.status, both.err) == (0, "")
    assert len(loading.load([tmp_path / "both.h5"]).points) == 168
    assert a2a("check", tmp_path / "both.h5").status == 0


def _again(a2a: Run, folder: Path) -> Path:
    other = folder / "other.txt"
    other.write_text(TEXT.read_text().replace("mlx4_0", "mlx4_1"))
    assert a2a("import", other, "-o", folder / "other.h5").status == 0
    return folder / "other.h5"
