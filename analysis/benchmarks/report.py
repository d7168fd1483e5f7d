# SPDX-License-Identifier: BSD-3-Clause
"""How long `a2a report` takes for many large files, and how much memory.

    python benchmarks/report.py [FOLDER]

reads 16 made-up files of 320 ranks × 1000 ops × 24 sizes (written by benchmarks/table.py, kept in
FOLDER if given) in a process of its own, as a user would.
"""

import sys
import tempfile
from pathlib import Path

import table

RUNS = 3
GOAL_S, GOAL_BYTES = 30.0, 2**30


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        paths = table.make(folder)
        out = Path(temporary) / "report.html"
        words = [sys.executable, "-m", "a2aperf", "report", *map(str, paths), "-o", str(out)]
        measured = [table.measure(words) for _ in range(RUNS)]
        size = out.stat().st_size
    wall = sorted(seconds for seconds, _, _ in measured)
    peak = max(memory for _, _, memory in measured)
    print(f"{len(paths)} files, page of {size / 1e6:.1f} MB, {RUNS} runs")
    spread = f"{wall[0]:.1f} to {wall[-1]:.1f} s"
    print(f"wall time: median {wall[RUNS // 2]:.1f} s, {spread}; goal: under {GOAL_S:g} s")
    print(f"CPU time: {', '.join(f'{cpu:.1f}' for _, cpu, _ in measured)} s")
    print(f"peak memory {peak / 2**20:.0f} MiB; goal: under {GOAL_BYTES / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
