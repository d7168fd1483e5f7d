# SPDX-License-Identifier: BSD-3-Clause
"""What a point's counters come to, and what they are divided by."""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from a2aperf import schema
from conftest import Outcome
from support import native_echo, native_streams, synthetic
from support.edited import edited

Run = Callable[..., Outcome]
PORT = "hfi1_0/1/counters/port_xmit_wait"
TX = "eth0/statistics/tx_bytes"


def rows_of(a2a: Run, path: Path, *options: str) -> list[dict[str, str]]:
    outcome = a2a("table", path, "--counters", "--csv", *options)
    assert outcome.err == ""
    return list(csv.DictReader(outcome.out.splitlines()))


def only(rows: list[dict[str, str]], counter: str, point: int = 0) -> dict[str, str]:
    (row,) = [x for x in rows if (x["counter"], x["point"]) == (counter, str(point))]
    return row


def numbers(row: dict[str, str], *names: str) -> list[float | None]:
    return [float(row[name]) if row[name] else None for name in names]


def test_an_all_to_all_is_divided_by_all_its_attempts(a2a: Run, tmp_path: Path) -> None:
    """8 ranks of 4 nodes, 100 valid ops and 25 that a late rank made invalid: 125 × 56."""
    setup = replace(synthetic.Setup(), effects=synthetic.Effects(late_share=0.2))
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    with edited(path) as file:
        file["counters/minor_faults"][1] = [0, 7, 14, 0, 0, 7, 0, 0]
        file["counters/user_time"][1] = 7_000_000
        file["counters/port"][1, :, 0] = [1, 2, 3, 8]
        file["counters/softirqs_net_rx"][1] = [700, 1400, 0, 4900]
        attempts = int(file["attempts"][1])
    assert attempts == 125
    rows = rows_of(a2a, path)
    faults = only(rows, "minor_faults", 1)
    assert faults["of"] == "ranks"
    names = ("messages", "bytes", "counted", "sum", "min", "max", "max_at")
    assert numbers(faults, *names) == [7000, 56_000_000, 8, 28, 0, 14, 2]
    assert numbers(faults, "per_message", "per_gb") == [0.004, 500]
    busy = only(rows, "user_time", 1)
    assert busy["counter_units"] == "ns"
    assert numbers(busy, "sum", "per_message", "per_gb") == [56e6, 8000, 1e9]
    softirqs = only(rows, "softirqs_net_rx", 1)
    assert (softirqs["of"], softirqs["max_at"]) == ("nodes", "node004")
    assert numbers(softirqs, "counted", "sum", "min", "max") == [4, 7000, 0, 4900]
    assert numbers(softirqs, "per_message", "per_gb") == [1, 125_000]
    port = only(rows, PORT, 1)
    assert (port["of"], port["max_at"]) == ("nodes", "node004")
    assert numbers(port, "counted", "sum", "min", "max", "per_message") == [4, 14, 1, 8, 0.002]


def test_by_the_time_in_which_it_was_counted(a2a: Run, streams: Path, launch: Path) -> None:
    """By that of the rank that counted longest: its second."""
    switches = only(rows_of(a2a, streams), "involuntary_switches", 1)
    assert numbers(switches, "sum", "per_second") == [297, 297]
    assert only(rows_of(a2a, streams), TX, 1)["per_second"] == ""  # its nodes had no clock
    with edited(launch) as file:
        file["counters/node_wall_time"][0] = [10**9, 2 * 10**9, 10**9, 5 * 10**8]
        file["counters/node_user_time"][0] = [10**9, 10**9, 0, 10**9]
        file["counters/wall_time"][1, 3] = -1
    rows = rows_of(a2a, launch)
    busy = only(rows, "node_user_time", 0)
    assert numbers(busy, "sum", "per_second") == [3e9, 1.5e9]
    assert busy["counter_units"] == "ns"
    assert only(rows, "node_wall_time", 0)["per_second"] == ""
    assert only(rows, "user_time", 1)["per_second"] == ""  # a rank's time is not known
    assert only(rows, "user_time", 1)["per_gb"] != ""
    assert only(rows, "threads", 0)["per_second"] == ""


