# SPDX-License-Identifier: BSD-3-Clause
"""A stream whose peer stops, or whose messages cannot be sent: it says so, however long it was to last."""

import pytest
from results import COMPLETE, PENDING, Results

# The sender is not the rank that has the file; its 700th message is one of the second point, as is the 700th word by which
# it tells of one that is to be fetched. A word has 8 B, and no message here.
TWO_POINTS = ["--provider", "net", "--pairs", "1:0", "--sizes", "16,24", "--messages", "500"]
STRUCK = [("tagged", "send"), ("msg", "send"), ("write-imm", "send"), ("write", "send"), ("read", "flag")]
LONG = ["--provider", "net", "--sizes", "8", "--messages", "2000000000", "--timeout", "3s"]


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "what"), [(0, "messages"), (1, "credits")])
def test_a_peer_that_stops(faulty, needs_provider, rank, what):
    needs_provider("net")
    outcome = faulty(2, f"call=send nth=100 do=stop rank={rank}", *LONG, command="stream")
    outcome.failed(rf"in the duration nothing happened for \S+ s; rank {1 - rank} \(\S+\) waits for {what} from rank {rank} ")


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "pairs", "what"), [("tagged", "all-to-one", "messages"), ("msg", "one-to-all", "credits"), ("write", "one-to-all", "credits")])
def test_of_several_the_one_that_stops_is_named_though_others_go_on(faulty, needs_provider, mode, pairs, what):
    """Rank 1 sends to rank 0 or receives from it, as rank 2 does."""
    needs_provider("net")
    outcome = faulty(3, f"call={'flag' if mode == 'write' else 'send'} nth=100 do=stop rank=1", *LONG, "--mode", mode, "--pairs", pairs, command="stream")
    outcome.failed(rf"in the duration no {what} came from rank 1 \(\S+\) for \S+ s; rank 0 \(\S+\) waits for them")


@pytest.mark.slow
def test_a_peer_that_stops_behind_the_last_message_is_named(faulty, needs_provider):
    """While it takes up the receives of credits that never come: at most 10 of 20 messages in a window of 32 return one."""
    needs_provider("net")
    words = ["--provider", "net", "--sizes", "8", "--messages", "20", "--window", "32", "--timeout", "3s"]
    outcome = faulty(2, "call=send nth=16 do=stop rank=1", *words, command="stream")
    outcome.failed(r"rank 0 \(\S+\) waits for \d+ of its last receives to be taken up by rank 1 \(")


@pytest.mark.slow
def test_a_peer_that_stops_when_nobody_waits_for_its_messages_is_named(faulty, needs_provider):
    """The first behind the two of the verification is that of a credit: rank 0 has sent all, and has no more to do."""
    needs_provider("net")
    words = ["--provider", "net", "--sizes", "8", "--messages", "20", "--window", "32", "--timeout", "3s"]
    outcome = faulty(2, "call=send nth=3 do=stop rank=1", *words, command="stream")
    outcome.failed(r"in the duration nothing was heard of rank 1 \(\S+\) for \S+ s; rank 0 \(\S+\) waits for its end")


@pytest.mark.parametrize("words", [("--pairs", "0:1"), ("--pairs", "loopback", "--threads", "each")])
def test_a_rank_that_stops_in_a_duration_for_which_nobody_waits_is_named(faulty, needs_provider, words):
    """It has no pair, or one with itself: the others would go on to the end of theirs."""
    needs_provider("net")
    words = ["--provider", "net", "--sizes", "8", *words, "--duration", "1h", "--timeout", "3s"]
    outcome = faulty(3, "call=MPI_heartbeat nth=2 do=stop rank=2", *words, command="stream")
    outcome.failed(r"in the duration nothing was heard of rank 2 \(\S+\) for \S+ s; rank 0 \(\S+\) waits for its end")


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "every", "places"), [("net", 1, 8), ("tcp", 4, 2)])
def test_completions_that_never_come_are_not_called_credits(faulty, needs_provider, provider, every, places):
    needs_provider(provider)
    words = ["--provider", provider, "--sizes", "64KiB", "--messages", "2000000000", "--timeout", "3s", "--window", "8", "--cq-mod", str(every)]
    outcome = faulty(2, "call=sent do=lose nth=200 count=1000000 rank=0", *words, command="stream")
    outcome.failed(rf"in the duration nothing happened for \S+ s; rank 0 \(\S+\) waits for completions of {places} sends to rank 1 \(\S+\);")


@pytest.mark.parametrize(("rank", "what"), [(0, "sending"), (1, "returning a credit")])
def test_a_call_that_fails(faulty, needs_provider, rank, what):
    needs_provider("net")
    outcome = faulty(2, f"call=send nth=100 do=EIO rank={rank}", *LONG, command="stream")
    outcome.failed(rf"^a2aperf: .*in a stream: {what} \(peer rank {1 - rank} \(\S+\)\): Input/output error")


# A message of 16 B is no flag and no credit, which have 8; they are those of the verification first.
WRITTEN = ["--provider", "tcp", "--sizes", "16", "--messages", "2000000000", "--timeout", "3s"]


