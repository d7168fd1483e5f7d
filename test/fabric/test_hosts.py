# SPDX-License-Identifier: BSD-3-Clause
"""Launches that span hosts: names of their own for ranks of this machine, in namespaces."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import PATIENCE
from results import COMPLETE, Results, has_true_node_figures, has_true_statistics

SUPPORT = Path(__file__).resolve().parents[1] / "support"


@pytest.fixture
def launch_on_hosts(program, tmp_path, monkeypatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    # Ranks of different hosts may not meet in shared memory.
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")

    def run(ranks: int, per_host: int, *words: str, device: str = "") -> subprocess.CompletedProcess[str]:
        as_host = [SUPPORT / "as_hosts.sh", str(per_host), *(["--device", device] if device else [])]
        outcome = subprocess.run(
            [SUPPORT / "mpirun.sh", "-t", "800", str(ranks), *as_host, program, "alltoall", "--ops", "5",
             "--warmup", "1", "--sync", "barrier", "--poll", "yield", "--sizes", "1000,60000", "--no-sentinel",
             "-o", "a.h5", *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if outcome.returncode == 77:
            pytest.skip("namespaces are not allowed here")
        return outcome

    return run


@pytest.mark.parametrize(("ranks", "per_host", "nodes"), [(2, 1, 2), (4, 2, 2), (3, 2, 2)])
def test_net_figures_leave_the_node(launch_on_hosts, tmp_path, ranks, per_host, nodes):
    outcome = launch_on_hosts(ranks, per_host, "--provider", "tcp")
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.states() == [COMPLETE, COMPLETE]
    assert list(results.columns["nodes"]) == [nodes, nodes]
    on_node = [per_host] * (ranks // per_host) + [ranks % per_host] * (ranks % per_host > 0)
    for point in range(len(results)):
        has_true_statistics(results, point)
        has_true_node_figures(results, point, on_node)


def test_auto_takes_tcp_where_no_rdma_device_is(launch_on_hosts, tmp_path):
    if Path("/sys/class/infiniband").exists():
        pytest.skip("this machine has an RDMA device")
    outcome = launch_on_hosts(2, 1)
    assert outcome.returncode == 0, outcome.stderr
    assert set(Results(tmp_path / "a.h5").words("provider")) <= {"net", "tcp", "tcp;ofi_rxm"}


def test_auto_never_falls_to_ethernet_beside_an_rdma_device(launch_on_hosts, tmp_path):
    outcome = launch_on_hosts(2, 1, device="mlx5_9")
    assert outcome.returncode == 2
    assert "there is an RDMA device" in outcome.stderr
    assert "--provider tcp" in outcome.stderr
    assert list(tmp_path.iterdir()) == []


def test_tcp_is_measured_beside_an_rdma_device_when_asked_for(launch_on_hosts, tmp_path):
    outcome = launch_on_hosts(2, 1, "--provider", "tcp", device="mlx5_9")
    assert outcome.returncode == 0, outcome.stderr


def test_shm_does_not_span_hosts(launch_on_hosts, tmp_path):
    outcome = launch_on_hosts(2, 1, "--provider", "shm")
    assert outcome.returncode == 2
    assert "shm works within one host" in outcome.stderr
    assert list(tmp_path.iterdir()) == []
