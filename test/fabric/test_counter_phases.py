# SPDX-License-Identifier: BSD-3-Clause
"""What is counted outside of the timed ops is in the file: of the verification of each point, and of the start."""

import os

import counter_values
import h5py
import numpy as np
import pytest
from results import text

RANKS, SIZE = 2, 100_000
WORKLOADS = {
    "alltoall": ("--ops", "3", "--no-sentinel"),
    "pairs": ("--ops", "3"),
    "stream": ("--messages", "200"),
    "echo": ("--ops", "50", "--request", "100"),
}


def sent(group: h5py.Group, name: str, names: h5py.Dataset):
    """What left through the loopback device, over all."""
    (index,) = [i for i, one in enumerate(names[()]) if text(one) == "lo/statistics/tx_bytes"]
    return group[name][..., index]


def check_start_times(start: h5py.Group, workload: str) -> None:
    """Every rank came through each phase that its workload has, and through no other."""
    phases = [text(name) for name in start["phase"][()]]
    times = dict(zip(phases, start["time"][()], strict=True))
    assert start["time"].shape == (len(start["meaning"]), RANKS) == (len(start["waits"]), RANKS)
    is_alltoall = workload == "alltoall"  # which exchanges first messages before a point; others' points do
    for name, of_ranks in times.items():
        is_of_first_messages = name in ("connect", "payload")
        assert (of_ranks > 0).all() if is_alltoall or not is_of_first_messages else (of_ranks == 0).all(), name


def check_cpu_of_node(counters: h5py.Group) -> None:
    """All that the ranks used is in it, as far as a kernel that counts in ticks, on each CPU by itself, can tell."""
    names = ("user", "system", "irq", "softirq", "steal")
    of_node = sum(counters[f"node_{name}_time"][:, 0] for name in names)
    own = (counters["user_time"][()] + counters["system_time"][()]).sum(axis=1)
    ticks = 2 * os.cpu_count() * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert (of_node + ticks >= 0.8 * own).all(), (of_node, own)
    assert (counters["node_idle_time"][()] >= 0).all()
    # The node is counted by its first rank, from before that is counted until after.
    assert (counters["wall_time"][()] > 0).all()
    assert (counters["node_wall_time"][:, 0] >= counters["wall_time"][:, 0]).all()


def check_values(counters: h5py.Group, is_whole: bool) -> None:
    """Before and difference come to after; where ops come in blocks, there may be more of it."""
    read = {name: counter_values.values_of(counters.file, name) for name in counter_values.names(counters.file)}
    for name in (one.removeprefix("after_") for one in read if one.startswith("after_")):
        if name == "cpu_frequency":
            continue
        before, after, change = read[f"before_{name}"], read[f"after_{name}"], counters[name][()]
        known = (before >= 0) & (after >= 0) & (change >= 0)
        of_rank = before.ndim == 2 and before.shape[1] == RANKS
        assert known.all() or not of_rank, name
        sum_ = (before + change)[known]
        assert (after[known] == sum_).all() if is_whole else (after[known] >= sum_).all(), name
    for name in ("user_time", "minor_faults", "threads", "resident_memory"):
        assert (read[f"before_{name}"] > 0).all(), name  # since the process began
    frequencies = [read[f"{prefix}cpu_frequency"] for prefix in ("before_", "after_")]
    assert all(((one == -1) | (one > 100_000)).all() for one in frequencies)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_each_phase_has_its_own(launch, needs_provider, tmp_path, workload):
    """The messages of a verification went through the device, and opening what they lie in touched pages."""
    needs_provider("tcp")
    words = [workload, "--provider", "tcp", "--nic", "lo", "--sizes", f"{SIZE}", *WORKLOADS[workload], "-o", "a.h5"]
    outcome = launch(RANKS, *words)
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        counters, start = file["counters"], file["segments/0/start_counters"]
        assert (sent(counters, "verification_port", counters["port_names"]) >= SIZE).all()
        for name in ("voluntary_switches", "minor_faults", "user_time", "system_time"):
            assert (counters[f"verification_{name}"][()] >= 0).all()
        for name in ("softirqs_net_rx", "softirqs_net_tx"):
            assert (counters[name][()] >= 0).all() and (counters[f"verification_{name}"][()] >= 0).all()
        assert (counters["resident_memory"][()] > 1 << 20).all() and (counters["locked_memory"][()] >= 0).all()
        assert (counters["softirqs_net_rx"][()] > 0).all()  # lo's packets are taken by softirqs
        check_cpu_of_node(counters)
        check_values(counters, is_whole=workload in ("stream", "echo"))
        assert (start["node_wall_time"][()] > 0).all() and (start["node_idle_time"][()] >= 0).all()
        assert (start["minor_faults"][()] > 0).all()
        assert (start["user_time"][()] + start["system_time"][()] > 0).all()
        assert len(start["user_time"]) == RANKS and start["port"].shape == (1, len(start["port_names"]))
        check_start_times(file["segments/0/start_times"], workload)
        if workload == "alltoall":  # which verifies first messages before it decides how ops start
            assert (sent(start, "port", start["port_names"]) >= SIZE).all()


