# SPDX-License-Identifier: BSD-3-Clause
"""Averages per second of an open loop that have several modes are told, and others are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from a2aperf import loading, schema
from a2aperf.explain.finding import Finding
from a2aperf.workloads.open_loop import averages
from conftest import Outcome
from support import native_open_loop
from support.edited import edited
from support.native_open_loop import DURATION, Loop

Run = Callable[..., Outcome]
MS = 10**6
STRETCHED = 4
INTERVALS = STRETCHED * DURATION // MS
SLOW_NS = 60_000


def written(path: Path, later: NDArray[np.bool_], noise: float = 0.0, seed: int = 3) -> Path:
    """In each of these intervals of 1 ms every message takes so much longer."""
    native_open_loop.write(path, (Loop(25_000),))
    random = np.random.default_rng(seed)
    with edited(path) as file:
        due, trip = file["raw/request_due"][()], file["raw/round_trip"][()]
        there = due != schema.NO_MOMENT
        due[there] *= STRETCHED
        place = np.minimum(due[there] // MS, INTERVALS - 1)
        scale = np.exp(noise * random.normal(size=INTERVALS))[place]
        trip[there] = scale * (trip[there] + SLOW_NS * later[place])
        file["raw/request_due"][...], file["raw/round_trip"][...] = due, trip
        file["asked_duration"][...] = STRETCHED * DURATION
    return path


def told(path: Path) -> list[Finding]:
    return averages.find(loading.load([path]).complete(("open-loop",)))


def by_chance(share: float, seed: int = 5) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(INTERVALS) < share


def test_two_modes(a2a: Run, tmp_path: Path) -> None:
    is_slow = by_chance(0.4)
    path = written(tmp_path / "o.h5", is_slow, noise=0.05)
    (one,) = told(path)
    assert one.n == INTERVALS
    assert one.numbers["share_1"] == pytest.approx(is_slow.mean())
    assert one.numbers["median_1"] == pytest.approx(67_000, rel=0.05)
    assert "the mean latencies of each 0.001 s have 2 modes" in one.text
    assert "Averages per second in several modes" in a2a("explain", path).out


def test_long_stays_in_either_are_two_modes_too(tmp_path: Path) -> None:
    is_slow = np.arange(INTERVALS) // 20 % 2 == 1
    (one,) = told(written(tmp_path / "o.h5", is_slow, noise=0.05))
    assert one.numbers["share_1"] == pytest.approx(0.5)


def test_a_point_of_a_number_of_messages(a2a: Run, tmp_path: Path) -> None:
    path = written(tmp_path / "o.h5", by_chance(0.4), noise=0.05)
    with edited(path) as file:
        file["asked_duration"][...] = schema.UNKNOWN
    (one,) = told(path)
    assert one.n == INTERVALS - 1
    assert a2a("explain", path).status == 0


@pytest.mark.parametrize("noise", [0.02, 0.5])
def test_one_mode(tmp_path: Path, noise: float) -> None:
    for seed in range(10):
        path = tmp_path / f"{seed}.h5"
        assert told(written(path, by_chance(0), noise, seed)) == []


def test_a_pause_is_no_mode(tmp_path: Path) -> None:
    assert told(written(tmp_path / "o.h5", np.arange(INTERVALS) == 30, noise=0.05)) == []


def test_of_few_intervals_nothing_is_said(tmp_path: Path) -> None:
    assert told(native_open_loop.write(tmp_path / "o.h5", (Loop(25_000),))) == []


def test_where_the_rate_is_not_kept_nothing_is_said(tmp_path: Path) -> None:
    path = written(tmp_path / "o.h5", by_chance(0.4), noise=0.05)
    with edited(path) as file:
        file["achieved_rate"][...] = 0.9 * file["offered_rate"][()]
    assert told(path) == []
