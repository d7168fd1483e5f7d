# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a stream are those of its samples, and its ticks add up to them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a2aperf import loading, schema
from conftest import Outcome
from support import native_streams
from support.edited import edited

Run = Callable[..., Outcome]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_streams.write(tmp_path / "s.h5")


def test_the_number_of_ops_is_that_of_the_samples(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["ops"][1] *= 2
    outcome = a2a("check", path)
    assert outcome.status == 2
    said = "1 valid ops in /raw, 2 in the summary"
    assert f"point 1 (4 ranks, 1000 B): {said}" in outcome.out


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("tick_sent", (1, 0, 0), 7, "tick_sent of rank 0 adds up to "),
        ("tick_received", (1, 1, 3), 7, "tick_received of rank 3 adds up to "),
        ("tick_sent", (1, 0, 1), -4, "tick_sent has not a number of messages for each tick"),
        ("tick_end", (1, 1, 2), 5, "tick_end: its ticks do not follow each other in time"),
        ("messages_received", (1, 0, 2), 7, "messages is "),
        ("rank_longest_wait", (1, 0, 0), 10**7, "longest_wait is "),
        ("recv_done", (1, 0, 2), 240_500_000, "stream_time is "),
    ],
)
def test_a_sample_that_does_not_fit(
    a2a: Run, path: Path, name: str, place: tuple[int, ...], value: int, words: str
) -> None:
    with edited(path) as file:
        file["raw"][name][place] = value
    outcome = a2a("check", path)
    assert (outcome.status, words in outcome.out) == (2, True), outcome