def test_what_the_ranks_use_is_in_what_the_node_was_busy_with(launch, needs_provider, tmp_path):
    """Two ranks that poll for a second are most of what a node is busy with, whoever else is there."""
    needs_provider("shm")
    words = ["stream", "--provider", "shm", "--sizes", "8", "--duration", "1s", "-o", "a.h5"]
    outcome = launch(RANKS, *words)
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        check_cpu_of_node(file["counters"])
        assert (file["counters/node_user_time"][()] > 0).all()


def test_a_baseline_is_not_verified(launch, needs_provider, tmp_path):
    needs_provider("shm")
    words = [
        "alltoall",
        "--provider",
        "shm",
        "--baseline",
        "mpi",
        "--sizes",
        "1000",
        "--no-sentinel",
        "--sync",
        "barrier",
        "--ops",
        "5",
    ]
    assert launch(RANKS, *words, "-o", "a.h5").returncode == 0
    with h5py.File(tmp_path / "a.h5") as file:
        is_baseline = file["role"].asstr()[()] == "baseline"
        faults = file["counters/verification_minor_faults"][()]
        assert (faults[is_baseline] == -1).all() and (faults[~is_baseline] >= 0).all()
        assert is_baseline.sum() == 1


def test_each_launch_of_a_file_has_a_start(launch, needs_provider, tmp_path):
    needs_provider("shm")
    words = ["alltoall", "--provider", "shm", "--sizes", "1000,2000", "--sync", "barrier", "--ops", "3", "-o", "a.h5"]
    assert launch(RANKS, *words).returncode == 0
    beside = ("verification_", "values_of_")
    with h5py.File(tmp_path / "a.h5") as file:
        before = {name: file[f"counters/{name}"][()] for name in file["counters"] if name.startswith(beside)}
        first = {name: values[()].tolist() for name, values in file["segments/0/start_counters"].items()}
        started = file["segments/0/start_times/time"][()].tolist()
    assert launch(RANKS, *words, "--resume").returncode == 0
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["segment"][()] == 0).all()  # the second launch had nothing to measure
        for name, values in before.items():
            assert (file[f"counters/{name}"][()] == values).all()
        start = file["segments/0/start_counters"]
        assert {name: values[()].tolist() for name, values in start.items()} == first
        assert (file["segments/1/start_counters/minor_faults"][()] > 0).all()
        assert file["segments/0/start_times/time"][()].tolist() == started
        assert (file["segments/1/start_times/time"][()].sum(axis=0) > 0).all()


def test_the_last_words_count_who_was_preempted(launch, needs_provider, tmp_path):
    needs_provider("shm")
    ranks = min(3 * len(os.sched_getaffinity(0)), 24)
    outcome = launch(ranks, "alltoall", "--provider", "shm", "--sizes", "64K", "--ops", "60", "-o", "a.h5")
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        switches = np.maximum(file["counters/involuntary_switches"][()], 0).sum(axis=1)
        often = (switches / (file["ops"][()] + file["invalid"][()]) > 0.1)[file["state"][()] == 1]
    if not often.any():
        pytest.skip(f"{ranks} ranks kept their cores")
    assert "preempted during ops at" in outcome.stdout + outcome.stderr
