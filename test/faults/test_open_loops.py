# SPDX-License-Identifier: BSD-3-Clause
"""Messages at a rate whose peer stops or dies: it says so, and what was measured is kept."""

import pytest
from results import COMPLETE, PENDING, Results

LONG = ["--provider", "net", "--sizes", "8", "--rate", "1k", "--duration", "1h", "--max-samples", "9", "--timeout", "3s"]
TWO = ["--provider", "net", "--sizes", "8,16", "--rate", "2k", "--messages", "500", "--timeout", "30s"]


@pytest.mark.slow
def test_a_server_that_stops(faulty, needs_provider):
    needs_provider("net")
    outcome = faulty(2, "call=send nth=100 do=stop rank=1", *LONG, command="open-loop")
    outcome.failed(r"in the duration (nothing happened|no answers came from rank 1 \(\S+\)) for \S+ s; rank 0 \(\S+\) waits for (answers from rank 1|them)")


@pytest.mark.slow
def test_a_client_that_stops(faulty, needs_provider):
    needs_provider("net")
    outcome = faulty(2, "call=send nth=100 do=stop rank=0", *LONG, command="open-loop")
    outcome.failed(r"in the duration nothing happened for \S+ s; rank 1 \(\S+\) waits for requests from rank 0 ")


@pytest.mark.slow
def test_a_relay_that_stops(faulty, needs_provider):
    needs_provider("net")
    outcome = faulty(3, "call=send nth=100 do=stop rank=2", *LONG, "--relays", "1", command="open-loop")
    outcome.failed(r"in the duration (nothing happened|no answers came from rank 2 \(\S+\)) for \S+ s; rank [01] \(\S+\) waits for (answers from rank 2|requests from rank 2|them)")


def test_a_relay_that_dies_is_named(faulty, needs_provider):
    needs_provider("net")
    outcome = faulty(3, "call=send nth=100 do=kill rank=2", *LONG, "--relays", "1", command="open-loop")
    outcome.named_killed(2)


def test_a_server_that_is_slower_than_the_timeout_is_not_taken_for_dead(faulty, launch, needs_provider):
    """One message a second, and a timeout of half of one."""
    needs_provider("net")
    done = launch(2, "open-loop", "--provider", "net", "--sizes", "8", "--rate", "1", "--messages", "3", "--timeout", "0.5s", "--poll", "yield", "-o", "a.h5")
    assert done.returncode == 0, done.stderr


def test_a_damaged_message(faulty, needs_provider):
    needs_provider("net")
    outcome = faulty(2, "call=send nth=100 do=flip rank=1", *LONG, command="open-loop")
    outcome.failed(r"answer \d+ from rank 1 \(\S+\) is not what was sent: its number is wrong at its (begin|end)")


@pytest.mark.parametrize(("fault", "reason"), [("kill", ""), ("term", "signal")])
def test_points_that_were_complete_are_kept_and_the_others_are_resumed(faulty, launch, needs_provider, fault, reason):
    needs_provider("net")
    outcome = faulty(2, f"call=send nth=700 do={fault} rank={int(fault == 'kill')}", *TWO, command="open-loop")
    assert outcome.struck
    if fault == "kill":
        outcome.named_killed(1)
    results = Results(outcome.folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, PENDING]
    assert not reason or results.segments[0].end_reason == reason
    kept = [results.raw[name][0] for name in ("request_due", "round_trip")]
    resumed = launch(2, "open-loop", *TWO, "--poll", "yield", "-o", "a.h5", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    results = Results(outcome.folder / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, COMPLETE]
    for name, values in zip(("request_due", "round_trip"), kept, strict=True):
        assert (results.raw[name][0] == values).all()
