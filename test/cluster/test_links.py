# SPDX-License-Identifier: BSD-3-Clause
"""Links of known rate: the bandwidth that the program reports is the one that they have."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from cluster import payload_share
from measure import IS_VALIDATION, TRIES, LinkCase, measure, measure_links, size_for

# Nothing can be faster than the link. Slower it can look when this machine's other work makes timers and ranks late:
# then it is measured again.
ABOVE, BELOW = 0.01, 0.02
BESIDE_OTHERS = 0.10  # where nothing is measured again

ROOT = Path(__file__).resolve().parents[2]
OPS = 3
LINKS = [(50, 2, 4), pytest.param(100, 4, 2, marks=pytest.mark.slow), (200, 8, 1), pytest.param(400, 2, 1, marks=pytest.mark.slow)]
CEILINGS = [(400, 2, 1), pytest.param(100, 4, 2, marks=pytest.mark.slow)]
if IS_VALIDATION:  # which says what the first try gave
    OPS, TRIES, BELOW = 5, 1, BESIDE_OTHERS
    LINKS = [(mbit, *shape) for mbit in (50, 100, 200, 400) for shape in ((2, 1), (2, 4), (4, 2), (8, 1))]
    CEILINGS = LINKS[1::2]


def analysis() -> Path:
    """The command a2a."""
    return Path(os.environ.get("A2A", ROOT / ".venv/bin/a2a"))


@pytest.mark.parametrize(("mbit", "hosts", "ranks_per_host"), LINKS)
def test_the_rate_of_the_links_comes_out(cluster_of, program, tmp_path, told, mbit, hosts, ranks_per_host):
    """Payload that leaves one host, one way, at links of known rate."""
    case = LinkCase(mbit, hosts, ranks_per_host)
    cluster = cluster_of(hosts, mbit)
    for _ in range(TRIES):
        figures = measure_links(case, cluster, program, tmp_path, ops=OPS)
        if figures.error >= -BELOW:
            break
    told(
        mbit=mbit, hosts=hosts, ranks_per_host=ranks_per_host, ops=figures.ops, net_mbit=figures.net_mbit,
        low=case.expected_mbit[0], high=case.expected_mbit[1], wire_ratio=float(figures.wire_ratio.max()),
    )  # fmt: skip
    assert -BELOW <= figures.error <= ABOVE, figures
    # The cross-check does not depend on time: the link counted the payload, and no more headers than we take it to.
    assert (figures.wire_ratio >= 1).all(), figures
    assert (figures.wire_ratio <= 1 / payload_share()[0]).all(), figures


def test_a_limited_core_is_the_bisection(cluster_of, program, tmp_path, told):
    """Two hosts on each side of a link of 100 Mbit/s, with 200 Mbit/s each: the core decides."""
    core = 100
    cluster = cluster_of(4, mbit=200, core_mbit=core)
    size = int(core * 1e6 / 8 / (2 * 2))  # an op is a second of the core's link
    results = measure(cluster, program, tmp_path, 1, "--sizes", str(size), "--ops", "3", "--warmup", "1")
    low, high = payload_share()
    bisection = float(results.columns["gbps_bisection"][0]) * 1e3
    net = float(results.columns["gbps_node_net"][0]) * 1e3
    told(
        known=f"bisection {core * low:.1f} to {core * high:.1f} Mbit/s; no host near its own 200",
        measured=f"{bisection:.1f} Mbit/s; a host sends {net:.1f}",
    )
    assert core * low * (1 - BESIDE_OTHERS) <= bisection <= core * high * (1 + ABOVE)
    assert net < 0.5 * 200, "no host's own link is near its rate"


@pytest.mark.parametrize("window", ["1", pytest.param("all", marks=pytest.mark.slow)])
def test_no_schedule_beats_the_links(cluster_of, program, tmp_path, told, window):
    """Schedules on links of 200 Mbit/s, four hosts."""
    cluster = cluster_of(4, mbit=200)
    size = size_for(200, 4, 1, seconds=0.5)
    results = measure(
        cluster, program, tmp_path, 1, "--sizes", str(size), "--ops", "3", "--warmup", "1",
        "--schedule", "shift,xor,naive", "--window", window,
    )  # fmt: skip
    rates = dict(zip(results.words("schedule"), results.columns["gbps_node_net"] * 1e3, strict=True))
    told(
        known=f"none above {200 * payload_share()[1]:.1f} Mbit/s",
        measured=f"window {window}: " + ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items()),
    )
    assert max(rates.values()) <= 200 * payload_share()[1] * (1 + ABOVE), rates
    assert rates["shift"] >= 0.8 * max(rates.values()), rates


@pytest.mark.parametrize(("mbit", "hosts", "ranks_per_host"), CEILINGS)
def test_the_ceiling_that_the_gate_expects(cluster_of, program, tmp_path, told, mbit, hosts, ranks_per_host):
    """What a link of known rate can carry at most, by `a2a gate --expect link`."""
    case = LinkCase(mbit, hosts, ranks_per_host)
    cluster = cluster_of(hosts, mbit)
    # An interface of two namespaces has no PCIe; its rate is the shaper's, which nobody but this test knows.
    words = ["gate", tmp_path / "a.h5", "--json", "--expect", f"link,rate={mbit}Mbit/s,pcie=none,least=90%"]
    for _ in range(TRIES):
        measure_links(case, cluster, program, tmp_path, ops=OPS)
        outcome = subprocess.run([analysis(), *words], capture_output=True, text=True)
        checks = {one["check"]: one for one in json.loads(outcome.stdout)["checks"]}
        if "expected" in checks and checks["expected"]["measured"] >= 1 - BELOW:
            break
    told(known="100%", measured=f"{100 * checks['expected']['measured']:.1f}%")
    assert outcome.returncode == 0, outcome
    assert set(checks) == {"link", "framing", "pcie", "expected"}
    assert abs(checks["expected"]["measured"] - 1) <= BELOW, checks
    # The MTU is the file's; what the framing leaves is what the stage of known links has.
    assert "MTU 9000 B, the file" in checks["framing"]["why"]
    low, high = case.expected_mbit
    assert 0.995 * low <= 1e3 * checks["framing"]["ceiling_gbps"] <= high
    outcome = subprocess.run([analysis(), *words[:-1], "link,pcie=none"], capture_output=True, text=True)
    made = json.loads(outcome.stdout)
    # Whatever rate the kernel says such an interface has, it is not that of the shaper, or unknown: never ok.
    assert outcome.returncode in (2, 3) and made["status"] == outcome.returncode
