# SPDX-License-Identifier: BSD-3-Clause
"""Runs a task in a process of its own, for HDF5 can crash in a damaged file, or never return."""

import os
import signal
from collections.abc import Callable

DIED, HANGS = "died", "hangs"
_CPU_SECONDS = 60  # a deadline, which a busy machine does not come nearer to


def forked(task: Callable[[], str]) -> str:
    """What the task says; DIED or HANGS where it says nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
        os.write(writer, task().encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return HANGS if os.WTERMSIG(status) == signal.SIGPROF else DIED
    return said
