# SPDX-License-Identifier: BSD-3-Clause
"""What the files of real launches say of themselves, computed a second time (test/support/checksums.py)."""

import os
import signal
import subprocess
from pathlib import Path

import checksums
import pytest
from processes import PATIENCE, wait_until
from results import COMPLETE, complete_points

pytestmark = pytest.mark.slow

CALM = ["--provider", "shm", "--sync", "barrier", "--poll", "yield", "--warmup", "1", "-o", "a.h5"]
SMALL = [*CALM, "--sizes", "8,1000", "--ops", "4"]
LAUNCHES = {
    "baseline and trace": ["alltoall", *SMALL, "--baseline", "mpi", "--trace"],
    "a point that is skipped": ["alltoall", *SMALL, "--schedule", "shift,xor", "--no-sentinel"],
    "pairs": ["pairs", *SMALL],
}
# Long points: a launch is met in the middle.
LONG = {
    "alltoall": ["--no-sentinel", "--ops", "200000", "--time-budget", "300ms"],
    "pairs": ["--ops", "400"],
}
SIZES = ["--sizes", "100000..111000+1000"]
SUPPORT = Path(__file__).resolve().parents[1] / "support"


def require_sound(file: Path) -> None:
    """By the analysis, which computes them a third time."""
    a2a = Path(os.environ.get("A2A", SUPPORT.parents[1] / "build/a2a/bin/a2a"))
    if not a2a.is_file():
        return
    done = subprocess.run([a2a, "check", file], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("words", LAUNCHES.values(), ids=LAUNCHES)
def test_a_finished_launch(launch, needs_provider, tmp_path, words):
    needs_provider("shm")
    for more in ([], ["--resume"]):
        outcome = launch(3, *words, *more)
        assert outcome.returncode == 0, outcome.stderr
        states = checksums.require_right(tmp_path / "a.h5")
        require_sound(tmp_path / "a.h5")
        assert COMPLETE in states and 0 not in states


@pytest.mark.parametrize("workload", LONG)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_or_killed_launch_and_one_that_resumes_it(
    launch, needs_provider, program, tmp_path, workload, number
):
    needs_provider("shm")
    file, notes = tmp_path / "a.h5", tmp_path.parent / f"{tmp_path.name}-ranks"
    notes.mkdir()
    words = [workload, *CALM, *SIZES, *LONG[workload]]
    command = [SUPPORT / "mpirun.sh", "-t", str(2 * PATIENCE), "2", SUPPORT / "as_rank.sh", notes, program, *words]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        role = "pair" if workload == "pairs" else "measure"
        assert wait_until(lambda: complete_points(file, role) >= 2 or run.poll() is not None, PATIENCE)
        for rank in (0, 1):
            subprocess.run(["kill", f"-{int(number)}", (notes / f"pid.{rank}").read_text().strip()], check=False)
    before = checksums.require_right(file)
    require_sound(file)
    assert 2 <= (before == COMPLETE).sum() < 12
    outcome = launch(2, *words, "--resume")
    assert outcome.returncode == 0, outcome.stderr
    assert "not what was written" not in outcome.stderr
    assert (checksums.require_right(file) == COMPLETE).all()
    require_sound(file)
