#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one message of a stream costs its sender and its receiver in our own instructions.

Runs launches of two ranks under callgrind. Our own instructions are those of the functions in a2aperf's name space that
run between start and end of a duration: libfabric, the C library and the kernel are not. Each rank goes round a loop:
own instructions = a x messages + b x rounds, by least squares over launches of several windows, since of a larger one
there are fewer rounds to a message; b is a round that finds nothing. Rounds are the calls of the provider by the loop
itself, and those that found something the calls of take_entries, so a message costs (own - b x (rounds - those)) / messages: its posting, its completion, its share
of the credits and of the rounds that found it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from callgrind import Names

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
MODES = ("tagged", "msg", "write", "write-imm", "read")
TIMED = re.compile(r"a2aperf::(CreditStream<|DurationLoop::flow<|write_number|write_word|find_number|ReturnedCredits::|FreePlaces::|Memory|\(anonymous namespace\)::(write|read)\()")
FOUND = re.compile(r"CreditStream<.*>::take_entries\(")
NOT_A_ROUND = re.compile(r"^(clock_gettime|sched_yield)\b")
MESSAGES = 10_000
WINDOWS = (16, 64, 256, 512)


class Profile:
    """One rank's launch, from callgrind's file."""

    def __init__(self, path: Path) -> None:
        self.is_receiver = path.suffix == ".1"  # its rank
        self.executed: Counter[str] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self._names = Names()
        function = callee = ""
        is_call_cost = False
        for line in path.read_text().splitlines():
            if line.startswith("fn="):
                function = self._names.read(line[3:])
            elif line.startswith("cfn="):
                callee = self._names.read(line[4:])
            elif line.startswith("calls="):
                self.calls[function, callee] += int(line[6:].split()[0])
                is_call_cost = True
            elif re.match(r"[0-9+\-*]", line):
                if not is_call_cost:
                    self.executed[function] += int(line.split()[-1])
                is_call_cost = False

    @property
    def own(self) -> int:
        return sum(count for name, count in self.executed.items() if TIMED.match(name.removeprefix("long ")))

    @property
    def rounds(self) -> int:
        """Of reading the queue, which the loop does in place: nothing else out of our name space is called as often."""
        outside = Counter()
        for (by, of), count in self.calls.items():
            if "DurationLoop::flow<" in by and "a2aperf::" not in of and not NOT_A_ROUND.match(of):
                outside[of] += count
        return max(outside.values())

    @property
    def found(self) -> int:
        return sum(count for (by, of), count in self.calls.items() if "DurationLoop::flow<" in by and FOUND.search(of))


def launch(options: argparse.Namespace, mode: str, window: int) -> list[Profile]:
    with tempfile.TemporaryDirectory() as folder:
        command = [MPIRUN, "-x", "-t", "300", "2", "valgrind", "--tool=callgrind", "--quiet"]
        command += [f"--callgrind-out-file={folder}/profile.%q{{OMPI_COMM_WORLD_RANK}}", options.program, "stream"]
        command += ["--provider", options.provider, "--mode", mode, "--inject", "off", "--sizes", str(options.size)]
        command += ["--window", str(window), "--messages", str(MESSAGES), "--quiet", "--timeout", "200"]
        done = subprocess.run([*command, "-o", f"{folder}/a.h5"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr.strip())
        return [Profile(path) for path in Path(folder).glob("profile.*")]


def costs(profiles: list[Profile]) -> tuple[list[float], float]:
    """Own instructions of a message in each launch, and of a round that finds nothing."""
    own = np.array([profile.own for profile in profiles], float)
    counts = np.array([(MESSAGES, profile.rounds) for profile in profiles], float)
    _, empty = np.linalg.lstsq(counts, own, rcond=None)[0]
    return [(p.own - empty * (p.rounds - p.found)) / MESSAGES for p in profiles], float(empty)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/src/app/a2aperf")
    parser.add_argument("--provider", default="shm")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--functions", action="store_true", help="each function's share at the largest window, too")
    options = parser.parse_args()
    print(f"{'mode':<10} {'end':<9} {'own a message':>20} {'an empty round':>15}")
    for mode in options.modes.split(","):
        launches = [profile for window in WINDOWS for profile in launch(options, mode, window)]
        for end in ("sender", "receiver"):
            of_end = [one for one in launches if one.is_receiver == (end == "receiver")]
            found, empty = costs(of_end)
            spread = f"{np.median(found):.0f} ({min(found):.0f} to {max(found):.0f})"
            print(f"{mode:<10} {end:<9} {spread:>20} {empty:>15.0f}", flush=True)
            if options.functions:
                for name, count in of_end[-1].executed.most_common():
                    if TIMED.match(name.removeprefix("long ")) and count > MESSAGES:
                        print(f"    {count / MESSAGES:8.1f}  {name[:90]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
