# SPDX-License-Identifier: BSD-3-Clause
"""Messages that get lost, doubled, misdirected or damaged before a point is timed: the verification says whose."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SUPPORT = Path(__file__).resolve().parents[1] / "support"

# Rank 1 of three does it. By the shift schedule its first message goes to rank 2, the second one to rank 0.
FAULTS = {
    "flip": "call=send do=flip nth=1 rank=1",
    "lose": "call=send do=lose nth=1 rank=1",
    "double": "call=send do=double nth=1 rank=1",
    "misdirect": "call=send do=misdirect nth=2 rank=1",
}
TOO_MANY = (
    r"(an extra message arrived at rank 2 \(\S+\) in verification op 0"
    r"|2 messages of rank 1 \(\S+\) arrived at rank 2 \(\S+\) in verification op 0, expected 1"
    r"|rank 2 \(\S+\).*op \d+: the message from rank 1 completed twice"
)
SAYS = {
    # What the verification says in words, and the ranks that may say it.
    "flip": r"byte 500 of the message from rank 1 \(\S+\) to rank 2 \(\S+\) is 0x\w\w, not 0x\w\w \(verification op 0\)",
    "lose": r"rank 2 \(\S+\).*op \d+: nothing happened for \S+ s; it waits for messages from rank 1\b",
    "double": TOO_MANY + r"|rank 1 \(\S+\).*op \d+: nothing happened for \S+ s; it waits for its sends to rank 2\b)",
    "misdirect": TOO_MANY + r"|rank 0 \(\S+\).*op \d+: nothing happened for \S+ s; it waits for messages from rank 1\b"
    r"|rank 1 \(\S+\).*op \d+: nothing happened for \S+ s; it waits for its sends to rank 0\b)",
}


@pytest.mark.parametrize("provider", ["shm", "net"])
@pytest.mark.parametrize("mode", ["tagged", "msg", "write-imm"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_message(faulty, needs_provider, fault, mode, provider, size="1000"):
    needs_provider(provider)
    words = ["--provider", provider, "--mode", mode, "--sizes", size, "--ops", "5", "--timeout", "3s"]
    outcome = faulty(3, FAULTS[fault], *words)
    outcome.failed(SAYS[fault])
    assert f"{mode} shift" in outcome.stderr
    assert outcome.complete() == []


# By the shift schedule the first message that rank 1 fetches is rank 0's, the second one rank 2's.
@pytest.mark.parametrize("provider", ["shm", "net"])
@pytest.mark.parametrize(
    ("fault", "source"), [("call=send do=lose nth=1 rank=1", 0), ("call=send do=misdirect nth=2 rank=1", 2)]
)
def test_a_read_that_brings_nothing_or_the_bytes_of_another(faulty, needs_provider, fault, source, provider):
    needs_provider(provider)
    words = ["--provider", provider, "--mode", "read", "--sizes", "1000", "--ops", "5", "--timeout", "20s"]
    outcome = faulty(3, fault, *words)
    outcome.failed(
        rf"byte \d of the message from rank {source} \(\S+\) to rank 1 \(\S+\) is 0x\w\w, not 0x\w\w \(verification op 0\)"
    )
    assert "read shift" in outcome.stderr
    assert outcome.complete() == []


# Rank 1's first flag goes to rank 2, behind the message.
@pytest.mark.parametrize("provider", ["shm", "net"])
@pytest.mark.parametrize("size", ["1000", "60000"])
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("call=send do=lose", r"byte 0 of the message from rank 1 \(\S+\) to rank 2 \(\S+\) is 0xa5, not 0x\w\w "
         r"\(verification op 0, when its flag was seen\)"),
        ("call=send do=flip", r"byte \d+ of the message from rank 1 \(\S+\) to rank 2 \(\S+\) is 0x\w\w, not 0x\w\w "
         r"\(verification op 0, when its flag was seen\)"),
        ("call=flag do=lose", r"rank 2 \(\S+\).*verification op 0: nothing happened for \S+ s; it waits for messages from rank 1"),
        ("call=flag do=EIO", r"rank 1 \(\S+\).*verification op 0: writing a flag \(peer rank 2\): Input/output error"),
    ],
)  # fmt: skip
def test_a_flag_and_its_message(faulty, needs_provider, fault, says, size, provider):
    needs_provider(provider)
    # Where a flag is lost, who waits for it must give up before those that wait for them all.
    patience = "8s" if fault == "call=flag do=lose" else "3s"
    words = ["--provider", provider, "--mode", "write", "--sizes", size, "--ops", "5", "--timeout", patience]
    outcome = faulty(3, f"{fault} nth=1 rank=1", *words)
    outcome.failed(says)
    assert "write shift" in outcome.stderr
    assert outcome.complete() == []


def test_a_large_message_sent_twice(faulty, needs_provider):
    test_a_message(faulty, needs_provider, "double", "tagged", "shm", "60000")


def test_a_large_message_without_a_tag_sent_twice(faulty, needs_provider):
    test_a_message(faulty, needs_provider, "double", "msg", "shm", "60000")


def test_a_pair_s_damaged_byte(faulty, needs_provider):
    needs_provider("shm")
    outcome = faulty(3, FAULTS["flip"], "--provider", "shm", "--sizes", "8", "--timeout", "20s", command="pairs")
    assert outcome.returncode not in (0, 2, 124, 137), outcome.stderr
    assert "verification of tagged shift by 1 8 B failed: byte 4 of the message from rank 1" in outcome.stderr
    assert (outcome.folder / "a.h5").exists()


@pytest.mark.parametrize("size", ["8", "1000"])
@pytest.mark.parametrize("mode", ["msg", "write-imm"])
def test_a_message_that_names_another_op(faulty, needs_provider, mode, size):
    needs_provider("net")
    words = ["--provider", "net", "--mode", mode, "--sizes", size, "--ops", "5", "--timeout", "20s"]
    outcome = faulty(3, "call=send do=renumber nth=9 rank=1", *words)
    outcome.failed(r"rank 2 \(\S+\).*op \d+: a completion that belongs to no operation, or a message of another op or rank")


@pytest.mark.parametrize("provider", ["shm", "net"])
@pytest.mark.parametrize("mode", ["tagged", "msg", "write-imm"])
def test_the_window_holds_back_injected_messages(faulty, needs_provider, mode, provider):
    """One is outstanding, and its completion gets lost: the next one isn't sent, and who misses it may say so first."""
    needs_provider(provider)
    words = ["--provider", provider, "--mode", mode, "--sizes", "8", "--ops", "5", "--timeout", "10s"]
    outcome = faulty(3, "call=sent do=lose nth=1 rank=1", *words, "--window", "1")
    outcome.failed(
        r"(rank 1|(?P<misses>rank 0)) \(\S+\).*verification op 0: nothing happened for \S+ s; it waits for "
        r"(?(misses)messages from rank 1|.*its sends to rank 2, 0)\b"
    )


