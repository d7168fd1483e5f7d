# SPDX-License-Identifier: BSD-3-Clause
"""A node over the launches of a study: what the exchange of nodes tells, and what is said."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from a2aperf import node_table
from a2aperf.explain import beside
from a2aperf.nodes import exchange, lateness, study
from a2aperf.raw_ops import RawOps
from conftest import Outcome
from nulls.nodes import LATE, Truth, launches
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]


def alike(scores: Sequence[Sequence[float]]) -> exchange.Floats:
    return np.array([scores], dtype=np.float64)


# The exchange -------------------------------------------------------------------------------------


def test_the_chance_of_a_node_that_is_first_in_each_launch_is_exact() -> None:
    rows = [[5.0, 0.0, 0.1, 0.2]] * 3
    found, p = exchange.named(alike(rows), 0.05)
    assert p[0, 0] == pytest.approx(4 * 4.0**-3)
    assert found == []
    found, p = exchange.named(alike(rows * 2), 0.05)
    assert (found[0], p[0, 0]) == ((0, 0), pytest.approx(4 * 4.0**-6))


@pytest.mark.parametrize("nodes", [4, 8, 20, 320])
@pytest.mark.parametrize("sides", [1, 2])
def test_fewer_blocks_than_the_least_name_nobody_and_as_many_can(nodes: int, sides: int) -> None:
    least = exchange.least_blocks(nodes, sides, 0.05)
    first = np.zeros((sides, least, nodes))
    first[0, :, 3] = 6.0
    assert exchange.named(first, 0.05)[0] == [(0, 3)]
    assert exchange.named(first[:, 1:], 0.05)[0] == []


def test_one_bad_launch_names_nobody() -> None:
    rng = np.random.default_rng(1)
    scores = np.array([[exchange.standardised(rng.normal(0, 1, 20)) for _ in range(8)]])
    scores[0, 3, 5] = 1000.0
    assert exchange.named(np.minimum(scores, 8.0), 0.05)[0] == []


def test_who_is_named_does_not_hide_the_next_one() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, (8, 20))
    values[:, 4] += 30
    values[:, 9] += 5
    scores = np.array([[exchange.standardised(one) for one in values]])
    assert {at for _, at in exchange.named(scores, 0.05)[0]} == {4, 9}


def test_a_node_counts_in_the_blocks_that_it_takes_part_in() -> None:
    scores = np.full((1, 6, 8), np.nan)
    scores[0, :, :6] = 0.0
    scores[0, :3, 6:] = 0.0
    scores[0, :, 2] = scores[0, :3, 6] = 7.0
    p = exchange.named(scores, 1e-9)[1][0]
    assert p[2] == pytest.approx(8 * (2 / 8) ** 3 * (1 / 6) ** 3)
    assert p[6] == pytest.approx(8 * (2 / 8) ** 3)


@pytest.mark.parametrize("values", [[1.0] * 6, [0, 0, 0, 0, 0, 7.0], [3.0, 1, 2, 4]])
def test_a_score_has_no_scale(values: list[float]) -> None:
    score = exchange.standardised(np.array(values))
    assert np.isfinite(score).all() and (np.abs(score) <= 8).all()
    assert exchange.standardised(1e6 * np.array(values)) == pytest.approx(score)


# The lateness of an op ----------------------------------------------------------------------------


def raw_of(
    begin: Sequence[Sequence[int]],
    end: Sequence[Sequence[int]],
    valid: Sequence[bool] = (),
    exits: Sequence[Sequence[int]] | None = None,
) -> RawOps:
    ends = np.array(end, np.int64)
    sound = np.array(valid or [True] * len(ends), np.bool_)
    out = None if exits is None else np.array(exits, np.int64)
    return RawOps(np.array(begin, np.int64), ends, ends, np.zeros(len(ends), np.int64), sound,
                  exit=out)  # fmt: skip


def test_a_node_is_as_late_as_the_last_of_its_ranks() -> None:
    node = np.array([0, 1, 2, 3, 3, 2, 1, 0])
    raw = raw_of([[0] * 8], [[100, 100, 100, 100, 130, 100, 100, 90]])
    of = lateness.of_point(raw, node, 100.0)
    assert of.late_ns.tolist() == [0, 0, 0, 30]
    assert of.late.tolist() == pytest.approx([0, 0, 0, 0.3])


def test_an_op_that_a_rank_began_late_says_so_and_not_how_it_ended() -> None:
    node = np.arange(4)
    raw = raw_of([[0] * 4, [0, 900, 0, 0]], [[100] * 4, [1000, 900, 1000, 1000]], [True, False])
    of = lateness.of_point(raw, node, 100.0)
    assert of.late_ns.tolist() == [0, 450, 0, 0]
    assert of.late.tolist() == [0, 2, 0, 0]  # no op counts as more than four
    assert of.early_ns.tolist() == [0, 0, 0, 0]


def test_after_a_barrier_the_common_clock_counts_from_the_exits() -> None:
    node = np.arange(4)
    raw = raw_of([[0] * 4], [[100, 60, 100, 100]], exits=[[0, 70, 0, 0]])
    assert lateness.of_point(raw, node, 100.0).late_ns.tolist() == [0, 70, 0, 0]


# A study ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, -1])
def test_a_node_that_stands_out_is_named_once_over_all_launches(factor: int) -> None:
    made = launches(Truth(scales=(12,), late=0.2 * factor), np.random.default_rng(4))
    (one,) = beside.findings(study.over(made))
    side = "late" if factor == 1 else "early"
    assert one.text.startswith(
        f"{LATE}: its ranks were {side} in 8 of 8 launches (the others on average: "
    )
    assert (one.nodes, one.n, one.unit, one.numbers["placements"]) == ((LATE,), 8, "launches", 8)
    assert one.numbers["median_ns"] == pytest.approx(0.2e6, rel=0.2)


def test_who_pauses_in_some_launches_is_told_by_what_it_takes_there() -> None:
    truth = Truth(scales=(12,), launches=16, late_in=7, paused=0.2)
    (one,) = beside.findings(study.over(launches(truth, np.random.default_rng(5))))
    assert 7 <= int(one.numbers["times"]) <= 9
    assert float(one.numbers["in_these_ns"]) > 2e6 > 0.1e6 > float(one.numbers["median_ns"])
    assert "of 16 launches" in one.text and "in these by" in one.text


def test_what_is_within_the_error_of_the_clocks_is_not_told() -> None:
    made = launches(Truth(scales=(12,), late=0.2), np.random.default_rng(4))
    for one in made:
        for cell, ((of, typical, _),) in list(one.cells.items()):
            one.cells[cell] = [(of, typical, 0.3e6)]
    assert beside.findings(study.over(made)) == []


def test_what_is_little_of_the_op_is_not_told() -> None:
    truth = Truth(scales=(12,), late=0.01, spread=0.0, jitter=0.001, first=0.0)
    said = study.over(launches(truth, np.random.default_rng(4)))
    assert said.nodes[0].name == LATE and said.nodes[0].p < 0.001
    assert not any(one.stands_out for one in said.nodes)


def test_where_ranks_keep_their_nodes_the_node_is_not_judged() -> None:
    truth = Truth(scales=(12,), late=0.2, first=0.0, shuffled=False)
    made = launches(truth, np.random.default_rng(4))
    said = study.over(made)
    assert (said.placements, said.needed) == (1, 3)
    (one,) = beside.findings(said)
    assert one.abstains
    assert f"{LATE} (late in 8 of 8 launches); but ranks were placed 1 time only" in one.text
    quiet = launches(Truth(scales=(12,), shuffled=False, first=0.0), np.random.default_rng(4))
    assert beside.findings(study.over(quiet)) == []


def test_what_stays_with_a_rank_is_no_nodes_doing() -> None:
    truth = Truth(scales=(12,), first=0.3, launches=12)
    assert beside.findings(study.over(launches(truth, np.random.default_rng(6)))) == []
    still = replace(truth, shuffled=False, scales=(8, 12, 16, 24), launches=3)
    fixed = study.over(launches(still, np.random.default_rng(6)))
    assert (fixed.launches, fixed.placements) == (12, 1)
    assert [one.abstains for one in beside.findings(fixed)] == [True]


def test_where_half_of_the_nodes_differ_nobody_is_named() -> None:
    made = launches(Truth(scales=(4,)), np.random.default_rng(7))
    for one in made:
        one.scores["late"][:] = [0.0, 3.0, 3.0, 0.0]
    said = study.over(made)
    assert not any(one.stands_out for one in said.nodes)
    assert said.notes == ["nobody is named: half of the nodes differ from the others"]


# Files --------------------------------------------------------------------------------------------


def launch_on(folder: Path, number: int, **changes: object) -> Path:
    """One of 6 nodes whose ranks lie by chance; node003 ends a tenth after the others."""
    place = np.random.default_rng([7, number]).permutation(6)
    own = {"seed": number, "shuffle_ranks": 1, **changes}
    setup = Setup(nodes=6, ppn=1, ops=30, sizes=(1000, 8000), seed=number, attributes=own)
    path = synthetic.write_launch(folder / f"run-{number}.h5", setup)
    with edited(path) as file:
        file["segments/0/nodes"][...] = [f"node{at + 1:03}" for at in place]
        for name in ("send_done", "recv_done"):
            moments = file[f"raw/{name}"][...]
            moments[..., place == 2] += moments.max(axis=-1, keepdims=True) // 10
            file[f"raw/{name}"][...] = moments
    return path


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("six")
    return [launch_on(folder, number) for number in range(6)]


def test_the_table_has_a_row_for_each_node(six: list[Path], a2a: A2A) -> None:
    first, *others = csv.DictReader(a2a("table", *six, "--nodes", "--csv").out.splitlines())
    assert list(first) == list(node_table.COLUMNS)
    assert (first["node"], first["stands_out"], first["late_in"]) == ("node003", "late", "6")
    assert sorted(row["node"] for row in others) == [f"node{at:03}" for at in (1, 2, 4, 5, 6)]
    assert {row["stands_out"] for row in others} == {""}
    assert all(float(row["p"]) > 0.05 > float(first["p"]) for row in others)
    rows = json.loads(a2a("table", *six, "--nodes", "--json").out)["rows"]
    assert rows[0]["node"] == "node003"
    a2a("table", *six, "--nodes", "--counters").refused("--counters or --nodes, not both")


def test_explain_and_the_report_name_it_once(six: list[Path], a2a: A2A, tmp_path: Path) -> None:
    said = json.loads(a2a("explain", *six, "--kind", "nodes", "--json").out)
    assert [one["numbers"]["node"] for one in said] == ["node003"]
    page = tmp_path / "report.html"
    assert a2a("report", *six, "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert f"<h2>{node_table.HEADING}</h2>" in text
    assert "node003: its ranks were late in 6 of 6 launches" in text


def test_what_was_left_out_is_told(six: list[Path], tmp_path: Path, a2a: A2A) -> None:
    few = synthetic.write_launch(tmp_path / "few.h5", Setup(nodes=2, ops=30, sizes=(1000,), seed=9))
    barrier = launch_on(tmp_path, 6, sync="barrier")
    text = a2a("table", *six, few, barrier, "--nodes")
    assert text.out.splitlines()[1].split()[:5] == ["node003", "late", "6", "of", "6"]
    assert "a2a: 6 launches, in which ranks were placed 6 times; ops start by clock" in text.err
    assert "a2a: left out: 1 launch on fewer than 4 nodes" in text.err
    assert "a2a: left out: 1 launch with ops that start otherwise than by clock" in text.err
    a2a("table", few, "--nodes").refused("nothing here tells nodes apart")
