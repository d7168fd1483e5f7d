# SPDX-License-Identifier: BSD-3-Clause
"""Ends shells and all that they started: ending.py PROCESS…

Asks first, so that tests tidy up. A launcher's processes are in a group of their own, so no group has all of them.
"""

import os
import signal
import sys
import time
from pathlib import Path

# What is sent, and for how long at most its effect is waited for, in seconds.
STEPS = ((signal.SIGINT, 10), (signal.SIGTERM, 10), (signal.SIGKILL, 10))

Process = tuple[int, int]  # its id, and when it was started: ids come round


def processes() -> dict[Process, int]:
    """All that run, and the id of each one's parent."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # gone
        if words[0] != "Z":
            found[int(entry.name), int(words[19])] = int(words[1])
    return found


def living(known: set[Process]) -> set[Process]:
    """Those of the known that still run, and what they have started."""
    there = processes()
    found = known & there.keys()
    while True:
        ids = {process for process, _ in found}
        more = {process for process, parent in there.items() if parent in ids} - found
        if not more:
            return found
        found |= more


def end(first: set[int]) -> None:
    known = living({process for process in processes() if process[0] in first})
    for number, seconds in STEPS:
        for process, _ in known:
            try:
                # A shell would wait for what it started, and then start the next.
                os.kill(process, signal.SIGTERM if process in first and number == signal.SIGINT else number)
            except ProcessLookupError:
                pass
        deadline = time.monotonic() + seconds
        while known and time.monotonic() < deadline:
            time.sleep(0.05)
            known = living(known)


if __name__ == "__main__":
    end({int(word) for word in sys.argv[1:]})
