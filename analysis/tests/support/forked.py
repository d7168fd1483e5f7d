# SPDX-License-Identifier: BSD-3-Clause
"""Runs a task in a process of its own, for HDF5 can crash in a damaged file, or never return.

Nor can a damaged length fill the machine's memory there: it has as much as a reader of the package
has of a small file (`isolated`).
"""

import os
import resource
import signal
import traceback
from collections.abc import Callable

from a2aperf import isolated

DIED, HANGS, FULL = "died", "hangs", "memory"
_CPU_SECONDS = 60  # a deadline, which a busy machine does not come nearer to


def forked(task: Callable[[], str]) -> str:
    """What the task says; DIED, HANGS or FULL (has no more memory) where it says nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _say(writer, task)
        finally:  # nothing of what called us is this process's
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return HANGS if os.WTERMSIG(status) == signal.SIGPROF else DIED
    return said or DIED


def _say(writer: int, task: Callable[[], str]) -> None:
    """What forked() is to return, from its child, which ends after it."""
    isolated.limit(resource.RLIMIT_AS, isolated.LEAST_MEMORY)
    signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
    try:
        said = task()
    except MemoryError:
        said = FULL
    except BaseException:
        traceback.print_exc()
        return
    os.write(writer, said.encode())
