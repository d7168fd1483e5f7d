# SPDX-License-Identifier: BSD-3-Clause
"""Timed ops in which messages, posts and completions go wrong: no figure comes of such an op, and one before stays."""

import pytest
from results import Results

pytestmark = pytest.mark.slow

# Two points of 40 ops on three ranks; each rank has some 90 arrivals, and as many sends, for each of them. From the
# 140th on they are of ops of the second point.
SECOND = "nth=140 rank=1"
WORDS = ["--sizes", "8000,60000", "--ops", "40", "--warmup", "1"]
FATAL = [
    ("shm", "tagged", f"call=received do=lose {SECOND}", r"rank 1 \(\S+\).* B: op \d+: nothing happened for "
     r"\S+ s; it waits for messages from rank [02]"),
    # If it was the op's last, the next op meets the second one.
    ("net", "write-imm", f"call=received do=double {SECOND}", r"rank 1 \(\S+\).* B: op \d+: (the message from rank [02] "
     "completed twice|a completion that belongs to no operation, or a message of another op or rank)"),
    ("tcp", "tagged", f"call=received do=EIO {SECOND}", r"rank 1 \(\S+\).* B: op \d+: the receive from rank [02] "
     r"failed: Input/output error"),
    ("net", "write-imm", f"call=sent do=EIO {SECOND}", r"rank 1 \(\S+\).* B: op \d+: the send to rank [02] failed: "
     "Input/output error"),
    ("shm", "tagged", f"call=sent do=double {SECOND}", r"rank 1 \(\S+\).* B: op \d+: the send to rank [02] completed "
     "twice"),
    ("tcp", "tagged", f"call=send do=EIO {SECOND}", r"rank 1 \(\S+\).* B: op \d+: sending \(peer rank [02]\): "
     "Input/output error"),
    ("shm", "msg", f"call=received do=double {SECOND}", r"rank 1 \(\S+\).* B: op \d+: (the message from rank [02] "
     "completed twice|a completion that belongs to no operation, or a message of another op or rank)"),
    ("net", "msg", f"call=received do=lose {SECOND}", r"rank 1 \(\S+\).* B: op \d+: nothing happened for "
     r"\S+ s; it waits for messages from rank [02]"),
    ("tcp", "msg", f"call=received do=EIO {SECOND}", r"rank 1 \(\S+\).* B: op \d+: a receive failed: Input/output error"),
    ("shm", "msg", f"call=receive do=ENOMEM {SECOND}", r"rank 1 \(\S+\).* B: op \d+: posting a receive \(peer rank "
     r"[02]\): Cannot allocate memory"),
    # Those that wait for its messages have waited for as long.
    ("shm", "tagged", f"call=send do=EAGAIN count=2000000000 {SECOND}", r"(rank 1 \(\S+\).* B: op \d+: nothing happened "
     r"for \S+ s; it waits for .*its sends to rank|rank [02] \(\S+\).* B: op \d+: nothing happened for "
     r"\S+ s; it waits for messages from rank 1)"),
    ("shm", "tagged", f"call=receive do=ENOMEM {SECOND}", r"rank 1 \(\S+\).* B: op \d+: posting a receive \(peer rank "
     r"[02]\): Cannot allocate memory"),
    # The completions of reads are none of receives.
    ("net", "read", f"call=sent do=lose {SECOND}", r"rank 1 \(\S+\).* B: op \d+: nothing happened for \S+ s; it "
     r"waits for messages from rank [02]"),
    ("shm", "read", f"call=sent do=double {SECOND}", r"rank 1 \(\S+\).* B: op \d+: (the read from rank [02] completed "
     "twice|a completion that belongs to no operation)"),
    ("tcp", "read", f"call=sent do=EIO {SECOND}", r"rank 1 \(\S+\).* B: op \d+: the read from rank [02] failed: "
     "Input/output error"),
    ("shm", "read", f"call=send do=EIO {SECOND}", r"rank 1 \(\S+\).* B: op \d+: reading \(peer rank [02]\): "
     "Input/output error"),
    # A flag that is lost is missed by its target; a write that never completes by its source.
    ("net", "write", f"call=flag do=lose {SECOND}", r"rank [02] \(\S+\).* B: op \d+: nothing happened for \S+ s; it "
     "waits for messages from rank 1"),
    ("shm", "write", f"call=sent do=lose {SECOND}", r"rank 1 \(\S+\).* B: op \d+: nothing happened for \S+ s; it "
     r"waits for its sends to rank [02]"),
    ("tcp", "write", f"call=sent do=EIO {SECOND}", r"rank 1 \(\S+\).* B: op \d+: the send to rank [02] failed: "
     "Input/output error"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "mode", "fault", "says"), FATAL)
def test_an_op_that_fails(faulty, needs_provider, provider, mode, fault, says):
    needs_provider(provider)
    outcome = faulty(3, fault, "--provider", provider, "--mode", mode, *WORDS, "--timeout", "3s")
    outcome.failed(says)
    assert outcome.complete() == [0]
    # Closed by rank 0, or cut short by the rank that ended the job.
    assert Results(outcome.folder / "a.h5").segments[0].end_state in (0, 3)


# Sends of a rank of three: a message to each of the others in every op, and those for strays by each verification: one
# for each receive that waits for one. The first connection is verified too.
WARMUP, OPS = 3, 40
VERIFICATION = {"shm": 4, "tcp": 3, "net": 3}
COUNTED = ["--sizes", "8000,60000", "--ops", str(OPS), "--warmup", str(WARMUP)]


