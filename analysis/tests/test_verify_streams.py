# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a stream are those of its samples, and its ticks add up to them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Outcome
from support import native_streams
from support.edited import edited

Run = Callable[..., Outcome]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_streams.write(tmp_path / "s.h5")


def test_the_number_of_ops_is_that_of_the_samples(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["ops"][1] *= 2
    outcome = a2a("check", path)
    assert outcome.status == 2
    said = "1 valid ops in /raw, 2 in the summary"
    assert f"point 1 (4 ranks, 1000 B): {said}" in outcome.out


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("tick_sent", (1, 0, 0), 7, "tick_sent of rank 0 adds up to "),
        ("tick_received", (1, 1, 3), 7, "tick_received of rank 3 adds up to "),
        ("tick_sent", (1, 0, 1), -4, "tick_sent has not a number of messages for each tick"),
        ("tick_end", (1, 1, 2), 5, "tick_end: its ticks do not follow each other in time"),
        ("messages_received", (1, 0, 2), 7, "messages is "),
        ("rank_longest_wait", (1, 0, 0), 10**7, "longest_wait is "),
        ("recv_done", (1, 0, 2), 240_500_000, "stream_time is "),
    ],
)
def test_a_sample_that_does_not_fit(
    a2a: Run, path: Path, name: str, place: tuple[int, ...], value: int, words: str
) -> None:
    with edited(path) as file:
        file["raw"][name][place] = value
    outcome = a2a("check", path)
    assert (outcome.status, words in outcome.out) == (2, True), outcome


def test_ticks_that_were_lost_are_missing(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["raw/tick_sent"][0, 0, 0] -= 5
        file["ticks_lost"][0] = 2
    assert a2a("check", path).status == 0


@pytest.mark.parametrize("pairs", ["0:2,1:3", "neighbours", "1:2", "thirds", "0:9"])
def test_who_sends_is_told_by_the_pairs(a2a: Run, path: Path, pairs: str) -> None:
    """0:2 and 1:3 are the halves; neighbours would be from 0 to 1 and from 2 to 3."""
    with edited(path) as file:
        file["stream_pairs"][:] = pairs
    outcome = a2a("check", path)
    assert outcome.status == (0 if pairs == "0:2,1:3" else 2), outcome
    if pairs in ("thirds", "0:9"):
        assert f"stream_pairs '{pairs}' are no pairs of 4 ranks" in outcome.out


@pytest.mark.parametrize("name", ["longest_wait", "stream_pairs"])
def test_a_column_that_is_gone_is_told(a2a: Run, path: Path, name: str) -> None:
    with edited(path) as file:
        del file[name]
    assert f"column {name} is missing" in a2a("check", path).out
