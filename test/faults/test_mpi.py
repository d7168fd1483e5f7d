# SPDX-License-Identifier: BSD-3-Clause
"""MPI's errors at any call: the program names the call and the rank, and no rank stays behind."""

from pathlib import Path

import h5py
import pytest

pytestmark = pytest.mark.slow

NAMESPACES = Path(__file__).parents[1] / "support" / "in_time_namespaces.sh"
WORDS = ["--provider", "shm", "--sizes", "1000,60000", "--ops", "20", "--timeout", "20s", "--baseline", "mpi"]
ONCE = ["MPI_Init_thread", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_split"]
MANY = [
    "MPI_Alltoall", "MPI_Iallgather", "MPI_Iallgatherv", "MPI_Iallreduce", "MPI_Ibarrier", "MPI_Ibcast", "MPI_Igather",
    "MPI_Igatherv", "MPI_Test",
]  # fmt: skip
# What ranks of different clocks tell each other.
BETWEEN_TWO = ["MPI_Isend", "MPI_Irecv"]


def names(call: str) -> str:
    return rf"^a2aperf: rank 1( \(\S+\).*)?: {call}: (MPI_ERR_OTHER|error \d+)"


@pytest.mark.parametrize("call", ONCE)
def test_a_call_that_fails(faulty, needs_provider, call):
    needs_provider("shm")
    outcome = faulty(2, f"call={call} do=error rank=1", *WORDS)
    outcome.failed(names(call))


@pytest.mark.parametrize("call", MANY)
def test_any_of_many_calls_that_fails(faulty, needs_provider, call):
    """The first of them, the last, and two between: while it sets up, measures and records."""
    needs_provider("shm")
    fail_anywhere(faulty, call)


@pytest.mark.parametrize("call", BETWEEN_TWO)
def test_any_call_between_two_ranks_that_fails(faulty, needs_provider, call):
    needs_provider("shm")
    fail_anywhere(faulty, call, within=[NAMESPACES, "0,1000"])


def test_a_long_point_agrees_on_the_clocks_anew(faulty, needs_provider):
    """Within it, and not only before and after: each time takes messages between the ranks, which are counted."""
    needs_provider("shm")
    words = ["--provider", "shm", "--sizes", "4MiB", "--ops", "100000", "--time-budget", "25s", "--timeout", "60s"]
    outcome = faulty(2, "call=MPI_Isend nth=1000000000 do=error rank=1", *words, within=[NAMESPACES, "0,1000"])
    if outcome.returncode == 77:
        pytest.skip(outcome.stdout.strip())
    assert outcome.returncode == 0, outcome.stderr
    first, again = 16 * 16 + 16, 16 + 2 * 16  # ping-pongs: points of the line and checks
    assert outcome.calls(1) >= first + 2 * again, "at most one can be due before the point"
    with h5py.File(outcome.folder / "a.h5") as file:
        (error,) = file["clock_error"][()]
        assert error >= file["segments/0"].attrs["clock_error_ns"] > 0


def fail_anywhere(faulty, call: str, within: list = ()) -> None:
    whole = faulty(2, f"call={call} nth=1000000000 do=error rank=1", *WORDS, within=within)
    if whole.returncode == 77:
        pytest.skip(whole.stdout.strip())
    assert whole.returncode == 0, whole.stderr
    calls = whole.calls(1)
    for nth in sorted({1, 1 + calls // 3, 1 + calls * 2 // 3, calls}):
        outcome = faulty(2, f"call={call} nth={nth} do=error rank=1", *WORDS, within=within)
        # Ops that began late are repeated, so runs differ in their calls, and much in how often a rank has to ask.
        if not outcome.struck and (nth == calls or call == "MPI_Test"):
            assert outcome.returncode == 0, outcome.stderr
        else:
            outcome.failed(names(call))


@pytest.mark.parametrize("call", ["MPI_Comm_free", "MPI_Finalize"])
def test_a_call_that_fails_after_the_end(faulty, needs_provider, call):
    needs_provider("shm")
    outcome = faulty(2, f"call={call} do=error rank=1", *WORDS)
    assert outcome.struck
    assert any(f": {call}: MPI_ERR_OTHER" in line for line in outcome.says()), outcome.stderr
    assert len(outcome.complete()) == 2
