# SPDX-License-Identifier: BSD-3-Clause
"""What was counted before and after each point, and the table that shows it."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import Outcome
from support import counter_values, native_streams, synthetic
from support.edited import edited

Run = Callable[..., Outcome]
PORT = "hfi1_0/1/counters/port_xmit_wait"
ARROW = "before → after (difference)"


def rows_of(a2a: Run, path: Path, *options: str) -> list[dict[str, str]]:
    outcome = a2a("table", path, "--counters", "--values", "--csv", *options)
    return list(csv.DictReader(outcome.out.splitlines()))


def three(row: dict[str, str]) -> list[str]:
    return [row[name] for name in ("before", "after", "difference")]


def of(rows: list[dict[str, str]], counter: str, point: int = 0) -> list[dict[str, str]]:
    return [row for row in rows if (row["counter"], row["point"]) == (counter, str(point))]


def line_of(outcome: Outcome, *words: str) -> str:
    """Of the first point."""
    return next(line for line in outcome.out.splitlines() if " ".join(words) in line)


def set_faults(file: h5py.File, before: int, between: int = 0) -> None:
    """Rank r counts 3 r more at point 0; `between` more are in no block."""
    change = 3 * np.arange(8)
    file["counters/minor_faults"][0] = change
    counter_values.put(file, "before_minor_faults", 0, before)
    counter_values.put(file, "after_minor_faults", 0, before + change + between)


def test_each_rank_and_node_has_its_own(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        set_faults(file, 1000)
        file["counters/port"][0, :, 0] = [5, 0, 9, 2]
        counter_values.put(file, "before_port", 0, [100, 200, 300, 400])
        counter_values.put(file, "after_port", 0, [105, 200, 309, 402])
    rows = rows_of(a2a, launch)
    faults = of(rows, "minor_faults")
    assert [row["rank"] for row in faults] == [str(rank) for rank in range(8)]
    assert [row["node"] for row in faults] == [f"node00{1 + rank // 2}" for rank in range(8)]
    assert three(faults[7]) == ["1000", "1021", "21"]
    port = of(rows, PORT)
    assert [row["node"] for row in port] == ["node001", "node002", "node003", "node004"]
    assert {row["rank"] for row in port} == {""}
    assert three(port[2]) == ["300", "309", "9"]
    assert a2a("check", launch).out == f"{launch}: sound\n"


def test_a_level_has_the_value_of_both_moments(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        counter_values.put(file, "before_resident_memory", 0, 30_000_100)
        counter_values.put(file, "before_cpu_frequency", 0, 3_700_000)
        slowed = np.full(8, 2_100_000)
        slowed[3] = -1
        counter_values.put(file, "after_cpu_frequency", 0, slowed)
    rows = rows_of(a2a, launch)
    assert three(of(rows, "resident_memory")[0]) == ["30000100", "30000000", "-100"]
    frequency = of(rows, "cpu_frequency")
    assert {row["counter_units"] for row in frequency} == {"kHz"}
    assert three(frequency[0]) == ["3700000", "2100000", "-1600000"]
    assert three(frequency[3]) == ["3700000", "", ""]
    text = a2a("table", launch, "--counters", "--values")
    told = line_of(text, "cpu frequency kHz")
    assert "7 of 8 ranks, mean" in told
    assert "3700000 → 2100000 (-1600000)" in told
    assert "240000800 → 240000000 (-800)" in line_of(text, "resident memory B")


def test_text_has_the_sum_and_who_changed_most(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        set_faults(file, 1000)
        file["counters/user_time"][0] = 1500
        counter_values.put(file, "before_user_time", 0, 10**9 + 1)
        counter_values.put(file, "after_user_time", 0, 10**9 + 1501)
    outcome = a2a("table", launch, "--counters", "--values")
    heading = outcome.out.splitlines()[0]
    assert heading.count(ARROW) == 2
    assert line_of(outcome, "minor_faults").split() == [
        *("minor_faults", "8", "ranks", "8000", "→", "8084", "(84)"),
        *("7", "1000", "→", "1021", "(21)"),
    ]
    assert "8000000.008 → 8000012.008 (12)" in line_of(outcome, "user time µs")
    assert "not before + difference" not in outcome.err


def test_what_is_counted_between_blocks_is_told(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        set_faults(file, 1000, between=4)
    outcome = a2a("table", launch, "--counters", "--values")
    assert "8000 → 8116 (84)" in line_of(outcome, "minor_faults")
    assert "a2a: at 1 point the value after is not before + difference" in outcome.err
    assert a2a("check", launch).out == f"{launch}: sound\n"


def test_a_counter_that_was_reset_has_no_difference(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["counters/port"][0, :, 0] = [5, -1, 9, 2]
        counter_values.put(file, "before_port", 0, [100, 200, 300, 400])
        counter_values.put(file, "after_port", 0, [105, 3, 309, 402])
    assert three(of(rows_of(a2a, launch), PORT)[1]) == ["200", "3", ""]
    told = line_of(a2a("table", launch, "--counters", "--values"), PORT)
    assert "3 of 4 nodes" in told
    assert "800 → 816 (16)" in told
    with edited(launch) as file:
        file["counters/port"][0, :, 0] = -1
    told = line_of(a2a("table", launch, "--counters", "--values"), PORT)
    assert "1000 → 819 (-)" in told


def test_what_was_reset_or_rose_between_blocks_alone_is_shown(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["counters/port"][:] = -1
        set_faults(file, 0)
        for point in range(len(file["state"])):
            counter_values.put(file, "before_port", point, [100, 200, 300, 400])
            counter_values.put(file, "after_port", point, [1, 2, 3, 4])
    told = a2a("table", launch, "--counters", "--values")
    assert "1000 → 10 (-)" in line_of(told, PORT)


@pytest.mark.parametrize("form", ["text", "csv"])
def test_older_files_have_the_difference_alone(a2a: Run, launch: Path, form: str) -> None:
    with edited(launch) as file:
        set_faults(file, 1000)
        counter_values.remove(file)
    assert a2a("check", launch).out == f"{launch}: sound\n"
    if form == "csv":
        rows = rows_of(a2a, launch)
        assert three(of(rows, "minor_faults")[7]) == ["", "", "21"]
        assert three(of(rows, "threads")[0]) == ["", "2", ""]
        return
    outcome = a2a("table", launch, "--counters", "--values")
    said = line_of(outcome, "minor_faults").split()
    assert said == ["minor_faults", "8", "ranks", "(84)", "7", "(21)"]
    assert "- → 16 (-)" in line_of(outcome, "threads")
    assert "a2a: 4 points without values before and after: older files" in outcome.err


@pytest.mark.parametrize("phase", ["verification", "start"])
def test_other_phases_have_the_difference_alone(a2a: Run, launch: Path, phase: str) -> None:
    outcome = a2a("table", launch, "--counters", "--values", "--phase", phase)
    assert f"counter ({phase})" in outcome.out.splitlines()[0]
    assert "→" not in "".join(outcome.out.splitlines()[1:])
    assert "there are differences alone" in outcome.err
    rows = rows_of(a2a, launch, "--phase", phase)
    assert {row["before"] for row in rows} == {""}
    assert {row["phase"] for row in rows} == {phase}
    assert rows[0]["difference"] != ""


def test_a_file_without_any_value_of_its_nodes(a2a: Run, tmp_path: Path) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    outcome = a2a("table", path, "--counters", "--values")
    assert "(8100)" in line_of(outcome, "eth0/statistics/tx_bytes")
    assert "counters without a change at any point; --csv has all" in outcome.err


def test_json_says_what_its_columns_are(a2a: Run, launch: Path) -> None:
    document = json.loads(a2a("table", launch, "--counters", "--values", "--json").out)
    for name in ("before", "after", "difference", "rank", "node", "counter"):
        assert document["columns"][name]["long_name"]
    row = next(one for one in document["rows"] if one["counter"] == "cpu_frequency")
    assert (row["before"], row["after"], row["difference"]) == (2_100_000, 3_700_000, 1_600_000)


def test_values_are_those_of_counters(a2a: Run, launch: Path, table_2019: Path) -> None:
    a2a("table", launch, "--values").refused("--values is of --counters: give both")
    a2a("table", launch, "--nodes", "--values").refused("--values or --nodes, not both")
    a2a("table", table_2019, "--counters", "--values").refused("no point here has counters")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("after_minor_faults", 1, "after_minor_faults is less than the value before"),
        ("before_user_time", -2, "before_user_time has -2"),
        ("before_threads", 0, "before_threads has 0"),
        ("after_cpu_frequency", 10**9, "after_cpu_frequency has 1000000000"),
        ("before_node_idle_time", -5, "before_node_idle_time has -5"),
    ],
)
def test_what_cannot_be_is_found(a2a: Run, launch: Path, name: str, value: int, says: str) -> None:
    with edited(launch) as file:
        counter_values.put(file, name, 1, value)
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert says in outcome.out


def test_a_column_that_is_not_known_is_not_read_and_is_not_lost_by_a_copy(
    a2a: Run, launch: Path, tmp_path: Path
) -> None:
    with edited(launch) as file:
        attributes = file["counters/values_of_ranks"].attrs
        attributes["counters"] = attributes["counters"].replace("before_threads", "before_dreams")
    rows = rows_of(a2a, launch)
    assert three(of(rows, "threads")[0]) == ["", "2", ""]
    assert not of(rows, "dreams")
    other = synthetic.write_launch(tmp_path / "other.h5", synthetic.Setup(seed=5))
    outcome = a2a("merge", launch, other, "-o", tmp_path / "copy.h5")
    assert "knows nothing of /counters/values_of_ranks/before_dreams" in outcome.err


@pytest.mark.parametrize("names", ["before_threads", "before_threads before_threads"])
def test_columns_that_cannot_be_are_found(a2a: Run, launch: Path, names: str) -> None:
    with edited(launch) as file:
        file["counters/values_of_ranks"].attrs["counters"] = names
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "values_of_ranks" in outcome.out


def test_columns_are_in_the_order_of_the_program(launch: Path) -> None:
    """Else a copy has other checksums than what was measured."""
    golden = (Path(__file__).parents[2] / "test/golden/alltoall-file.txt").read_text()
    with h5py.File(launch) as file:
        for name in counter_values.NAMES:
            assert f"@counters text = {file['counters'][name].attrs['counters']}\n" in golden


def test_they_take_few_bytes(launch: Path) -> None:
    """A dataset for each would take some 130 kB."""
    with h5py.File(launch) as file:
        assert {one for one in file["counters"] if "value" in one} == {
            *("values_of_ranks", "values_of_nodes", "rank_value", "node_value"),
        }
        names = file["counters/values_of_ranks"].attrs["counters"].split()
    assert "before_wall_time" not in names
    assert "before_threads" in names
    assert "after_threads" not in names
