#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How a launch grows with its ranks, all of them on this one machine.

For each number of ranks: seconds from the launch to the first timed op, memory per rank (what the machine's available
memory fell by, so that shared pages count once and the kernel's sockets count too), seconds per point, and the size of
the results file. Every point is verified. More ranks than cores share them: times are upper bounds, memory is real.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py

SUPPORT = Path(__file__).resolve().parents[1] / "support"
MPIRUN = SUPPORT / "mpirun.sh"
sys.path.insert(0, str(SUPPORT))

from memory import LowWater  # noqa: E402


def calm_sleepers() -> None:
    """Sleeping ranks in their hundreds starve the launcher's daemons; a coarse timer, inherited, lets them run."""
    Path("/proc/self/timerslack_ns").write_text("20000000")


def launch(options: argparse.Namespace, ranks: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scaling.h5"
        command = ["-t", str(options.seconds), str(ranks), options.program, "alltoall", "--provider", options.provider]
        command += ["--sizes", options.sizes, "--window", options.window, "--memory-limit", "256MiB"]
        command += ["--ops", "5", "--warmup", "2", "--no-sentinel"]
        command += ["--quiet", "--timeout", "200", "-o", str(file)]
        memory = LowWater()
        memory.start()
        begin = time.time()
        done = subprocess.run([MPIRUN, "-x", *command], capture_output=True, text=True, check=False, preexec_fn=calm_sleepers)
        wall = time.time() - begin
        taken = memory.taken()
        if done.returncode != 0:
            raise SystemExit(f"{ranks} ranks: {done.stderr.strip()}")
        with h5py.File(file) as results:
            origin = int(results["segments/0"].attrs["time_origin"])
            first = results["order"][:].argmin()
            to_first = (origin + int(results["raw/start"][first, 0])) / 1e9 - begin
            per_point = float(results["duration"][:].mean()) / 1e9
            p50 = [f"{value / 1e3:.0f}" for value in results["time_p50"][:]]
            slots = int(results["buffer_slots"][:].min())
        return (
            f"{ranks:>5} {to_first:>12.1f} {per_point:>12.2f} {wall:>8.1f} {taken / 2**20 / ranks:>13.1f} "
            f"{taken / 2**30:>9.2f} {slots:>6}  {' '.join(p50)}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/src/app/a2aperf")
    parser.add_argument("--provider", default="net")
    parser.add_argument("--ranks", default="2,4,20,80,160,320")
    parser.add_argument("--sizes", default="1000,8000,60000")
    parser.add_argument("--window", default="all", help="outstanding sends: what is under way lies in kernel memory")
    parser.add_argument("--seconds", type=int, default=400, help="limit of one launch")
    options = parser.parse_args()
    print(f"{options.provider}, sizes {options.sizes}, window {options.window}, 2 warm-ups and 5 ops each")
    print("ranks  to 1st op s  per point s   wall s  MiB per rank  GiB total  slots  p50 us of each size")
    for ranks in map(int, options.ranks.split(",")):
        print(launch(options, ranks), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
