# SPDX-License-Identifier: BSD-3-Clause
"""Hosts with two links of known rate: all adapters together carry the sum of both, one of them its own."""

import re
import subprocess
from pathlib import Path

import h5py
import pytest
from cluster import payload_share
from measure import TRIES, size_for, words
from results import COMPLETE, Results, text
from test_links import analysis

pytestmark = pytest.mark.slow

HOSTS, RANKS_PER_HOST, MBIT = 2, 2, 50
ABOVE, BELOW = 0.01, 0.10
OPS = ["--ops", "3", "--warmup", "1", "--sync", "barrier", "--no-sentinel", "--force", "-o", "a.h5"]


@pytest.fixture
def run(cluster_of, program, tmp_path):
    """A launch of two ranks on each of two hosts."""
    cluster = cluster_of(HOSTS, MBIT, rails=2)
    provider = words(program)[1]

    def start(*more: str, **environment: str) -> subprocess.CompletedProcess[str]:
        # Ranks of several endpoints do not sleep.
        command = [program, "alltoall", "--provider", provider, "--poll", "yield", "--mode", "write-imm", *OPS, *more]
        return cluster.launch(RANKS_PER_HOST, command, tmp_path, 300, **environment)

    start.cluster = cluster
    return start


def adapters_of(file: Path) -> tuple[dict[str, object], list[str]]:
    with h5py.File(file) as opened:
        launch = opened["segments/0"]
        return dict(launch.attrs), [text(nic) for nic in launch["rank_facts/nic"][()]]


@pytest.mark.parametrize(
    ("more", "rails", "of_rank", "nics"),
    [
        (["--nic", "e0"], 1, 1, ["e0"] * 4),
        (["--nic", "e0,e1", "--endpoints", "2"], 2, 2, ["e0,e1"] * 4),
        (["--nic", "e0,e1"], 2, 1, ["e0", "e1"] * 2),
    ],
    ids=["one", "endpoints", "ranks"],
)
def test_adapters_together_carry_the_sum_of_their_links(run, tmp_path, told, more, rails, of_rank, nics):
    """Payload that leaves one of two hosts, over one or both of its two links."""
    size = size_for(MBIT * rails, HOSTS, RANKS_PER_HOST)
    low, high = (MBIT * rails * share for share in payload_share())
    for _ in range(TRIES):
        outcome = run("--sizes", str(size), *more)
        assert outcome.returncode == 0, outcome.stderr
        results = Results(tmp_path / "a.h5")
        assert results.states() == [COMPLETE]
        measured = float(results.columns["gbps_node_net"][0]) * 1e3
        if measured >= low * (1 - BELOW):
            break
    told(known=f"{low:.1f} to {high:.1f} Mbit/s", measured=f"{' '.join(more)}: {measured:.1f}")
    assert low * (1 - BELOW) <= measured <= high * (1 + ABOVE)
    launch, found = adapters_of(tmp_path / "a.h5")
    assert (launch["rails"], launch["rank_rails"], found) == (rails, of_rank, nics)
    # What the kernel says of such an interface is not the shaper's rate; efficiency is of that, for all in use.
    assert float(results.columns["efficiency"][0]) == pytest.approx(measured / 1e3 / (rails * launch["link_rate_gbps"]))
    told_of = "--nic e0,e1: 2 of 2 adapters of h1 in use (e0, e1)"
    assert told_of in outcome.stderr if rails == 2 else "--nic" not in outcome.stderr


