# SPDX-License-Identifier: BSD-3-Clause
"""Round trips of several clients depend on what came before them of the same client."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a2aperf import derived, loading, metrics, schema
from conftest import Outcome
from support import native_echo
from support.edited import edited

A2A = Callable[..., Outcome]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_echo.write(tmp_path / "e.h5")


def interleaved(path: Path) -> list[dict[str, Any]]:
    """The figures of each point as programs wrote them that took all clients in turn."""
    found = loading.load([path])
    (file,) = found.files
    columns = found.own_columns(file)
    made = []
    for point in range(len(native_echo.SIZES)):
        trips = found.own(file, point, columns["round_trip"])
        kept = trips[trips != schema.NO_MOMENT].astype(np.float64)
        assert (trips != schema.NO_MOMENT).any(axis=0).sum() > 1
        figures = derived.quantile_intervals(kept)
        kind = schema.INTERVAL_KINDS.index(figures["interval_kind"])
        known = {"interval_kind": kind, "autocorrelation": metrics.autocorrelation(kept)}
        made.append({**figures, **known})
    return made


def write(path: Path, figures: list[dict[str, Any]], worse: float = 0.0) -> None:
    with edited(path) as file:
        for point, one in enumerate(figures):
            for name, value in one.items():
                file[name][point] = value + worse * (name == "autocorrelation")


def test_they_are_one_client_after_the_other(path: Path, a2a: A2A) -> None:
    assert a2a("check", path).status == 0
    (older, *_) = interleaved(path)
    stored = loading.load([path]).points.iloc[0]["autocorrelation"]
    assert older["autocorrelation"] != pytest.approx(stored, abs=1e-6)


def test_older_files_with_all_clients_in_turn_are_sound(path: Path, a2a: A2A) -> None:
    write(path, interleaved(path))
    checked = a2a("check", path)
    assert checked.status == 0, checked


def test_what_neither_gives_is_found(path: Path, a2a: A2A) -> None:
    write(path, interleaved(path), worse=0.01)
    checked = a2a("check", path)
    assert checked.status != 0
    assert "autocorrelation is" in checked.out
