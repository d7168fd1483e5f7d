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


def shared_memory() -> set[Path]:
    """What libfabric's shm provider keeps for each rank; the name begins with the rank's process id."""
    return set(Path("/dev/shm").glob("[0-9]*:[0-9]*"))


def remove_what_killed_ranks_left(before: set[Path]) -> None:
    """A later rank that gets the same process id could not open its endpoint."""
    for file in shared_memory() - before:
        if not Path(f"/proc/{file.name.partition(':')[0]}").exists():
            file.unlink(missing_ok=True)