def first_send(provider: str, point: int, op: int) -> int:
    """Which of rank 1's sends is the first of an op: of those of the warm-up where it is below 0."""
    return (point + 2) * VERIFICATION[provider] + point * 2 * (WARMUP + OPS) + 2 * (WARMUP + op) + 1


@pytest.mark.parametrize("provider", VERIFICATION)
def test_how_many_sends_there_are(faulty, needs_provider, provider):
    needs_provider(provider)
    outcome = faulty(3, "call=send do=EIO nth=1000000000 rank=1", "--provider", provider, *COUNTED)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.calls(1) == first_send(provider, 1, OPS) - 1


@pytest.mark.parametrize("more", [[], ["--baseline", "mpi"]], ids=["alone", "beside MPI"])
@pytest.mark.parametrize(("point", "op"), [(0, 0), (0, 17), (1, 0), (1, 17), (1, OPS - 1)])
def test_the_number_of_an_op_is_its_place_in_its_point(faulty, needs_provider, point, op, more):
    """From 0, as in the file, without verification and warm-up, and not counted on from the point before."""
    needs_provider("shm")
    fault = f"call=send do=EIO nth={first_send('shm', point, op)} rank=1"
    outcome = faulty(3, fault, "--provider", "shm", *COUNTED, *more)
    row = 2 * point if more else point  # each has MPI's beside it
    outcome.failed(rf"rank 1 \(\S+\), point {row}, tagged shift .* B: op {op}: sending \(peer rank [02]\): Input/output error")


def test_an_op_of_the_warm_up_or_the_verification_says_so(faulty, needs_provider):
    needs_provider("shm")
    words = ["--provider", "shm", *COUNTED]
    outcome = faulty(3, f"call=send do=EIO nth={first_send('shm', 1, -1)} rank=1", *words)
    outcome.failed(rf"rank 1 \(\S+\), point 1, tagged .* B: warm-up op {WARMUP - 1}: sending")
    outcome = faulty(3, f"call=send do=EIO nth={first_send('shm', 1, -WARMUP) - VERIFICATION['shm']} rank=1", *words)
    outcome.failed(r"rank 1 \(\S+\), point 1, tagged .* B: verification op 0: sending")


def test_the_peers_of_a_rank_that_stops_in_an_op_name_it(faulty, needs_provider):
    needs_provider("tcp")
    fault = f"call=send do=stop nth={first_send('tcp', 1, 17)} rank=1"
    outcome = faulty(3, fault, "--provider", "tcp", *COUNTED, "--timeout", "2s")
    outcome.failed(r"rank [02] \(\S+\), point 1, tagged .* B: op 17: nothing happened for \S+ s; it waits for .*rank 1")


def test_bad_data_names_its_op(faulty, needs_provider):
    needs_provider("net")
    fault = f"call=send do=renumber nth={first_send('net', 1, 17)} rank=1"
    outcome = faulty(3, fault, "--provider", "net", "--mode", "msg", *COUNTED)
    outcome.failed(r"rank 2 \(\S+\), point 1, msg .* B: op 17: a completion that belongs to no operation, or a message of ")


SURVIVED = [
    ("shm", "tagged", f"call=send do=EAGAIN count=5000 {SECOND}"),
    ("net", "write-imm", f"call=send do=EAGAIN count=5000 {SECOND}"),
    ("tcp", "tagged", "call=receive do=EAGAIN count=5000 nth=140"),
    ("net", "msg", f"call=send do=EAGAIN count=5000 {SECOND}"),
    ("shm", "msg", "call=receive do=EAGAIN count=5000 nth=140"),
    ("net", "read", f"call=send do=EAGAIN count=5000 {SECOND}"),
    ("net", "write", f"call=send do=EAGAIN count=5000 {SECOND}"),
    ("shm", "write", f"call=flag do=EAGAIN count=5000 {SECOND}"),
]


@pytest.mark.parametrize(("provider", "mode", "fault"), SURVIVED)
def test_a_storm_is_weathered(faulty, needs_provider, provider, mode, fault):
    needs_provider(provider)
    # On a busy machine each of the many tries may wait for a core.
    outcome = faulty(3, fault, "--provider", provider, "--mode", mode, *WORDS, "--timeout", "10min")
    outcome.survived()
    assert outcome.complete() == [0, 1]


@pytest.mark.parametrize("mode", ["tagged", "msg"])
def test_a_late_message_is_in_the_figures(faulty, needs_provider, mode):
    needs_provider("shm")
    words = ["--provider", "shm", "--mode", mode, *WORDS, "--timeout", "30s"]
    # Held back from when it is read: before the rank's own start, where the CPU is taken from it in between.
    outcome = faulty(3, f"call=received do=late:2000 {SECOND}", *words)
    outcome.survived()
    results = Results(outcome.folder / "a.h5")
    late = results.op_times(1) >= 400e6
    assert late.any()
    assert results.columns["time_max"][1] >= 400e6


def test_a_last_write_that_is_not_answered(faulty, needs_provider):
    """When all is measured, and in the file; without writes there is no last one."""
    needs_provider("shm")
    words = ["--provider", "shm", "--mode", "write-imm", *WORDS, "--timeout", "3s"]
    whole = faulty(2, "call=sent do=lose nth=1000000000 rank=1", *words)
    assert whole.returncode == 0, whole.stderr
    outcome = faulty(2, f"call=sent do=lose nth={whole.calls(1)} rank=1", *words)
    outcome.failed(
        r"rank 1 \(\S+\): at its last writes: nothing happened for \S+ s; it waits for rank 0 \(\S+\) to take one$"
    )
    assert outcome.complete() == [0, 1]
