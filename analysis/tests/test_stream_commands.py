# SPDX-License-Identifier: BSD-3-Clause
"""Commands on streams and round trips: each is true of them, or refuses in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import a2aperf
from a2aperf import (
    compare,
    grouping,
    interactive,
    legend,
    loading,
    plots,
    results,
    schema,
    workloads,
    writer,
)
from a2aperf.chart import Figure, entries
from a2aperf.curves import Options
from a2aperf.explain.finders import explain
from a2aperf.importers import columns
from a2aperf.importers.block import Block, Given, Kind, document
from conftest import DATA, Outcome
from support.edited import edited
from support.synthetic_streams import PAIRS, SIZES, TRIP, Pipe, write_streams, write_trips

pytestmark = pytest.mark.usefixtures("summed_once")

Run = Callable[..., Outcome]


@pytest.fixture
def repeated(tmp_path: Path) -> Path:
    """Eight launches with both modes, of which one is slower by a fifth; they differ by 1 %."""
    speeds = [1 + 0.01 * step for step in (-1, 0.5, -0.2, 1, 0.3, -0.6, 0.1, 0.8)]
    launches = [
        [Pipe("tagged", speed=one, sizes=(8, 65536)), Pipe("msg", speed=other, sizes=(8, 65536))]
        for one, other in zip(speeds, [0.8 * x for x in reversed(speeds)], strict=True)
    ]
    return write_streams(tmp_path / "repeated.h5", launches)


def test_streams_are_compared_by_their_message_rate(a2a: Run, repeated: Path) -> None:
    outcome = a2a("compare", repeated, "--by", "mode")
    assert (outcome.status, outcome.err) == (3, "")
    assert "slower: 2 of 2 cells, by 20" in outcome.out
    assert "above 1 is faster; Gbit/s, of the whole stream" in outcome.out
    assert re.search(r" 0\.128 +0\.103 +-0\.026 ", outcome.out)  # not -0.03 of 0.03
    (one,) = json.loads(a2a("compare", repeated, "--by", "mode", "--json").out)
    assert one["rate"] == "gbps"
    chart = plots.made("compare", loading.load([repeated]), Options(by=("mode",))).charts[0]
    assert chart.x.label == "Message size"
    small, large = one["cells"]
    assert small["time_baseline"] == pytest.approx(500, rel=0.01)  # ns of a message
    assert large["rate_candidate"] == pytest.approx(16, rel=0.01)


def test_equal_streams_are_not_called_different(tmp_path: Path) -> None:
    speeds = [1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 0.995, 1.005]
    launches = [
        [Pipe("tagged", speed=one, sizes=(8, 4096)), Pipe("msg", speed=other, sizes=(8, 4096))]
        for one, other in zip(speeds, reversed(speeds), strict=True)
    ]
    found = loading.load([write_streams(tmp_path / "x.h5", launches)])
    (made,) = compare.by_setting(found.to_judge(), ["mode"])
    verdicts = {str(verdict) for verdict in made.cells["verdict"]}
    assert verdicts <= {"no difference", "undecided"}


def test_pauses_and_windows_make_cells_of_their_own(tmp_path: Path) -> None:
    pipes = [
        Pipe(mode, window, sizes=(8,), free_delay=delay)
        for mode in ("tagged", "msg")
        for window in (1, 8)
        for delay in (0, 10_000)
    ]
    found = loading.load([write_streams(tmp_path / "x.h5", [pipes, pipes])])
    (made,) = compare.by_setting(found.to_judge(), ["mode"])
    assert len(made.cells) == 4
    assert made.cells["ratio"].to_numpy() == pytest.approx(1)


def test_what_was_asked_of_completions_is_told_where_it_differs(a2a: Run, tmp_path: Path) -> None:
    asked = [("default", 1), ("default", 16), ("delivery", 1)]
    pipes = [Pipe(completion=level, cq_mod=mod, speed=1 / mod) for level, mod in asked]
    path = write_streams(tmp_path / "x.h5", [pipes, pipes])
    heading, *lines = a2a("table", path).out.splitlines()
    assert {"cq mod", "completion"} <= set(re.split(" {2,}", heading))
    assert len(lines) == 2 * len(asked) * len(SIZES)
    told = a2a("explain", path, "--all").out
    for level, mod in asked:
        assert f"mode tagged, cq mod {mod}, completion {level}" in " ".join(told.split())
    (one,) = json.loads(a2a("compare", path, "--by", "cq_mod", "--json").out)
    (also,) = json.loads(a2a("compare", path, "--by", "cq-mod", "--json").out)
    assert also["cells"] == one["cells"]
    assert {cell["completion"] for cell in one["cells"]} == {"default"}
    assert one["cells"][0]["ratio"] == pytest.approx(1 / 16, rel=0.01)
    figure = plots.made("rates", loading.load([path]), Options())
    named = {curve.name for chart in figure.charts for curve in chart.curves}
    assert named == {f"cq mod {mod}, completion {level}" for level, mod in asked}


def test_older_streams_are_those_that_asked_for_nothing_of_completions(
    a2a: Run, tmp_path: Path
) -> None:
    old = write_streams(tmp_path / "old.h5", [[Pipe(sizes=(8,))]])
    new = write_streams(tmp_path / "new.h5", [[Pipe(sizes=(8,), completion="default")]])
    for path in (old, new):
        with edited(path) as file:  # as where a2aperf measured it
            file.attrs["raw_samples"] = np.int32(1)
            file["attempts"][:] = file["ops"][:] = 1
            file["time_p50"][:] = 1e9
            file.create_group("raw")
    points = loading.load([old, new]).points
    assert set(points["completion"]) == {"default"} and set(points["cq_mod"]) == {1}
    history = a2a("history", old, new)
    assert (history.status, history.err) == (0, "")
    assert history.out.count("2 launches") == 1, history.out
    heading, *_ = a2a("table", old, new).out.splitlines()
    assert "cq mod" not in heading and "completion" not in heading


def test_an_imported_stream_does_not_become_one_that_asked_for_nothing(
    a2a: Run, tmp_path: Path
) -> None:
    new = write_streams(tmp_path / "new.h5", [[Pipe(sizes=(8,), completion="default")]])
    told = tmp_path / "told.h5"
    text = DATA / "loopback-32-buffers.txt"
    assert a2a("import", text, "-o", told).status == 0
    points = loading.load([told, new]).points
    imported = points["file"] == told.name
    assert set(points.loc[imported, "completion"]) == {""}
    assert set(points.loc[~imported, "completion"]) == {"default"}


def in_memories(path: Path, day: int, *kinds: str) -> Path:
    """A launch whose points say their kind of memory; the huge pages are twice as fast."""
    speeds = {"default": 1.0, "huge": 2.0}
    pipes = [Pipe(sizes=(8, 64), memory=kind, speed=speeds[kind]) for kind in kinds]
    return write_streams(path, [pipes], memory=",".join(kinds), day=day)


def in_one_memory(path: Path, day: int, kind: str) -> Path:
    """The same by an older program: the launch says it."""
    speed = 2.0 if kind == "huge" else 1.0
    return write_streams(path, [[Pipe(sizes=(8, 64), speed=speed)]], memory=kind, day=day)


def test_kinds_of_memory_of_a_launch_are_told_and_compared(a2a: Run, tmp_path: Path) -> None:
    path = in_memories(tmp_path / "x.h5", 1, "default", "huge")
    heading, *lines = a2a("table", path).out.splitlines()
    assert "memory" in heading
    assert len(lines) == 4
    (one,) = json.loads(a2a("compare", path, "--by", "memory", "--json").out)
    assert [cell["ratio"] for cell in one["cells"]] == pytest.approx([2, 2], rel=0.01)
    assert "mode tagged, memory huge" in " ".join(a2a("explain", path, "--all").out.split())


def test_an_older_file_is_in_line_with_a_newer_one(a2a: Run, tmp_path: Path) -> None:
    """Whether the point says its kind of memory or the launch."""
    paths = [
        in_one_memory(tmp_path / "old.h5", 1, "default"),
        in_memories(tmp_path / "new.h5", 2, "default", "huge"),
        in_one_memory(tmp_path / "huge.h5", 3, "huge"),
    ]
    found = loading.load(paths)
    told = found.points.groupby("file", sort=False)["memory"].agg(
        lambda kinds: list(dict.fromkeys(kinds))
    )
    assert told.to_list() == [["default"], ["default", "huge"], ["huge"]]
    lines = [line for line in a2a("history", *paths).out.splitlines() if "memory" in line]
    assert len(lines) == 4  # two sizes in each kind
    (one,) = json.loads(a2a("compare", *paths, "--by", "memory", "--json").out)
    assert [cell["ratio"] for cell in one["cells"]] == pytest.approx([2, 2], rel=0.01)
    both = tmp_path / "both.h5"
    assert a2a("merge", *paths, "-o", both).status == 0
    assert a2a("check", both).status == 0
    assert loading.load([both]).points["memory"].to_list() == found.points["memory"].to_list()


def test_of_older_files_alone_the_launches_say_it(a2a: Run, tmp_path: Path) -> None:
    paths = [in_one_memory(tmp_path / f"{kind}.h5", 1, kind) for kind in ("default", "huge")]
    (one,) = json.loads(a2a("compare", *paths, "--by", "memory", "--json").out)
    assert [cell["ratio"] for cell in one["cells"]] == pytest.approx([2, 2], rel=0.01)
    assert "memory huge" in a2a("history", *paths).out


@pytest.mark.parametrize("name", ["loopback-32-buffers.txt", "clusterperf-2018-11.txt"])
def test_of_one_launch_nothing_is_decided(a2a: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.h5"
    assert a2a("import", DATA / name, "-o", path).status == 0
    by = "mode" if name.startswith("loopback") else "operation"
    outcome = a2a("compare", path, "--by", by)
    assert (outcome.status, outcome.err) == (4, "")
    assert "no difference can be significant" in outcome.out
    assert "faster by" not in outcome.out
    history = a2a("history", path)
    assert (history.status, history.err) == (0, "")
    assert "no change point; 8 jobs are needed" in history.out
    assert "Gbit/s  " in history.out.splitlines()[4]
    assert "per rank" not in history.out
    live = a2a("live", path, "--once")
    assert live.status == 0
    assert ("time s" if by == "mode" else "operation") in live.out.splitlines()[0]
    assert len(live.out.splitlines()) == 1 + len(loading.load([path]).points)


@pytest.mark.parametrize("name", ["mode", "inject", "memory", "section", "cq_mod"])
def test_what_does_not_differ_is_not_compared(a2a: Run, tmp_path: Path, name: str) -> None:
    path = write_streams(tmp_path / "x.h5", [[Pipe(sizes=(8,))]] * 2)
    a2a("compare", path, "--by", name).refused(name)


def test_round_trips_are_compared_by_their_median(a2a: Run, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        TRIP,
        {**TRIP, "operation": "read", "time_p50": 2 * TRIP["time_p50"]},
    ]
    path = write_trips(tmp_path / "x.h5", [rows])
    (one,) = json.loads(a2a("compare", path, "--by", "operation", "--json").out)
    assert one["cells"][0]["ratio"] == pytest.approx(0.5)


def test_streams_and_round_trips_stay_apart(a2a: Run, tmp_path: Path) -> None:
    streams = write_streams(tmp_path / "s.h5", [[Pipe(sizes=(8,))]])
    trips = write_trips(tmp_path / "t.h5", [[TRIP]])
    both = tmp_path / "both.h5"
    a2a("merge", streams, trips, "-o", both).refused("workload")
    assert not both.exists()
    refused = a2a("compare", streams, trips, "--by", "mode")
    refused.refused("choose with --where role=stream or --where role=echo")
    chosen = a2a("history", streams, trips, "--where", "role=echo")
    assert (chosen.status, chosen.err) == (0, "")


def test_what_another_workload_leaves_out_is_told(a2a: Run, launch: Path, tmp_path: Path) -> None:
    streams = write_streams(tmp_path / "s.h5", [[Pipe("tagged"), Pipe("msg")]])
    said = f"{2 * len(SIZES)} points of role stream left out (--where role=stream chooses them)"
    assert said in a2a("history", launch, streams).out
    chosen = a2a("compare", launch, streams, "--by", "mode", "--where", "role=stream")
    assert "left out" not in chosen.out
    assert "Gbit/s, of the whole stream" in chosen.out


def test_streams_without_a_rate_are_counted(a2a: Run, tmp_path: Path) -> None:
    path = write_streams(tmp_path / "x.h5", [[Pipe("tagged"), Pipe("msg")]])
    with edited(path) as file:
        file["msg_rate"][0] = float("nan")
    assert "1 point without a time left out" in a2a("compare", path, "--by", "mode").out


def test_merged_streams_are_compared_as_apart(a2a: Run, tmp_path: Path) -> None:
    files = [
        write_streams(tmp_path / f"{mode}.h5", [[Pipe(mode, sizes=(8, 4096))]])
        for mode in ("tagged", "msg")
    ]
    both = tmp_path / "both.h5"
    assert a2a("merge", *files, "-o", both).status == 0
    apart, merged = (a2a("compare", *x, "--by", "mode", "--json") for x in (files, [both]))
    ratios = [json.loads(x.out)[0]["cells"][0]["ratio"] for x in (apart, merged)]
    assert ratios[0] == ratios[1]


@pytest.mark.parametrize("kind", ["compare", "history"])
def test_figures_of_comparison_and_history(
    a2a: Run, repeated: Path, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "x.svg"
    outcome = a2a("plot", kind, repeated, "-o", out, *(("--by", "mode") * (kind == "compare")))
    if kind == "compare":
        assert (outcome.status, outcome.err) == (0, "")
        assert "Gbit/s per rank" not in out.read_text(encoding="utf-8")
    else:
        outcome.refused("no point tells when it was measured")


def test_lines_of_a_comparison_say_what_their_numbers_are(tmp_path: Path) -> None:
    pipes = [
        Pipe(mode, sizes=(8, 64), free_delay=delay)
        for mode in ("tagged", "msg")
        for delay in (0, 10_000)
    ]
    found = loading.load([write_streams(tmp_path / "x.h5", [pipes, pipes])])
    chart = plots.made("compare", found, Options(by=("mode",))).charts[0]
    names = {curve.name.split(", ")[-1] for curve in chart.curves if ", " in curve.name}
    assert names == {"no free delay", "free delay 10.0\u00a0µs"}


def test_a_file_without_some_columns_is_followed(
    a2a: Run, repeated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Recorded streams have no `section`: only imports do."""
    stream = replace(workloads.of_role("stream"), table=("mode", "not_here", "messages"))
    monkeypatch.setattr(workloads, "of_role", lambda role: stream)
    outcome = a2a("live", repeated, "--once")
    assert (outcome.status, outcome.out.splitlines()[0].split()) == (0, ["mode", "messages"])


