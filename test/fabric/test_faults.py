# SPDX-License-Identifier: BSD-3-Clause
"""Faults put in on purpose are caught by the verification, which names source, destination and op."""

import re

import pytest
from processes import running_in

FAULTY = 1  # the rank that does it, of three: its first peer by the shift schedule is rank 2, its last rank 0
SAYS = {
    # What the verification says in words, and the ranks that may say it.
    "flip": r"byte 500 of the message from rank 1 \(\S+\) to rank 2 \(\S+\) is 0x\w\w, not 0x\w\w \(op \d+\)",
    "lose": r"rank 2 \(\S+\).*op \d+: nothing happened for 2\S* s; it waits for messages from rank 1\b",
    "double": r"(a message too many arrived at rank 2 \(\S+\) in op \d+"
    r"|2 messages of rank 1 \(\S+\) arrived at rank 2 \(\S+\) in op \d+ where 1 was due"
    r"|rank 1 \(\S+\).*op \d+: nothing happened for 2\S* s; it waits for its sends to rank 2\b)",
    "misdirect": r"(a message too many arrived at rank 0 \(\S+\) in op \d+"
    r"|2 messages of rank 1 \(\S+\) arrived at rank 0 \(\S+\) in op \d+ where 1 was due"
    r"|rank 2 \(\S+\).*op \d+: nothing happened for 2\S* s; it waits for messages from rank 1\b)",
}


@pytest.mark.parametrize("provider", ["shm", "net"])
@pytest.mark.parametrize("mode", ["tagged", "write-imm"])
@pytest.mark.parametrize("fault", SAYS)
def test_fault(launch, tmp_path, monkeypatch, needs_provider, fault, mode, provider, size="1000"):
    needs_provider(provider)
    monkeypatch.setenv("A2APERF_FAULT", f"{fault}:{FAULTY}")
    outcome = launch(
        3, "alltoall", "--provider", provider, "--mode", mode, "--sizes", size, "--ops", "5", "--warmup", "1",
        "--sync", "barrier", "--poll", "yield", "--timeout", "2s", "-o", "a.h5", seconds=60,
    )  # fmt: skip
    assert outcome.returncode not in (0, 2, 124, 137), outcome.stderr
    assert re.search(SAYS[fault], outcome.stderr), outcome.stderr
    assert f"{mode} shift" in outcome.stderr
    assert running_in(tmp_path) == []


def test_a_large_message_sent_twice(launch, tmp_path, monkeypatch, needs_provider):
    test_fault(launch, tmp_path, monkeypatch, needs_provider, "double", "tagged", "shm", "60000")


@pytest.mark.parametrize("value", ["flip", "flip:", "flip:x", "burn:1"])
def test_a_fault_that_there_is_not(launch, tmp_path, monkeypatch, value):
    monkeypatch.setenv("A2APERF_FAULT", value)
    outcome = launch(2, "alltoall", "--provider", "shm", "--sizes", "1000", "--ops", "5")
    assert outcome.returncode == 2, outcome.stderr
    assert f"A2APERF_FAULT is '{value}'" in outcome.stderr
