# SPDX-License-Identifier: BSD-3-Clause
"""`a2aperf qos` when a rank dies or stops: that a path gets nothing is a result, that a rank is gone is not."""

import re
import signal
import subprocess

import h5py
import numpy as np
import pytest
from path_files import are_true_intervals, paths_of
from processes import PATIENCE, wait_until
from results import Results
from running_launch import require_rest_resumed, start

pytestmark = pytest.mark.slow

# Points of 600 ms, and as many as it takes to be met in the middle of them.
POINTS = 16
PATHS = ["--path", "0:1", "--path", "0:1,window=2", "--path", "2:1"]
CALM = ["--poll", "yield", "-o", "a.h5", "--interval", "200ms"]
SHORT = [*PATHS, *CALM, "--sizes", "1000..16000+1000", "--duration", "600ms"]
LONG = [*PATHS, *CALM, "--duration", "1h"]


def test_a_killed_rank_and_the_rest_resumed(start, tmp_path):
    file = tmp_path / "a.h5"
    launch = start(3, *SHORT, "--provider", "tcp", "--timeout", "3s", command="qos")
    kept = launch.kill_amid(1, "qos")
    were = {point: paths_of(file, point) for point in kept}

    assert start(3, *SHORT, "--provider", "tcp", "--resume", command="qos").end() == 0
    require_rest_resumed(file, "qos", POINTS, kept)
    for point in range(POINTS):
        are_true_intervals(file, point)
    for point, paths in were.items():
        np.testing.assert_equal(paths_of(file, point), paths)


def test_damage_to_the_paths_of_a_killed_launch_is_told(start, a2a, tmp_path):
    """Rank 0 was killed and sealed nothing at an end; what no figure follows from is not lost unnoticed either."""
    file = tmp_path / "a.h5"
    launch = start(3, *SHORT, "--provider", "tcp", "--timeout", "3s", command="qos")
    launch.kill_amid(0, "qos")
    assert Results(file).segments[0].end_reason == "running"

    def says() -> str:
        return subprocess.run([a2a, "check", file], capture_output=True, text=True, timeout=PATIENCE).stdout

    if "/paths" in (found := says()):  # killed between the cells of a point and their checksum
        pytest.skip(f"the launch was met in the middle of a point: {found}")
    with h5py.File(file, "r+") as opened:
        opened["paths/interval_idle"][0, 0] += 1 << 20
    assert "/paths is not as it was written" in says()


@pytest.mark.parametrize("provider", ["tcp", "net"])
@pytest.mark.parametrize("stopped", [1, 2])
def test_a_stopped_rank_ends_the_launch_though_a_path_may_get_nothing(start, tmp_path, provider, stopped):
    """Its paths are silent, those of the others may go on; over MPI nothing is heard of it."""
    launch = start(3, *LONG, "--provider", provider, "--timeout", "2s", command="qos")
    assert wait_until(lambda: (tmp_path / "a.h5").exists() or launch.launcher.poll() is not None, PATIENCE)
    launch.wait_until_measuring()
    launch.kill(signal.SIGSTOP, [stopped])
    assert launch.end() not in (0, 124, 137)
    said = rf"a2aperf: .*(nothing was heard of rank {stopped} |nothing happened for|it waited) ?.*"
    assert any(re.match(said, line) for line in launch.says()), launch.says()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_heard_within_a_long_interval(start, tmp_path, number):
    launch = start(2, "--paths", "2", "--poll", "yield", "-o", "a.h5", "--provider", "net", "--duration", "10h", "--interval", "1h", command="qos")
    launch.wait_until_measuring()
    launch.kill(number, [0, 1])
    assert launch.end() != 0
    assert launch.statuses() == dict.fromkeys(range(2), 128 + number)
    assert Results(tmp_path / "a.h5").segments[0].end_reason == "signal"
