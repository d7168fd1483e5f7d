# SPDX-License-Identifier: BSD-3-Clause
"""Files of `a2aperf pairs` from end to end: figure, findings, table, report, and who refuses."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a2aperf import chart, drawing, interactive, loading, schema, switches
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.explain import arrivals
from a2aperf.explain.finders import explain
from a2aperf.explain.finding import Finding
from a2aperf.plots import KINDS as PLOTS
from a2aperf.workloads.pairs import stored
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Effects, Setup
from support.synthetic_pairs import Truth, topology, write_pairs

A2A = Callable[..., Outcome]
SIZES = (8, 1_000_000)
WEAK = Truth(
    senders={16: 1 / 0.48},
    crowded={(2, 8): 2.0},
    pairs={(4, 11): 2.0},
    blocks={(1, 3): 1.4},
    hop=1.1,
    per_switch=5,
)

draw_matrix = PLOTS["matrix"].make


def setup(nodes: int, ppn: int = 1, **more: Any) -> Setup:
    return Setup(nodes=nodes, ppn=ppn, sizes=SIZES, ops=9, **more)


@pytest.fixture(scope="module")
def weak_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 nodes of 2 ranks on 4 switches with a weak link of every kind."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.h5"
    job = "JobId=7 Name=x\n" + topology(20, 5)
    return write_pairs(path, setup(20, 2, attachments={"job-7.txt": job}), WEAK)


@pytest.fixture(scope="module")
def small_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4 nodes of one rank, of which one pair is slow."""
    path = tmp_path_factory.mktemp("pairs") / "small.h5"
    return write_pairs(path, setup(4), Truth(pairs={(1, 2): 2.0}))


def findings(path: Path, kind: str = "weak") -> list[Finding]:
    return explain(loading.load([path]).measured(("measure", "pair")), (kind,))


def what(found: list[Finding]) -> set[tuple[object, ...]]:
    return {tuple(one.numbers[n] for n in ("what", "source", "destination")) for one in found}


# Findings ----------------------------------------------------------------------------------------


def test_every_weak_link_is_told_with_its_numbers(weak_file: Path) -> None:
    found = findings(weak_file)
    assert what(found) == {
        ("sender", 16, -1),
        ("pair", 2, 8),
        ("pair", 4, 11),
        ("block", 1, 3),
    }
    told = {(one.numbers["what"], one.numbers["destination"]): one.text for one in found}
    sender = told["sender", -1]
    assert sender.startswith(
        ("node017 sends at 47 %", "node017 sends at 48 %", "node017 sends at 49")
    )
    assert "(19 pairs; nodes spread by " in sender
    assert "receives normally (" in sender
    assert "at 8\u00a0B" in sender
    assert told["pair", 8].startswith("node003 → node009: ")
    assert "alone (second look, 10 ops): " in told["pair", 8]
    assert told["pair", 8].count("slow only while others talk") == 1
    assert told["pair", 11].count("the path itself is slow") == 1
    assert told["block", 3].startswith("from switch leaf1 to leaf3: 7")


@pytest.mark.parametrize(("nodes", "ppn"), [(1, 8), (2, 4), (8, 1), (24, 2)])
def test_clean_files_have_no_weak_link(tmp_path: Path, nodes: int, ppn: int) -> None:
    for seed in range(3):
        path = write_pairs(tmp_path / f"{seed}.h5", setup(nodes, ppn, seed=seed), Truth(noise=0.05))
        assert findings(path) == []


def test_a_node_that_is_slow_both_ways_is_one_finding(tmp_path: Path) -> None:
    truth = Truth(senders={3: 2.0}, receivers={3: 2.5})
    (one,) = findings(write_pairs(tmp_path / "run.h5", setup(12), truth))
    assert "node004 sends at 5" in one.text or "node004 sends at 49" in one.text
    assert ", and receives at 4" in one.text or ", and receives at 39" in one.text


