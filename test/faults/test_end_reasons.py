# SPDX-License-Identifier: BSD-3-Clause
"""Why a launch ended, as its file says: told apart by what happened, in whatever phase it did."""

import os
import re
import signal
import subprocess
from pathlib import Path

import h5py
import pytest
from processes import PATIENCE, wait_until
from results import END_REASONS, Results
from running_launch import start

pytestmark = pytest.mark.slow

A2A = os.environ.get("A2A", str(Path(__file__).resolve().parents[2] / ".venv/bin/a2a"))

# shm's ranks share a spinlock: one that is stopped while it holds it stops its peers for good, inside libfabric.
WORDS = ["--sizes", "1000,60000", "--ops", "200"]
NOT_MET = "the fault was not met"
# By the calls of a run: the messages that are verified, those of ops, and what ranks tell rank 0 of them.
PHASES = {
    "verifying": "call=send nth=3",
    "in an op": "call=send nth=150",
    "agreeing": "call=MPI_Iallreduce nth=150",
    "gathering": "call=MPI_Igather nth=24",
}


@pytest.fixture
def ends(faulty, needs_provider, monkeypatch):
    """Reason and message in the file of a launch of two ranks; no reason of the file's where the fault was not met."""
    # Open MPI kills ranks a second after it passed a signal on, in which they may not have had the CPU.
    monkeypatch.setenv("OMPI_MCA_odls_base_sigkill_timeout", "4")

    def run(fault: str, *words: str, timeout: str = "3s") -> tuple[str, str]:
        needs_provider("net")
        outcome = faulty(2, fault, "--provider", "net", *WORDS, "--timeout", timeout, *words)
        if not outcome.struck:
            return NOT_MET, f"{fault}: {outcome.notes}"
        assert outcome.returncode not in (2, 124), outcome.stderr
        checked = subprocess.run([A2A, "check", "a.h5"], cwd=faulty.folder, capture_output=True, text=True, check=False)
        assert "error:" not in checked.stdout, checked.stdout
        with h5py.File(faulty.folder / "a.h5") as file:
            segment = file["segments/0"]
            reason = segment["end_reason"]
            assert reason.attrs["flag_meanings"].split() == list(END_REASONS)
            assert list(reason.attrs["flag_values"]) == list(range(len(END_REASONS)))
            return END_REASONS[reason[()]], segment["message"][()].decode().rstrip("\0")

    return run


@pytest.mark.parametrize("phase", PHASES)
def test_a_rank_that_is_killed(ends, phase):
    reason, message = ends(f"{PHASES[phase]} do=kill rank=1")
    assert reason == "peer-lost", message
    assert "rank 1 (" in message
    assert not message.startswith("stopped by"), message  # which came of it


@pytest.mark.parametrize("phase", PHASES)
def test_a_rank_that_is_stopped(ends, phase):
    reason, message = ends(f"{PHASES[phase]} do=stop rank=1")
    assert reason == "fabric-deadline", message
    assert "waited" in message or "nothing happened for" in message


def test_a_search_whose_file_cannot_become_longer(ends):
    """A file for the points of the next round is a copy: what goes wrong there is told, and what was measured is kept."""
    words = ["--mode", "tagged,write-imm", "--chunk", "whole", "--search", "2s", "--warmup", "2"]
    told = [ends(f"call=read do=EIO path=a.h5 nth={nth} rank=0", *words, timeout="20s") for nth in (300, 500, 700)]
    assert {reason for reason, _ in told} == {"other"}, told
    assert all("Input/output error" in message for _, message in told), told
    # Those of a point name it.
    assert any(", point " not in message for _, message in told), told


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("phase", PHASES)
def test_a_signal(ends, phase, rank):
    reason, message = ends(f"{PHASES[phase]} do=term rank={rank}")
    assert reason == "signal", message
    assert message.startswith("stopped by signal 15 (Terminated; mpirun sends it on ^C, too) ")


