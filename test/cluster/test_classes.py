# SPDX-License-Identifier: BSD-3-Clause
"""Classes of service on a link that knows them: paths get the shares that its weights give them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from cluster import ETHERNET, MTU, Cluster, payload_share
from flows import flow
from measure import TRIES
from path_files import are_true_intervals, paths_of

pytestmark = pytest.mark.slow

MBIT = 100
BURST = 60_000
SIZE = ["--sizes", "64KiB", "--window", "8"]
LENGTH = ["--duration", "4s", "--interval", "250ms"]
NEAR = 0.03  # of all, that a share may be from its weight's
TYPE_OF_SERVICE = {"low-latency": 0xB8, "bulk": 0x28, "scavenger": 0x20, "dscp26": 0x68}


def weigh(cluster: Cluster, classes: Sequence[str], weights: Sequence[int]) -> None:
    """What the first host sends: to each class of packets its weight's part of the link, chosen by the type of service.

    What has no class goes first: small packets, for an acknowledgement that waits holds up what it is for.
    """
    tc = f"tc -n {cluster.hosts[0]}"
    whole = f"ceil {MBIT}mbit burst {BURST} cburst {BURST}"
    lines = [
        "set -e",
        f"{tc} qdisc add dev e0 root handle 1: htb default 1",
        f"{tc} class add dev e0 parent 1: classid 1:fff htb rate {MBIT}mbit {whole}",
        f"{tc} class add dev e0 parent 1:fff classid 1:1 htb prio 0 rate 1mbit {whole}",
        f"{tc} filter add dev e0 parent 1: prio 1 protocol ip u32 match u16 0 0xff00 at 2 flowid 1:1",
    ]
    for i, (name, weight) in enumerate(zip(classes, weights, strict=True)):
        rate = (MBIT - 1) * weight / sum(weights)
        lines += [
            f"{tc} class add dev e0 parent 1:fff classid 1:{i + 2:x} htb prio 1 rate {rate}mbit {whole} quantum {weight * (MTU + ETHERNET)}",
            f"{tc} qdisc add dev e0 parent 1:{i + 2:x} bfifo limit 64mb",
            f"{tc} filter add dev e0 parent 1: prio 2 protocol ip u32 match ip tos {TYPE_OF_SERVICE[name]:#x} 0xfc flowid 1:{i + 2:x}",
        ]
    cluster.shell("\n".join(lines))


def told_by_tc(cluster: Cluster, file: Path) -> list[str]:
    """What the kernel has of the first host's device goes with the launch."""
    tc = f"tc -n {cluster.hosts[0]}"
    file.write_text(cluster.shell(f"set -e; for kind in qdisc class filter; do {tc} $kind show dev e0; done"))
    return ["--attach", str(file)]


def expected_of(folder: Path) -> list[float]:
    """The shares that `a2a` makes of it."""
    load = pytest.importorskip("a2aperf.loading", reason="a2a is not installed: test/run.sh cluster does that").load
    from a2aperf.workloads.qos import table

    found = table.frame(load([folder / "a.h5"]))
    assert set(found["expected_by"]) <= {"classes of tc", "bands of tc"}
    return [float(share) for share in found["expected_share"]]


def found_in(folder: Path, kind: str) -> list[str]:
    """What `a2a explain` says of that kind: `starved`, of paths that got next to nothing, or `equal`, of classes that got the same."""
    load = pytest.importorskip("a2aperf.loading", reason="a2a is not installed: test/run.sh cluster does that").load
    from a2aperf.explain.finders import explain

    return [one.text for one in explain(load([folder / "a.h5"]).complete(("qos",)), (kind,))]


def shares_of(folder) -> tuple[np.ndarray, float]:
    """Of the bytes of all paths in all intervals but the first two; and the most of the time that a sender had nothing out."""
    are_true_intervals(folder / "a.h5", 0)
    paths = paths_of(folder / "a.h5", 0)
    came = np.array([path["bytes"][2:].sum() for path in paths], dtype=float)
    idle = max(float(path["idle"][2:].sum() / path["length"][2:].sum()) for path in paths)
    return came / came.sum(), idle


