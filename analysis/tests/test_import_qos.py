# SPDX-License-Identifier: BSD-3-Clause
"""Notes on service levels: experiments by their command lines, intervals, tables, notes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

import a2aperf
from a2aperf import loading
from a2aperf.errors import InputError
from a2aperf.importers import shared_link
from a2aperf.importers.block import Block
from conftest import DATA, Outcome
from support.shared_link import (
    BY_THE_TABLES,
    PUBLISHED,
    commands,
    modified,
    received,
    write_text,
)

Run = Callable[..., Outcome]
TEXT = DATA / "qos-default.txt"


def parsed(text: str) -> list[Block]:
    return shared_link.parse(Path("notes.txt"), text)


def remarks(text: str) -> list[str]:
    return parsed(text)[0].remarks


def test_the_published_notes_as_a_whole(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "q.h5"
    outcome = a2a("import", TEXT, "-o", path)
    assert (outcome.status, outcome.err) == (0, "")
    assert "68 lines: 4 experiments under 1 set of tables, 12 intervals of paths" in outcome.out
    assert a2a("check", path).out.endswith("sound\n")
    found = loading.load([path])
    assert set(found.points["role"]) == {"qos"}
    assert found.points["path_count"].tolist() == [3, 3, 3, 3]
    assert found.points["interval"].tolist() == [10**10] * 4
    assert found.points["gbps"].tolist() == pytest.approx(
        [25.292, 25.295, 25.548, 25.548], abs=1e-3
    )
    assert found.points["bytes"].iloc[0] == 2 * 10538319872 + 10538385408
    (launch,) = found.launches.values()
    assert launch.attributes["sl2vl"] == ",".join("0123" * 4)
    assert launch.attributes["vl_high_limit"] == "4"
    assert launch.attributes["port_VLCap"] == "VL0-3"
    assert "The path with SL1 took approx twice the bandwidth" in launch.attributes["note"]
    assert launch.labels["heading"] == "Tests with opensm default QOS settings."
    assert launch.attachments == {TEXT.name: TEXT.read_text()}


def test_every_printed_number_comes_back(a2a: Run, tmp_path: Path) -> None:
    assert a2a("import", TEXT, "-o", tmp_path / "q.h5").status == 0
    printed = [line for line in TEXT.read_text().splitlines() if " received " in line]
    shown = a2a("table", tmp_path / "q.h5", "--layout", "qos").out.splitlines()
    assert [line for line in shown if " received " in line] == printed


def test_paths_have_what_the_command_lines_say(tmp_path: Path) -> None:
    found = a2aperf.open(write_text(tmp_path / "q.h5", TEXT.read_text())).paths()
    assert found["class_requested"].tolist()[3:6] == ["sl0", "sl0", "sl1"]
    assert set(found["message_size"]) == {4096, 8388608}
    assert set(found["port"]) == {"mlx4_0/1"}
    assert found["window"].isna().all()
    assert set(found["class_granted"]) == {""}


def test_letters_that_repeat_tell_nothing_apart(tmp_path: Path) -> None:
    blocks = parsed(TEXT.read_text() + "\n\n" + modified())
    assert [len(one.rows) for one in blocks] == [4, len(PUBLISHED)]
    assert [one.labels["heading"] for one in blocks] == [
        "Tests with opensm default QOS settings.",
        "Tests with modified opensm QOS settings.",
    ]
    assert [one.attributes["vl_high_limit"] for one in blocks] == ["4", "255"]
    assert "sl2vl" in blocks[1].attributes  # of its own lines: nothing stays from above a heading
    assert "port_VLCap" not in blocks[1].attributes
    lists = [row["path_list"] for block in blocks for row in block.rows]
    assert len(set(lists)) == 6  # the modified tables were tried with the paths of the default ones


def test_a_path_that_connected_and_printed_nothing_got_nothing(tmp_path: Path) -> None:
    found = a2aperf.open(write_text(tmp_path / "q.h5", modified())).paths()
    last = found[found["point"] == len(PUBLISHED) - 1]
    assert last["share"].tolist() == pytest.approx([0.5, 0.5, 0.0], abs=1e-3)
    assert last["bytes"].tolist()[2] == 0
    assert last["total_gbps"].iloc[0] == pytest.approx(11.70, abs=0.01)
    assert found["alone_gbps"].isna().all(), "the start of all three is not one path alone"
    for point, expected in enumerate(BY_THE_TABLES):
        told = found.loc[found["point"] == point, "expected_share"].tolist()
        assert told == pytest.approx(expected, abs=1e-9)


def test_of_one_that_did_not_connect_nothing_is_claimed(tmp_path: Path) -> None:
    text = commands("0,0", 4096) + received(0, 1000, 4096)
    found = a2aperf.open(write_text(tmp_path / "q.h5", text)).paths()
    assert found["bytes"].isna().tolist() == [False, True]
    assert found["share"].isna().all()


def test_what_was_printed_before_the_last_connected_is_start_up(tmp_path: Path) -> None:
    text = commands("0,1", 4096) + "Rx_0 connected to 0x12 qp 7\n" + received(0, 9000, 4096)
    text += "Rx_1 connected\n"
    for n in (100, 200):
        text += received(0, n, 4096) + received(1, 3 * n, 4096)
    path = write_text(tmp_path / "q.h5", text)
    found = a2aperf.open(path).paths()
    assert found["intervals"].tolist() == [2, 2]
    assert found["messages"].tolist() == [300, 900]
    with h5py.File(path) as file:
        assert file["paths/connected"][()].tolist() == [0, 10**10]
        assert file["paths/interval_begin"][()].tolist() == [
            [0, 10**10, 2 * 10**10],
            [10**10, 2 * 10**10, -1],
        ]


def times(path: Path) -> tuple[list[int], list[list[tuple[int, int]]]]:
    """When each path connected, and when its intervals began with their messages; in s."""
    with h5py.File(path) as file:
        paths = file["paths"]
        told = zip(paths["interval_begin"][()], paths["interval_messages"][()], strict=True)
        begun = [
            [(int(b) // 10**9, int(m)) for b, m in zip(*row, strict=True) if b >= 0] for row in told
        ]
        return [int(one) // 10**9 for one in paths["connected"][()]], begun


def test_all_paths_report_at_one_tick(tmp_path: Path) -> None:
    """Those that connect between two lines of a tick were not there for all of it."""
    text = commands("0,0,1", 4096)
    for path in range(3):
        text += f"Rx_{path} connected\n" + received(path, 10 + path, 4096)
    text += received(2, 22, 4096) + received(0, 20, 4096) + received(1, 21, 4096)
    file = write_text(tmp_path / "q.h5", text)
    began = [[(0, 10 + path), (10, 20 + path)] for path in range(3)]
    assert times(file) == ([0, 10, 10], began)
    found = a2aperf.open(file).paths()
    assert found["messages"].tolist() == [20, 21, 22]


def test_who_prints_nothing_at_a_tick_got_nothing(tmp_path: Path) -> None:
    text = commands("0,1", 4096) + "Rx_0 connected\nRx_1 connected\n"
    for at, paths in enumerate(((0, 1), (0,), (0, 1))):
        text += "".join(received(path, 100 * at + path + 1, 4096) for path in paths)
    file = write_text(tmp_path / "q.h5", text)
    assert times(file) == ([0, 0], [[(0, 1), (10, 101), (20, 201)], [(0, 2), (10, 0), (20, 202)]])


def test_intervals_of_several_lengths_follow_each_other_by_path(tmp_path: Path) -> None:
    text = commands("0,1", 4096)
    for path, length in ((0, 1), (0, 1), (1, 2), (0, 1), (0, 1), (1, 2)):
        text += received(path, 7, 4096, length)
    file = write_text(tmp_path / "q.h5", text)
    assert times(file) == ([0, 0], [[(0, 7), (1, 7), (2, 7), (3, 7)], [(0, 7), (2, 7)]])


def test_tables_below_experiments_hold_for_those_below(tmp_path: Path) -> None:
    one = commands("0,1", 4096) + received(0, 5, 4096) + received(1, 5, 4096)
    text = "qos_high_limit 3\nqos_sl2vl 0,1\n" + one + "qos_high_limit 7\n" + one
    first, second = parsed(text)
    assert (first.attributes["vl_high_limit"], second.attributes["vl_high_limit"]) == ("3", "7")
    assert first.attributes["sl2vl"] == second.attributes["sl2vl"] == "0,1"
    assert "1 experiment with the command lines of an earlier one" in first.remarks


def test_tables_under_a_heading_of_their_own_hold_below_the_next(tmp_path: Path) -> None:
    one = commands("0,1", 4096) + received(0, 5, 4096) + received(1, 5, 4096)
    (block,) = parsed("Settings\n====\nqos_high_limit 3\nResults\n====\n" + one)
    assert block.attributes["vl_high_limit"] == "3"
    own = "Settings\n====\nqos_high_limit 3\nResults\n====\nqos_sl2vl 0,1\n" + one
    assert "vl_high_limit" not in parsed(own)[0].attributes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (received(0, 5, 4096), "line 1, column 1: Rx_0 stands above any command line"),
        (commands("0,0", 64) + received(2, 5, 64), "line 3, column 1: Rx_2: its command line"),
        (commands("0", 64) + "Rx_0 received much", "line 3, column 1: expected 'Rx_N received N"),
        (commands("0", 64) + "Rx_0 received 1 data bytes in 1 messages over last 0.0 seconds",
         "or no time"),
        ("ibv --thread=ux:0 --ib-sl=0\n" + received(0, 1, 1), "line 1, column 14: expected tx:N"),
        ("ibv --thread=rx:1 --ib-sl=0\n" + received(0, 1, 1), "not numbered from 0"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"notes\.txt") as refused:
        parsed(text)
    assert said in str(refused.value)


def test_what_is_odd_is_told() -> None:
    two = commands("0,1", 4096)
    odd = remarks(two + "Rx_0 received 4097 data bytes in 1 messages over last 10.0 seconds\n")
    assert odd == ["line 3: 4097 bytes are not messages × size = 4096"]
    assert remarks(commands("0,1", 64).splitlines()[0] + "\n" + received(0, 1, 64)) == [
        "line 1: an experiment without a command line of rx"
    ]
    apart = two.splitlines()[0] + "\n" + commands("0,2", 4096).splitlines()[1] + "\n"
    assert (
        "line 2: senders and receivers were started with other paths"
        in (remarks(apart + received(0, 1, 4096))[0])
    )


def test_a_size_that_is_no_number_is_not_known() -> None:
    text = commands("0", 64).replace("size=64", "size=6²4") + received(0, 3, 64)
    (block,) = parsed(text)
    assert block.rows[0]["path_list"] == "0:1 class=sl0"


def test_a_port_that_was_asked_otherwise_is_told(a2a: Run, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(
        modified().replace("\n\na)", "\nVLHighLimit:.....................4\n\na)", 1)
    )
    outcome = a2a("import", tmp_path / "x.txt", "-o", tmp_path / "x.h5")
    assert "opensm.conf has vl_high_limit 255, the port 4" in outcome.err