def test_files_without_a_clock_of_counters_have_nothing_per_second(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        for name in [name for name in file["counters"] if "node_" in name or "wall" in name]:
            del file["counters"][name]
    rows = rows_of(a2a, launch)
    assert {row["per_second"] for row in rows} == {""}
    assert not [row for row in rows if row["counter"].startswith("node_")]
    assert a2a("check", launch).out == f"{launch}: sound\n"


def test_what_is_not_there_is_not_nothing(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["counters/port"][0, :, 0] = [5, 0, -1, 9]
        file["counters/interrupts"][0] = -1
        file["counters/major_faults"][0] = 0
    rows = rows_of(a2a, launch)
    names = ("counted", "sum", "min", "max", "per_message", "per_gb")
    assert numbers(only(rows, PORT), *names) == [3, 14, 0, 9, None, None]
    assert numbers(only(rows, "interrupts"), *names) == [0, None, None, None, None, None]
    assert numbers(only(rows, "major_faults"), *names) == [8, 0, 0, 0, 0, 0]
    threads = numbers(only(rows, "threads"), *names)  # there at the end, and no change
    assert threads == [8, 16, 2, 2, None, None]


def test_a_message_of_nothing_has_no_gigabytes(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["message_size"][0] = 0
    row = only(rows_of(a2a, launch), "user_time")
    assert float(row["per_message"]) > 0
    assert row["per_gb"] == ""


def test_a_step_has_a_message_of_each_rank(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["distance"][1] = 3
    rows = rows_of(a2a, launch)
    assert numbers(only(rows, "user_time", 0), "messages") == [100 * 56]
    assert numbers(only(rows, "user_time", 1), "messages") == [100 * 8]


@pytest.fixture
def streams(tmp_path: Path) -> Path:
    return native_streams.write(tmp_path / "s.h5")


def test_ranks_of_a_stream_count_until_its_end(a2a: Run, streams: Path) -> None:
    """Of 459 messages of point 1 122 came in the last tick of their receivers: after the end."""
    rows = rows_of(a2a, streams)
    switches = only(rows, "involuntary_switches", 1)
    came = 107 + 120 + 16 + 100 + 106  # rank 2 in three ticks, rank 3 in two
    after = 16 + 106
    assert numbers(switches, "messages", "sum") == [came - after, 297]
    assert numbers(switches, "per_message") == [pytest.approx(297 / (came - after))]
    port = only(rows, TX, 1)  # of nodes: until all have come
    assert numbers(port, "messages", "bytes", "sum") == [came, 1000 * came, 8100]


@pytest.mark.parametrize(
    ("column", "value"), [("ticks_lost", 1), ("asked_messages", 500), ("asked_messages", -1)]
)
def test_where_the_end_of_ranks_is_not_known(
    a2a: Run, streams: Path, column: str, value: int
) -> None:
    with edited(streams) as file:
        file[column][:] = value
    rows = rows_of(a2a, streams)
    is_known = value == schema.UNKNOWN
    assert (only(rows, "threads")["messages"] != "") == is_known
    assert only(rows, TX)["per_message"] != ""


def test_a_stream_that_all_had_received_has_nothing_after_its_end(a2a: Run, streams: Path) -> None:
    with edited(streams) as file:
        file["stop_rule"][:] = schema.STOP_RULES.index("messages")
        file["ticks_lost"][:] = 3
    rows = rows_of(a2a, streams)
    assert only(rows, "threads")["messages"] == only(rows, TX)["messages"] == "399"


def test_a_round_trip_is_a_request_and_an_answer(a2a: Run, tmp_path: Path) -> None:
    path = native_echo.write(tmp_path / "e.h5")
    rows = rows_of(a2a, path)
    row = only(rows, TX, 1)
    assert numbers(row, "messages", "bytes") == [3600, 1800 * (30 + 1024)]
    assert numbers(row, "per_message") == [2.25]
    with edited(path) as file:  # by time: two requests may have no answer, of 1800 trips
        file["stop_rule"][:] = schema.STOP_RULES.index("duration")
        file["raw/trip_places"][1, 0, 0] = 18
    rows = rows_of(a2a, path)
    assert only(rows, TX, 0)["messages"] == "3600"
    assert only(rows, TX, 1)["messages"] == ""
    assert only(rows, TX, 1)["sum"] == "8100"


def test_text_leaves_out_what_never_happened(a2a: Run, streams: Path) -> None:
    outcome = a2a("table", streams, "--counters")
    heading, first, *others = outcome.out.splitlines()
    assert heading.split() == [
        *("msg", "B", "counter", "(timed)", "of", "sum", "min", "max", "most", "at", "per"),
        *("message", "per", "GB", "per", "s"),
    ]
    assert first.split() == ["8", "involuntary_switches", "4", "ranks", "0", "0", "0", *"-000"]
    told = [line.split() for line in others]
    assert told[2][:4] == ["eth0/statistics/tx_bytes", "2", "nodes", "8100"]
    assert ["other", "1", "node", "7", "7", "7", "-", "-", "-", "-"] in told
    time, *_ = [line for line in told if line[:2] == ["wall", "time"]]
    assert time[-3:] == ["-", "-", "-"]  # of a time nothing is divided
    said = "left out: 7 counters with 0 at every point, 1 counter that no point has; --csv has all"
    assert said in outcome.err


def test_json_says_what_its_columns_are(a2a: Run, launch: Path) -> None:
    document: dict[str, Any] = json.loads(a2a("table", launch, "--counters", "--json").out)
    assert document["columns"]["bytes"]["units"] == "B"
    assert {row["point"] for row in document["rows"]} == {0, 1, 2, 3}


def test_files_without_counters_are_refused(a2a: Run, table_2019: Path, launch: Path) -> None:
    a2a("table", table_2019, "--counters").refused("no point here has counters")
    both = a2a("table", launch, table_2019, "--counters", "--csv", "--role", "all")
    assert {row["file"] for row in csv.DictReader(both.out.splitlines())} == {"launch.h5"}
    assert re.fullmatch(r"a2a: left out: \d+ points without counters\n", both.err)


def test_points_that_were_not_measured_are_told(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["state"][0] = schema.STATES.index("pending")
        file["state"][1] = schema.STATES.index("skipped")
        file["skip_reason"][1] = "the provider does not offer it"
        for column in ("ops", "attempts", "stop_rule"):
            file[column][1] = 0
    outcome = a2a("table", launch, "--counters")
    assert "a2a: 1 point is not measured yet\n" in outcome.err
    assert "a2a: left out: 1 point skipped\n" in outcome.err


def test_no_point_was_measured(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["state"][:] = schema.STATES.index("pending")
    a2a("table", launch, "--counters").refused("no point is measured yet")


def test_what_a_node_does_not_know_is_not_called_0(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["counters/port"][:, :, 0] = 0
        file["counters/port"][0, 1, 0] = schema.UNKNOWN
    said = a2a("table", launch, "--counters").err
    assert "1 counter with 0 where they are known" in said


@pytest.mark.parametrize("option", [("--columns", "ranks"), ("--layout", "wide")])
def test_options_of_the_other_table(a2a: Run, launch: Path, option: tuple[str, str]) -> None:
    a2a("table", launch, "--counters", *option).refused(f"{option[0]} or --counters, not both")
