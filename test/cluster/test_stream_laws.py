# SPDX-License-Identifier: BSD-3-Clause
"""Streams over links of known rate and delay: the rates that the program reports are those that follow from them."""

import math

import pytest
from cluster import payload_share
from flows import Answer, flow, require, wire_s

MBIT = 100
POINT_S = 2  # 400 times what the shaper lets pass at once
RATE_WITHIN, LAW_WITHIN = 0.01, 0.03
CREDITS = 16  # that may be on the way
OTHER_PAIRS = [(2, "halves --duplex", "tagged,msg"), (3, "one-to-all", "msg")]


@pytest.mark.parametrize(
    ("hosts", "pairs", "modes"),
    [
        (2, "halves", "tagged,msg"), (2, "halves", "write,write-imm,read"),
        (3, "all-to-one", "tagged"), *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHER_PAIRS),
    ],
)  # fmt: skip
def test_the_rate_of_a_link(cluster_of, program, tmp_path, told, hosts, pairs, modes):
    """Streams over links of known rate; where some share one, the sum of them."""
    cluster = cluster_of(hosts, mbit=MBIT)
    ways = 2 if "--duplex" in pairs else 1
    low, high = payload_share()
    asked = ["--pairs", *pairs.split(), "--mode", modes, "--sizes", "64KiB", "--window", "64", "--duration", f"{POINT_S}s"]

    def measure():
        return flow(cluster, program, tmp_path, "stream", *asked).columns["gbps"] * 1e3 / ways

    what = f"stream, {pairs}{', each way' if ways == 2 else ''}: links of {MBIT} Mbit/s"
    answers = [Answer(f"{what}, {mode}", "Mbit/s", MBIT * low, MBIT * high) for mode in modes.split(",")]
    require(answers, measure, RATE_WITHIN, told)


@pytest.mark.parametrize(("mode", "trips", "delay_ms", "windows"), [("tagged", 1, 60, 12), ("read", 2, 60, 6), pytest.param("tagged", 1, 120, 6, marks=pytest.mark.slow)])
def test_a_window_over_a_delay(cluster_of, program, tmp_path, told, mode, trips, delay_ms, windows):
    """A stream whose window is smaller than what the link holds: a window for each round trip, or two where it is read.

    The ways are long: a rank that gets its core a millisecond late is late by little of them.
    """
    mbit, size, sizes_of_window = 400, 8192, (4, 64)
    cluster = cluster_of(2)
    cluster.lengthen("h2", delay_ms / 1e3, mbit)
    message_ms = wire_s(size, mbit) * 1e3

    def trip_ms(window: int) -> float:
        # A credit tells of a 16th of the window, and the next messages leave when it comes.
        return 2 * trips * delay_ms + math.ceil(window / CREDITS) * message_ms + wire_s(8, mbit) * 1e3

    def ms_of(windows: int, window: int) -> float:
        asked = ["--mode", mode, "--sizes", str(size), "--window", str(window), "--messages", str(windows * window)]
        (time_ns,) = flow(cluster, program, tmp_path, "stream", *asked).columns["stream_time"]
        return time_ns / 1e6

    def time_of(window: int) -> float:
        # Of those behind the first few: begin and end, once in a launch, are not the law's.
        few = 2
        return (ms_of(few + windows, window) - ms_of(few, window)) / windows

    what = f"stream, window {{}}, {delay_ms} ms each way{'' if mode == 'tagged' else f', {mode}'}: time of a window"
    answers = [Answer(what.format(window), "ms", trip_ms(window), trip_ms(window)) for window in sizes_of_window]
    require(answers, lambda: [time_of(window) for window in sizes_of_window], LAW_WITHIN, told)


def test_a_receiver_that_pauses_for_more_than_its_window(cluster_of, program, tmp_path, told):
    """A receiver that pauses for D after N messages, with a window w below N: D and the time of N - w messages."""
    size, window, every, pauses, pause_ms = 16384, 10, 100, 10, 100
    cluster = cluster_of(2)
    cluster.lengthen("h2", 0, MBIT)
    message_ms = size * 8e-3 / (MBIT * payload_share()[1])
    period_ms = pause_ms + (every - window) * message_ms
    asked = ["--sizes", str(size), "--window", str(window), "--free-delay", f"{pause_ms}ms/{every}"]

    def measure():
        results = flow(cluster, program, tmp_path, "stream", *asked, "--messages", str(pauses * every))
        # The first messages come before any pause, and the last pause after all.
        return (results.columns["stream_time"] / 1e6 - every * message_ms) / (pauses - 1)

    what = f"stream, window {window}, pause of {pause_ms} ms after {every} messages: time of {every}"
    require([Answer(what, "ms", period_ms, period_ms)], measure, LAW_WITHIN, told)


def test_a_receiver_that_pauses_for_its_window(cluster_of, program, tmp_path, told):
    """A receiver that pauses for D after as many messages as its window has: so many in D."""
    window, pauses, pauses_ms = 32, 40, (20, 50)
    cluster = cluster_of(2)
    asked = ["--sizes", "1000", "--window", str(window), "--messages", str(pauses * window)]
    delays = ",".join(f"{pause}ms/{window}" for pause in pauses_ms)

    def measure():
        results = flow(cluster, program, tmp_path, "stream", *asked, "--free-delay", delays)
        return results.columns["stream_time"] / 1e6 / (pauses - 1)

    what = f"stream, window {window}, pause of {{}} ms after {window} messages: time of {window}"
    require([Answer(what.format(pause), "ms", pause, pause) for pause in pauses_ms], measure, LAW_WITHIN, told)
