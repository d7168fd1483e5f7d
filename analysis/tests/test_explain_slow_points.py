# SPDX-License-Identifier: BSD-3-Clause
"""A stream that is slow at one size, and the counters that stood out while it was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import a2aperf
from a2aperf.explain.finding import Finding
from a2aperf.workloads.stream import slow_point
from support import native_streams
from support.edited import edited

SIZES = [1 << power for power in range(16)]
AT = 9


def rates(slower: float = 1.0, noise: float = 0.0, seed: int = 0) -> NDArray[np.float64]:
    """Messages/s, at size AT so many times slower than the others have it."""
    size = np.array(SIZES, dtype=float)
    time = (500 + 0.4 * size) * np.where(np.arange(len(SIZES)) == AT, slower, 1)
    made: NDArray[np.float64] = 1e9 / time
    return made * np.random.default_rng(seed).normal(1, noise, len(SIZES))


@pytest.mark.parametrize("slower", [1.4, 3.0])
def test_a_slow_size_is_found(slower: float) -> None:
    ((at, more),) = slow_point.slow(np.array(SIZES, float), rates(slower, 0.01))
    assert at == AT
    assert more == pytest.approx(slower, rel=0.1)


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.2])
def test_noise_is_no_slow_size(noise: float) -> None:
    size = np.array(SIZES, float)
    called = sum(bool(slow_point.slow(size, rates(1, noise, seed))) for seed in range(400))
    assert called <= 0.03 * 400


@pytest.mark.parametrize("count", [10, 11])
def test_of_few_sizes_none_is_judged(count: int) -> None:
    size, rate = np.array(SIZES[:count], float), rates(1.0, 0.01)[:count]
    rate[5] /= 10
    assert [at for at, _ in slow_point.slow(size, rate)] == ([5] if count == 11 else [])


@pytest.mark.parametrize("more", [1.4, 3.0, 1 / 3])
def test_a_step_is_no_slow_size(more: float) -> None:
    stepped = rates()
    stepped[AT:] /= more
    assert slow_point.slow(np.array(SIZES, float), stepped) == []


@pytest.mark.parametrize("noise", [0.01, 0.03, 0.1])
@pytest.mark.parametrize("more", [1.4, 3.0, 1 / 3])
def test_a_step_in_noise_is_no_slow_size(more: float, noise: float) -> None:
    """Nor where messages beyond it have another way, of which the time adds up."""
    size = np.exp2(np.arange(25.0))
    wrong = 0
    for seed in range(400):
        stepped = 1e9 / (1000 + size / 10 + np.where(size >= 1 << 14, 1000 * (more - 1), 0))
        made = stepped * np.random.default_rng(seed).normal(1, noise, len(size))
        wrong += bool(slow_point.slow(size, made))
    assert wrong <= 0.03 * 400


def told(path: Path, slower: float, **counted: int) -> list[Finding]:
    """Of a file with such counters, of rank 1 or node 1, at size AT alone."""
    native_streams.write(path, sizes=SIZES)
    with edited(path) as file:
        file["msg_rate"][:] = rates(slower, 0.01)
        for name in ("involuntary_switches", "interrupts"):
            file["counters"][name][:] = 2
        file["counters/port"][:] = 5
        for name, value in counted.items():
            file["counters"][name][AT, 1] = value
    return list(a2aperf.open(path).findings("slow-point"))


@pytest.mark.parametrize("name", ["involuntary_switches", "major_faults", "interrupts"])
def test_the_counter_that_stands_out_is_named(tmp_path: Path, name: str) -> None:
    (one,) = told(tmp_path / "x.h5", 2.0, **{name: 500})
    assert "with it stand out: " + name in one.text
    assert ";" not in one.text.partition("stand out: ")[2]
    assert one.numbers["size"] == SIZES[AT]
    assert one.numbers["times"] == pytest.approx(2, rel=0.1)
    assert float(one.numbers[name]) > 500  # a second: the point lasted a quarter of one


def test_where_none_stands_out_it_is_said(tmp_path: Path) -> None:
    (one,) = told(tmp_path / "x.h5", 2.0, involuntary_switches=4)
    assert "counters stands out" in one.text


def test_a_counter_at_a_size_that_is_not_slow_is_no_finding(tmp_path: Path) -> None:
    assert told(tmp_path / "x.h5", 1.0, involuntary_switches=500) == []
