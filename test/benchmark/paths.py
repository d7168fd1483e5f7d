#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `a2aperf qos` costs: a path alone against a stream, and short intervals against one.

alone: a path against `a2aperf stream` of the same size, window and mode (wanted: 0.95 and more).
intervals: paths whose intervals are 100 ms against the same paths in one interval (wanted: above 0.99).

Launches alternate, and each row is the median of the ratios of neighbours, with the lowest and the highest of them and
their number: absolute rates drift on shared machines. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"


def rates(options: argparse.Namespace, words: Sequence[str]) -> list[dict]:
    """The rows of one launch."""
    with tempfile.TemporaryDirectory() as folder:
        command = [MPIRUN, "-t", "600", "2", options.program, *words, "--provider", options.provider]
        command += ["--sizes", options.sizes, "--window", str(options.window), "--mode", options.modes, "--quiet"]
        command += ["--format", "json", "-o", f"{folder}/a.h5"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stderr.strip()}")
    return [row for row in json.loads(done.stdout) if row["state"] == "complete"]


def contest(options: argparse.Namespace, what: str, ours: Sequence[str], theirs: Sequence[str]) -> None:
    """Both in turn; who is first changes from one pair to the next."""
    ratios: dict[tuple[str, int], list[float]] = {}
    for number in range(options.launches):
        order = (ours, theirs) if number % 2 == 0 else (theirs, ours)
        first, second = (rates(options, words) for words in order)
        mine, other = (first, second) if number % 2 == 0 else (second, first)
        for row, beside in zip(mine, other, strict=True):
            place = row["mode"], row["message_size"]
            assert place == (beside["mode"], beside["message_size"])
            ratios.setdefault(place, []).append(row["gbps"] / beside["gbps"])
    for (mode, size), values in ratios.items():
        middle = statistics.median(values)
        print(
            f"{what:<10} {options.provider:<8} {mode:<10} {size:>8} {middle:>7.3f}  {min(values):6.3f} to {max(values):6.3f}"
            f" {len(values):>4}",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/src/app/a2aperf")
    parser.add_argument("--provider", default="shm")
    parser.add_argument("--sizes", default="4KiB,64KiB")
    parser.add_argument("--modes", default="tagged")
    parser.add_argument("--window", type=int, default=32)
    parser.add_argument("--launches", type=int, default=8, help="of each side")
    parser.add_argument("--seconds", type=int, default=10, help="of each point")
    options = parser.parse_args()
    duration = ["--duration", f"{options.seconds}s"]
    whole = ["--interval", f"{options.seconds}s"]
    print(f"{'what':<10} {'provider':<8} {'mode':<10} {'B':>8} {'ratio':>7}  {'of the launches':<16} {'n':>4}")
    contest(options, "alone", ["qos", "--path", "0:1", *duration, *whole], ["stream", "--pairs", "0:1", *duration])
    paths = ["qos", "--paths", "2", *duration]
    contest(options, "intervals", [*paths, "--interval", "100ms"], [*paths, *whole])
    return 0


if __name__ == "__main__":
    sys.exit(main())