@pytest.mark.parametrize(
    ("mode", "fault", "says"),
    [
        ("write", "call=flag do=lose nth=100 rank=0", r"in the duration nothing happened for \S+ s; rank [01] \(\S+\) waits for "),
        ("write", "call=flag do=EIO nth=100 rank=0", r"in a stream: writing a flag \(peer rank 1 \(\S+\)\): Input/output error"),
        ("write", "call=flag do=EIO nth=9 rank=1", r"in a stream: returning a credit \(peer rank 0 \(\S+\)\): Input/output error"),
        ("write-imm", "call=flag do=EIO nth=9 rank=1", r"in a stream: returning a credit \(peer rank 0 \(\S+\)\): Input/output error"),
        ("write-imm", "call=send do=EIO nth=100 rank=0", r"in a stream: sending \(peer rank 1 \(\S+\)\): Input/output error"),
        ("write-imm", "call=send do=renumber nth=100 rank=0", r"a message came that nobody should send \(data 0x"),
        ("read", "call=flag do=lose nth=100 rank=0", r"in the duration nothing happened for \S+ s; rank [01] \(\S+\) waits for "),
        ("read", "call=flag do=EIO nth=100 rank=0", r"in a stream: sending \(peer rank 1 \(\S+\)\): Input/output error"),
        ("read", "call=flag do=EIO nth=9 rank=1", r"in a stream: returning a credit \(peer rank 0 \(\S+\)\): Input/output error"),
        ("read", "call=send do=EIO nth=100 rank=1", r"in a stream: reading \(peer rank 0 \(\S+\)\): Input/output error"),
    ],
)
def test_a_stream_by_words(faulty, needs_provider, mode, fault, says):
    needs_provider("tcp")
    faulty(2, fault, *WRITTEN, "--mode", mode, command="stream").failed(says)


# The 100th completion is one of the stream's: those of the verification come first.
@pytest.mark.parametrize(
    ("mode", "fault", "what"),
    [
        ("read", "call=sent do=EIO nth=100 rank=1", r"a read from rank 0 \(\S+\)"),
        ("write", "call=sent do=EIO nth=100 rank=0", r"a send to rank 1 \(\S+\)"),
        ("write-imm", "call=sent do=EIO nth=100 rank=0", r"a send to rank 1 \(\S+\)"),
        ("tagged", "call=sent do=EIO nth=100 rank=0", r"a send to rank 1 \(\S+\)"),
        ("tagged", "call=received do=EIO nth=100 rank=1", r"a receive from rank 0 \(\S+\)"),
        ("tagged", "call=received do=EIO nth=9 rank=0", r"the receive of a credit from rank 1 \(\S+\)"),
        ("msg", "call=received do=EIO nth=100 rank=1", r"a receive"),  # of any rank's message
    ],
)  # fmt: skip
def test_a_completion_with_an_error_says_what_it_is_of(faulty, needs_provider, mode, fault, what):
    needs_provider("tcp")
    outcome = faulty(2, fault, *WRITTEN, "--mode", mode, "--inject", "off", command="stream")
    outcome.failed(rf"^a2aperf: rank [01] .*in a stream: {what} failed: Input/output error .*; it waits for ")


def test_points_before_a_read_that_fails_are_kept(faulty, launch, needs_provider):
    """On rank 0, which writes the reason before it ends the launch."""
    needs_provider("net")
    words = ["--provider", "net", "--pairs", "1:0", "--sizes", "16,24", "--messages", "500", "--mode", "read", "--timeout", "30s"]
    outcome = faulty(2, "call=sent do=EIO nth=700 rank=0", *words, command="stream")
    outcome.failed(r"^a2aperf: rank 0 .*in a stream: a read from rank 1 \(\S+\) failed: Input/output error")
    results = Results(outcome.folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, PENDING]
    (segment,) = results.segments
    assert "a read from rank 1 (" in segment.message
    resumed = launch(2, "stream", *words, "--poll", "yield", "-o", "a.h5", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert list(Results(outcome.folder / "a.h5").columns["state"]) == [COMPLETE, COMPLETE]


def test_completions_in_another_order_are_no_damage(faulty, needs_provider):
    """Of receives that take messages in their order: tcp promises no more."""
    needs_provider("tcp")
    words = ["--provider", "tcp", "--mode", "tagged", "--sizes", "8", "--messages", "1000"]
    outcome = faulty(2, "call=received do=late:50 nth=200 rank=1", *words, command="stream")
    assert outcome.struck
    assert outcome.returncode == 0, outcome.stderr
    assert list(Results(outcome.folder / "a.h5").columns["messages"]) == [1000]


@pytest.mark.parametrize(("mode", "call"), STRUCK)
def test_a_rank_that_is_killed_is_named_and_points_that_were_complete_are_kept(faulty, launch, needs_provider, mode, call):
    needs_provider("net")
    words = [*TWO_POINTS, "--mode", mode, "--timeout", "30s"]
    outcome = faulty(2, f"call={call} nth=700 do=kill rank=1", *words, command="stream")
    outcome.named_killed(1)
    results = Results(outcome.folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, PENDING]
    time = results.columns["stream_time"][0]
    resumed = launch(2, "stream", *words, "--poll", "yield", "-o", "a.h5", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    results = Results(outcome.folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, COMPLETE]
    assert list(results.columns["messages"]) == [500, 500]
    assert results.columns["stream_time"][0] == time


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "call"), STRUCK[1:])
def test_a_rank_that_is_stopped_is_named_and_points_that_were_complete_are_kept(faulty, needs_provider, mode, call):
    needs_provider("net")
    words = [*TWO_POINTS, "--mode", mode, "--timeout", "5s"]
    outcome = faulty(2, f"call={call} nth=700 do=stop rank=1", *words, command="stream")
    outcome.failed(r"nothing happened for \S+ s; rank 0 \(\S+\) waits for messages from rank 1 ")
    results = Results(outcome.folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, PENDING]
    assert results.segments[0].end_reason == "fabric-deadline"
