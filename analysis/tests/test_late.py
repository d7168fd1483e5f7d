# SPDX-License-Identifier: BSD-3-Clause
"""A rank that was not there when an op of all others began."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from a2aperf import loading, results
from a2aperf.explain.finders import explain
from a2aperf.raw_ops import RawOps
from a2aperf.workloads.alltoall import late
from support import synthetic

SECOND = 1_000_000_000


def test_only_who_is_long_late_and_alone() -> None:
    begin = np.array(
        [
            [2 * SECOND, 900, 50_000],
            [99_000_000, 0, 0],  # as a busy machine has it
            [2 * SECOND, 2 * SECOND, 0],  # two
            [2 * SECOND, 250_000_000, 0],
            [0, 0, SECOND],
        ]
    )
    assert late.absent(begin) == [(0, 2 * SECOND), (2, SECOND)]
    assert late.absent(begin[:0]) == []


def test_it_is_named_once_a_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synthetic.write_launch(tmp_path / "run.h5", synthetic.Setup(sizes=(1000, 8000), ops=50))
    found = loading.load([tmp_path / "run.h5"]).measured()
    assert explain(found, ("late",)) == []
    real = results.Results.raw

    def stopped(self: results.Results, file: str, point: int) -> RawOps:
        raw = real(self, file, point)
        begin, valid = raw.begin.copy(), raw.valid.copy()
        begin[7, 3], valid[7] = (1 + point) * SECOND, False
        return replace(raw, begin=begin, valid=valid)

    monkeypatch.setattr(results.Results, "raw", stopped)
    (one,) = explain(found, ("late",))
    assert one.text.startswith("rank 3 (node002) began 2 s after the common start of an op at 8000")
    assert "late like that for 2 ops in all: these ops do not count" in one.text
    assert one.numbers == {"rank": 3, "ops": 2, "late_ns": 2 * SECOND}
