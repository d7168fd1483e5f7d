# SPDX-License-Identifier: BSD-3-Clause
"""Links cut, hosts frozen, ranks killed: everything ends in time, names the culprit, and keeps the file."""

import re
import time
from pathlib import Path

import pytest
from measure import words
from processes import PATIENCE, wait_until
from results import COMPLETE, Results, complete_points

pytestmark = pytest.mark.slow

TIMEOUT_S = 5
LONG = ["--sizes", "1000,60000", "--ops", "1500", "--warmup", "1", "--timeout", f"{TIMEOUT_S}s"]


def is_measuring(folder: Path) -> bool:
    """The first point is in the file and the second under way."""
    return any(complete_points(file) for file in folder.glob("*.h5"))


@pytest.fixture
def running(cluster_of, program, tmp_path):
    """A launch of one rank on each of three hosts, in its second point; and the cluster."""
    cluster = cluster_of(3, mbit=100)
    launch = cluster.start(1, [program, "alltoall", *words(program), *LONG], tmp_path)
    assert wait_until(lambda: is_measuring(tmp_path), PATIENCE), "nothing was measured"
    # The second point has been verified and warmed up, in a handful of ops: a hundred of them are on the link.
    begun = sent_by(cluster, "h3")
    assert wait_until(lambda: sent_by(cluster, "h3") - begun > 100 * 2 * 60000, PATIENCE), "the second point did not begin"
    return cluster, launch


def sent_by(cluster, host: str) -> int:
    """Bytes that the fabric's link of the host has taken."""
    return int(cluster.shell(f"grep to_{host}: /proc/net/dev").split()[1])


def ends(launch, tmp_path: Path) -> str:
    """What it said; with a status of failure, by itself, and with the first point kept."""
    _, said = launch.communicate(timeout=PATIENCE)
    assert launch.returncode not in (0, 124), said  # 124: by the deadline of the launch
    assert is_measuring(tmp_path), "the completed point is gone"
    return said


def names(pattern: str, said: str, told, culprit: str) -> None:
    """The program or its launcher names the culprit."""
    found = re.search(pattern, said)
    told(
        known=f"all ends within the deadline, names {culprit}, and keeps the completed point",
        measured=f"“{found.group().strip()}”; the point is in the file" if found else "nobody was named",
    )
    assert found, said


def test_a_link_that_is_cut(running, tmp_path, told):
    """The fabric's link of one host is cut, for good."""
    cluster, launch = running
    cluster.link("h3", "down")
    names(r"rank [01] \(h[12]\).*wait.* for .*rank 2\b", ends(launch, tmp_path), told, "rank 2")


def test_a_link_that_comes_back(running, tmp_path, told):
    """The link is back after a second, within the deadline."""
    cluster, launch = running
    cluster.link("h3", "down")
    time.sleep(1)
    cluster.link("h3", "up")
    _, said = launch.communicate(timeout=PATIENCE)
    assert launch.returncode == 0, said
    results = Results(tmp_path / "a.h5")
    assert results.states() == [COMPLETE, COMPLETE]
    told(
        known="all goes on; one op takes a second or more",
        measured=f"both points complete; longest op {results.op_times(1).max() / 1e9:.2f} s, "
        f"p50 {results.columns['time_p50'][1] / 1e6:.1f} ms",
    )
    assert results.op_times(1).max() >= 1e9  # the op that saw it
    assert results.columns["time_p50"][1] < 0.5e9


def test_a_host_that_freezes(running, tmp_path, told):
    """The rank of one host is stopped (SIGSTOP)."""
    cluster, launch = running
    (frozen,) = cluster.processes("h2", "a2aperf")
    cluster.shell(f"kill -STOP {frozen}")
    names(r"rank [02] \(h[13]\).*wait.*\brank 1\b", ends(launch, tmp_path), told, "rank 1")


def test_a_rank_that_is_killed(running, tmp_path, told):
    """The rank of one host is killed (SIGKILL)."""
    cluster, launch = running
    (killed,) = cluster.processes("h2", "a2aperf")
    cluster.shell(f"kill -KILL {killed}")
    said = ends(launch, tmp_path)
    names(r"rank [02] \(h[13]\).*rank 1\b|rank 1 with .* on node h2 exited on signal 9", said, told, "rank 1")
