# SPDX-License-Identifier: BSD-3-Clause
"""Uneven traffic over links of known rate: an op takes what its busiest link takes, and the analysis says so."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from cluster import payload_share
from measure import IS_VALIDATION, TRIES, measure
from results import Results

pytestmark = pytest.mark.slow

HOSTS, WITHIN = 4, 0.03
RANKS_PER_HOST, MBIT, SIZE, OPS = 1, 200, 1_700_000, 2  # 0.2 s of uniform traffic
MOE = "moe(experts=8,top=1,capacity=2,tokens=16)"
TRAFFIC = ("uniform", "hot-node=4x", MOE)
if IS_VALIDATION:  # which says what the first try gave
    RANKS_PER_HOST, MBIT, SIZE, OPS, TRIES = 2, 100, 1_000_000, 5, 1
    TRAFFIC = (
        "uniform", "zipf=1.2", "hot-rank=3x", "hot-node=4x", "permutation", "shift=3", "neighbours=2", "sparse=30%", "incast",
        "outcast", "bisection", MOE,
    )  # fmt: skip


def busiest_bytes(weights: np.ndarray, size: int) -> tuple[float, int]:
    """Most that a host sends to others or receives from them in an op, and which one that is."""
    ranks = len(weights)
    host = np.arange(ranks) // RANKS_PER_HOST
    between = weights * (ranks * (ranks - 1) * size / weights.sum()) * (host[:, None] != host)
    each = np.array([[between[host == one].sum(), between[:, host == one].sum()] for one in range(HOSTS)])
    return float(each.max()), int(each.max(axis=1).argmax())


def errors(file: Path, results: Results) -> dict[str, float]:
    """Of each traffic's median, against the nearer end of what framing leaves of the links; 0 between the ends."""
    low, high = payload_share()
    with h5py.File(file) as opened:
        weights = opened["matrices/weight"][()]
    ranks = HOSTS * RANKS_PER_HOST
    found = {}
    for point, name in enumerate(results.words("traffic")):
        matrix = results.columns["traffic_matrix"][point]
        most, _ = busiest_bytes(weights[matrix] if matrix >= 0 else 1 - np.eye(ranks), SIZE)
        fastest = most * 8 / (MBIT * 1e6) / high
        time = results.columns["time_p50"][point] * 1e-9
        found[name] = time / min(max(time, fastest), fastest * high / low) - 1
    return found


def blamed(file: Path) -> tuple[list[str], list[str]]:
    """What `a2a explain` says of the hot node's traffic, and of ranks and nodes that would be slow."""
    load = pytest.importorskip("a2aperf.loading", reason="a2a is not installed: test/run.sh cluster does that").load
    from a2aperf.explain.finders import explain

    said = explain(load([file]).measured())
    of_traffic = [one.text for one in said if one.kind == "traffic" and one.text.startswith("hot-node=4x")]
    return of_traffic, [one.text for one in said if one.kind in ("stragglers", "apart", "behind", "slow-pair", "link")]


def test_uneven_traffic_takes_what_its_busiest_link_takes(cluster_of, program, tmp_path, told):
    """Uneven traffic, four hosts: what its busiest link takes; and the analysis names the hot node as the traffic's."""
    cluster = cluster_of(HOSTS, MBIT)
    words = ["--traffic", ",".join(TRAFFIC), "--sizes", str(SIZE), "--ops", str(OPS), "--warmup", "1"]
    for _ in range(TRIES):
        results = measure(cluster, program, tmp_path, RANKS_PER_HOST, *words)
        found = errors(tmp_path / "a.h5", results)
        if max(map(abs, found.values())) <= WITHIN:
            break
    of_traffic, of_others = blamed(tmp_path / "a.h5")
    told(
        known=f"within {WITHIN:.0%} of what the busiest link takes; the hot node is the traffic's, and nobody is slow",
        measured=", ".join(f"{name} {error:+.1%}" for name, error in found.items()) + "; " + "; ".join(of_traffic),
    )
    assert set(found) == set(TRAFFIC)
    assert max(map(abs, found.values())) <= WITHIN, found
    (text,) = of_traffic
    hot = results.columns["traffic_matrix"][results.words("traffic").index("hot-node=4x")]
    with h5py.File(tmp_path / "a.h5") as file:
        _, host = busiest_bytes(file["matrices/weight"][hot], SIZE)
    assert f"node {host} receives most" in text
    assert text.endswith("the difference is the traffic's, not the network's")
    assert of_others == []


@pytest.mark.skipif(IS_VALIDATION, reason="docs/validation.md has traffic that is drawn once")
def test_a_hot_rank_that_moves_on_takes_each_time_what_its_link_takes(cluster_of, program, tmp_path, told):
    """A hot rank that moves on with each op, four hosts: every op takes what its own busiest link takes."""
    cluster = cluster_of(HOSTS, MBIT)
    low, high = payload_share()
    words = ["--traffic", "rotating-hot=4x", "--redraw", "op", "--sizes", str(SIZE), "--ops", str(HOSTS), "--warmup", "1"]
    for _ in range(TRIES):
        results = measure(cluster, program, tmp_path, 1, *words)
        with h5py.File(tmp_path / "a.h5") as file:
            drawn = [busiest_bytes(weights, SIZE) for weights in file["matrices/weight"][()]]
        times = results.raw["recv_done"][0, :HOSTS].max(axis=1) * 1e-9
        fastest = np.array([most * 8 / (MBIT * 1e6) / high for most, _ in drawn])
        errors = times / np.clip(times, fastest, fastest * high / low) - 1
        if np.abs(errors).max() <= WITHIN:
            break
    told(known=f"each op within {WITHIN:.0%} of its busiest link", measured=", ".join(f"{e:+.1%}" for e in errors))
    assert sorted(host for _, host in drawn) == list(range(HOSTS))
    assert np.abs(errors).max() <= WITHIN, errors
