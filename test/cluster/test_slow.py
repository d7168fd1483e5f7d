# SPDX-License-Identifier: BSD-3-Clause
"""One slow host, direction or pair among equal ones: the analysis names it, and nothing where there is none."""

from pathlib import Path

import pytest
from cluster import BURST_S, Cluster, payload_share
from measure import IS_VALIDATION, last_ranks, measure, size_for

pytestmark = pytest.mark.slow

HOSTS, MBIT, OPS = 4, 100, 12
CLEAN_LAUNCHES = 20 if IS_VALIDATION else 2
MOST = 0.75  # of the ops: this machine's other work makes ranks late too


def named(*files: Path, kind: str = "apart") -> list[str]:
    """What `a2a explain` says of ranks that end apart, or of nodes."""
    load = pytest.importorskip("a2aperf.loading", reason="a2a is not installed: test/run.sh cluster does that").load
    from a2aperf.explain.finders import explain

    return [finding.text for finding in explain(load(files).measured(), (kind,))]


def run(cluster: Cluster, program: Path, folder: Path, size: int):
    words = ["--sizes", str(size), "--ops", str(OPS), "--warmup", "1"]
    return measure(cluster, program, folder, 1, *words), named(folder / "a.h5")


def test_equal_hosts_are_not_named(cluster_of, program, tmp_path, told):
    """Four equal hosts, launched again and again."""
    cluster = cluster_of(HOSTS, MBIT)
    findings = []
    for _ in range(CLEAN_LAUNCHES):
        findings += run(cluster, program, tmp_path, size_for(MBIT, HOSTS, 1, seconds=0.1))[1]
    told(known="no host is named", measured=f"{len(findings)} named in {CLEAN_LAUNCHES} launches")
    assert findings == []


@pytest.mark.parametrize("direction", ["receive", "send"])
def test_a_slow_direction_of_one_host(cluster_of, program, tmp_path, told, direction):
    slow = 2
    told(case=f"One host of four {direction}s at 40 of 100 Mbit/s.")
    cluster = cluster_of(HOSTS, MBIT)
    cluster.limit("h3", direction, 40)
    results, findings = run(cluster, program, tmp_path, size_for(40, HOSTS, 1, seconds=0.2))
    told(known=f"rank {slow} (h3) {direction}s slowly", measured="; ".join(findings) or "nothing was named")
    last = last_ranks(results)
    if direction == "receive":
        assert (last == slow).mean() >= MOST
    else:  # all wait for it but itself
        assert (last != slow).mean() >= MOST
    (finding,) = findings
    assert finding.startswith(f"rank {slow} (h3)")
    assert f"{direction}s slowly" in finding


def test_a_slow_pair_is_seen_at_its_receiver(cluster_of, program, tmp_path, told):
    """What goes from h2 to h4, of four hosts, has 10 of 100 Mbit/s."""
    size = 400_000
    cluster = cluster_of(HOSTS, MBIT)
    cluster.limit_pair("h2", "h4", 10)
    results, findings = run(cluster, program, tmp_path, size)
    # At once passes what the shaper lets, and what it has saved where its timer was late.
    pair_s = size * 8 / 10e6 / payload_share()[1] - 2 * BURST_S
    p50_s = results.columns["time_p50"][0] / 1e9
    told(
        known=f"rank 3 (h4) receives slowly, or one sends slowly to it; ops take {pair_s * 1e3:.0f} ms or more",
        measured="; ".join([*findings, f"p50 {p50_s * 1e3:.0f} ms"]),
    )
    assert p50_s >= 0.99 * pair_s
    assert (last_ranks(results) == 3).mean() >= MOST
    (finding,) = findings
    assert finding.startswith("rank 3 (h4)")


def test_a_slow_host_is_named_once_over_all_launches(cluster_of, program, tmp_path, told):
    """One host of four receives at 40 of 100 Mbit/s, in five launches whose ranks are shuffled over the hosts."""
    cluster = cluster_of(HOSTS, MBIT)
    cluster.limit("h3", "receive", 40)
    files = []
    words = ["--sizes", str(size_for(40, HOSTS, 1, seconds=0.3)), "--ops", "6", "--warmup", "1", "--shuffle-ranks"]
    for seed in range(1, 6):
        measure(cluster, program, tmp_path, 1, *words, "--seed", str(seed))
        files.append((tmp_path / "a.h5").rename(tmp_path / f"{seed}.h5"))
    findings = named(*files, kind="nodes")
    told(known="h3, and no other host, in all five launches", measured="; ".join(findings) or "nothing was named")
    (finding,) = findings
    assert finding.startswith("h3: its ranks were late in ")
    assert "of 5 launches" in finding
    assert "4 nodes, whose ranks were placed 5 times" in finding
