# SPDX-License-Identifier: BSD-3-Clause
"""How long `a2a table` takes for many large files, and how much memory.

    python benchmarks/table.py [FOLDER]

writes 16 made-up files of 320 ranks × 1000 ops × 24 sizes into FOLDER (kept if given, else a
temporary one; about 4 GiB), then runs the command several times as a user would, each time in a
process of its own.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support import synthetic

FILES = 16
RUNS = 7
GOAL_S, GOAL_BYTES = 2.0, 2**30
SETUP = synthetic.Setup(nodes=80, ppn=4, sizes=synthetic.TABLE_SIZES, ops=1000)


def make(folder: Path) -> list[Path]:
    """One made-up launch and copies of it that say they began later: as large, as slow to read."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"launch{index:02}.h5" for index in range(FILES)]
    if not paths[0].exists():
        synthetic.write_launch(paths[0], SETUP)
    for later, path in enumerate(paths):
        if not path.exists():
            shutil.copy(paths[0], path)
            with h5py.File(path, "r+") as file:
                file["segments/0"].attrs["time_origin"] += later
    return paths


def measure(words: list[str]) -> tuple[float, float, int]:
    """Wall time and CPU time in seconds, peak memory in bytes of one process."""
    script = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss)"
    )
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True
    )
    cpu, peak = done.stdout.split()
    return time.monotonic() - start, float(cpu), int(peak) * 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        paths = make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary))
        size = sum(path.stat().st_size for path in paths)
        words = [sys.executable, "-m", "a2aperf", "table", *map(str, paths)]
        measured = [measure(words) for _ in range(RUNS)]
    print(f"{FILES} files, {size / 2**30:.1f} GiB, {RUNS} runs; goal: under {GOAL_S:g} s")
    for name, values in (
        ("wall time", sorted(wall for wall, _, _ in measured)),
        ("CPU time", sorted(cpu for _, cpu, _ in measured)),
    ):
        middle = statistics.median(values)
        print(f"{name}: median {middle:.2f} s, {values[0]:.2f} to {values[-1]:.2f} s")
    peak = max(memory for _, _, memory in measured)
    print(f"peak memory {peak / 2**20:.0f} MiB; goal: under {GOAL_BYTES / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
