#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How a launch grows with its ranks, all of them on this one machine, beside an MPI program that does nothing.

For each number of ranks, of ours: seconds from the launch to the first timed op, seconds per point, the whole run, and
memory: what the machine's available memory fell by, so that shared pages count once and the kernel's sockets count too.
Every point is verified. Then the same of empty_mpi.cpp with the same launcher: seconds to the end of its one barrier,
the whole run, memory. Last what the ranks' memory consists of by smaps, when they had most (rank_memory.py), the
message buffers' part of it by the file, and what the machine lacks beyond all that, which is the kernel's.

More ranks than cores share them: times are upper bounds, and other work beside counts into the memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

SUPPORT = Path(__file__).resolve().parents[1] / "support"
MPIRUN = SUPPORT / "mpirun.sh"
sys.path.insert(0, str(SUPPORT))

from memory import LowWater  # noqa: E402
from rank_memory import KINDS, RankMemory  # noqa: E402

MIB = 2**20


def calm_sleepers() -> None:
    """Sleeping ranks in their hundreds starve the launcher's daemons; a coarse timer, inherited, lets them run."""
    Path("/proc/self/timerslack_ns").write_text("20000000")


@dataclass(frozen=True)
class Launch:
    """What one launch took."""

    output: str
    begin: float  # seconds since 1970
    wall: float
    taken: int  # B of the machine's memory
    consists: dict[str, int]  # B of each kind, of all ranks


def launch(options: argparse.Namespace, ranks: int, program: str, *words: str) -> Launch:
    command = [MPIRUN, "-x", "-t", str(options.seconds), str(ranks), program, *words]
    memory = LowWater()
    memory.start()
    begin = time.time()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=calm_sleepers) as process:
        of_ranks = RankMemory(process.pid, Path(program).name, options.look)
        of_ranks.start()
        output, errors = process.communicate()
        wall = time.time() - begin
        consists = of_ranks.most()
    taken = memory.taken()
    if process.returncode != 0:
        raise SystemExit(f"{ranks} ranks of {Path(program).name}, after {wall:.0f} s: {errors.strip() or process.returncode}")
    return Launch(output, begin, wall, taken, consists)


def memory_words(launched: Launch, ranks: int) -> str:
    return f"{launched.taken / MIB / ranks:>10.1f} {launched.taken / 2**30:>9.2f}"


def consists_words(launched: Launch, ranks: int, buffers: int) -> str:
    parts = [launched.consists[kind] for kind in KINDS]
    if sum(parts) == 0:
        return "    what it consists of: the ranks were never looked at (--look)"
    told = [f"{kind} {part / MIB / ranks:.2f}" for kind, part in zip(KINDS, parts, strict=True)]
    if buffers:
        told[1] += f" (message buffers up to {buffers / MIB:.2f})"
    rest = (launched.taken - sum(parts)) / MIB / ranks
    return f"    MiB a rank: {', '.join(told)}; beyond, the kernel's and other work's: {rest:.2f}"


def ours(options: argparse.Namespace, ranks: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scaling.h5"
        words = ["alltoall", "--provider", options.provider, "--sizes", options.sizes, "--window", options.window]
        words += ["--ops", "5", "--warmup", "2", "--no-sentinel", "--quiet", "--timeout", "200", "-o", str(file)]
        if options.memory_limit != "default":
            words += ["--memory-limit", options.memory_limit]
        done = launch(options, ranks, options.program, *words)
        with h5py.File(file) as results:
            origin = int(results["segments/0"].attrs["time_origin"])
            first = results["order"][:].argmin()
            to_first = (origin + int(results["raw/start"][first, 0])) / 1e9 - done.begin
            per_point = float(results["duration"][:].mean()) / 1e9
            p50 = [f"{value / 1e3:.0f}" for value in results["time_p50"][:]]
            slots, sizes = results["buffer_slots"][:], results["message_size"][:]
    buffers = int(np.max(slots * sizes)) * 2
    print(
        f"{ranks:>5} {'ours':<6} {to_first:>8.1f} {per_point:>8.2f} {done.wall:>7.1f} {memory_words(done, ranks)} "
        f"{int(slots.min()):>6}  {' '.join(p50)}"
    )
    print(consists_words(done, ranks, buffers), flush=True)


def empty(options: argparse.Namespace, ranks: int) -> None:
    done = launch(options, ranks, options.empty, str(options.stay))
    to_barrier = float(done.output.split()[0]) - done.begin
    print(f"{ranks:>5} {'empty':<6} {to_barrier:>8.1f} {'':>8} {done.wall - options.stay:>7.1f} {memory_words(done, ranks)}")
    print(consists_words(done, ranks, 0), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/src/app/a2aperf")
    parser.add_argument("--empty", help="build/release/test/benchmark/empty-mpi, by default that of the program's build")
    parser.add_argument("--provider", default="net")
    parser.add_argument("--ranks", default="2,4,20,80,160,320")
    parser.add_argument("--sizes", default="1000,8000,60000")
    parser.add_argument("--window", default="all", help="outstanding sends: what is under way lies in kernel memory")
    parser.add_argument("--memory-limit", default="default", help="as a2aperf has it, e.g. 256MiB; default: none is asked for")
    parser.add_argument("--seconds", type=int, default=400, help="limit of one launch")
    parser.add_argument("--look", type=float, default=2, help="seconds between two looks at the ranks' memory")
    parser.add_argument("--stay", type=float, default=5, help="seconds that the empty program stays to be looked at")
    options = parser.parse_args()
    options.empty = options.empty or str(Path(options.program).resolve().parents[2] / "test/benchmark/empty-mpi")
    if not Path(options.empty).is_file():
        parser.error(f"no {options.empty}: build it (ninja test/benchmark/empty-mpi), or name it by --empty")
    print(f"{options.provider}, sizes {options.sizes}, window {options.window}, 2 warm-ups and 5 ops, memory limit {options.memory_limit}")
    print("ranks          to 1st op per point  wall s   MiB/rank GiB total  slots  p50 us of each size")
    for ranks in map(int, options.ranks.split(",")):
        print(f"      load before: {os.getloadavg()[0]:.1f}")
        ours(options, ranks)
        empty(options, ranks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