def test_an_anonymous_copy_says_the_same(a2a: Run, repeated: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.h5"
    key = ("--key", tmp_path / "key")
    assert a2a("export", repeated, "--anonymize", *key, "-o", copy).status == 0
    shown = ("--columns", "mode,window,message_size,msg_rate,gbps")
    assert a2a("table", copy, *shown).out == a2a("table", repeated, *shown).out
    assert a2aperf.open(copy).compare("mode").verdict == "slower"


def test_report_has_their_figures_and_their_verdict(
    a2a: Run, repeated: Path, tmp_path: Path
) -> None:
    page = tmp_path / "x.html"
    assert a2a("report", repeated, "--light", "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "Streams against message size" in text
    assert "slower: 2 of 2 cells" in text
    assert "per rank" not in text
    assert "tands out: " not in text  # what each size carries does not


ASKED = (
    PAIRS,
    schema.Column("asked_duration", "int64", "time asked for", "ns", result=False),
    schema.Column("asked_messages", "int64", "messages asked for", result=False),
)


def write_asked(path: Path, launches: Sequence[dict[str, Any]]) -> Path:
    """A launch for each of these, of one size, as `a2aperf stream` describes what was asked."""
    rows = Pipe(sizes=(8,)).rows()
    blocks = [Block([{**row, **asked} for row in rows], "a2aperf", ppn=2) for asked in launches]
    kind = Kind("stream", (*columns.STREAM, *ASKED))
    writer.write(path, document(blocks, Given(), "synthetic", "rank", kind))
    return path


def test_streams_between_other_pairs_are_not_pooled(tmp_path: Path) -> None:
    path = write_asked(tmp_path / "x.h5", [{"stream_pairs": x} for x in ("halves", "neighbours")])
    found = loading.load([path])
    assert grouping.setting_names(found, found.points, ()) == ["stream_pairs"]


def test_a_comparison_tells_other_pairs_and_other_lengths(a2a: Run, tmp_path: Path) -> None:
    asked = (
        {"stream_pairs": "0:1", "asked_duration": 10**9, "asked_messages": -1},
        {"stream_pairs": "0:1,1:0", "asked_duration": -1, "asked_messages": 500},
    )
    one, two = (write_asked(tmp_path / f"{i}.h5", [x]) for i, x in enumerate(asked))
    told = a2a("compare", two, "--against", one).out
    assert re.search(r"stream_pairs: .*0:1.*0:1,1:0", told)
    assert re.search(r"point asked_duration +not recorded +asked duration 1.000.000\sµs", told)
    assert re.search(r"point asked_messages +asked messages 500 +not recorded", told)


@pytest.mark.parametrize(("switches", "is_told"), [(40, False), (400, True)])
def test_how_often_a_stream_lost_its_core_is_counted_by_its_cpu_time(
    repeated: Path, monkeypatch: pytest.MonkeyPatch, switches: int, is_told: bool
) -> None:
    """Its one op is a second long, in which the system always takes the core now and then."""
    counted = {"involuntary_switches": switches, "user_time": 10**9, "system_time": 0}
    of_ranks = {name: np.array([value, 0]) for name, value in counted.items()}
    read = schema.Counters(of_ranks, ["", ""], {}, {})
    monkeypatch.setattr(results.Results, "counters", lambda *_: read)
    found = loading.load([repeated]).to_judge()
    found.points["has_raw"] = True
    (made,) = compare.by_setting(found, ["mode"])
    said = "more than 50 involuntary context switches per second of CPU time"
    assert any(one.endswith(said) for one in made.doubts) == is_told
    named = [one for one in explain(found) if one.kind == "descheduled"]
    assert bool(named) == is_told
    if is_told:
        assert "(rank 0, " in named[0].text and "1600 in 4 s)" in named[0].text


def test_of_little_cpu_time_it_is_said_what_it_is_taken_as(
    repeated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = {"involuntary_switches": 40, "user_time": 5 * 10**6, "system_time": 0}
    of_ranks = {name: np.array([value, 0]) for name, value in counted.items()}
    read = schema.Counters(of_ranks, ["", ""], {}, {})
    monkeypatch.setattr(results.Results, "counters", lambda *_: read)
    found = loading.load([repeated]).to_judge()
    found.points["has_raw"] = True
    texts = [one.text for one in explain(found) if one.kind == "descheduled"]
    assert "160 in 0.02 s, taken as 0.1 s)" in texts[0]


def test_a_comparison_says_of_what_its_times_are(a2a: Run, repeated: Path, tmp_path: Path) -> None:
    assert "; µs of a message" in a2a("compare", repeated, "--by", "mode").out
    trips = write_trips(tmp_path / "t.h5", [[TRIP, {**TRIP, "operation": "read"}]])
    assert "; µs of the median round trip" in a2a("compare", trips, "--by", "operation").out


def test_a_difference_of_small_rates_is_not_called_none(a2a: Run, tmp_path: Path) -> None:
    """Of messages of a byte a fifth of the rate is thousandths of a Gbit/s."""
    speeds = [1 + 0.01 * step for step in (-1, 0.5, -0.2, 1, 0.3, -0.6, 0.1, 0.8)]
    launches = [
        [Pipe("tagged", speed=one, sizes=(1,)), Pipe("msg", speed=0.8 * (2 - one), sizes=(1,))]
        for one in speeds
    ]
    path = write_streams(tmp_path / "x.h5", launches)
    assert "up to 0.0032 Gbit/s" in a2a("compare", path, "--by", "mode").out


def test_findings_of_two_windows_say_which_they_are_of(tmp_path: Path) -> None:
    path = write_streams(tmp_path / "x.h5", [[Pipe(window=4), Pipe(window=32)]])
    told = [one.where for one in a2aperf.open(path).findings("sizes")]
    assert told == [f"x.h5#0, section 1, window {window}, mode tagged" for window in (4, 32)]


def test_findings_of_two_launches_say_what_was_chosen_in_each(tmp_path: Path) -> None:
    launches = [
        [Pipe(completion=level, window=w) for w in (4, 32)] for level in ("default", "transmit")
    ]
    found = a2aperf.open(write_streams(tmp_path / "x.h5", launches))
    told = [one.where for one in found.findings("sizes")]
    assert [where.rpartition(", ")[2] for where in told] == ["completion default"] * 2 + [
        "completion transmit"
    ] * 2


def test_buffers_are_compared_of_what_was_chosen_alike(tmp_path: Path) -> None:
    pipes = [Pipe(completion=level, window=w) for level in ("default", "transmit") for w in (4, 32)]
    found = a2aperf.open(write_streams(tmp_path / "x.h5", [pipes, pipes]))
    told = [one.where for one in found.findings("buffers")]
    assert told == [
        f"4 tables, mode tagged, completion {level}" for level in ("default", "transmit")
    ]


@pytest.mark.parametrize(("sizes", "form"), [((8,), "crosses"), ((8, 64), "line")])
def test_a_baseline_of_one_size_is_told_from_the_candidate(
    tmp_path: Path, sizes: tuple[int, ...], form: str
) -> None:
    """A dash tells lines apart, and there is no line."""
    pipes = [Pipe(mode, sizes=sizes) for mode in ("tagged", "msg")]
    found = loading.load([write_streams(tmp_path / "x.h5", [pipes, pipes])])
    rates = plots.made("compare", found, Options(by=("mode",))).charts[1]
    assert {curve.parts[1]: curve.form for curve in rates.curves} == {
        "baseline": form, "candidate": "line",
    }  # fmt: skip
    assert ("(crosses)" in rates.subtitle) == (form == "crosses")
    # The legend has the mark that is drawn.
    (entry,) = [one for one in entries([rates])[1] if one.name == "baseline"]
    assert legend._handle(entry).line["marker"] == ("x" if form == "crosses" else "o")
    keys = {key.name: key for key in interactive.spec(Figure("compare", "", (rates,))).keys}
    assert keys["baseline"].marker == ("x" if form == "crosses" else "circle")


@pytest.mark.parametrize("inject", [(1, 0), (1, 1), (0, 0)])
def test_sides_of_which_one_is_injected_are_told(tmp_path: Path, inject: tuple[int, int]) -> None:
    """`--inject auto` does so of small messages whose completion means what the provider says."""
    levels = ("default", "transmit")
    pipes = [
        Pipe(completion=level, inject=own, sizes=(8, 64))
        for level, own in zip(levels, inject, strict=True)
    ]
    found = loading.load([write_streams(tmp_path / "x.h5", [pipes] * 3)]).to_judge()
    (made,) = compare.by_setting(found, ["completion"])
    told = [" ".join(note.split()) for note in made.notes if "injected" in note]
    said = "in 2 of 2 cells (8 B and 64 B) only one side's messages were injected, which may be"
    assert told == ([f"{said} the difference"] if inject[0] != inject[1] else [])


def test_a_table_shows_a_setting_that_is_known_of_some_rows_alone(a2a: Run, tmp_path: Path) -> None:
    known = write_streams(tmp_path / "known.h5", [[Pipe(sizes=(8,), completion="default")]])
    unknown = write_streams(tmp_path / "unknown.h5", [[Pipe(sizes=(8,))]])
    heading, *lines = a2a("table", known, unknown).out.splitlines()
    assert {"cq mod", "completion"} <= set(re.split(" {2,}", heading)) and len(lines) == 2
