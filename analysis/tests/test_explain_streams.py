# SPDX-License-Identifier: BSD-3-Clause
"""What `a2a explain` finds in imported streams and round trips, and what it leaves undetermined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import a2aperf
from a2aperf import loading
from a2aperf.explain.finders import explain
from a2aperf.explain.finding import Finding
from a2aperf.results import Results
from a2aperf.workloads.stream import intervals
from conftest import DATA, Outcome
from support import native_echo, native_streams
from support.edited import edited
from support.synthetic_streams import Pipe, write_streams

pytestmark = pytest.mark.usefixtures("summed_once")

Run = Callable[..., Outcome]
STREAMS = (DATA / "loopback-32-buffers.txt").read_text()
TRIPS = (DATA / "clusterperf-2018-11.txt").read_text()
PAUSED = next(line for line in STREAMS.splitlines() if "95033" in line)


@pytest.fixture
def found(a2a: Run, tmp_path: Path) -> Callable[..., list[Finding]]:
    """The findings of one kind in these texts."""

    def explain(kind: str, *texts: str) -> list[Finding]:
        paths = []
        for index, text in enumerate(texts):
            path = tmp_path / f"{index}.txt"
            path.write_text(text)
            assert a2a("import", path, "-o", path.with_suffix(".h5"), "--force").status == 0
            paths.append(path.with_suffix(".h5"))
        assert a2a("explain", *paths, "--all").status == 0
        return list(a2aperf.open(*paths).findings(kind))

    return explain


Explain = Callable[..., list[Finding]]


def test_totals_and_rates_of_the_published_rows_agree(found: Explain) -> None:
    (one,) = found("sums", STREAMS)
    assert dict(one.numbers) == {"rows": 84, "bytes_wrong": 0, "rates_wrong": 0}


def test_rows_whose_totals_do_not_agree_are_named(found: Explain) -> None:
    (one,) = found("sums", STREAMS.replace("2047886    ", "2047896    ", 1))
    assert (one.numbers["bytes_wrong"], one.numbers["rates_wrong"]) == (1, 1)
    assert "83 of 84 rows (not in point 3 (1 B))" in one.text


def test_knees_of_the_published_modes(found: Explain) -> None:
    knees = {one.where.rpartition(" ")[2]: one.numbers for one in found("knee", STREAMS)}
    assert {mode: numbers["half_reached_at"] for mode, numbers in knees.items()} == {
        "write": 2048,
        "write-imm": 4096,
        "msg": 4096,
    }
    rate, messages = 2774849986 * 8e-9, 2048536  # as printed, of 16 MiB and of 4 B
    assert knees["write"]["gbps"] == pytest.approx(rate, rel=1e-3)
    assert knees["write"]["crossing"] == pytest.approx(rate * 1e9 / 8 / messages, rel=1e-3)


def test_no_knee_where_one_bound_is_not_there(found: Explain) -> None:
    small = "\n".join(line for line in STREAMS.splitlines() if not _is_larger(line, 512))
    assert found("knee", small) == []


def _is_larger(line: str, size: int) -> bool:
    words = line.split()
    return len(words) in (6, 8) and words[1].isdigit() and int(words[1]) > size


def test_one_pause_per_1000_messages_explains_the_long_pauses(found: Explain) -> None:
    explained = {one.where: one.numbers["explained"] for one in found("pause", STREAMS)}
    assert {where.rpartition(", ")[2] for where, is_so in explained.items() if is_so} == {"16\xa0B"}
    assert sorted(explained.values()) == [0, 0, 0, 1, 1, 1]
    passive = next(one for one in found("pause", STREAMS) if "mode write, 16" in one.where)
    assert passive.numbers["messages_per_pause"] == pytest.approx(946, abs=0.5)
    assert "95033 = 95 · 1000 + 32 buffers (not told" in passive.text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("9996", "5003"), "the longest wait is not the pause"),
        (("95033", "95033"), ""),
        (("1.005018", "1.105018"), "and would take"),
        (("95033", "95000"), "do not fit"),
    ],
)
def test_what_the_law_does_not_give_is_not_determined(
    found: Explain, change: tuple[str, str], words: str
) -> None:
    text = STREAMS.replace(PAUSED, PAUSED.replace(*change))
    (one,) = [x for x in found("pause", text) if "mode write, 16" in x.where]
    assert ("cause not determined" in one.text, words in one.text) == (bool(words), True)
    assert bool(one.numbers["explained"]) != bool(words)


def test_without_a_row_that_does_not_pause_nothing_is_determined(found: Explain) -> None:
    lines = STREAMS.splitlines()
    text = "\n".join(x for x in lines if len(x.split()) != 6 or x.split()[1] != "16")
    assert not any(one.numbers["explained"] for one in found("pause", text))


def test_buffers_are_compared_where_tables_differ_in_them(found: Explain) -> None:
    (one,) = found("buffers", STREAMS)
    assert one.abstains
    more = STREAMS.replace("max_recv_wr=32", "max_recv_wr=512")
    told = found("buffers", STREAMS, more)
    assert len(told) == 2  # of the passive mode neither table tells another number
    for finding in told:
        assert "512 buffers against 32: the message rate is 1 times" in finding.text
        assert "nothing is said of how sure that is" in finding.text


@pytest.mark.parametrize("heading", ["Results when something else is so", ""])
def test_that_headings_differ_is_said_of_several_tables(found: Explain, heading: str) -> None:
    """What a heading says in words may be the reason, and not the number of buffers."""
    first = next(line for line in STREAMS.splitlines() if line.startswith("Results when"))
    other = STREAMS.replace(first, heading or first)
    more = STREAMS.replace("max_recv_wr=32", "max_recv_wr=512")
    told = found("buffers", STREAMS, other, more)
    assert len(told) == 2
    for one in told:
        assert ("they stand under 2 headings" in one.text) == bool(heading)


def test_buffers_of_repeated_launches_are_medians_of_one_setting(tmp_path: Path) -> None:
    """Eight launches of four windows are three findings, and those of other pairs are others."""
    pipes = [
        [Pipe(window=window, messages=window * 1e5, speed=speed, pairs="halves", sizes=(8, 4096))
         for window in (4, 8, 16, 32)]
        for speed in (0.9, 1.0, 1.1)
    ]  # fmt: skip
    other = [[Pipe(window=8, messages=9e6, pairs="neighbours", sizes=(8, 4096))]]
    path = write_streams(tmp_path / "x.h5", [*pipes, *other])
    told = a2aperf.open(path).findings("buffers")
    assert sorted(one.numbers["largest_ratio"] for one in told) == pytest.approx([2, 4, 8])
    assert all("medians of 3 launches each" in one.text for one in told)
    assert "'a2a compare --by window' says how sure that is" in told[0].text


def test_tables_that_differ_in_more_than_buffers_are_not_held_against_each_other(
    tmp_path: Path,
) -> None:
    pipes = [Pipe(window=4, pairs="halves"), Pipe(window=8, pairs="neighbours")]
    (one,) = a2aperf.open(write_streams(tmp_path / "x.h5", [pipes])).findings("buffers")
    assert one.abstains
    assert "differ in more than that" in one.text


def test_tables_that_do_not_tell_their_mode_are_not_said_to_differ(tmp_path: Path) -> None:
    pipes = [Pipe(mode="", window=window) for window in (4, 8)]
    (one,) = a2aperf.open(write_streams(tmp_path / "x.h5", [pipes])).findings("buffers")
    assert one.abstains
    assert "do not tell their mode" in one.text


def test_round_trips_by_size(found: Explain) -> None:
    told = found("round-trips", TRIPS)
    assert [one.n for one in told] == [5, 5, 5]
    assert "100\xa0B 3.9 µs" in told[0].text


@pytest.mark.parametrize(("factor", "is_above"), [(1.0, False), (2.0, True)])
def test_outstanding_round_trips_by_the_minimum(
    found: Explain, factor: float, is_above: bool
) -> None:
    text = TRIPS.replace("2.874 GB/s", f"{2.874 * factor:.3f} GB/s")
    (echo, *_) = [one for one in found("outstanding", text) if ", echo" in one.where]
    assert echo.numbers["largest"] == pytest.approx(0.988 * factor, rel=0.01)
    assert ("more than one round trip" in echo.text) == is_above


@pytest.mark.parametrize("name", ["longest_wait", "free_delay", "section", "msg_rate"])
def test_a_file_that_lacks_a_column_is_explained_without_it(
    a2a: Run, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "x.txt"
    path.write_text(STREAMS)
    assert a2a("import", path, "-o", tmp_path / "x.h5").status == 0
    with edited(tmp_path / "x.h5") as file:
        del file[name]
    outcome = a2a("explain", tmp_path / "x.h5")
    assert (outcome.status, outcome.err) == (0, "")


# Held up -----------------------------------------------------------------------------------------


def ticks(
    messages: NDArray[np.int64], longest: float = 0.1
) -> Callable[[Results, Any], intervals.Intervals]:
    """Intervals of 0.1 s with so many messages; the last but one lasts so long."""
    lengths = np.full(len(messages), 0.1)
    lengths[-2] = longest
    made = intervals.Intervals(np.cumsum(lengths), messages.astype(float))
    return lambda *_: made


def stood_still(path: Path) -> list[Finding]:
    return explain(loading.load([path]).measured(("stream",)), ("held-up",))


def test_a_stream_that_stood_still_says_for_how_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    rng = np.random.default_rng(1)
    held = rng.poisson(2000, 60)
    held[20:39] = 0
    monkeypatch.setattr(intervals, "of", ticks(held))
    one, _ = stood_still(path)
    assert "next to nothing came in 19 of 60 intervals, for 1.9 s from 2.0 s on" in one.text
    assert one.numbers["share"] == pytest.approx(19 / 60)
    # Who is held up itself tells one long interval, with what came when it went on.
    monkeypatch.setattr(intervals, "of", ticks(rng.poisson(2000, 60), 4.5))
    one, _ = stood_still(path)
    assert "in 1 of 60 intervals, for 4.5 s from 5.8 s on" in one.text


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.5, 3, 30, 2000])
def test_a_stream_that_goes_on_does_not_stand_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mean: float
) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    for seed in range(50):
        monkeypatch.setattr(intervals, "of", ticks(np.random.default_rng(seed).poisson(mean, 80)))
        assert stood_still(path) == []


@pytest.mark.parametrize(("share", "is_told"), [(0.02, False), (0.3, True)])
def test_a_round_trip_that_held_up_all_is_told(tmp_path: Path, share: float, is_told: bool) -> None:
    found = loading.load([native_echo.write(tmp_path / "e.h5")]).measured(("echo",))
    found.points["ops"] = 1000
    found.points["time_max"] = share * 1000 * found.points["time_mean"]
    told = explain(found, ("held-up",))
    assert bool(told) == is_told
    assert all(", 30 % of what all took together" in one.text for one in told)
