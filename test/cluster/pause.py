#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stops a process for a while, again and again, until it has ended: `pause.py PID FOR_MS EVERY_MS`.

One line for every stop: when it began and when it ended, ns since 1970. It goes before all that has no real-time
priority, so that a pause is as long as it is meant to be whatever else this machine does.
"""

import os
import random
import signal
import sys
import time


def main() -> None:
    process, pause_s, every_s = int(sys.argv[1]), float(sys.argv[2]) / 1e3, float(sys.argv[3]) / 1e3
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    try:
        while True:
            time.sleep((every_s - pause_s) * random.uniform(0.9, 1.1))  # never in step with the ops
            os.kill(process, signal.SIGSTOP)
            began = time.time_ns()
            time.sleep(pause_s)
            os.kill(process, signal.SIGCONT)
            print(began, time.time_ns(), flush=True)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    main()