def test_a_signal_to_a_rank_whose_peer_does_not_get_on(start, needs_provider, monkeypatch, tmp_path):
    """They do not agree in time: it leaves, and the launcher ends the other for that."""
    needs_provider("net")
    monkeypatch.setenv("OMPI_MCA_odls_base_sigkill_timeout", "4")
    words = ["--provider", "net", "--poll", "yield", "--no-sentinel", "--sizes", "60000", "--ops", "2000000", "-o", "a.h5"]
    launch = start(2, *words)
    launch.wait_until_measuring()
    launch.kill(signal.SIGSTOP, [0])
    launch.kill(signal.SIGTERM, [1])
    assert wait_until(lambda: 1 in launch.statuses(), PATIENCE)  # the launcher then wakes the other, too
    assert launch.end() not in (0, 1)
    (segment,) = Results(tmp_path / "a.h5").segments
    assert segment.end_reason == "signal", segment.message
    assert segment.message.startswith("stopped by signal 15 (Terminated; mpirun sends it on ^C, too) at point 0")
    assert re.search(r"; rank 1 \(\S+\) left for a signal before$", segment.message), segment.message


def test_a_signal_while_the_file_is_compacted(ends):
    """All was measured: that is how it ended, whatever becomes of the copy."""
    reason, _ = ends("call=rename do=term path=a.h5 nth=2 rank=0")
    assert reason == "finished"


@pytest.mark.parametrize("rank", [0, 1])
def test_a_message_with_a_wrong_byte(ends, rank):
    reason, message = ends(f"call=send do=flip nth=3 rank={rank}")
    assert reason == "bad-data", message
    assert "verification of " in message


def test_a_message_that_is_lost(ends):
    reason, message = ends("call=send do=lose nth=150 rank=1")
    assert reason == "fabric-deadline", message


def test_a_disk_that_is_full(ends):
    reason, message = ends("call=write do=ENOSPC path=a.h5 rank=0")
    assert reason == "disk-full", message


def test_a_disk_that_fails(ends):
    reason, message = ends("call=write do=EIO path=a.h5 rank=0")
    assert reason == "other", message


def test_a_disk_that_keeps_the_others_waiting(ends):
    """For longer than sixty times the timeout."""
    reason, message = ends("call=write do=late:62500 path=a.h5 rank=0", timeout="1s")
    assert reason == "disk-deadline", message
    assert "was at its file for" in message


@pytest.mark.parametrize("rank", [0, 1])
def test_memory_that_is_not_to_be_had(faulty, ends, needs_provider, rank):
    """At allocations while there is a file: one of the last of rank 1; of rank 0, one before it compacts the file."""
    needs_provider("net")
    whole = faulty(2, f"call=new do=ENOMEM nth=1000000000 rank={rank}", "--provider", "net", *WORDS)
    calls = whole.calls(rank)
    # Ops that began late are repeated, so runs differ in how many there are: backwards, until one is met that matters.
    parts = (75, 70, 65, 60, 55, 50)
    places = [calls * part // 100 for part in parts] if rank == 0 else [calls - 100 * back for back in range(1, 10)]
    reasons: set[str] = set()
    for place in places:
        reasons.add(ends(f"call=new do=ENOMEM nth={place} rank={rank}")[0])
        if "out-of-memory" in reasons:
            break
    assert "out-of-memory" in reasons
    # In tidying up it does not matter; and libstdc++'s directory iterator ends the process: rank 0 writes nothing any more then.
    ended = "running" if rank == 0 else "peer-lost"
    assert reasons <= {"out-of-memory", "finished", ended, NOT_MET}


def test_a_rank_that_judges_the_pairs_is_waited_for(faulty, needs_provider):
    """Rank 0 reads them from the file, for as long as it takes."""
    needs_provider("net")
    words = ["--provider", "net", "--sizes", "1000", "--ops", "3", "--warmup", "1", "--suspects", "0"]

    def launch(fault: str, timeout: str):
        return faulty(2, f"call=read path=a.h5 rank=0 {fault}", *words, "--timeout", timeout, command="pairs")

    # The first read that is of no point: those before it are of points, those behind it of the end.
    low, high = 0, int(re.search(r"^0 calls (\d+)$", launch("do=EIO nth=1000000", "20s").notes, re.MULTILINE)[1])
    while high - low > 1:
        middle = (low + high) // 2
        told = launch(f"do=EIO nth={middle}", "20s").stderr
        low, high = (middle, high) if ", point " in told else (low, middle)
    assert "cannot read /pairs/" in launch(f"do=EIO nth={high}", "20s").stderr
    outcome = launch(f"do=late:2500 nth={high}", "1s")
    assert outcome.struck and outcome.returncode == 0, outcome.stderr
