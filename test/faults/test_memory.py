# SPDX-License-Identifier: BSD-3-Clause
"""Memory that is not to be had, at any allocation of ours: one rank says so, and nobody stays behind."""

import pytest

pytestmark = pytest.mark.slow

WORDS = ["--provider", "shm", "--sizes", "1000,60000", "--ops", "5", "--timeout", "20s"]


@pytest.mark.parametrize(("rank", "samples"), [(0, 4), (1, 2)])
def test_any_allocation(faulty, needs_provider, rank, samples):
    needs_provider("shm")
    whole = faulty(2, f"call=new do=ENOMEM nth=1000000000 rank={rank}", *WORDS)
    assert whole.returncode == 0, whole.stderr
    calls = whole.calls(rank)
    # The first ones come before main() can catch anything; how many there are differs a little from run to run.
    for nth in range(100, calls * 19 // 20, calls // samples):
        outcome = faulty(2, f"call=new do=ENOMEM nth={nth} rank={rank}", *WORDS)
        if not outcome.struck and nth > calls // 2:
            assert outcome.returncode == 0, outcome.stderr
        elif outcome.returncode == 0:  # in tidying up: the file is whole
            assert outcome.struck, nth
            assert all("is complete but larger than necessary: out of memory" in line for line in outcome.says()), nth
            assert outcome.complete() == [0, 1]
        elif "terminate called" in outcome.stderr:  # libstdc++'s directory iterator cannot throw this
            assert outcome.struck and outcome.returncode not in (0, 2, 124, 137), nth
            assert len(outcome.complete()) >= outcome.shown(), nth
        else:
            outcome.failed(rf"^a2aperf: rank {rank}( \(\S+\).*)?: .*out of memory")


def test_any_allocation_of_a_library(faulty, needs_provider):
    """MPI, libfabric and HDF5 do with it what they do: no wait goes on for ever, and what was told is in the file."""
    needs_provider("shm")
    whole = faulty(2, "call=malloc do=ENOMEM nth=1000000000 rank=1", *WORDS)
    assert whole.returncode == 0, whole.stderr
    calls = whole.calls(1)
    for nth in range(calls // 10, calls, calls // 5):
        outcome = faulty(2, f"call=malloc do=ENOMEM nth={nth} rank=1", *WORDS)
        assert outcome.returncode != 124, nth  # the launcher's own deadline
        assert len(outcome.complete()) >= outcome.shown(), nth
        if outcome.returncode == 0:
            assert outcome.complete() == [0, 1], nth


def test_the_message_buffers(faulty, needs_provider):
    needs_provider("shm")
    # As large as nothing else: two ranks' messages.
    words = ["--provider", "shm", "--sizes", "60000000", "--ops", "5"]
    outcome = faulty(2, "call=mmap do=ENOMEM above=120000000 rank=1", *words)
    outcome.failed(r"^a2aperf: rank 1 \(\S+\): mmap of \S+ \S+ for message buffers: Cannot allocate memory")
