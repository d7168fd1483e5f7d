# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a stream's messages at limits that are known: found, and not found in noise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import a2aperf
from a2aperf import loading
from a2aperf.workloads.stream import thresholds
from conftest import DATA, Outcome
from support.synthetic_streams import Pipe, write_streams

Run = Callable[..., Outcome]
SIZES = [1 << power for power in range(21)]
LIMIT = 64
AT = SIZES.index(LIMIT)


def rates(step: float = 0.0, noise: float = 0.0, seed: int = 0) -> pd.Series:
    """Messages/s that cost 500 ns and a byte 0.4 ns, and above LIMIT `step` of the 500 more."""
    size = np.array(SIZES, dtype=float)
    time = 500 * (1 + step * (size > LIMIT)) + 0.4 * size
    return pd.Series(1e9 / time, index=SIZES) * np.random.default_rng(seed).normal(
        1, noise, len(SIZES)
    )


@pytest.mark.parametrize("step", [-0.2, 0.08, 0.2, 0.5])
def test_a_step_is_found_with_its_size(step: float) -> None:
    assert thresholds.step(rates(step, 0.005), AT, 2) == pytest.approx(np.log1p(step), abs=0.04)


@pytest.mark.parametrize("noise", [0.005, 0.03, 0.1])
def test_noise_is_no_step(noise: float) -> None:
    """In no more than one of 20 files in which three limits are looked at."""
    called = sum(
        any(thresholds.step(rates(0, noise, seed), at, 3) is not None for at in (4, AT, 12))
        for seed in range(400)
    )
    assert called <= 0.05 * 400


@pytest.mark.parametrize("at", [AT - 1, AT, AT + 1, AT + 2])
def test_one_slow_size_is_no_step(at: int) -> None:
    slow = rates(0, 0.003)
    slow.iloc[at] /= 1.5
    assert thresholds.step(slow, AT, 1) is None


def test_inline_limit_of_the_published_passive_mode(a2a: Run, tmp_path: Path) -> None:
    """Queues take 28 B inline: 32 B cost what 16 B do not."""
    assert a2a("import", DATA / "loopback-32-buffers.txt", "-o", tmp_path / "x.h5").status == 0
    (one,) = a2aperf.open(tmp_path / "x.h5").findings("thresholds")
    assert "mode write" in one.where
    assert "known there: max_inline_data (28 B)" in one.text
    assert (one.numbers["below"], one.numbers["above"]) == (16, 32)
    assert one.numbers["change"] == pytest.approx(0.09, abs=0.02)


@pytest.mark.parametrize(
    ("provider", "takes", "told"),
    [
        ("verbs;ofi_rxm", ["64", "64"], True),
        ("verbs", ["", "64"], True),
        ("verbs", ["256", "256"], False),  # another limit, and no step there
        ("verbs", ["", ""], False),
        ("verbs;ofi_rxd", ["64", "64"], False),  # over datagrams
        ("tcp", ["64", "64"], False),
    ],
)
def test_what_an_adapter_takes_inline_is_a_limit_over_verbs(
    tmp_path: Path, provider: str, takes: list[str], told: bool
) -> None:
    fast = Pipe(messages=2e6, sizes=[x for x in SIZES if x <= LIMIT])
    rest = Pipe(messages=1.4e6, sizes=[x for x in SIZES if x > LIMIT])
    found = loading.load([write_streams(tmp_path / "x.h5", [[fast, rest]])])
    for launch in found.launches.values():
        launch.attributes["provider"] = provider
        launch.node_facts["nic_max_inline_data"] = takes
    findings = thresholds.find(found)
    assert len(findings) == told
    for one in findings:
        assert "known there: nic_max_inline_data (64 B)" in one.text
        assert (one.numbers["below"], one.numbers["above"]) == (64, 128)


@pytest.mark.parametrize("has_step", [True, False])
def test_end_of_the_inject_path_by_what_was_injected(tmp_path: Path, has_step: bool) -> None:
    slower = 1.4e6 if has_step else 2e6
    fast = Pipe(messages=2e6, sizes=[x for x in SIZES if x <= LIMIT], inject=1)
    rest = Pipe(messages=slower, sizes=[x for x in SIZES if x > LIMIT], inject=0)
    path = write_streams(tmp_path / "x.h5", [[fast, rest]])
    told = a2aperf.open(path).findings("thresholds")
    assert len(told) == has_step
    for one in told:
        assert "end of the inject path (64 B)" in one.text
        assert one.numbers["change"] == pytest.approx(2 / 1.4 - 1, abs=0.02)
