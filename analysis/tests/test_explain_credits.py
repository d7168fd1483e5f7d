# SPDX-License-Identifier: BSD-3-Clause
"""Where a window's credits bind a stream: windows that take the same time tell its round trip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import a2aperf
from a2aperf.explain.finding import Finding
from a2aperf.workloads.stream.credit_bound import bound
from support.synthetic_streams import Pipe, write_streams

WINDOWS = (1, 2, 4, 8, 16, 32)


def told(path: Path, launches: list[list[Pipe]]) -> list[Finding]:
    return list(a2aperf.open(write_streams(path / "x.h5", launches)).findings("credits"))


def test_the_round_trip_and_the_window_that_the_highest_rate_needs(tmp_path: Path) -> None:
    """2 million messages/s over a round trip of 4 µs are 8 under way."""
    pipes = [Pipe(window=window, round_trip_ns=4000, sizes=(8, 64)) for window in WINDOWS]
    (one,) = told(tmp_path, [pipes])
    for size in (8, 64):
        assert one.numbers[f"round trip at {size} B"] == pytest.approx(4000, rel=1e-3)
        assert one.numbers[f"window needed at {size} B"] == pytest.approx(8, rel=1e-3)
        assert one.numbers[f"largest bound window at {size} B"] == 8
    assert "8\xa0B 4 µs (windows 1 to 8), and 2.00 million messages/s need 8.0" in one.text
    assert one.weight == 2


def test_where_credits_do_not_bind_no_round_trip_is_told(tmp_path: Path) -> None:
    pipes = [Pipe(window=window, round_trip_ns=100, sizes=(8, 64)) for window in WINDOWS]
    (one,) = told(tmp_path, [pipes])
    assert (
        "credits are not seen to bind: the smallest window and one at least 2 times as" in one.text
    )
    assert (one.abstains, one.weight, dict(one.numbers)) == (True, 0, {})


@pytest.mark.parametrize("windows", [WINDOWS, (8, 16), (32, 48, 64, 96, 128)])
@pytest.mark.parametrize("growth", [0.0, 0.26])
def test_noise_binds_no_window(windows: tuple[int, ...], growth: float) -> None:
    """Of windows by which the rate does not grow, or by a fifth with each doubling."""
    wrong = 0
    for seed in range(400):
        noise = np.random.default_rng(seed).normal(0, 0.1, len(windows))
        rate = 1e6 * (np.array(windows) / windows[0]) ** growth * np.exp(noise)
        wrong += bound(pd.Series(rate, index=windows), 8) is not None
    assert wrong <= 0.01 * 400


def test_one_window_tells_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, [[Pipe(window=32)]]) == []


def test_the_median_of_several_launches_counts(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    launches = [
        [Pipe(window=w, speed=float(rng.normal(1, 0.03)), sizes=(8,)) for w in WINDOWS]
        for _ in range(7)
    ]
    (one,) = told(tmp_path, launches)
    assert one.numbers["round trip at 8 B"] == pytest.approx(4000, rel=0.03)
    assert one.sample == "7 launches"


def test_each_of_several_streams_has_a_window_of_its_own(tmp_path: Path) -> None:
    """Four ranks are two pairs: a window of each takes a round trip."""
    pipes = [Pipe(window=w, ranks=4, pairs="halves", sizes=(8,)) for w in WINDOWS]
    (one,) = told(tmp_path, [pipes])
    assert one.numbers["round trip at 8 B"] == pytest.approx(8000, rel=1e-3)
    assert "of each of 2 streams" in one.text


def test_settings_that_differ_in_more_than_the_window_are_apart(tmp_path: Path) -> None:
    pipes = [Pipe(window=4, mode="msg", sizes=(8,)), Pipe(window=8, sizes=(8,))]
    assert told(tmp_path, [pipes]) == []


def test_reads_take_two_round_trips(tmp_path: Path) -> None:
    (one,) = told(tmp_path, [[Pipe(mode="read", window=w, sizes=(8,)) for w in WINDOWS]])
    assert "a window takes two round trips" in one.text
