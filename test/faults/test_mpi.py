# SPDX-License-Identifier: BSD-3-Clause
"""MPI's errors at any call: the program names the call and the rank, and no rank stays behind."""

import pytest

WORDS = ["--provider", "shm", "--sizes", "1000,60000", "--ops", "20", "--timeout", "20s", "--baseline", "mpi"]
# One of each: the first, or one in the middle of what is done later.
FATAL = [
    "MPI_Init_thread 1", "MPI_Comm_rank 1", "MPI_Comm_size 1", "MPI_Comm_split 1", "MPI_Iallgather 10",
    "MPI_Iallgatherv 5", "MPI_Ibcast 10", "MPI_Igatherv 1", "MPI_Igather 5", "MPI_Iallreduce 60", "MPI_Test 200",
    "MPI_Alltoall 30",
]  # fmt: skip


@pytest.mark.parametrize("which", FATAL)
def test_a_call_that_fails(faulty, needs_provider, which):
    needs_provider("shm")
    call, nth = which.split()
    outcome = faulty(2, f"call={call} nth={nth} do=error rank=1", *WORDS)
    outcome.failed(rf"^a2aperf: rank 1( \(\S+\).*)?: {call}: (MPI_ERR_OTHER|error \d+)")


@pytest.mark.parametrize("call", ["MPI_Comm_free", "MPI_Finalize"])
def test_a_call_that_fails_after_the_end(faulty, needs_provider, call):
    needs_provider("shm")
    outcome = faulty(2, f"call={call} do=error rank=1", *WORDS)
    assert outcome.struck
    assert any(f": {call}: MPI_ERR_OTHER" in line for line in outcome.says()), outcome.stderr
    assert len(outcome.complete()) == 2
