# SPDX-License-Identifier: BSD-3-Clause
"""What a job can be given in a partition; test/slurm asks a real Slurm."""

from __future__ import annotations

import math

import pytest

from a2aperf.errors import InputError
from a2aperf.studies import partitions
from a2aperf.studies.partitions import Partition

MAIN = Partition("main", True, 20, None, None, None)
SHORT = Partition("short", False, 100, 10, 60.0, 30.0)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("90", 90.0),
        ("1:30", 1.5),
        ("1:30:00", 90.0),
        ("2-12", 3600.0),
        ("2-12:30", 3630.0),
        ("1-00:00:30", 1440.5),
        ("UNLIMITED", None),
        ("NONE", None),
        ("", None),
    ],
)
def test_times_are_read_as_slurm_writes_them(text: str, minutes: float | None) -> None:
    assert partitions.minutes(text) == minutes


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(5.0, "0:05:00"), (5.1, "0:06:00"), (90.0, "1:30:00"), (1440.0, "1-0:00:00")],
)
def test_times_are_written_as_sbatch_takes_them(minutes: float, text: str) -> None:
    assert partitions.clock(minutes) == text


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["main"]),
        (["--partition=short"], ["short"]),
        (["-p", "short"], ["short"]),
        (["-pshort"], ["short"]),
        (["--partition", "main,short"], ["main", "short"]),
        (["-p", "main", "--partition=short"], ["short"]),
        (["--clusters=other"], []),
        (["--parsable"], ["main"]),
    ],
)
def test_the_partition_of_a_job(words: list[str], names: list[str]) -> None:
    assert [x.name for x in partitions.of_job(words, [MAIN, SHORT])] == names


@pytest.mark.parametrize(
    ("name", "value", "words", "names"),
    [
        ("SBATCH_PARTITION", "short", [], ["short"]),
        ("SBATCH_PARTITION", "short", ["-p", "main"], ["main"]),
        ("SBATCH_RESERVATION", "night", [], []),
        ("SBATCH_CLUSTERS", "other", ["-p", "main"], []),
    ],
)
def test_the_partition_of_a_job_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: list[str], names: list[str]
) -> None:
    monkeypatch.setenv(name, value)
    assert [x.name for x in partitions.of_job(words, [MAIN, SHORT])] == names


def test_the_time_limit_of_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (["-t", "90"], ["--time", "90"], ["--time=90"], ["-t90"], ["-t=90"]):
        assert partitions.time_of_job(words) == "90"
    assert partitions.time_of_job(["--parsable"]) == ""
    monkeypatch.setenv("SBATCH_TIMELIMIT", "30")
    assert partitions.time_of_job(["--parsable"]) == "30"
    assert partitions.time_of_job(["-t", "90"]) == "90"


def test_a_partition_that_is_not_there() -> None:
    with pytest.raises(InputError, match="unknown partition 'nosuch': expected one of main, short"):
        partitions.of_job(["--partition=main,nosuch"], [MAIN, SHORT])
    assert partitions.of_job(["--partition=nosuch"], []) == []


@pytest.mark.parametrize(
    ("nodes", "time", "places"),
    [
        (20, "", [MAIN]),
        (20, "7-0", [MAIN]),
        (20, "0", [MAIN]),
        (20, "0", [MAIN, SHORT]),
        (20, "INFINITE", [MAIN]),
        (10, "1:00:00", [SHORT]),
        (20, "2:00:00", [MAIN, SHORT]),
        (999, "7-0", []),
    ],
)
def test_what_can_run_is_let_through(nodes: int, time: str, places: list[Partition]) -> None:
    partitions.require_room(nodes, time, places)


@pytest.mark.parametrize(
    ("nodes", "time", "place", "says"),
    [
        (21, "", MAIN, "-N 21: a job in partition main gets up to 20 nodes"),
        (11, "", SHORT, "-N 11: a job in partition short gets up to 10 nodes"),
        (10, "61", SHORT, "-t 61: a job in partition short gets up to 1:00:00"),
        (10, "0", SHORT, "-t 0: a job in partition short gets up to 1:00:00"),
        (10, "0:00:00", SHORT, "-t 0:00:00: a job in partition short gets up to 1:00:00"),
        (10, "unlimited", SHORT, "-t unlimited: a job in partition short gets up to 1:00:00"),
        (10, "INFINITE", SHORT, "-t INFINITE: a job in partition short gets up to 1:00:00"),
    ],
)
def test_what_would_wait_for_ever_is_refused(
    nodes: int, time: str, place: Partition, says: str
) -> None:
    with pytest.raises(InputError, match="would wait for ever") as refused:
        partitions.require_room(nodes, time, [place])
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("time", "minutes"),
    [("0", math.inf), ("0:00", math.inf), ("Infinite", math.inf), ("0:01", 1 / 60), ("x", None)],
)
def test_a_limit_of_zero_is_none(time: str, minutes: float | None) -> None:
    assert partitions.limit_asked(time) == minutes
