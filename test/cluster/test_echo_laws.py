# SPDX-License-Identifier: BSD-3-Clause
"""Round trips over a cable of known rate and delay: they take as long as follows from it, and Little's law holds."""

import numpy as np
from flows import Answer, flow, require, wire_s

WITHIN = 0.03
DRIFT = 0.001  # of the cable's clock against the client's
MBIT, DELAY_MS, TRIPS = 100, 10, 40
REQUEST = 30
# Of both modes and each of these numbers under way.
MODES, OUTSTANDING, ANSWERS = ("tagged", "msg"), (1, 2, 4), (100, 102400)


def trip_ms(answer: int) -> float:
    """Of one that is alone on the cable."""
    return 2 * DELAY_MS + (wire_s(REQUEST, MBIT) + wire_s(answer, MBIT)) * 1e3


def known_ms(outstanding: int, answer: int) -> float:
    """Or, where answers follow each other without a gap, the time of as many of them as are under way."""
    return max(trip_ms(answer), outstanding * wire_s(answer, MBIT) * 1e3)


def test_round_trips_over_a_cable(cluster_of, program, tmp_path, told):
    """Round trips over a cable of known rate and delay."""
    cluster = cluster_of(2)
    cluster.lengthen("h2", DELAY_MS / 1e3, MBIT)
    asked = [
        "--sizes", ",".join(map(str, ANSWERS)), "--outstanding", ",".join(map(str, OUTSTANDING)),
        "--mode", ",".join(MODES), "--request", str(REQUEST), "--ops", str(TRIPS),
    ]  # fmt: skip
    points = [(mode, count, size) for mode in MODES for count in OUTSTANDING for size in ANSWERS]

    def measure():
        of = flow(cluster, program, tmp_path, "echo", *asked).columns
        assert list(zip(of["outstanding"], of["message_size"], strict=True)) == [(count, size) for _, count, size in points]
        assert (of["littles_law"] == 1).all()
        # Nothing is earlier than the cable lets it be.
        assert (of["time_min"] >= [trip_ms(size) * 1e6 * (1 - DRIFT) for _, _, size in points]).all(), of["time_min"]
        # Each figure has a source of its own: of the rate it is a span, of the mean they are the trips.
        under_way = of["trip_rate"] * of["time_mean"] / 1e9
        return np.concatenate([of["time_p50"] / 1e6, under_way])

    answers = [
        Answer(f"echo, {count} outstanding, {size} B, {mode}: p50", "ms", known_ms(count, size), known_ms(count, size))
        for mode, count, size in points
    ] + [
        # At the end all places but one may be idle, for the time of a trip.
        Answer(f"echo, {count} outstanding, {size} B, {mode}: rate × mean time", "", count * (1 - (count - 1) / TRIPS), count)
        for mode, count, size in points
    ]
    require(answers, measure, WITHIN, told)


# How often something goes over the cable until a message is there: where the receiver reads it, a word comes, the read goes and the bytes return.
CROSSINGS = {"write-imm": 1, "write": 1, "read": 3}


def test_round_trips_that_are_written_or_read_over_a_cable(cluster_of, program, tmp_path, told):
    """Round trips that are written or read, over a cable of known rate and delay."""
    cluster = cluster_of(2)
    cluster.lengthen("h2", DELAY_MS / 1e3, MBIT)
    asked = ["--sizes", ",".join(map(str, ANSWERS)), "--mode", ",".join(CROSSINGS), "--request", str(REQUEST), "--ops", str(TRIPS)]
    points = [(mode, size) for mode in CROSSINGS for size in ANSWERS]
    known = [trip_ms(size) + 2 * (CROSSINGS[mode] - 1) * DELAY_MS for mode, size in points]

    def measure():
        of = flow(cluster, program, tmp_path, "echo", *asked).columns
        assert list(of["message_size"]) == [size for _, size in points]
        assert (of["littles_law"] == 1).all()
        assert (of["time_min"] >= np.array(known) * 1e6 * (1 - DRIFT)).all(), of["time_min"]
        return of["time_p50"] / 1e6

    answers = [Answer(f"echo, {size} B, {mode}: p50", "ms", ms, ms) for (mode, size), ms in zip(points, known, strict=True)]
    require(answers, measure, WITHIN, told)


TO_MS, FROM_MS = 4, 24


def test_the_ways_over_a_cable_that_is_longer_one_way(cluster_of, program, tmp_path, told):
    """There and back apart, over a cable that delays the one more than the other."""
    cluster = cluster_of(2)
    cluster.lengthen("h2", FROM_MS / 1e3, MBIT, to_s=TO_MS / 1e3)
    asked = ["--sizes", ",".join(map(str, ANSWERS)), "--request", str(REQUEST), "--ops", str(TRIPS)]
    wires_ms = [(wire_s(REQUEST, MBIT) * 1e3, wire_s(answer, MBIT) * 1e3) for answer in ANSWERS]

    def measure():
        of = flow(cluster, program, tmp_path, "echo", *asked).columns
        assert list(of["message_size"]) == list(ANSWERS)
        assert (of["way_bound"] == 0).all()  # hosts of one kernel have one clock
        assert (of["way_trips"] == TRIPS).all()
        for way, least, wire in (("there", TO_MS, 0), ("back", FROM_MS, 1)):
            known = [(least + wires[wire]) * 1e6 * (1 - DRIFT) for wires in wires_ms]
            assert (of[f"way_{way}_min"] >= known).all(), of[f"way_{way}_min"]
        return np.concatenate([of["way_there_p50"] / 1e6, of["way_back_p50"] / 1e6])

    answers = [
        Answer(f"echo, {size} B, way {way}: p50", "ms", least + wires[wire], least + wires[wire])
        for way, least, wire in (("there", TO_MS, 0), ("back", FROM_MS, 1))
        for size, wires in zip(ANSWERS, wires_ms, strict=True)
    ]
    require(answers, measure, WITHIN, told)
