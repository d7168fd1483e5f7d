#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one message costs in our own instructions, and what the timed op calls.

Runs a launch under callgrind, which counts while an op is prepared and run. Our own instructions are those of
functions in a2aperf's name space: libfabric, the C library and the kernel are not. An empty poll ends in sched_yield,
so that the number of yields tells empty polls apart: own = a x ops + b x yields over all ranks, and a message costs
a / (R - 1) (its share of an op: a send, a receive, their completions). Instructions do not depend on the machine's
load.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
ALLOCATION = re.compile(r"^(malloc|calloc|realloc|free|operator (new|delete).*|posix_memalign)")
LOCK = re.compile(r"^pthread_(mutex|spin|rwlock)_")
SYSTEM_CALL = re.compile(r"^(sched_yield|read|write|poll|epoll_wait|ioctl|mmap|munmap|nanosleep|futex)\b")


class Profile:
    """Self cost and calls by function, from callgrind's file."""

    def __init__(self, path: Path) -> None:
        self.own = 0
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
                    self.own += int(line.split()[1])
                is_call_cost = False

    def _count(self, caller: str, callee: str, times: int) -> None:
        if "a2aperf::" not in caller:
            return
        plain = callee.split("@")[0].strip("'0123456789 ") if "a2aperf" not in callee else callee
        self.called_by_us[plain] = self.called_by_us.get(plain, 0) + times
        if re.search(r"Exchange<.*>::run\(\)", callee):
            self.ops += times
        if plain == "sched_yield":
            self.yields += times


def least_squares(profiles: list[Profile]) -> tuple[float, float]:
    """a and b of own = a x ops + b x yields."""
    oo = sum(p.ops * p.ops for p in profiles)
    oy = sum(p.ops * p.yields for p in profiles)
    yy = sum(p.yields * p.yields for p in profiles)
    ow = sum(p.ops * p.own for p in profiles)
    yw = sum(p.yields * p.own for p in profiles)
    determinant = oo * yy - oy * oy
    return (ow * yy - yw * oy) / determinant, (yw * oo - ow * oy) / determinant


def profile(program: str, provider: str, mode: str, size: int, ranks: int) -> list[Profile]:
    with tempfile.TemporaryDirectory() as folder:
        profiles = []
        for ops in (60, 180):  # two lengths, so that ops and yields are told apart
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
    options = parser.parse_args()
    print(f"{'provider':<9} {'mode':<10} {'ranks':>5} {'own instructions a message':>27} {'an empty poll':>14}")
    called: dict[str, int] = {}
    for provider in ("shm", "net", "tcp"):
        for mode in ("tagged", "write-imm"):
            profiles = profile(options.program, provider, mode, options.size, options.ranks)
            per_op, per_poll = least_squares(profiles)
            print(f"{provider:<9} {mode:<10} {options.ranks:>5} {per_op / (options.ranks - 1):>27.0f} {per_poll:>14.0f}")
            for p in profiles:
                for name, times in p.called_by_us.items():
                    called[name] = called.get(name, 0) + times
    for what, pattern in (("allocations", ALLOCATION), ("locks", LOCK), ("system calls", SYSTEM_CALL)):
        ours = {name: times for name, times in called.items() if pattern.match(name)}
        print(f"{what} called by our own functions in timed ops: {ours or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
