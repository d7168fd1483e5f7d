# SPDX-License-Identifier: BSD-3-Clause
"""Launches that span hosts: names of their own for ranks of this machine, in namespaces."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import PATIENCE
from results import COMPLETE, Results, has_plausible_moments, has_true_node_figures, has_true_statistics

SUPPORT = Path(__file__).resolve().parents[1] / "support"
USUAL = {"--ops": "5", "--warmup": "1", "--sync": "barrier", "--poll": "yield", "--sizes": "1000,60000", "-o": "a.h5"}


@pytest.fixture
def launch_on_hosts(program, tmp_path, monkeypatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    # Ranks of different hosts may not meet in shared memory.
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")

    def run(ranks: int, per_host: int, *words: str, device: str = "") -> subprocess.CompletedProcess[str]:
        as_host = [SUPPORT / "as_hosts.sh", str(per_host), *(["--device", device] if device else [])]
        usual = [word for name, value in USUAL.items() if name not in words for word in (name, value)]
        outcome = subprocess.run(
            [SUPPORT / "mpirun.sh", "-t", "800", str(ranks), *as_host, program, "alltoall", "--no-sentinel", *usual, *words],
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


# 5 ranks on two hosts: the leader of the first one has two more to gather from, that of the second one has one.
@pytest.mark.parametrize("provider", ["tcp", "net"])
def test_leaders_forward(launch_on_hosts, needs_provider, tmp_path, provider):
    needs_provider(provider)
    outcome = launch_on_hosts(
        5, 3, "--provider", provider, "--sizes", "8,3000", "--schedule", "shift,node-aware", "--window", "1,all", "--trace"
    )
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.words("schedule") == ["shift"] * 4 + ["node-aware"] * 4
    assert results.states() == [COMPLETE] * 8
    assert "node-aware: the first ranks of 2 nodes forward 112 B (at 8 B) to 42 kB (at 3000 B) in each op" in outcome.stderr
    # On the first host two ranks have 2 messages for the other one and get as many, on the second one rank has 3.
    assert list(results.columns["forwarded_bytes"]) == [0] * 4 + [2 * (2 * 2 + 1 * 3) * size for size in (8, 3000)] * 2
    for point in range(len(results)):
        has_true_statistics(results, point)
        has_plausible_moments(results, point)
        has_true_node_figures(results, point, [3, 2])


def test_what_is_not_forwarded_says_why(launch_on_hosts, tmp_path):
    outcome = launch_on_hosts(
        4, 2, "--provider", "tcp", "--sizes", "8", "--schedule", "node-aware", "--mode", "tagged,write-imm,msg",
        "--endpoints", "1,2", "--chunk", "whole,4", "--traffic", "uniform,incast",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.states().count(COMPLETE) == 1 and results.states()[0] == COMPLETE
    reasons = set(results.words("skip_reason")[1:])
    assert reasons == {
        "node-aware forwards uniform traffic only",
        "node-aware forwards whole messages, no chunks",
        "node-aware forwards over one endpoint of each rank",
        "node-aware forwards by receives that take one rank's message each, and write-imm has none",
        "node-aware forwards by receives that take one rank's message each, and msg has none",
    }


def test_ops_that_follow_one_another_are_not_forwarded(launch_on_hosts, tmp_path):
    outcome = launch_on_hosts(4, 2, "--provider", "tcp", "--sizes", "8", "--schedule", "shift,node-aware", "--sync", "none")
    assert outcome.returncode == 0, outcome.stderr
    assert "node-aware needs all ranks to be in the same op" in Results(tmp_path / "a.h5").words("skip_reason")[1]


def test_forwarding_beside_mpi(launch_on_hosts, tmp_path):
    outcome = launch_on_hosts(4, 2, "--provider", "tcp", "--sizes", "8", "--schedule", "node-aware", "--baseline", "mpi")
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.words("role") == ["measure", "baseline"]
    assert list(results.columns["forwarded_bytes"]) == [2 * (2 + 2) * 8, 0]


def test_a_search_tries_leaders_where_there_are_nodes(launch_on_hosts, tmp_path):
    outcome = launch_on_hosts(
        4, 2, "--provider", "tcp", "--sizes", "8", "--mode", "tagged", "--window", "all", "--ops", "120", "--search", "20s"
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "node-aware" in Results(tmp_path / "a.h5").words("schedule")