def test_ticks_that_were_lost_are_missing(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        file["raw/tick_sent"][0, 0, 0] -= 5
        file["ticks_lost"][0] = 2
    assert a2a("check", path).status == 0


@pytest.mark.parametrize("pairs", ["0:2,1:3", "neighbours", "1:2", "thirds", "0:9"])
def test_who_sends_is_told_by_the_pairs(a2a: Run, path: Path, pairs: str) -> None:
    """0:2 and 1:3 are the halves; neighbours would be from 0 to 1 and from 2 to 3."""
    with edited(path) as file:
        file["stream_pairs"][:] = pairs
    outcome = a2a("check", path)
    assert outcome.status == (0 if pairs == "0:2,1:3" else 2), outcome
    if pairs in ("thirds", "0:9"):
        assert f"stream_pairs '{pairs}' are no pairs of 4 ranks" in outcome.out


@pytest.mark.parametrize("name", ["longest_wait", "stream_pairs"])
def test_a_column_that_is_gone_is_told(a2a: Run, path: Path, name: str) -> None:
    with edited(path) as file:
        del file[name]
    assert f"column {name} is missing" in a2a("check", path).out


def impossible(path: Path, nanoseconds: int, messages: int, clock_error: float = 0.0) -> None:
    """Point 0: so many messages came to rank 2 in so many ns, and every figure says so."""
    with edited(path) as file:
        raw, size = file["raw"], int(file["message_size"][0])
        for name in ("messages_sent", "messages_received", "rank_longest_wait"):
            raw[name][0] = 0
        for name in ("tick_sent", "tick_received"):
            raw[name][0] = np.where(raw[name][0] == schema.NO_MOMENT, schema.NO_MOMENT, 0)
        raw["messages_sent"][0, 0, 0] = raw["messages_received"][0, 0, 2] = messages
        raw["tick_sent"][0, 0, 0] = raw["tick_received"][0, 0, 2] = messages
        raw["begin"][0, 0, :2], raw["recv_done"][0, 0, 2:] = 5000, 5000 + nanoseconds
        file["clock_error"][:] = clock_error
        rate = messages / nanoseconds * 1e9
        figures = {"stream_time": nanoseconds, "messages": messages, "bytes": messages * size,
                   "longest_wait": 0, "msg_rate": rate, "byte_rate": rate * size,
                   "gbps": rate * size * 8e-9}  # fmt: skip
        for name, value in figures.items():
            file[name][0] = value


def test_messages_that_took_no_time_have_no_rate(a2a: Run, path: Path) -> None:
    """A file that has one is refused, and other commands leave it out."""
    impossible(path, 1, 6)
    outcome = a2a("check", path)
    assert outcome.status == 2
    assert "point 0: stream_time is 1 ns with 6 messages, and the clocks" in outcome.out
    table = a2a("table", path)
    assert "such a time means nothing, and no rate is derived from it" in table.err
    points = loading.load([path]).points
    assert points.loc[0, ["msg_rate", "byte_rate", "gbps", "stream_time"]].isna().all()
    assert points.loc[1, ["msg_rate", "byte_rate", "gbps", "stream_time"]].notna().all()
    for command, more in (("explain", ()), ("report", ("-o", path.parent / "r.html"))):
        assert a2a(command, path, *more).status == 0


def test_a_rank_has_no_message_in_a_nanosecond(a2a: Run, path: Path) -> None:
    """Of four ranks one had them all: only the samples tell that it was too many for its time."""
    impossible(path, 5, 6)
    outcome = a2a("check", path)
    assert outcome.status == 2
    assert "stream_time is 5 ns, no time for the 6 messages of a rank" in outcome.out


@pytest.mark.parametrize(("says", "status"), [(True, 2), (False, 0)])
def test_a_time_that_the_clocks_may_be_off_by(
    a2a: Run, path: Path, says: bool, status: int
) -> None:
    """Refused of a program that knew of it; what an older one left is no damage, and no figure."""
    impossible(path, 900, 6, clock_error=900.0)
    if says:
        with edited(path) as file:
            file["stream_time"].attrs["long_name"] = "absent where it is not above clock_error"
    outcome = a2a("check", path)
    assert outcome.status == status, outcome
    assert ("stream_time is 900 ns" in outcome.out) == says
    left_out = "stream_time of 1 point left out: it is not above what the clocks may be off by"
    assert (left_out in a2a("table", path).err) != says
    assert loading.load([path]).points["gbps"].isna().tolist() == [True, False]


def test_of_a_point_that_waits_nothing_is_left_out(a2a: Run, path: Path) -> None:
    """What its row has was half written when the launch was killed."""
    impossible(path, 900, 6, clock_error=900.0)
    with edited(path) as file:
        file["state"][0] = schema.STATES.index("pending")
    outcome = a2a("table", path)
    assert outcome.status == 0 and "left out" not in outcome.err, outcome
    assert "1 point is not measured yet" in outcome.err


def test_an_absent_time_is_sound(a2a: Run, path: Path) -> None:
    impossible(path, 900, 6, clock_error=900.0)
    with edited(path) as file:
        file["stream_time"].attrs["long_name"] = "absent where it is not above clock_error"
        file["stream_time"][0] = schema.UNKNOWN
        for name in ("msg_rate", "byte_rate", "gbps"):
            file[name][0] = np.nan
    assert a2a("check", path).status == 0
    for command in ("table", "explain"):
        assert a2a(command, path).status == 0
    assert a2a("report", path, "-o", path.parent / "r.html").status == 0


def test_a_merged_file_has_no_time_that_an_older_one_had(a2a: Run, path: Path) -> None:
    """The older one is sound, and the copy says that what the clocks don't carry is absent."""
    impossible(path, 900, 6, clock_error=900.0)
    newer = native_streams.write(path.parent / "n.h5")
    with edited(newer) as file:
        file["stream_time"].attrs["long_name"] = "absent where it is not above clock_error"
        file["segments/0"].attrs["command_line"] = "a2aperf stream --seed 2"
    merged = path.parent / "m.h5"
    outcome = a2a("merge", newer, path, "-o", merged)
    assert outcome.status == 0, outcome
    assert a2a("check", merged).status == 0
    assert loading.load([merged]).points["gbps"].isna().tolist() == [False, False, True, False]