def test_a_link_rate_that_is_stated(run, tmp_path):
    """The kernel has another one for such an interface: what follows is of the stated one, and the file keeps both."""
    outcome = run("--sizes", "1000", "--nic", "e0,e1", "--link-rate", f"{MBIT}Mbit/s", "--traffic", "uniform,hot-node=3x")
    assert outcome.returncode == 0, outcome.stderr
    assert "no adapter is known" not in outcome.stderr, outcome.stderr
    results = Results(tmp_path / "a.h5")
    columns = results.columns
    launch, _ = adapters_of(tmp_path / "a.h5")
    assert (launch["asked_link_rate"], launch["link_rate_gbps"], launch["rails"]) == (MBIT / 1e3, MBIT / 1e3, 2)
    assert list(columns["efficiency"]) == pytest.approx(list(columns["gbps_node_net"] / (2 * MBIT / 1e3)))
    # A node's ranks send 2 x 2 messages of uniform traffic to the other one's, over both links.
    assert columns["bound"][0] == pytest.approx(RANKS_PER_HOST**2 * 1000 * 8 / (2 * MBIT / 1e3))
    checked = subprocess.run([analysis(), "check", tmp_path / "a.h5"], capture_output=True, text=True)
    assert checked.returncode == 0, checked


def test_all_adapters(run, tmp_path):
    """Those for control, too; fewer endpoints than adapters and a queue for all of them have their words."""
    outcome = run("--sizes", "1000", "--nic", "all", "--endpoints", "3")
    assert outcome.returncode == 0, outcome.stderr
    assert "--nic all: 3 of 3 adapters of h1 in use (control, e0, e1), which endpoints of a rank take in turn" in outcome.stderr
    launch, nics = adapters_of(tmp_path / "a.h5")
    assert (launch["rails"], launch["rank_rails"], nics) == (3, 3, ["control,e0,e1"] * 4)
    outcome = run("--sizes", "1000", "--nic", "all", "--endpoints", "2", "--traffic", "uniform,hot-node=3x")
    assert outcome.returncode == 0, outcome.stderr
    assert "(control, e0, e1), which ranks of a node take in turn" in outcome.stderr
    launch, nics = adapters_of(tmp_path / "a.h5")
    assert (launch["rails"], launch["rank_rails"], nics) == (3, 2, ["control,e0", "e1,control"] * 2)
    # Bounds and efficiency follow from what the file says of adapters.
    checked = subprocess.run([analysis(), "check", tmp_path / "a.h5"], capture_output=True, text=True)
    assert checked.returncode == 0, checked
    outcome = run("--sizes", "1000", "--nic", "e0,e1", "--endpoints", "2", "--queues", "one")
    assert outcome.returncode == 3
    assert "1 point skipped: --nic e0,e1: endpoints with one queue have one domain, and so one adapter" in outcome.stderr


def test_ranks_that_are_placed_in_turn(run):
    """Their peers on the other host are all on one of two endpoints, and so behind one adapter: said, with what helps."""
    words = ["--sizes", "1000", "--nic", "e0,e1", "--endpoints", "2"]
    one_alone = "warning: of the 2 endpoints of a rank 1 carries all that it sends to other nodes, as ranks are placed over the nodes"
    outcome = run(*words, OMPI_MCA_rmaps_base_mapping_policy="node")
    assert outcome.returncode == 0, outcome.stderr
    assert f"{one_alone}: place them node by node, or take --endpoints 3" in outcome.stderr
    outcome = run(*words)
    assert outcome.returncode == 0 and one_alone not in outcome.stderr, outcome.stderr


def test_a_link_that_is_down(run, tmp_path):
    """In a list it is refused with its state; of all there must be as many on each host."""
    run.cluster.link("h2", "down", 1)
    outcome = run("--sizes", "1000", "--nic", "e0,e1", "--endpoints", "2")
    assert outcome.returncode == 2
    assert re.search(r"\(h2\): unusable adapter 'e1', its link is (lowerlayer)?down: expected one of control, e0, lo", outcome.stderr)
    outcome = run("--sizes", "1000", "--nic", "all", "--endpoints", "3")
    assert outcome.returncode == 2
    assert "--nic all: h1 has control, e0, e1, and h2 has control, e0: name those that every node has" in outcome.stderr
    assert not list(tmp_path.iterdir())
