# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 at random instants of every phase: no acknowledged point is lost, and the file always opens."""

import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest

from expected import attempts_of, samples_of

pytestmark = pytest.mark.slow

SHAPES = (  # points, ranks, nodes, ops: many small rows, few large ones, and in between
    {"points": 60, "ranks": 2, "nodes": 1, "ops": 5},
    {"points": 6, "ranks": 320, "nodes": 20, "ops": 100},
    {"points": 16, "ranks": 32, "nodes": 4, "ops": 60},
)
# The line that begins a phase -> for how long at most to wait before the kill, in seconds.
PHASES = {
    "creating": 0.03,
    "resuming": 0.03,
    "writing": 0.003,
    "done": 0.003,
    "ending": 0.04,
}


def check(file: Path, shape: dict[str, int], acknowledged: set[int]) -> None:
    with h5py.File(file, "r") as opened:
        states = checksums.states(opened)
        assert len(opened["segments"]) >= 1
        for point, checksum in checksums.of_points(opened, np.flatnonzero(states == 1)).items():
            assert opened["checksum"][point] == checksum
            attempts = attempts_of(int(point), shape["ops"])
            for name, values in samples_of(int(point), attempts, shape["ranks"]).items():
                np.testing.assert_array_equal(opened["raw"][name][point, :attempts], values)
            assert opened["segment"][point] >= 0
            assert not np.isnan(opened["time_p50"][point])
    lost = acknowledged - set(np.flatnonzero(states == 1).tolist())
    assert not lost, f"acknowledged and lost: {sorted(lost)}"


def wait_for(process: subprocess.Popen[str], phase: str, skip: int, acknowledged: set[int]) -> str:
    """Reads what the writer tells until the phase has begun for the skip-th time; gives the last line's word."""
    for line in process.stdout:
        word, _, point = line.strip().partition(" ")
        if word == "done":
            acknowledged.add(int(point))
        if word == phase:
            if skip == 0:
                return word
            skip -= 1
    return "ended"


@pytest.mark.parametrize("kills", [100, 200])
def test_kill_9_loses_no_acknowledged_point(writer, tmp_path: Path, kills: int) -> None:
    chance = random.Random(20191 + kills)
    hit: Counter[str] = Counter()
    kept = resumed = launch = 0
    shape, file, acknowledged = SHAPES[0], tmp_path / "0.h5", set()
    while sum(hit.values()) < kills:
        exists = file.exists()
        if not exists:
            acknowledged = set()
        phase = chance.choice([p for p in PHASES if p != ("creating" if exists else "resuming")])
        resumed += exists
        with writer.start(file, resume=1, **shape) as process:
            skip = chance.randrange(4) if phase in ("writing", "done") else 0
            reached = wait_for(process, phase, skip, acknowledged)
            if reached != "ended":
                time.sleep(chance.random() * PHASES[phase])
            is_running = process.poll() is None
            process.kill()
            acknowledged.update(int(line.split()[1]) for line in process.stdout if line.startswith("done "))
            errors = process.stderr.read()
        assert errors == ""
        if is_running and process.returncode == -9:
            hit[reached if reached != "ended" else "ending"] += 1
        if file.exists():
            check(file, shape, acknowledged)
            kept += len(acknowledged)
        else:
            assert not acknowledged
        launch += 1
        if len(acknowledged) == shape["points"] or chance.random() < 0.3:
            file.unlink(missing_ok=True)
            shape = SHAPES[launch % len(SHAPES)]
            file = tmp_path / f"{launch}.h5"
            acknowledged = set()
    print(f"{kills} kills {dict(hit)}, {resumed} resumed files, {kept} acknowledged points found")
    assert set(hit) == set(PHASES)
    assert min(hit.values()) >= kills / 20, f"a phase was hardly hit: {dict(hit)}"
    assert kept > kills
