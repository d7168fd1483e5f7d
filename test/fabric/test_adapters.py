# SPDX-License-Identifier: BSD-3-Clause
"""A node whose ranks use several adapters: all of them are counted, and their counters read."""

import re
import subprocess
from functools import partial
from pathlib import Path

import h5py
import pytest
from results import text

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
TWO_ADAPTERS = """
mount -t sysfs sysfs /sys && ip link set lo up && ip link add v0 type veth peer name v1 &&
ip addr add 10.77.0.1/24 dev v0 && ip link set v0 up && ip link set v1 up || exit 77
exec "$@"
"""


TOLD_OF_CONGESTION = """
ip link set lo up && sysctl -qw net.ipv4.tcp_ecn=1 || exit 77
exec "$@"
"""


@pytest.fixture
def in_a_network(program, needs_provider, tmp_path):
    """Launches of two ranks over tcp in a network of their own, which a script makes first."""
    needs_provider("tcp")

    def run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
        launch = [MPIRUN, "2", program, *words, "--provider", "tcp", "--poll", "yield", "-o", "a.h5"]
        outcome = subprocess.run(
            ["unshare", "-m", "-n", "bash", "-c", script, "made", *launch],
            cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if outcome.returncode == 77 or "unshare failed" in outcome.stderr:
            pytest.skip(f"no such network can be made here ({outcome.stderr.strip()})")
        return outcome

    return run


@pytest.fixture
def beside_a_second_adapter(in_a_network):
    """It has v0 beside lo."""
    return partial(in_a_network, TWO_ADAPTERS)


def test_two_adapters_of_a_node(beside_a_second_adapter, tmp_path):
    outcome = beside_a_second_adapter("alltoall", "--nic", "0:lo,1:v0", "--sync", "barrier", "--sizes", "1000", "--ops", "5")
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["segments/0"].attrs["rails"] == 2
        names = {text(name).split("/")[0] for name in file["counters/port_names"][()]}
        assert names == {"lo", "v0"}
        assert (file["counters/port"][0] >= 0).all()


def test_a_list_of_adapters_is_dealt_over_ranks(beside_a_second_adapter, tmp_path):
    """One endpoint a rank: the ranks of a node take turns, in the order of the list."""
    for nics in ("lo,v0", "v0,lo"):
        outcome = beside_a_second_adapter("alltoall", "--nic", nics, "--sizes", "1000", "--ops", "5", "--force")
        assert outcome.returncode == 0, outcome.stderr
        assert re.search(rf"--nic {nics}: 2 of 2 adapters of \S+ in use \({nics.replace(',', ', ')}\), which ranks of a", outcome.stderr)
        with h5py.File(tmp_path / "a.h5") as file:
            launch = file["segments/0"]
            assert (launch.attrs["rails"], launch.attrs["rank_rails"], launch.attrs["domain"]) == (2, 1, nics)
            assert ",".join(text(name) for name in launch["rank_facts/nic"][()]) == nics


def test_a_launch_that_resumes_with_another_list_says_so(beside_a_second_adapter, tmp_path):
    """Which adapters, and in which order, is another measurement: told, and kept of each launch."""
    words = ["alltoall", "--sizes", "1000", "--ops", "5"]
    assert beside_a_second_adapter(*words, "--nic", "lo,v0").returncode == 0
    same = beside_a_second_adapter(*words, "--nic", "lo,v0", "--resume")
    assert same.returncode == 0 and "resumed with" not in same.stderr, same.stderr
    other = beside_a_second_adapter(*words, "--nic", "v0,lo", "--resume")
    assert other.returncode == 0, other.stderr
    assert "resumed with --nic v0,lo; the launch before had --nic lo,v0" in other.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert [file[f"segments/{i}"].attrs["domain"] for i in range(3)] == ["lo,v0", "lo,v0", "v0,lo"]


def test_all_adapters_of_one_host_are_its_loopback(beside_a_second_adapter, tmp_path):
    outcome = beside_a_second_adapter("alltoall", "--nic", "all", "--sizes", "1000", "--ops", "5")
    assert outcome.returncode == 0, outcome.stderr
    assert "--nic all: one on each node (lo)" in outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["segments/0"].attrs["rails"], file["segments/0"].attrs["domain"]) == (1, "lo")


def test_all_adapters_where_there_is_none(launch, needs_provider):
    needs_provider("shm")
    outcome = launch(2, "alltoall", "--provider", "shm", "--nic", "all", "--sizes", "1000", "--ops", "5", "-o", "a.h5")
    assert outcome.returncode == 0, outcome.stderr
    assert "--nic all: for shm no adapter is known" in outcome.stderr


