# SPDX-License-Identifier: BSD-3-Clause
"""The real psm3 provider: over its shared memory on one host, over its sockets between hosts. No adapter."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from flow_files import require_true_streams, require_true_trips
from processes import PATIENCE
from results import COMPLETE, Results, has_plausible_moments, has_true_statistics

CLUSTER = Path(__file__).resolve().parents[1] / "cluster" / "cluster.py"
MODES = ["tagged", "msg", "write-imm", "read", "write"]
SIZES = [1, 1000, 60000, 1 << 20]
WORDS = [
    "alltoall", "--provider", "psm3", "--mode", ",".join(MODES), "--sizes", ",".join(map(str, SIZES)), "--ops", "5",
    "--warmup", "1", "--sync", "barrier", "--poll", "yield", "--no-sentinel", "-o", "a.h5",
]  # fmt: skip


STREAM = [
    "stream", "--provider", "psm3", "--mode", ",".join(MODES), "--sizes", "0,8,4096,64KiB", "--messages", "200",
    "--poll", "yield", "-o", "a.h5",
]  # fmt: skip
ECHO = [
    "echo", "--provider", "psm3", "--mode", ",".join(MODES), "--sizes", "0,100,64KiB", "--outstanding", "1,4", "--ops", "50",
    "--poll", "yield", "-o", "a.h5",
]  # fmt: skip


def check(results: Results, ranks: int, nodes: int) -> None:
    """Every mode and size was verified and measured with psm3."""
    assert set(results.words("provider")) == {"psm3"}
    assert results.words("mode") == [mode for mode in MODES for _ in SIZES]
    assert results.states() == [COMPLETE] * len(SIZES) * len(MODES)
    assert set(results.columns["ranks"]) == {ranks}
    assert set(results.columns["nodes"]) == {nodes}
    for point in range(len(results)):
        has_plausible_moments(results, point)
    # Of its own accord; a job's unique id keeps it apart from others on the fabric.
    assert "FI_PSM3_UUID=" in results.segments[0].attributes["tuned_environment"]
    assert results.segments[0].attributes["libfabric_version"].startswith("1.21")


@pytest.mark.parametrize("ranks", [2, 4])
def test_on_one_host(launch, tmp_path, ranks):
    before = set(Path("/dev/shm").glob("psm3_shm.*"))
    outcome = launch(ranks, *WORDS)
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    check(results, ranks, nodes=1)
    for point in range(len(results)):
        has_true_statistics(results, point)
    assert results.segments[0].attributes["domain"] == "shm"
    assert set(Path("/dev/shm").glob("psm3_shm.*")) <= before


def test_a_resumed_launch(launch, tmp_path):
    """Its unique id is another one, as every launch's."""
    for more in ([], ["--resume"]):
        outcome = launch(2, *WORDS, *more)
        assert outcome.returncode == 0, outcome.stderr
    check(Results(tmp_path / "a.h5"), ranks=2, nodes=1)


def test_streams_and_round_trips_on_one_host(launch, tmp_path):
    outcome = launch(2, *STREAM)
    assert outcome.returncode == 0, outcome.stderr
    require_true_streams(tmp_path / "a.h5", [(0, 1)], 200)
    outcome = launch(2, *ECHO, "--force")
    assert outcome.returncode == 0, outcome.stderr
    require_true_trips(tmp_path / "a.h5", [0])
    assert set(Results(tmp_path / "a.h5").words("provider")) == {"psm3"}


def on_three_hosts(program: Path, folder: Path, words: list[str]) -> None:
    """In namespaces, over what psm3 has for adapters that are no RDMA devices."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tc", "nsenter", "unshare"))):
        pytest.skip("hosts in network namespaces need root, iproute2 and util-linux")
    outcome = subprocess.run(
        [sys.executable, CLUSTER, "--hosts", "3", "--mbit", "1000", program, *words, "--nic", "e0"], cwd=folder,
        capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        env=os.environ | {"PSM3_DEVICES": "self,shm,nic"},
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr


def test_between_hosts(program, tmp_path):
    on_three_hosts(program, tmp_path, WORDS)
    results = Results(tmp_path / "a.h5")
    check(results, ranks=3, nodes=3)
    assert results.segments[0].attributes["domain"] == "e0"


def test_streams_and_round_trips_between_hosts(program, tmp_path):
    on_three_hosts(program, tmp_path, [*STREAM, "--pairs", "0:1,0:2,1:2"])
    require_true_streams(tmp_path / "a.h5", [(0, 1), (0, 2), (1, 2)], 200)
    on_three_hosts(program, tmp_path, [*ECHO, "--force", "--servers", "1"])
    require_true_trips(tmp_path / "a.h5", [0, 1])
    assert Results(tmp_path / "a.h5").segments[0].attributes["domain"] == "e0"
