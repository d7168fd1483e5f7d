# SPDX-License-Identifier: BSD-3-Clause
"""Processes that a test started, found by the folder that they run in."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def running_in(folder: Path, seconds: float = 5) -> list[int]:
    """Ids of the processes that still run in the folder once there was time to end."""
    found: list[int] = []

    def is_empty() -> bool:
        found[:] = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and works_in(entry)]
        return not found

    def works_in(entry: Path) -> bool:
        try:
            return os.readlink(entry / "cwd") == str(folder)
        except OSError:
            return False  # gone, or another user's

    wait_until(is_empty, seconds)
    return found


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """True when the condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
