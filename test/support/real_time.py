# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that go before whatever else this machine does."""

import fcntl
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

REAL_TIME = ["chrt", "--fifo", "20"]


@contextmanager
def a_core_for_each() -> Iterator[list[str]]:
    """What goes before the program of two ranks: each has a core, with a real-time priority.

    One test at a time, or the ranks of another one, which never sleep either, would keep these from their cores.
    """
    require()
    first, second = cores()
    with (Path(tempfile.gettempdir()) / f"a2aperf-real-time-{os.getuid()}").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        script = f'((r = OMPI_COMM_WORLD_RANK)); exec {shlex.join(REAL_TIME)} taskset -c $((r ? {second} : {first})) "$@"'
        yield ["bash", "-c", script, "bind"]


def cores() -> list[int]:
    """That of rank 0 and that of rank 1."""
    found = sorted(os.sched_getaffinity(0))[:2]
    if len(found) < 2:
        pytest.skip("needs two cores")
    return found


def require() -> None:
    """Skips where no such priority can be had."""
    try:
        may = subprocess.run([*REAL_TIME, "true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        may = False
    if not may:
        pytest.skip("no real-time priority can be had here")
