# SPDX-License-Identifier: BSD-3-Clause
"""Round trips whose peer stops or dies, or whose messages cannot be sent: it says so, and what was measured is kept."""

import pytest
from results import COMPLETE, PENDING, Results

LONG = ["--provider", "net", "--sizes", "8", "--duration", "1h", "--max-samples", "9", "--timeout", "3s"]


# What a rank sends an answer by, or tells of one that is to be fetched.
STRUCK = [("tagged", "send"), ("msg", "send"), ("write-imm", "send"), ("write", "send"), ("read", "flag")]


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "what"), [(0, "requests"), (1, "answers")])
def test_a_peer_that_stops(faulty, needs_provider, rank, what):
    needs_provider("net")
    outcome = faulty(2, f"call=send nth=100 do=stop rank={rank}", *LONG, command="echo")
    outcome.failed(rf"in the duration nothing happened for \S+ s; rank {1 - rank} \(\S+\) waits for {what} from rank {rank} ")


@pytest.mark.parametrize(("rank", "what"), [(0, "sending a request"), (1, "sending an answer")])
def test_a_call_that_fails(faulty, needs_provider, rank, what):
    needs_provider("net")
    outcome = faulty(2, f"call=send nth=100 do=EIO rank={rank}", *LONG, command="echo")
    outcome.failed(rf"^a2aperf: .*in a round trip: {what} \(peer rank {1 - rank} \(\S+\)\): Input/output error")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "rank", "words"),
    [("--clients", 2, r"no answers came from rank 2 \(\S+\) for \S+ s; rank 0 "), ("--servers", 0, r"no requests came from rank 0 \(\S+\) for \S+ s; rank 2 ")],
)
def test_of_several_the_one_that_stops_is_named_though_others_go_on(faulty, needs_provider, side, rank, words):
    """A client of ranks 1 and 2, a server of ranks 0 and 1."""
    needs_provider("net")
    outcome = faulty(3, f"call=send nth=100 do=stop rank={rank}", *LONG, side, "1", command="echo")
    outcome.failed(rf"in the duration {words}\(\S+\) waits for them")


# A message of 16 B is no flag, which has 8; those of the verification come first.
WRITTEN = ["--provider", "tcp", "--sizes", "16", "--request", "24", "--duration", "1h", "--max-samples", "9", "--timeout", "3s"]


@pytest.mark.parametrize(
    ("mode", "fault", "says"),
    [
        ("write", "call=flag do=lose nth=100 rank=0", r"in the duration nothing happened for \S+ s; rank (0 \(\S+\) waits for answers from rank 1|1 \(\S+\) waits for requests from rank 0)"),
        ("write", "call=flag do=EIO nth=100 rank=1", r"in a round trip: writing a flag \(peer rank 0 \(\S+\)\): Input/output error"),
        ("write", "call=send do=EIO nth=100 rank=1", r"in a round trip: sending an answer \(peer rank 0 \(\S+\)\): Input/output error"),
        ("write", "call=send do=flip nth=100 rank=1", r"answer \d+ from rank 1 \(\S+\) is not what was sent: its number is wrong at its (begin|end)"),
        ("write-imm", "call=send do=EIO nth=100 rank=0", r"in a round trip: sending a request \(peer rank 1 \(\S+\)\): Input/output error"),
        ("write-imm", "call=send do=flip nth=100 rank=1", r"answer \d+ from rank 1 \(\S+\) is not what was sent: its number is wrong at its (begin|end)"),
        ("write-imm", "call=send do=renumber nth=100 rank=0", r"a message came that nobody should send \(data 0x"),
        ("write-imm", "call=received do=double nth=100 rank=0", r"answer \d+ from rank 1 \(\S+\) is not what was sent|that nobody should send"),
        ("read", "call=flag do=lose nth=100 rank=1", r"in the duration nothing happened for \S+ s; rank (0 \(\S+\) waits for answers from rank 1|1 \(\S+\) waits for requests from rank 0)"),
        ("read", "call=flag do=EIO nth=100 rank=0", r"in a round trip: sending a request \(peer rank 1 \(\S+\)\): Input/output error"),
        ("read", "call=send do=EIO nth=100 rank=0", r"in a round trip: reading \(peer rank 1 \(\S+\)\): Input/output error"),
        ("read", "call=sent do=EIO nth=100 rank=1", r"in a round trip: a read from rank 0 \(\S+\) failed: Input/output error"),
        ("tagged", "call=received do=EIO nth=100 rank=1", r"in a round trip: a receive from rank 0 \(\S+\) failed: Input/output error"),
        ("msg", "call=received do=EIO nth=100 rank=1", r"in a round trip: a receive failed: Input/output error"),
    ],
)
def test_messages_that_are_written_or_fetched(faulty, needs_provider, mode, fault, says):
    needs_provider("tcp")
    faulty(2, fault, *WRITTEN, "--mode", mode, command="echo").failed(says)


