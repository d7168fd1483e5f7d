#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one message costs in our own instructions, and what the timed op calls.

Runs launches under callgrind, which counts while an op is prepared and run. Our own instructions are those of
functions in a2aperf's name space: libfabric, the C library and the kernel are not. Waiting is a function of its own,
await_completions, which polls until something is there and looks at the clock after every 64th poll: its own
instructions = b x polls + c x calls + d x looks, by least squares over all ranks of all launches (exact but for what
the compiler makes of the last poll). A message costs (own - b x polls - d x looks) / messages: a send, a receive, their
two completions, the polls that found them, and its share of the op. Instructions do not depend on the machine's load;
how many polls find something, and how many sends find no room and are tried again, does.

Mode write is left out: its ranks poll their flags in the function that posts, so that waiting cannot be told apart.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from callgrind import Names

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
ALLOCATION = re.compile(r"^(malloc|calloc|realloc|free|operator (new|delete).*|posix_memalign)")
LOCK = re.compile(r"^pthread_(mutex|spin|rwlock)_")
WAIT = re.compile(r"Exchange<.*>::await_completions\(\)")
CLASSES = {"tagged": "Tagged", "msg": "Msg", "write-imm": "WriteImm", "read": "Read"}
SYSTEM_CALL = re.compile(r"^(sched_yield|read|write|poll|epoll_wait|ioctl|mmap|munmap|nanosleep|futex)\b")


class Profile:
    """What one rank's ops executed, from callgrind's file.

    A call is counted by the instruction that makes it, since callgrind counts calls outside the ops as well.
    """

    def __init__(self, path: Path) -> None:
        self.own = 0
        self.waiting = 0  # of these, in await_completions
        self.waits = self.polls = self.looks = self.ops = 0  # calls of it; its readings of the queue and the clock
        self.called_by_us: dict[str, int] = {}
        self._names = Names()
        self._read(path)

    def _read(self, path: Path) -> None:
        function = callee = ""
        address = 0
        executed: dict[int, int] = {}  # by address, in our functions
        calls: dict[int, tuple[str, str]] = {}  # caller and callee, by the address of the call
        is_call_cost = False
        for line in path.read_text().splitlines():
            if line.startswith("fn="):
                function = self._names.read(line[3:])
            elif line.startswith("cfn="):
                callee = self._names.read(line[4:])
            elif line.startswith("calls="):
                is_call_cost = True
            elif re.match(r"0x|[+\-*]", line):
                place, _, cost = line.split()
                address = int(place, 16) if place.startswith("0x") else address + int(place.replace("*", "0"))
                if "a2aperf::" in function:
                    if is_call_cost:
                        calls[address] = (function, callee)
                    else:
                        executed[address] = executed.get(address, 0) + int(cost)
                        self.waiting += int(cost) if WAIT.search(function) else 0
                is_call_cost = False
        self.own = sum(executed.values())
        for at, (caller, called) in calls.items():
            self._count(caller, called, executed.get(at, 0))

    def _count(self, caller: str, callee: str, times: int) -> None:
        plain = callee.split("@")[0].strip("'0123456789 ") if "a2aperf" not in callee else callee
        self.called_by_us[plain] = self.called_by_us.get(plain, 0) + times
        if re.search(r"Exchange<.*>::run\(\)", callee):
            self.ops += times
        if WAIT.search(callee):
            self.waits += times
        if WAIT.search(caller) and "a2aperf::" not in callee:
            self.looks += times if plain == "clock_gettime" else 0
            self.polls += times if plain not in ("clock_gettime", "sched_yield") else 0


def message_costs(profiles: list[Profile], ranks: int) -> tuple[list[float], float]:
    """Own instructions of a message in each profile, and of an empty poll, by the formula above."""
    counts = np.array([(p.polls, p.looks, p.waits) for p in profiles], float)
    waiting = np.array([p.waiting for p in profiles], float)
    empty, look, _ = np.linalg.lstsq(counts, waiting, rcond=None)[0]
    return [(p.own - empty * p.polls - look * p.looks) / (p.ops * (ranks - 1)) for p in profiles], float(empty)


def profile(program: str, provider: str, mode: str, size: int, ranks: int) -> list[Profile]:
    with tempfile.TemporaryDirectory() as folder:
        profiles = []
        for ops in (60, 180):
            engine = f"a2aperf::FabricEngine<a2aperf::{CLASSES[mode]}>"
            command = [MPIRUN, "-x", "-t", "300", str(ranks), "valgrind", "--tool=callgrind", "--quiet", "--dump-instr=yes"]
            command += [f"--callgrind-out-file={folder}/{ops}.%p"]
            command += [f"--toggle-collect={engine}::run()", f"--toggle-collect={engine}::prepare(unsigned long)"]
            command += [program, "alltoall", "--provider", provider, "--mode", mode, "--sizes", str(size)]
            command += ["--ops", str(ops), "--warmup", "2", "--sync", "barrier", "--poll", "yield", "--no-sentinel"]
            command += ["--quiet", "--timeout", "200", "-o", f"{folder}/{ops}.h5"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(done.stderr.strip())
            profiles += [Profile(path) for path in Path(folder).glob(f"{ops}.[0-9]*") if path.suffix != ".h5"]
    return profiles


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/src/app/a2aperf")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--providers", default="shm,net,tcp")
    parser.add_argument("--modes", default=",".join(CLASSES))
    options = parser.parse_args()
    for mode in options.modes.split(","):
        if mode not in CLASSES:
            parser.error(f"--modes {mode}: expected one of {', '.join(CLASSES)}")
    print(f"{'provider':<9} {'mode':<10} {'ranks':>5} {'own a message (8 profiles)':>27} {'an empty poll':>14}")
    called: dict[str, int] = {}
    for provider in options.providers.split(","):
        for mode in options.modes.split(","):
            profiles = profile(options.program, provider, mode, options.size, options.ranks)
            costs, empty = message_costs(profiles, options.ranks)
            spread = f"{np.median(costs):.0f} ({min(costs):.0f} to {max(costs):.0f})"
            print(f"{provider:<9} {mode:<10} {options.ranks:>5} {spread:>27} {empty:>14.0f}", flush=True)
            for p in profiles:
                for name, times in p.called_by_us.items():
                    called[name] = called.get(name, 0) + times
    for what, pattern in (("allocations", ALLOCATION), ("locks", LOCK), ("system calls", SYSTEM_CALL)):
        ours = sorted(name for name, times in called.items() if times and pattern.match(name))
        print(f"{what} called by our own functions in timed ops: {', '.join(ours) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
