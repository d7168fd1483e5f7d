# SPDX-License-Identifier: BSD-3-Clause
"""Processes that a test started, found by the folder that they run in."""

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 900  # s until something that must happen has happened, on a machine with other things to do


def running_in(folder: Path, seconds: float = PATIENCE) -> list[int]:
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


def parent(process: int) -> int:
    """The process that started this one."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:")))


def state(process: int) -> str:
    """One letter: T of one that is stopped."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(line.split()[1] for line in status.splitlines() if line.startswith("State:"))


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """True when the condition came true in time.

    Looking takes a fifth of a core at most, the commands that it calls included: what is waited for needs the cores.
    """
    deadline = time.monotonic() + seconds
    before = spent()
    while not condition():
        if time.monotonic() > deadline:
            return False
        after = spent()
        time.sleep(min(max(4 * (after - before), 0.02), 0.5))
        before = after
    return True


def spent() -> float:
    """CPU time of this process and of those that it has waited for, in s."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def shared_memory() -> set[Path]:
    """What libfabric's shm provider and Open MPI keep for each rank."""
    patterns = ("a2aperf.*", "[0-9]*:[0-9]*", "vader_segment.*")
    return {file for pattern in patterns for file in Path("/dev/shm").glob(pattern)}


def remove_what_killed_ranks_left(before: set[Path]) -> None:
    """A later rank that gets the same process id, or a launch the same number, could not open its own.

    Another test may run at the same time: what one of its ranks has open or mapped is not left.
    """
    if left := shared_memory() - before:
        # In this order: a file is open from when it is made until it is mapped.
        used = open_in("/dev/shm/") | mapped_in("/dev/shm/")
        for file in left:
            if str(file) not in used:
                file.unlink(missing_ok=True)


def open_in(folder: str) -> set[str]:
    """Files of the folder that some process has open."""
    found: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            descriptors = list((process / "fd").iterdir())
        except OSError:
            continue  # gone, or another user's
        for descriptor in descriptors:
            try:
                target = os.readlink(descriptor)
            except OSError:
                continue
            if target.startswith(folder):
                found.add(target)
    return found


def mapped_in(folder: str) -> set[str]:
    """Files of the folder that some process has in its memory."""
    found: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            found.update(line[line.index(folder) :] for line in maps.read_text().splitlines() if folder in line)
        except OSError:
            pass  # gone, or another user's
    return found