@pytest.mark.parametrize(
    ("classes", "weights"),
    [(("bulk", "low-latency"), (1, 2)), (("bulk", "scavenger", "low-latency"), (1, 1, 2)), (("scavenger", "dscp26", "low-latency"), (1, 4, 8))],
)
def test_shares_are_those_of_the_weights(cluster_of, program, tmp_path, told, classes, weights):
    """Paths of classes that a shaped link knows, by its weights."""
    cluster = cluster_of(2)
    weigh(cluster, classes, weights)
    wanted = np.array(weights) / sum(weights)
    words = [word for name in classes for word in ("--path", f"0:1,class={name}")]
    if len(set(weights)) < len(weights):  # else the launch has asked tc itself
        words += told_by_tc(cluster, tmp_path / "tc.txt")
    for _ in range(TRIES):
        flow(cluster, program, tmp_path, "qos", *words, *SIZE, *LENGTH)
        shares, idle = shares_of(tmp_path)
        if np.abs(shares - wanted).max() <= NEAR:
            break
    told(known=f"shares {np.round(wanted, 3)}", measured=f"{np.round(shares, 3)}, idle {idle:.4f}")
    assert np.abs(shares - wanted).max() <= NEAR, (shares, wanted, idle)
    assert expected_of(tmp_path) == pytest.approx(wanted.tolist(), abs=1e-4)  # tc rounds rates
    paths = paths_of(tmp_path / "a.h5", 0)
    for column in ("class_requested", "class_granted", "class_verified"):
        assert [path[column] for path in paths] == list(classes), column


def test_classes_that_nobody_knows_change_nothing(cluster_of, program, tmp_path, told):
    """Paths of two classes on a link that has one queue for all."""
    cluster = cluster_of(2)
    cluster.shell(f"tc -n h1 qdisc add dev e0 root tbf rate {MBIT}mbit burst {BURST} limit 64mb")
    for _ in range(TRIES):
        flow(cluster, program, tmp_path, "qos", "--classes", "bulk,low-latency", *SIZE, *LENGTH)
        shares, idle = shares_of(tmp_path)
        if np.abs(shares - 0.5).max() <= NEAR:
            break
    told(known="shares 0.5 0.5", measured=f"{np.round(shares, 3)}, idle {idle:.4f}")
    assert np.abs(shares - 0.5).max() <= NEAR
    # They came with their classes: that nobody heeds them is another matter.
    assert [path["class_verified"] for path in paths_of(tmp_path / "a.h5", 0)] == ["bulk", "low-latency"]
    # TCP shares by chance: of a launch whose intervals are few for how far they vary, equal shares are not found.
    equal = found_in(tmp_path, "equal")
    for _ in range(TRIES):
        if equal:
            break
        flow(cluster, program, tmp_path, "qos", "--classes", "bulk,low-latency", *SIZE, *LENGTH)
        equal = found_in(tmp_path, "equal")
    assert len(equal) == 1 and "paths of 2 classes (bulk, low-latency) got equal shares" in equal[0]


def test_a_network_that_takes_the_classes_away_is_seen(cluster_of, program, tmp_path, told):
    """Packets of two classes, one each way, over a cable that gives all of them another one."""
    cluster = cluster_of(2)
    cluster.lengthen("h2", delay_s=0.001, mbit=MBIT, code_point=8)
    flow(cluster, program, tmp_path, "qos", "--path", "0:1,class=low-latency", "--path", "1:0,class=bulk", *SIZE, *LENGTH)
    paths = paths_of(tmp_path / "a.h5", 0)
    told(known="dscp8", measured=", ".join(path["class_verified"] for path in paths))
    assert [path["class_granted"] for path in paths] == ["low-latency", "bulk"]
    assert [path["class_verified"] for path in paths] == ["dscp8", "dscp8"]


def test_a_strict_priority_starves_the_rest(cluster_of, program, tmp_path, told):
    """Three bands behind one rate: what goes first leaves next to nothing, the run ends, and it is told."""
    cluster = cluster_of(2)
    cluster.shell(
        f"set -e; tc -n h1 qdisc add dev e0 root handle 1: tbf rate {MBIT}mbit burst {BURST} limit 64mb\n"
        "tc -n h1 qdisc add dev e0 parent 1: handle 2: pfifo_fast"
    )
    of_tc = told_by_tc(cluster, tmp_path / "tc.txt")
    flow(cluster, program, tmp_path, "qos", "--classes", "bulk,low-latency", *of_tc, *SIZE, *LENGTH)
    shares, idle = shares_of(tmp_path)
    assert expected_of(tmp_path) == [0, 1]
    starved = found_in(tmp_path, "starved")
    assert any("path 0 (bulk) got " in text for text in starved), starved
    told(known="the share of bulk below 0.02", measured=f"{np.round(shares, 4)}, idle {idle:.4f}")
    assert shares[0] < 0.02


def test_a_path_alone_has_the_whole_link(cluster_of, program, tmp_path, told):
    """One path on a link of known rate."""
    cluster = cluster_of(2, mbit=MBIT)
    low, high = payload_share()
    for _ in range(TRIES):
        results = flow(cluster, program, tmp_path, "qos", "--paths", "1", *SIZE, *LENGTH)
        rate = float(results.columns["gbps"][0]) * 1e3
        if low * MBIT * 0.98 <= rate <= high * MBIT * 1.01:
            break
    told(known=f"{low * MBIT:.1f} to {high * MBIT:.1f} Mbit/s", measured=f"{rate:.1f} Mbit/s")
    assert low * MBIT * 0.98 <= rate <= high * MBIT * 1.01
