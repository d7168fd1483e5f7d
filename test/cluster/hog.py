#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes a core for 3 ms of every 10 ms, until its standard input ends: `hog.py CORE`.

It goes before all that has a lower real-time priority or none: what it takes is the same on a machine that is busy
with other things. It says "ready" once it does.
"""

import os
import select
import sys
import time

BUSY_S, PERIOD_S = 3e-3, 10e-3


def main() -> None:
    os.sched_setaffinity(0, {int(sys.argv[1])})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], PERIOD_S - BUSY_S)[0]:
        until = time.monotonic() + BUSY_S
        while time.monotonic() < until:
            pass


if __name__ == "__main__":
    main()
