# SPDX-License-Identifier: BSD-3-Clause
"""Messages at a rate over a relay that serves each for a known time: they wait as Lindley's recursion has it, and no more of
them are answered than are served."""

from pathlib import Path

import numpy as np
from flows import Answer, flow, require
from loop_files import columns_of, waits_by_lindley

WITHIN_OF_WAIT, WITHIN_OF_RATE = 0.02, 0.03
NEAR_THE_KNEE = 0.01  # tells what is answered of a rate that is kept from what the relay serves
# So long that pauses of this machine are a small part of the wait; rates are whole messages a second.
SERVICE_MS, LOADS, MESSAGES = 100, (0.3, 0.6, 0.9), 40
CAPACITY, KEPT, LOST = 200, 160, 250  # messages per second


def _waits(path: Path, point: int) -> tuple[float, float]:
    """Mean wait in service times: what it must be by when messages were due, and what it was at the relay.

    Of a message the wait is what passed from when it was due until the relay sent it on, less the service and the way there,
    which is that of the message in the middle.
    """
    own = columns_of(path, point)
    service = SERVICE_MS * 10**6
    due, came, stay = np.sort(own["request_due"][:, 0]), own["request_due"][:, -1], own["request_wait"][:, -1]
    assert due.size == came.size == MESSAGES
    way = np.median(np.sort(came) - due)
    known = waits_by_lindley(due, service)
    assert (stay - service - waits_by_lindley(came, service) >= -1).all()  # rounded
    waited = (came + stay).mean() - due.mean() - service - way
    return known.mean() / service, waited / service


def test_waits_at_a_relay(cluster_of, program, tmp_path, told):
    """Messages at random moments over a relay of known service time."""
    cluster = cluster_of(3)
    rates = [load / SERVICE_MS * 1e3 for load in LOADS]
    asked = [
        "--relays", "1", "--relay-time", f"{SERVICE_MS}ms", "--sizes", "64", "--arrivals", "poisson",
        "--rates", ",".join(f"{rate:.0f}" for rate in rates), "--messages", str(MESSAGES),
    ]  # fmt: skip
    answers = [Answer(f"open-loop over a relay, load {load}: mean wait in service times", "", 0, 0) for load in LOADS]

    def measure():
        flow(cluster, program, tmp_path, "open-loop", *asked)
        points = [_waits(tmp_path / "a.h5", point) for point in range(len(LOADS))]
        for answer, (known, _) in zip(answers, points, strict=True):
            answer.low = answer.high = known
        return [there for _, there in points]

    require(answers, measure, WITHIN_OF_WAIT, told)


def test_the_knee_of_a_relay(cluster_of, program, tmp_path, told):
    """The rate that a relay of known service time keeps."""
    cluster = cluster_of(3)
    asked = ["--relays", "1", "--relay-time", f"{1e6 / CAPACITY:.0f}us", "--sizes", "64", "--rates", f"{KEPT},{LOST}", "--duration", "1s"]

    def measure():
        of = flow(cluster, program, tmp_path, "open-loop", *asked).columns
        assert of["achieved_rate"][1] <= CAPACITY * (1 + WITHIN_OF_RATE)
        return of["achieved_rate"]

    answers = [
        Answer("open-loop over a relay: answered of 160/s", "1/s", KEPT, KEPT),
        Answer("open-loop over a relay: answered of 250/s, knee", "1/s", CAPACITY, CAPACITY),
    ]
    require(answers, measure, WITHIN_OF_RATE, told)


def test_the_knee_is_at_the_service_rate(cluster_of, program, tmp_path, told):
    """Of two rates 3 % below and above what the relay serves one is kept, and of the other as much is answered as is served."""
    cluster = cluster_of(3)
    below, above = (round(CAPACITY * (1 + off)) for off in (-WITHIN_OF_RATE, WITHIN_OF_RATE))
    asked = ["--relays", "1", "--relay-time", f"{1e6 / CAPACITY:.0f}us", "--sizes", "64", "--rates", f"{below},{above}", "--duration", "3s"]
    answers = [
        Answer(f"open-loop over a relay: answered of {below}/s, below the knee", "1/s", below, below),
        Answer(f"open-loop over a relay: answered of {above}/s, above the knee", "1/s", CAPACITY, CAPACITY),
    ]
    require(answers, lambda: flow(cluster, program, tmp_path, "open-loop", *asked).columns["achieved_rate"], NEAR_THE_KNEE, told)
