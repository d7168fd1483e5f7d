# SPDX-License-Identifier: BSD-3-Clause
"""The real psm2 provider over libpsm2's shared-memory path: the provider's code, no adapter."""

import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import h5py
import pytest
from flow_files import require_true_streams, require_true_trips
from path_files import are_true_intervals, paths_of
from processes import PATIENCE
from results import COMPLETE, NO_MOMENT, SKIPPED, Results, has_plausible_moments, has_true_statistics

pytestmark = pytest.mark.slow

SUPPORT = Path(__file__).resolve().parents[1] / "support"
MODES = "tagged,msg,write-imm,read,write"
ALLTOALL = ["alltoall", "--ops", "3", "--warmup", "1", "--sync", "barrier", "--no-sentinel"]
SCHEDULES = "shift,xor,permutation,random,naive,node-shift,coloured"


@pytest.fixture
def launch_psm2(program, tmp_path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(ranks: int, *words: str, command: Sequence[str] = ALLTOALL) -> subprocess.CompletedProcess[str]:
        outcome = subprocess.run(
            [SUPPORT / "with_psm2.sh", SUPPORT / "mpirun.sh", "-t", "800", str(ranks), program, *command,
             "--provider", "psm2", "--poll", "yield", "-o", "a.h5", *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if outcome.returncode == 77:
            pytest.skip(outcome.stdout.strip())
        if "psm2 cannot be used here" in outcome.stderr and "was built without" in outcome.stderr:
            pytest.skip("this libfabric was built without psm2")
        return outcome

    return run


def left_behind() -> set[Path]:
    return set(Path("/dev/shm").glob("psm2_shm.*"))


def check(results: Results, receive_thread: str) -> None:
    """All that can be measured was, verified, with the environment that psm2 was meant to have."""
    assert set(results.words("provider")) == {"psm2"}
    for point in results.rows():
        ranks = results.columns["ranks"][point]
        if results.words("schedule")[point] == "xor" and ranks & (ranks - 1):
            assert results.columns["state"][point] == SKIPPED  # of no use where ranks are no power of two
            continue
        assert results.columns["state"][point] == COMPLETE
        assert results.columns["ops"][point] == 3
        has_plausible_moments(results, point)
        has_true_statistics(results, point)
    environment = results.segments[0].environment
    assert environment["PSM2_RCVTHREAD"] == receive_thread
    assert environment["PSM2_DEVICES"] == "self,shm"
    # Of its own accord; a job's unique id keeps it apart from others on the fabric.
    assert "FI_PSM2_UUID=" in results.segments[0].attributes["tuned_environment"]


@pytest.mark.parametrize("receive_thread", ["0", "1"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_every_mode_with_every_schedule(launch_psm2, tmp_path, monkeypatch, ranks, receive_thread):
    monkeypatch.setenv("PSM2_RCVTHREAD", receive_thread)
    before = left_behind()
    outcome = launch_psm2(ranks, "--mode", MODES, "--schedule", SCHEDULES, "--sizes", "64,65536")
    assert outcome.returncode == 0, outcome.stderr
    assert left_behind() == before
    results = Results(tmp_path / "a.h5")
    assert len(results) == len(MODES.split(",")) * len(SCHEDULES.split(",")) * 2
    check(results, receive_thread)


def test_every_protocol(launch_psm2, tmp_path, monkeypatch):
    """From inline to rendezvous in several windows."""
    monkeypatch.setenv("PSM2_RCVTHREAD", "0")
    outcome = launch_psm2(4, "--mode", MODES, "--sizes", "1,1000,9000,64000,64001,1MiB")
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.states() == [COMPLETE] * 6 * len(MODES.split(","))
    check(results, "0")


def test_a_message_above_the_largest_is_skipped(launch_psm2, tmp_path):
    outcome = launch_psm2(2, "--sizes", "1000,5GB")
    assert outcome.returncode == 0, outcome.stderr
    assert "skipped: above the largest message of psm2" in outcome.stdout
    results = Results(tmp_path / "a.h5")
    assert results.states() == [COMPLETE, SKIPPED]
    assert results.words("skip_reason")[1] == "above the largest message of psm2, 4294963200 B"


def test_a_search_keeps_as_skipped_what_would_take_a_second_endpoint(launch_psm2, tmp_path):
    of_two = ("--sizes", "1000", "--mode", "tagged,msg", "--schedule", "shift", "--window", "all", "--search", "8s")
    outcome = launch_psm2(3, *of_two, "--ops", "120", command=("alltoall",))
    assert outcome.returncode == 0, outcome.stderr
    why = "psm2 opens 1 endpoint in a process, not 2"
    assert f"not tried: --endpoints 2, --threads each ({why})" in outcome.stderr
    results = Results(tmp_path / "a.h5")
    skipped = [point for point in results.rows("search") if results.columns["endpoints"][point] == 2]
    assert [(results.words("mode")[point], results.words("skip_reason")[point]) for point in skipped] == [
        ("tagged", why),
        ("msg", why),
    ]


def test_threads_for_endpoints_are_skipped_with_the_reason_and_one_endpoint_is_measured(launch_psm2, tmp_path):
    words = ("--sizes", "64,64KiB", "--endpoints", "1,2", "--queues", "each,one", "--threads", "one,each")
    outcome = launch_psm2(4, *words)
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    why = "psm2 opens 1 endpoint in a process, not 2"
    of_one_domain = "endpoints that have one queue have one domain, which belongs to one thread at a time"
    wanted = {(1, "each", "one"): "", (2, "each", "one"): why, (2, "each", "each"): why, (2, "one", "one"): why, (2, "one", "each"): of_one_domain}
    for size in (64, 65536):
        points = [point for point in results.rows() if results.columns["message_size"][point] == size]
        sets = [(int(results.columns["endpoints"][i]), results.words("queues")[i], results.words("threads")[i]) for i in points]
        assert {one: results.words("skip_reason")[i] for one, i in zip(sets, points, strict=True)} == wanted
        assert [results.columns["state"][i] for i in points] == [COMPLETE if one[0] == 1 else SKIPPED for one in sets]
    assert f"skipped: {why} (tagged shift all endpoints 2 threads each)" in outcome.stdout


def test_require(launch_psm2, tmp_path, monkeypatch):
    monkeypatch.setenv("PSM2_RCVTHREAD", "1")
    outcome = launch_psm2(2, "--sizes", "1000", "--require", "PSM2_RCVTHREAD=0")
    assert outcome.returncode == 2
    assert "PSM2_RCVTHREAD" in outcome.stderr
    assert list(tmp_path.iterdir()) == []


def test_streams_in_every_mode(launch_psm2, tmp_path):
    """Where psm2 orders no writes of that size, the number of a message that is written waits for its delivery."""
    words = ["--mode", "tagged,msg,write-imm,read,write", "--sizes", "0,8,4096,8KiB,64KiB", "--window", "1,32"]
    outcome = launch_psm2(3, *words, "--pairs", "0:1,0:2,1:2", "--messages", "100", command=["stream"])
    assert outcome.returncode == 0, outcome.stderr
    assert len(Results(tmp_path / "a.h5")) == 50
    require_true_streams(tmp_path / "a.h5", [(0, 1), (0, 2), (1, 2)], 100)


def test_a_loopback_is_skipped_with_the_reason(launch_psm2, tmp_path):
    """In one thread as in a thread for each end, which would take a second endpoint."""
    words = ["--pairs", "loopback", "--threads", "one,each", "--sizes", "8", "--messages", "10"]
    outcome = launch_psm2(2, *words, command=["stream"])
    assert outcome.returncode == 3, outcome.stderr
    assert (
        "nothing can be measured, 2 points skipped: psm2 keeps messages of a process to itself: they would not pass the adapter; "
        "psm2 opens 1 endpoint in a process, not 2" in outcome.stderr
    )
    assert list(tmp_path.iterdir()) == []


def test_round_trips(launch_psm2, tmp_path):
    words = ["--mode", "tagged,msg,write-imm,read,write", "--sizes", "0,100,64KiB", "--outstanding", "1,4", "--servers", "1", "--ops", "50"]
    outcome = launch_psm2(3, *words, command=["echo"])
    assert outcome.returncode == 0, outcome.stderr
    assert Results(tmp_path / "a.h5").words("provider") == ["psm2"] * 30
    require_true_trips(tmp_path / "a.h5", [0, 1])


def test_a_service_level_is_that_of_the_ranks_that_asked_for_it(launch_psm2, tmp_path, monkeypatch):
    """By what the library itself says that it read; the others keep what is set around the launch."""
    monkeypatch.setenv("PSM2_VERBOSE_ENV", "2")
    monkeypatch.setenv("HFI_SL", "5")
    command = ["interference", "--phase", "200ms", "--alternations", "1", "--levels", "100", "--load-class", "sl3"]
    outcome = launch_psm2(4, command=command)
    assert outcome.returncode == 0, outcome.stderr
    read = re.findall(r"HFI_SL .* => (\d+) ", outcome.stdout + outcome.stderr)
    assert sorted(read) == ["3", "3", "5", "5"]
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["load_class_granted"][0] == 1
        assert list(file["raw/class_granted"][0, 0]) == [NO_MOMENT, NO_MOMENT, 1, 1]
    assert Results(tmp_path / "a.h5").segments[0].environment["HFI_SL"] == "5"


def test_paths_of_different_ranks_have_their_service_levels(launch_psm2, tmp_path, monkeypatch):
    """A process opens one endpoint: as many paths as there are pairs of ranks, each with a level of its own."""
    monkeypatch.setenv("PSM2_VERBOSE_ENV", "2")
    paths = ["--path", "0:1,class=sl1", "--path", "3:2,class=sl3,size=64KiB", "--path", "4:5"]
    outcome = launch_psm2(6, "--duration", "2s", "--interval", "500ms", *paths, command=["qos"])
    assert outcome.returncode == 0, outcome.stderr
    read = re.findall(r"HFI_SL .* => (\d+) ", outcome.stdout + outcome.stderr)
    assert sorted(read) == ["1", "1", "3", "3"]
    are_true_intervals(tmp_path / "a.h5", 0)
    found = paths_of(tmp_path / "a.h5", 0)
    assert [path["class_granted"] for path in found] == ["sl1", "sl3", ""]
    assert [(path["source"], path["message_size"]) for path in found] == [(0, 4096), (3, 65536), (4, 4096)]
    assert all(path["messages"].sum() > 0 for path in found)
    assert all(path["port"].startswith("hfi1_0") for path in found)