# Four ranks on two hosts: rank 1 sends the block for its leader, rank 0, before its message for nobody else of its host.
@pytest.mark.parametrize("provider", ["tcp", "net"])
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("flip", r"byte \d+ of the message from rank 1 \(\S+\) to rank [023] \(\S+\) is 0x\w\w, not 0x\w\w \(verification op 0\)"),
        ("lose", r"rank 0 \(\S+\).*verification op 0, stage 1 of 3: nothing happened for \S+ s; it waits for messages from rank 1\b"),
        ("double", r"(an extra message arrived at rank 0|2 messages of rank 1 \(\S+\) arrived at rank 0) .*verification op 0, stage 1 of 3"
         r"|rank 0 \(\S+\).*op \d+, stage 1 of 3: the message from rank 1 completed twice"
         r"|rank 1 \(\S+\).*op \d+, stage 1 of 3: nothing happened for \S+ s; it waits for its sends to rank 0\b"),
    ],
)  # fmt: skip
def test_a_message_by_way_of_leaders(faulty, needs_provider, monkeypatch, fault, says, provider):
    needs_provider(provider)
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")  # ranks of different hosts may not meet in shared memory
    words = ["--provider", provider, "--schedule", "node-aware", "--sizes", "1000", "--ops", "5", "--timeout", "5s"]
    outcome = faulty(4, f"call=send do={fault} nth=1 rank=1", *words, within=[SUPPORT / "as_hosts.sh", "2"])
    outcome.failed(says)
    assert "tagged node-aware" in outcome.stderr
    assert outcome.complete() == []
