#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one message costs in our own instructions, and what the timed op calls.

Runs launches under callgrind, which counts while an op is prepared and run. Our own instructions are those of
functions in a2aperf's name space: libfabric, the C library and the kernel are not. Waiting is a function of its own,
await_completions, which yields after every empty poll: its own instructions = b x yields + c x calls, by least squares
over all ranks of all launches. A message costs (own - b x yields) / messages: a send, a receive, their two
completions, the polls that found them, and its share of the op. Instructions do not depend on the machine's load; how
many polls find something, and how many sends find no room and are tried again, does.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
ALLOCATION = re.compile(r"^(malloc|calloc|realloc|free|operator (new|delete).*|posix_memalign)")
LOCK = re.compile(r"^pthread_(mutex|spin|rwlock)_")
WAIT = re.compile(r"Exchange<.*>::await_completions\(\)")
SYSTEM_CALL = re.compile(r"^(sched_yield|read|write|poll|epoll_wait|ioctl|mmap|munmap|nanosleep|futex)\b")


class Profile:
    """Self cost and calls by function, from callgrind's file."""

    def __init__(self, path: Path) -> None:
        self.own = 0
        self.waiting = 0  # of these, in await_completions
        self.waits = 0
        self.ops = 0
        self.yields = 0
        self.called_by_us: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._read(path)

    def _name(self, text: str) -> str:
        number, name = re.match(r"\((\d+)\)(?: (.*))?", text).groups()
        if name is not None:
            self._names[number] = name
        return self._names[number]

    def _read(self, path: Path) -> None:
        function = callee = ""
        is_call_cost = False
        for line in path.read_text().splitlines():
            if line.startswith("fn="):
                function = self._name(line[3:])
            elif line.startswith("cfn="):
                callee = self._name(line[4:])
            elif line.startswith("calls="):
                self._count(function, callee, int(line[6:].split()[0]))
                is_call_cost = True
            elif re.match(r"[+\-*\d]", line):
                if not is_call_cost and "a2aperf::" in function:
                    cost = int(line.split()[1])
                    self.own += cost
                    self.waiting += cost if WAIT.search(function) else 0
                is_call_cost = False

    def _count(self, caller: str, callee: str, times: int) -> None:
        if "a2aperf::" not in caller:
            return
        plain = callee.split("@")[0].strip("'0123456789 ") if "a2aperf" not in callee else callee
        self.called_by_us[plain] = self.called_by_us.get(plain, 0) + times
        if re.search(r"Exchange<.*>::run\(\)", callee):
            self.ops += times
        if WAIT.search(callee):
            self.waits += times
        if plain == "sched_yield":
            self.yields += times


def message_costs(profiles: list[Profile], ranks: int) -> tuple[list[float], float]:
    """Own instructions of a message in each profile, and of an empty poll, by the formula above."""
    counts = np.array([(p.yields, p.waits) for p in profiles], float)
    empty = float(np.linalg.lstsq(counts, np.array([p.waiting for p in profiles], float), rcond=None)[0][0])
    return [(p.own - empty * p.yields) / (p.ops * (ranks - 1)) for p in profiles], empty


def profile(program: str, provider: str, mode: str, size: int, ranks: int) -> list[Profile]:
    with tempfile.TemporaryDirectory() as folder:
        profiles = []
        for ops in (60, 180):
            engine = f"a2aperf::FabricEngine<a2aperf::{'Tagged' if mode == 'tagged' else 'WriteImm'}>"
            command = [MPIRUN, "-t", "300", str(ranks), "valgrind", "--tool=callgrind", "--quiet"]
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
    options = parser.parse_args()
    print(f"{'provider':<9} {'mode':<10} {'ranks':>5} {'own a message (8 profiles)':>27} {'an empty poll':>14}")
    called: dict[str, int] = {}
    for provider in options.providers.split(","):
        for mode in ("tagged", "write-imm"):
            profiles = profile(options.program, provider, mode, options.size, options.ranks)
            costs, empty = message_costs(profiles, options.ranks)
            spread = f"{np.median(costs):.0f} ({min(costs):.0f} to {max(costs):.0f})"
            print(f"{provider:<9} {mode:<10} {options.ranks:>5} {spread:>27} {empty:>14.0f}", flush=True)
            for p in profiles:
                for name, times in p.called_by_us.items():
                    called[name] = called.get(name, 0) + times
    for what, pattern in (("allocations", ALLOCATION), ("locks", LOCK), ("system calls", SYSTEM_CALL)):
        ours = {name: times for name, times in called.items() if pattern.match(name)}
        print(f"{what} called by our own functions in timed ops: {ours or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