def test_a_node_that_is_slow_inside_is_told_apart(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "run.h5", setup(12, 3), Truth(copying={5: 2.0}))
    found = findings(path)
    assert what(found) == {("node", 5, -1)}
    assert found[0].text.startswith("node006: its own ranks reach ")


def test_one_node_is_judged_by_its_ranks(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "run.h5", setup(1, 8))
    with edited(path) as file:
        for name, factor in (("time_p50", 3.0), ("gbps", 1 / 3.0)):
            values = file["pairs"][name][()]
            values[:, 5, :] *= factor
            file["pairs"][name][()] = values
    (one,) = findings(path)
    assert one.text.startswith("rank 5 sends at 3")
    assert one.numbers["level"] == "rank"


def test_a_slow_rank_of_a_good_node_is_named(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "run.h5", setup(12, 4))
    with edited(path) as file:
        values = file["pairs/time_p50"][()]
        values[:, 9, :] *= 3
        file["pairs/time_p50"][()] = values
    found = findings(path)
    assert [one.numbers["what"] for one in found] == ["sender"]
    assert found[0].text.startswith("rank 9 (node003) sends at 3")


def test_a_step_at_a_bad_moment_blames_no_pair(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "run.h5", setup(16), Truth(steps={7: 2.0}))
    assert what(findings(path)) == {("step", 7, -1)}


def test_where_chooses_the_size(weak_file: Path, a2a: A2A) -> None:
    outcome = a2a("explain", weak_file, "--where", "message_size=8", "--json")
    told = json.loads(outcome.out)
    assert {one["numbers"]["message_size"] for one in told if one["kind"] == "weak"} == {8}


