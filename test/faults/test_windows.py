# SPDX-License-Identifier: BSD-3-Clause
"""The window: so many messages of a rank are under way and no more, whatever the mode and however they are cut and dealt."""

from pathlib import Path

import pytest

SUPPORT = Path(__file__).resolve().parents[1] / "support"
COUNT = "call=outstanding do=count"
MODES = ["tagged", "msg", "write-imm", "read", "write"]


def most(faulty, *words, ranks=3, within=()):
    outcome = faulty(ranks, COUNT, *words, "--ops", "5", within=within)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.complete() == [0]
    return outcome.outstanding()


# Eight chunks for each of two peers.
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("window", ["1", "3", "all"])
def test_a_window_counts_chunks(faulty, needs_provider, mode, window):
    needs_provider("tcp")
    words = ["--provider", "tcp", "--mode", mode, "--sizes", "64000", "--chunk", "8000", "--window", window]
    found, bound = most(faulty, *words), 16 if window == "all" else int(window)
    assert 1 <= min(found) and max(found) == bound  # who reads completions between two sends has fewer


@pytest.mark.parametrize("mode", MODES)
def test_a_window_bounds_messages_that_are_injected(faulty, needs_provider, mode):
    """And reads of their size."""
    needs_provider("tcp")
    assert most(faulty, "--provider", "tcp", "--mode", mode, "--sizes", "8", "--window", "1") == {1}


# What is counted goes over the first of the two.
@pytest.mark.parametrize("mode", MODES)
def test_endpoints_share_a_window(faulty, needs_provider, mode):
    needs_provider("tcp")
    words = ["--provider", "tcp", "--mode", mode, "--sizes", "64000", "--chunk", "8000", "--endpoints", "2", "--window", "6"]
    found = most(faulty, *words)
    assert 1 <= min(found) and max(found) == 3


@pytest.mark.parametrize(("window", "counted"), [("1", 1), ("all", 2)])
def test_a_window_bounds_each_stage_by_way_of_leaders(faulty, needs_provider, monkeypatch, window, counted):
    """Of four ranks on two hosts the first one hands what came from the other host on to two of its own."""
    needs_provider("tcp")
    monkeypatch.setenv("OMPI_MCA_btl", "self,tcp")  # ranks of different hosts may not meet in shared memory
    words = ["--provider", "tcp", "--schedule", "node-aware", "--sizes", "64000", "--window", window]
    assert max(most(faulty, *words, ranks=4, within=[SUPPORT / "as_hosts.sh", "3"])) == counted