def test_a_send_that_completes_with_an_error_says_to_whom(faulty, needs_provider):
    """Of more than the inject path takes, or it would not complete."""
    needs_provider("tcp")
    words = ["--provider", "tcp", "--sizes", "1KiB", "--request", "64KiB", "--ops", "100000", "--timeout", "3s"]
    outcome = faulty(2, "call=sent do=EIO nth=100 rank=0", *words, command="echo")
    outcome.failed(r"in a round trip: a send to rank 1 \(\S+\) failed: Input/output error")


@pytest.mark.parametrize("call", ["send", "flag"])
def test_what_finds_no_room_goes_later(faulty, needs_provider, call):
    needs_provider("tcp")
    words = ["--provider", "tcp", "--mode", "write", "--sizes", "16", "--request", "24", "--ops", "200", "--outstanding", "4"]
    outcome = faulty(2, f"call={call} do=EAGAIN nth=100 count=500", *words, command="echo")
    assert outcome.struck
    assert outcome.returncode == 0, outcome.stderr
    assert list(Results(outcome.folder / "a.h5").columns["round_trips"]) == [200]


def test_a_damaged_message(faulty, needs_provider):
    needs_provider("net")
    outcome = faulty(2, "call=send nth=100 do=flip rank=1", *LONG, command="echo")
    outcome.failed(r"answer \d+ from rank 1 \(\S+\) is not what was sent: its number is wrong at its (begin|end)")


def require_first_kept(folder, launch, words) -> None:
    """Of two points the first is complete, and stays what it was where another launch measures the second."""
    results = Results(folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, PENDING]
    kept = results.raw["round_trip"][0]
    resumed = launch(2, "echo", *words, "--poll", "yield", "-o", "a.h5", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    results = Results(folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, COMPLETE]
    assert (results.raw["round_trip"][0] == kept).all()


@pytest.mark.parametrize(("mode", "call"), STRUCK)
def test_a_rank_that_is_killed_is_named_and_points_that_were_complete_are_kept(faulty, launch, needs_provider, mode, call):
    needs_provider("net")
    words = ["--provider", "net", "--mode", mode, "--sizes", "16,24", "--ops", "500", "--timeout", "30s"]
    outcome = faulty(2, f"call={call} nth=700 do=kill rank=1", *words, command="echo")
    outcome.named_killed(1)
    assert Results(outcome.folder / "a.h5").columns["ops"][0] == 500
    require_first_kept(outcome.folder, launch, words)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "call"), STRUCK)
def test_a_rank_that_is_stopped_is_named_and_points_that_were_complete_are_kept(faulty, needs_provider, mode, call):
    needs_provider("net")
    words = ["--provider", "net", "--mode", mode, "--sizes", "16,24", "--ops", "500", "--timeout", "5s"]
    outcome = faulty(2, f"call={call} nth=700 do=stop rank=1", *words, command="echo")
    outcome.failed(r"nothing happened for \S+ s; rank 0 \(\S+\) waits for answers from rank 1 ")
    results = Results(outcome.folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, PENDING]
    assert results.segments[0].end_reason == "fabric-deadline"


def test_points_before_a_read_that_fails_are_kept(faulty, launch, needs_provider):
    needs_provider("net")
    words = ["--provider", "net", "--mode", "read", "--sizes", "16,24", "--ops", "500", "--timeout", "30s"]
    outcome = faulty(2, "call=sent do=EIO nth=700 rank=0", *words, command="echo")
    outcome.failed(r"^a2aperf: rank 0 .*in a round trip: a read from rank 1 \(\S+\) failed: Input/output error")
    require_first_kept(outcome.folder, launch, words)


def test_a_signal_keeps_points_that_were_complete_and_the_others_are_resumed(faulty, launch, needs_provider):
    needs_provider("net")
    words = ["--provider", "net", "--sizes", "8,16", "--ops", "500", "--timeout", "30s"]
    outcome = faulty(2, "call=send nth=700 do=term rank=0", *words, command="echo")
    assert outcome.struck
    assert Results(outcome.folder / "a.h5").segments[0].end_reason == "signal"
    require_first_kept(outcome.folder, launch, words)