def test_a_rate_is_stated_of_no_adapter(launch, needs_provider, tmp_path):
    """It is kept as what was asked, and nothing follows."""
    needs_provider("shm")
    outcome = launch(2, "alltoall", "--provider", "shm", "--link-rate", "25", "--sizes", "1000", "--ops", "5", "-o", "a.h5")
    assert outcome.returncode == 0, outcome.stderr
    assert "--link-rate 25 Gbit/s: for shm no adapter is known, so nothing follows from it" in outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        launched = file["segments/0"].attrs
        assert launched["asked_link_rate"] == 25 and launched["link_rate_gbps"] != launched["link_rate_gbps"]


@pytest.mark.parametrize("words", [["--nic", "v0"], ["--nic", "lo,v0"]])
def test_an_adapter_that_is_down_is_told(in_a_network, tmp_path, words):
    script = TWO_ADAPTERS.replace("ip link set v1 up", "ip link set v1 down")
    outcome = in_a_network(script, "alltoall", *words, "--sizes", "1000", "--ops", "5")
    assert outcome.returncode == 2, outcome.stderr
    assert re.search(r"unusable adapter 'v0', its link is (lowerlayer)?down: expected one of lo", outcome.stderr)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["--from", "v0", "--to", "lo"], ["--pairs", "1:0", "--to", "v0/1", "--from", "lo/1"]])
def test_a_stream_from_one_adapter_to_another(beside_a_second_adapter, tmp_path, words):
    """Rank 0 has v0 in both: it sends, then it receives."""
    outcome = beside_a_second_adapter("stream", "--sizes", "8,4096", "--messages", "100", *words)
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert [text(name) for name in file["segments/0/rank_facts/nic"][()]] == ["v0", "lo"]
        assert list(file["messages"][()]) == [100, 100]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--from", "v0/2"], r"rank 0 \(\S+\): unknown adapter 'v0/2': expected one of lo/1, v0/1"),
        (["--to", "v9"], r"rank 1 \(\S+\): unknown adapter 'v9': expected one of lo, v0"),
        (["--from", "v0", "--duplex"], "--from, --to: rank 0 sends and receives, and has one adapter: take two ranks of a node"),
        (["--from", "lo,v0"], "'lo,v0' names several NICs: give one"),
        (["--from", "lo", "--nic", "all"], "--nic all: beside --from or --to it is one adapter, of the others"),
        (["--to", "v0", "--pairs", "loopback"], "--from, --to: rank 0 sends and receives, and has one adapter"),
    ],
)
def test_an_adapter_that_cannot_be(beside_a_second_adapter, tmp_path, words, says):
    outcome = beside_a_second_adapter("stream", "--sizes", "8", "--messages", "100", *words)
    assert outcome.returncode == 2 and re.search(says, outcome.stderr), outcome.stderr
    assert not list(tmp_path.iterdir())


def test_a_class_is_granted_where_connections_tell_of_congestion(in_a_network):
    """The kernel gives its two bits back with the type of service."""
    words = ["--classes", "low-latency,bulk", "--duration", "300ms", "--interval", "100ms"]
    outcome = in_a_network(TOLD_OF_CONGESTION, "qos", *words)
    assert outcome.returncode == 0, outcome.stderr
    assert "class low-latency granted, verified" in outcome.stdout
    assert "class bulk granted, verified" in outcome.stdout


ON_ITS_OWN_HOST = 'hostname "h${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"'


def test_what_an_earlier_launch_measured_is_not_judged_by_the_links_of_this_one(program, needs_provider, tmp_path):
    needs_provider("tcp")
    words = ["--provider", "tcp", "--nic", "lo", "--poll", "yield", "--sync", "barrier", "--sizes", "1000", "--ops", "5", "--no-sentinel"]

    def run(*more: str) -> str:
        command = [program, "alltoall", *words, "-o", "a.h5", *more]
        outcome = subprocess.run(
            [MPIRUN, "2", "unshare", "-u", "bash", "-c", ON_ITS_OWN_HOST, "host", *command],
            cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if "unshare failed" in outcome.stderr:
            pytest.skip(f"no host names can be made here ({outcome.stderr.strip()})")
        assert outcome.returncode == 0, outcome.stderr
        return outcome.stderr

    slow = ["--link-rate", "1kbit/s"]
    judged = "of a node's links, as stated (--link-rate)"
    assert judged in run(*slow)
    assert "of a node's links" not in run("--force")
    again = run("--resume", *slow)
    assert "1 point measured before" in again
    assert "of a node's links" not in again
