# SPDX-License-Identifier: BSD-3-Clause
"""What comes of a task in a process of its own, whatever it does."""

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a2aperf import check
from support import forked, mutants
from support.forked import DIED, FULL


def exhaust() -> str:
    return str(len(bytearray(8 << 30)))


def exhaust_by_array() -> str:
    return str(np.ones(1 << 30).size)


def exhaust_by_little() -> str:
    kept = []
    while True:
        kept.append(bytearray(16 << 20))


def crash() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def fail() -> str:
    raise ValueError("no task")


def leave() -> str:
    os._exit(0)


@pytest.mark.parametrize(
    ("task", "fate"),
    [
        (lambda: "done", "done"),
        (exhaust, FULL),
        (exhaust_by_array, FULL),
        (exhaust_by_little, FULL),
        (crash, DIED),
        (fail, DIED),
        (leave, DIED),
    ],
)
def test_each_fate_has_a_name(task: Callable[[], str], fate: str) -> None:
    assert forked.forked(task) == fate


def test_a_lower_limit_of_whoever_called_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (-1, 1 << 30))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits))
    assert forked.forked(lambda: str(asked)) == f"{[(1 << 30, 1 << 30)]}"


def test_a_mutant_that_exhausts_memory_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And neither found nor the same."""
    monkeypatch.setattr(check, "findings_of_damaged", lambda path, progress: exhaust())
    path = tmp_path / "x.h5"
    assert forked.forked(lambda: mutants.fate(path, [])) == FULL