def test_a_killed_run_tells_what_it_has(weak_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "killed.h5"
    path.write_bytes(weak_file.read_bytes())
    with edited(path) as file:
        file["pairs/ops"][:, :, 20:] = 0
        file["pairs/time_p50"][:, :, 20:] = 0.0  # what preallocated space holds
        file["pairs/gbps"][:, :, 20:] = 0.0
    assert ("sender", 16, -1) in what(findings(path))
    assert draw_matrix(loading.load([path]), Options()).charts


# Traced all-to-alls -------------------------------------------------------------------------------


def traced(path: Path, effects: Effects) -> list[Finding]:
    made = Setup(nodes=6, ppn=2, sizes=(8000,), ops=100, trace=True, effects=effects)
    return findings(synthetic.write_launch(path, made), "slow-pair")


def test_the_message_that_slow_ops_wait_for_is_named(tmp_path: Path) -> None:
    (one,) = traced(tmp_path / "run.h5", Effects(slow_pair=(3, 7, 0.3, 1.5)))
    assert one.text.startswith("rank 3 (node002) → rank 7 (node004) is the last message in 25 of")
    assert one.numbers["behind"] == "pair"
    assert float(one.numbers["chance"]) < 1e-6
    assert one.numbers["late_ns"] == pytest.approx(0.5 * 12_000 + 0.5 * 11 * 1900, rel=0.3)


def test_equal_pairs_are_not_named(tmp_path: Path) -> None:
    assert traced(tmp_path / "run.h5", Effects()) == []
    assert traced(tmp_path / "noisy.h5", Effects(noise=0.3, bimodal=(0.2, 2.0))) == []


def test_a_path_that_was_busy_for_a_while_is_no_slow_pair(tmp_path: Path) -> None:
    """A tenth of the ops in a row, which count as one; else 70 to 86 % of such points name it."""
    made = Setup(nodes=8, ppn=2, sizes=(8000,), ops=400, trace=True, effects=Effects(noise=0.03))
    path = synthetic.write_launch(tmp_path / "run.h5", made)
    with edited(path) as file:
        arrival, done = file["raw/arrival"], file["raw/recv_done"]
        late = (1.6 * done[0, 100:140].max(axis=1)).astype(np.int64)
        done[0, 100:140, 5] = arrival[0, 100:140, 5, 3] = late
    assert findings(path, "slow-pair") == []
    with edited(path) as file:
        late = (1.6 * file["raw/recv_done"][0, 1::10].max(axis=1)).astype(np.int64)
        file["raw/recv_done"][0, 1::10, 5] = file["raw/arrival"][0, 1::10, 5, 3] = late
        file["raw/recv_done"][0, 100:140, 5] = file["raw/recv_done"][0, 100:140, 4]
        file["raw/arrival"][0, 100:140, 5, 3] = file["raw/arrival"][0, 100:140, 4, 2]
    (one,) = findings(path, "slow-pair")
    assert (one.numbers["source"], one.numbers["destination"]) == (3, 5)


def test_a_slow_end_is_not_taken_for_a_slow_pair() -> None:
    random = np.random.default_rng(1)
    step = (np.arange(8)[:, None] - np.arange(8)[None, :]) % 8
    base = step * 1000.0 * random.uniform(0.9, 1.1, (50, 8, 8))
    base[:, step == 0] = -1
    receives = base.copy()
    receives[:, 5] *= 3
    sends = base.copy()
    sends[:, :, 2] *= 3
    for times, own in ((receives, "destination"), (sends, "source")):
        one = arrivals.last(times.astype(np.int64), float(np.median(times.max(axis=(1, 2)))))
        assert one is not None
        assert one.own == own
    few = arrivals.slowest(base.max(axis=(1, 2))[:7], np.ones(7, np.bool_))
    assert few.size == 0
    some = arrivals.slowest(np.arange(40.0), np.arange(40) % 2 == 0)
    assert some.tolist() == [24, 26, 28, 30, 32, 34, 36, 38]


# The figure ---------------------------------------------------------------------------------------


def heat(figure: chart.Figure) -> chart.Heat:
    (found,) = [c.heat for c in figure.charts if c.heat is not None]
    return found


def test_the_matrix_shows_the_file(small_file: Path) -> None:
    loaded = loading.load([small_file])
    figure = draw_matrix(loaded, Options())
    shown = heat(figure)
    assert shown.names == ("node001", "node002", "node003", "node004")
    looked = stored.read(loaded, "small.h5")
    np.testing.assert_allclose(shown.z, looked.gbps[1])  # the largest size, one rank a node
    assert "hatched: nothing is sent there, to oneself" in figure.charts[0].notes
    marks = {c.name: (c.y.tolist(), c.x.tolist()) for c in figure.charts[0].curves}
    assert marks == {
        "measured again, alone": ([1.0], [2.0]),
        "slow for its source and destination": ([1.0], [2.0]),
    }
    source, destination = figure.charts[1].curves
    assert source.y == pytest.approx(np.nanmedian(looked.gbps[1], axis=1))
    assert destination.y == pytest.approx(np.nanmedian(looked.gbps[1], axis=0))
    latency = heat(draw_matrix(loaded, Options(own={"what": "latency"})))
    np.testing.assert_allclose(latency.z, looked.time_p50[0] / 1000)
    assert "n\u00a0=\u00a09 ops per pair" in figure.said


def test_by_node_is_the_median_over_its_ranks(weak_file: Path) -> None:
    loaded = loading.load([weak_file])
    by_node = heat(draw_matrix(loaded, Options(by=("node",), own={"arrange": "name"})))
    by_rank = heat(draw_matrix(loaded, Options(by=("rank",), own={"arrange": "name"})))
    assert (by_node.z.shape, by_rank.z.shape) == ((20, 20), (40, 40))
    assert by_node.z[3, 7] == pytest.approx(np.median(by_rank.z[6:8, 14:16]))
    assert np.isnan(np.diag(by_node.z)).all()
    assert by_rank.names[5] == "rank 5 (node003)"


def test_switches_are_taken_from_the_job_and_drawn(weak_file: Path, tmp_path: Path) -> None:
    loaded = loading.load([weak_file])
    figure = draw_matrix(loaded, Options())
    assert figure.charts[0].divisions == (4.5, 9.5, 14.5)
    assert "lines: between switches" in figure.said
    other = tmp_path / "topology.conf"
    other.write_text(
        "SwitchName=b Nodes=node[001-010]\nSwitchName=a Nodes=node[011-020]\n"
        "SwitchName=top Switches=[a-b]\n"
    )
    for place in (other, str(other)):  # as a notebook may name it
        figure = draw_matrix(loaded, Options(own={"topology": place}))
        assert figure.charts[0].divisions == (9.5,)
        assert heat(figure).names[0] == "node011"


def test_clustering_brings_alike_rows_together(weak_file: Path) -> None:
    loaded = loading.load([weak_file])
    names = heat(draw_matrix(loaded, Options(own={"arrange": "cluster"}))).names
    assert sorted(names) == [f"node{i:03}" for i in range(1, 21)]
    for first in range(1, 21, 5):
        places = [names.index(f"node{i:03}") for i in range(first, first + 5)]
        assert max(places) - min(places) == 4, names


def test_a_sample_is_drawn_in_cells_that_can_be_seen(tmp_path: Path) -> None:
    path = write_pairs(
        tmp_path / "run.h5", setup(60), Truth(sampled=3, senders={7: 2.0}, node_spread=0.0)
    )
    figure = draw_matrix(loading.load([path]), Options())
    assert any("the slowest of" in note for note in figure.said)
    assert f"{60 * 20} of {60 * 59} pairs measured" in figure.said
    z = heat(figure).z
    assert (z[7] < 0.7 * np.nanmedian(z)).mean() > 0.4  # the slow sender is still there


@pytest.mark.parametrize(
    "options", [Options(), Options(own={"what": "latency", "arrange": "cluster"})]
)
def test_the_figure_is_drawn_on_paper_and_screen(weak_file: Path, options: Options) -> None:
    figure = draw_matrix(loading.load([weak_file]), options)
    first, second = io.BytesIO(), io.BytesIO()
    for stream in (first, second):
        drawing.save(drawing.draw(figure, 3.4), stream, "svg")
    assert first.getvalue() == second.getvalue()
    (drawn, _) = interactive.spec(figure).charts
    trace = drawn["traces"][0]
    assert trace["type"] == "heatmap"
    assert trace["x"] == list(heat(figure).names)
    assert drawn["layout"]["xaxis"]["type"] == "category"
    json.dumps(drawn, allow_nan=False)


def test_plot_matrix_refuses(small_file: Path, launch: Path, a2a: A2A, tmp_path: Path) -> None:
    out = tmp_path / "x.png"
    plot = "plot", "matrix"
    a2a(*plot, launch, "-o", out).refused("no matrix of pairs", "a2aperf pairs")
    a2a(*plot, small_file, "-o", out, "--by", "colour").refused("colour", "rank", "node")
    a2a(*plot, small_file, "-o", out, "--what", "colour").refused("gbps", "latency")
    a2a(*plot, small_file, "-o", out, "--arrange", "colour").refused("cluster")
    a2a(*plot, small_file, "-o", out, "--arrange", "switch").refused("--topology")
    text = tmp_path / "topology.txt"
    a2a(*plot, small_file, "-o", out, "--topology", text).refused("topology.txt")
    text.write_text("nothing")
    a2a(*plot, small_file, "-o", out, "--topology", text).refused("SwitchName")
    text.write_text("SwitchName=s Nodes=other[1-3]")
    a2a(*plot, small_file, "-o", out, "--topology", text).refused("node001")
    text.write_text("SwitchName=s Nodes=other[1-x]")
    a2a(*plot, small_file, "-o", out, "--topology", text).refused("1-x")
    text.write_text("SwitchName=s Nodes=n[1-999999999]")
    a2a(*plot, small_file, "-o", out, "--topology", text).refused("100000")
    assert not out.exists()
    assert a2a(*plot, small_file, "-o", out).status == 0
    assert out.read_bytes().startswith(b"\x89PNG")


# Switches -----------------------------------------------------------------------------------------


def test_host_lists_are_read_as_slurm_writes_them() -> None:
    assert switches.hosts("n[01-03,07],gpu1") == ["n01", "n02", "n03", "n07", "gpu1"]
    assert switches.hosts("r[1-2]n[09-10]") == ["r1n09", "r1n10", "r2n09", "r2n10"]
    assert switches.hosts("a,b") == ["a", "b"]


def test_only_leaf_switches_count() -> None:
    assert switches.parse(topology(4, 2)) == {
        "node001": "leaf0",
        "node002": "leaf0",
        "node003": "leaf1",
        "node004": "leaf1",
    }
    assert switches.parse("JobId=1\n  Switches=x Nodes=y\n") == {}
    assert switches.of_nodes(["n1.site", "n2"], {"n1": "a"}) == ["a", ""]


# The other commands ------------------------------------------------------------------------------


def test_table_has_a_line_per_pair_of_a_small_matrix(small_file: Path, a2a: A2A) -> None:
    outcome = a2a("table", small_file)
    assert outcome.err == ""
    heading, *lines = outcome.out.splitlines()
    assert len(lines) == 12 * len(SIZES)
    assert heading.split("  ")[0] == "source"
    (slow,) = [line for line in lines if "node002  2 node003    1000000" in line]
    assert slow.split()[-2] == "50"


def test_table_has_the_slowest_of_a_large_one(weak_file: Path, a2a: A2A) -> None:
    outcome = a2a("table", weak_file)
    assert len(outcome.out.splitlines()) == 1 + 20
    assert all("node017" in line for line in outcome.out.splitlines()[1:])
    assert "20 slowest" in outcome.err
    rows = list(csv.DictReader(a2a("table", weak_file, "--csv").out.splitlines()))
    assert len(rows) == 40 * 39 * len(SIZES)
    document = json.loads(a2a("table", weak_file, "--json").out)
    assert len(document["rows"]) == len(rows)
    assert document["columns"]["gbps"]["units"] == "Gbit/s"
    sides = {name: column.get("better") for name, column in document["columns"].items()}
    assert sides["gbps"] == sides["isolated_gbps"] == sides["expected_gbps"] == "higher"
    assert sides["time_p50"] == sides["time_min"] == "lower"
    assert {sides["ops"], sides["source"]} == {None}
    looked = stored.read(loading.load([weak_file]), "pairs.h5")
    row = next(r for r in rows if (r["source"], r["destination"]) == ("3", "17"))
    assert float(row["gbps"]) == pytest.approx(looked.gbps[0, 3, 17])
    a2a("table", weak_file, "--layout", "compat").refused("--layout", "matrix of pairs")
    assert len(a2a("table", weak_file, "--role", "pair").out.splitlines()) == 1 + 39 * len(SIZES)


def test_the_report_of_a_matrix(weak_file: Path, launch: Path, a2a: A2A, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert a2a("report", weak_file, "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    for words in (
        "Every pair of 40 ranks",
        "Node017 sends at" if "Node017" in text else "node017 sends at",
        'id="matrix"',
        "Slowest pairs",
        "1560 of 1560 pairs of 40 ranks on 20 nodes",
    ):
        assert words in text, words
    assert 'id="points"' not in text
    assert a2a("report", weak_file, launch, "-o", page, "--mixed").status == 0
    text = page.read_text(encoding="utf-8")
    assert 'id="points"' in text
    assert 'id="matrix"' in text
    assert 'id="sizes"' in text


@pytest.mark.parametrize(
    "words",
    ["plot sizes {} -o x.png", "compare {} --by ppn", "history {}", "plot ranks {} -o x.png"],
)
def test_what_needs_an_all_to_all_says_so(weak_file: Path, a2a: A2A, words: str) -> None:
    a2a(*(word.format(weak_file) for word in words.split())).refused(
        "pairs.h5", "a2aperf pairs", "a2a plot matrix"
    )


def test_check_holds_the_matrix_against_the_samples(
    small_file: Path, a2a: A2A, tmp_path: Path
) -> None:
    assert a2a("check", small_file).out.endswith("sound\n")
    bad = tmp_path / "bad.h5"
    bad.write_bytes(small_file.read_bytes())
    with edited(bad) as file:
        file["pairs/time_p50"][1, 2, 3] *= 1.01
    outcome = a2a("check", bad)
    assert outcome.status == 2
    assert "time_p50 of 2 → 3 is" in outcome.out
    with edited(bad) as file:
        file["pairs/suspect_source"][0] = 99
    for words in (("explain", bad), ("table", bad), ("report", bad, "-o", tmp_path / "x.html")):
        a2a(*words).refused("damaged", "second look")
    with edited(bad) as file:
        file["pairs/suspect_source"][0] = 1
        file["segments/0/node_of_rank"][0] = 99
    a2a("explain", bad).refused("damaged", "node")
    with edited(bad) as file:
        file["segments/0/node_of_rank"][0] = 0
        del file["pairs/gbps"]
    a2a("explain", bad).refused("damaged", "gbps")


def test_export_keeps_matrix_and_trace(small_file: Path, a2a: A2A, tmp_path: Path) -> None:
    key, public = tmp_path / "key", tmp_path / "public.h5"
    assert a2a("export", small_file, "--anonymize", "--key", key, "-o", public).status == 0
    assert a2a("check", public).status == 0
    before, after = (stored.read(loading.load([path]), path.name) for path in (small_file, public))
    np.testing.assert_array_equal(before.gbps, after.gbps)
    np.testing.assert_array_equal(before.isolated_time, after.isolated_time)
    made = synthetic.write_launch(
        tmp_path / "traced.h5", Setup(nodes=3, ppn=1, sizes=(8,), ops=9, trace=True)
    )
    other = synthetic.write_launch(tmp_path / "other.h5", Setup(nodes=3, sizes=(8,), ops=9, seed=1))
    merged, shared = tmp_path / "merged.h5", tmp_path / "shared.h5"
    assert a2a("merge", made, other, "-o", merged).status == 0
    assert a2a("export", merged, "--anonymize", "--key", key, "-o", shared).status == 0
    arrival = loading.load([made]).arrival("traced.h5", 0)
    assert arrival is not None
    for path in (merged, shared):
        again = loading.load([path])
        np.testing.assert_array_equal(again.arrival(path.name, 0), arrival)
        untraced = again.arrival(path.name, 1)
        assert untraced is not None
        assert (untraced == -1).all()


def test_merge_refuses_a_matrix(small_file: Path, launch: Path, a2a: A2A, tmp_path: Path) -> None:
    a2a("merge", small_file, launch, "-o", tmp_path / "x.h5").refused("small.h5", "one matrix")


def test_a_file_without_the_column_is_of_whole_all_to_alls(launch: Path, a2a: A2A) -> None:
    with edited(launch) as file:
        del file["distance"]
    assert (loading.load([launch]).points["distance"] == 0).all()
    assert a2a("check", launch).status == 0


def test_no_complete_pair_is_one_clear_line(small_file: Path, a2a: A2A, tmp_path: Path) -> None:
    path = tmp_path / "begun.h5"
    path.write_bytes(small_file.read_bytes())
    with edited(path) as file:
        file["state"][:] = schema.STATES.index("pending")
    for words in (("explain", path), ("table", path), ("plot", "matrix", path, "-o", "x.png")):
        assert a2a(*words).status == 2
    with pytest.raises(InputError, match="no matrix"):
        draw_matrix(loading.load([path]), Options())
