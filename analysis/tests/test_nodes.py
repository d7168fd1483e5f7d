# SPDX-License-Identifier: BSD-3-Clause
"""Every node over many nights: which moved, which did not; A2A_NODE_YEARS=200 for the long run."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from a2aperf import laws, others
from a2aperf.nodes import history, moves, nights, told
from a2aperf.nodes.night import Line, Night
from a2aperf.workloads.pairs import model, ways
from conftest import Outcome
from support import synthetic, synthetic_pairs
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
Floats = NDArray[np.float64]
YEARS = int(os.environ.get("A2A_NODE_YEARS", "24"))
FEW = YEARS // 2  # of the many nodes and many looks, which take longer
START = datetime(2026, 1, 1, 3, tzinfo=UTC)


def noise(rng: np.random.Generator, days: int, series: int, memory: float = 0.0) -> Floats:
    """Nights of 2 % spread, each like the one before."""
    drawn = rng.normal(0, 0.02 * np.sqrt(1 - memory**2), (days, series))
    drawn[0] /= np.sqrt(1 - memory**2)
    for day in range(1, days):
        drawn[day] += memory * drawn[day - 1]
    return drawn


def beside_others(values: Floats, nodes: int) -> Floats:
    parts = np.split(values, values.shape[1] // nodes, axis=1)
    return np.concatenate([others.beside(part) for part in parts], axis=1)


def at_most(share: float, studies: int) -> float:
    """More than that comes once in 1000 times where the share is held."""
    return float(laws.binomial_ppf(0.999, studies, share))


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "years"), [(20, YEARS), (320, FEW)])
@pytest.mark.parametrize("memory", [0.0, 0.5])
def test_a_clean_year_names_no_node(nodes: int, years: int, memory: float) -> None:
    rng = np.random.default_rng(nodes)
    named = [
        moves.moves(beside_others(noise(rng, 365, 2 * nodes, memory), nodes)).moves
        for _ in range(years)
    ]
    assert sum(map(bool, named)) <= at_most(moves.ERROR, years)


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [4, 5, 6, 7])
@pytest.mark.parametrize("memory", [0.0, 0.5])
def test_who_asks_every_week_hears_of_no_node_all_year(nodes: int, memory: float) -> None:
    """Beside the median of all nodes one of 5 was named in most years."""
    rng = np.random.default_rng(nodes)
    named = 0
    for _ in range(FEW):
        values = beside_others(noise(rng, 365, 2 * nodes, memory), nodes)
        named += any(moves.moves(values[:last]).moves for last in range(moves.LEAST, 366, 7))
    assert named <= at_most(moves.ERROR, FEW)


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "times"), [(20, 5 * YEARS), (320, 2 * FEW)])
@pytest.mark.parametrize("factor", [1.1, 1 / 1.1])
def test_a_node_that_moves_by_a_tenth_is_named_within_five_nights(
    nodes: int, times: int, factor: float
) -> None:
    rng = np.random.default_rng(nodes)
    missed = 0
    for _ in range(times):
        before = int(rng.integers(40, 200))
        values = noise(rng, before + 5, 2 * nodes)
        values[before:, 3] += np.log(factor)
        found = moves.moves(beside_others(values, nodes)).moves
        hit = [move for move in found if move.series == 3]
        missed += not hit
        assert all(abs(move.first - before) <= 2 for move in hit)
    assert missed <= at_most(0.05, times)


def test_a_move_and_its_way_back_are_two() -> None:
    values = noise(np.random.default_rng(1), 90, 12)
    values[30:60, 4] += np.log(1.2)
    first, second = moves.moves(values).moves
    assert (first.series, first.first, first.before, first.after) == (4, 30, 30, 30)
    assert first.factor == pytest.approx(1.2, rel=0.02)
    assert abs(np.log(first.now)) < 0.02
    assert (second.series, second.first) == (4, 60)
    assert second.factor == pytest.approx(1 / 1.2, rel=0.02)


def test_nights_that_a_node_lacks_do_not_count() -> None:
    values = noise(np.random.default_rng(2), 80, 12)
    values[40:, 7] += np.log(1.2)
    values[35:44, 7] = np.nan
    values[:70, 8] = np.nan  # a new node
    found = moves.moves(values)
    (one,) = found.moves
    assert (one.series, one.first, one.before, one.after) == (7, 44, 30, 36)
    assert found.searched == 11


@pytest.mark.parametrize("values", [np.zeros((40, 8)), np.full((40, 8), np.nan), np.zeros((3, 4))])
def test_nothing_moves_where_nothing_is(values: Floats) -> None:
    assert moves.moves(values).moves == []


def night(day: int, effects: list[float], **facts: list[str]) -> Night:
    started = int((START + timedelta(days=day)).timestamp()) * 10**9
    nodes = [f"n{at}" for at in range(len(effects))]
    return Night(f"{day} {effects[0]}", started, nodes, facts, [Line("sends", 60000, effects)])


def test_launches_of_a_day_count_once_and_facts_are_the_nodes_own() -> None:
    values = noise(np.random.default_rng(3), 60, 8)
    values[40:, 2] += np.log(1.3)
    found = []
    for day, row in enumerate(values):
        firmware = ["1.0"] * 8
        firmware[2] = "1.1" if day >= 40 else "1.0"
        for launch in range(3):  # alike, as jobs of a day are
            effects = [float(x) + 1e-6 * launch for x in row]
            found.append(night(day, effects, nic_firmware=list(firmware)))
    made = history.of_nights(found)
    (one,) = made.moved
    assert (made.launches, len(made.days)) == (180, 60)
    assert (one.node, one.first - made.days[0], one.stays) == ("n2", 40, True)
    assert one.facts == [("nic_firmware", "1.0", "1.1")]
    assert list(made.candidates()) == ["n2"]


def test_a_fact_that_a_later_program_records_is_no_change_of_the_node() -> None:
    values = noise(np.random.default_rng(3), 60, 8)
    values[40:, 2] += np.log(1.3)
    newer = {"nic_max_qp": ["131072"] * 8}
    found = [
        night(day, list(map(float, row)), kernel=["6.1" if day < 40 else "6.2"] * 8,
              **(newer if day >= 40 else {}))
        for day, row in enumerate(values)
    ]  # fmt: skip
    (one,) = history.of_nights(found).moved
    assert one.facts == [("kernel", "6.1", "6.2")]


def test_a_node_that_was_always_slow_did_not_move() -> None:
    values = noise(np.random.default_rng(4), 40, 12)
    values[:, 5] += np.log(1.25)
    made = history.of_nights([night(day, row.tolist()) for day, row in enumerate(values)])
    assert made.moved == []
    (one,) = made.slow
    assert (one.node, one.nights) == ("n5", 40)
    assert one.factor == pytest.approx(1.25, rel=0.03)


def of_values(values: Floats) -> history.NodeHistory:
    """Nights of nodes that all launches have."""
    return history.of_nights([night(day, row.tolist()) for day, row in enumerate(values)])


@pytest.mark.slow
def test_who_was_faster_for_a_while_is_no_candidate_and_who_gets_slower_is_one() -> None:
    """The way back of one is a move to slower; both were five nights ago."""
    rng = np.random.default_rng(10)
    named = missed = 0
    for _ in range(5 * YEARS):
        values = noise(rng, 105, 20)
        values[50:100, 7] -= np.log(1.1)
        values[100:, 3] += np.log(1.1)
        candidates = set(of_values(beside_others(values, 20)).candidates())
        named += bool(candidates - {"n3"})
        missed += "n3" not in candidates
    assert named <= at_most(0.05, 5 * YEARS)
    assert missed <= at_most(0.05, 5 * YEARS)


def test_a_way_back_to_the_others_drains_nobody() -> None:
    values = noise(np.random.default_rng(11), 150, 20)
    values[50:100, 7] -= np.log(1.1)
    made = of_values(beside_others(values, 20))
    assert [(one.node, one.is_slower, one.stays) for one in made.moved] == [
        ("n7", False, False),
        ("n7", True, True),
    ]
    assert (made.candidates(), made.slow) == ({}, [])
    assert not any("candidates" in line for line in told.lines(made))


def test_a_slow_node_that_got_a_little_faster_is_slow() -> None:
    values = noise(np.random.default_rng(12), 150, 20)
    values[:, 7] += np.log(1.3)
    values[75:, 7] -= np.log(1.1)
    made = of_values(beside_others(values, 20))
    assert [(one.node, one.is_slower) for one in made.moved] == [("n7", False)]
    assert made.candidates() == {"n7": "sends slower than the other nodes"}
    (one,) = made.slow
    assert (one.node, one.nights) == ("n7", 75)
    assert one.factor == pytest.approx(1.3 / 1.1, rel=0.02)


@pytest.mark.parametrize("since", [5, 12, 40])
def test_a_slow_node_that_was_mended_is_none(since: int) -> None:
    """Its last 30 nights have those before the repair, too."""
    values = noise(np.random.default_rng(13), 150, 20)
    values[:-since, 7] += np.log(1.3)
    made = of_values(beside_others(values, 20))
    assert [(one.node, one.is_slower) for one in made.moved] == [("n7", False)]
    assert (made.candidates(), made.slow) == ({}, [])


@pytest.mark.parametrize("since", [0, 20])
def test_a_slow_node_that_is_measured_no_more_is_no_candidate(since: int) -> None:
    values = noise(np.random.default_rng(9), 60, 12)
    values[since:, 5] += np.log(1.25)
    found = [night(day, row.tolist()) for day, row in enumerate(values)]
    for last, there in ((40, ["n5"]), (44, ["n5"]), (45, []), (60, [])):
        for one in found[40:last]:
            if "n5" in one.nodes:
                del one.nodes[5], one.lines[0].effects[5]
        made = history.of_nights(found[:last])
        assert list(made.candidates()) == there
        assert made.gone() == ([] if there else ["n5"])
        assert len(told.drain_list(made)) == len(there)
        assert any("the last 5 nights lack them: n5" in x for x in told.lines(made)) == (not there)


def test_a_drift_has_no_first_night() -> None:
    values = noise(np.random.default_rng(7), 120, 20)
    values[:, 4] += np.linspace(0, 0.5, 120)
    drifting = moves.moves(values).moves
    assert drifting and all(one.series == 4 and one.is_gradual for one in drifting)
    values = noise(np.random.default_rng(7), 120, 20)
    values[60:, 4] += 0.2
    assert [one.is_gradual for one in moves.moves(values).moves] == [False]


@pytest.mark.parametrize("spread", [0.02, 0.3])
def test_equal_nodes_have_none_that_is_slow(spread: float) -> None:
    rng = np.random.default_rng(8)
    named = 0
    for _ in range(100):
        values = beside_others(noise(rng, 30, 20) * spread / 0.02, 20)
        found = [night(day, row.tolist()) for day, row in enumerate(values)]
        named += bool(history.of_nights(found).slow)
    assert named <= at_most(0.01, 100)


def test_few_nights_are_not_judged() -> None:
    values = noise(np.random.default_rng(5), 14, 8)
    values[9:, 1] += 1.0
    made = history.of_nights([night(day, row.tolist()) for day, row in enumerate(values)])
    assert made.moved == []
    assert "not judged: no node has the 15 nights that are the least" in told.lines(made)


def test_no_command_is_made_of_what_is_no_hosts_name() -> None:
    values = noise(np.random.default_rng(6), 40, 8)
    values[:, 5] += np.log(1.25)
    found = [night(day, row.tolist()) for day, row in enumerate(values)]
    for one in found:
        one.nodes[5] = "n5; reboot"
    assert told.drain_list(history.of_nights(found)) == []


def test_adapters_are_told_apart_on_a_node(tmp_path: Path) -> None:
    """Of two on each of five nodes the second of the third node sends 1.5 times as long."""
    setup = Setup(nodes=5, ppn=2, sizes=(60000,), ops=5)
    path = synthetic_pairs.write_pairs(tmp_path / "a.h5", setup, synthetic_pairs.Truth())
    assert [len(one.nodes) for one in nights.of_file(path, "adapter")] == [5]  # one on each
    with edited(path) as file:
        nics = [b"hfi1_0", b"hfi1_1"] * 5
        file["segments/0/rank_facts/nic"][...] = nics
        file["pairs/time_p50"][:, 5] *= 1.5
    (one,) = nights.of_file(path, "adapter")
    assert one.nodes[4:6] == ["node003 hfi1_0", "node003 hfi1_1"]
    sends, receives = one.lines
    assert np.exp(sends.effects[5]) == pytest.approx(1.5, rel=0.1)
    others = [*sends.effects[:5], *sends.effects[6:], *receives.effects]
    assert np.abs(others).max() < 0.1
    # What is recorded of an adapter is of the first rank's.
    assert one.facts_of("node003 hfi1_0")["nic_firmware"] == "1.27.0"
    assert one.facts_of("node003 hfi1_1")["nic_firmware"] == ""
    assert one.facts_of("node003 hfi1_1")["kernel"]
    with edited(path) as file:  # what a rank did over several is of none of them
        file["segments/0/rank_facts/nic"][0] = b"hfi1_0,hfi1_1"
    assert list(nights.of_file(path, "adapter")) == []


@pytest.mark.slow
def test_a_clean_year_names_no_pair() -> None:
    """Six nodes: few, of which what a sender and a receiver do takes much of each pair."""
    rng = np.random.default_rng(12)
    off = ~np.eye(6, dtype=bool)
    years = YEARS // 2
    named = 0
    for _ in range(years):
        drawn = rng.normal(0, 0.02, (365, 6, 6)) + rng.normal(0, 0.02, (365, 6, 1))
        nightly = [ways.added(model.fit(np.exp(np.where(off, one, np.nan))))[off] for one in drawn]
        named += bool(moves.moves(np.array(nightly)).moves)
    assert named <= at_most(moves.ERROR, years)


def test_what_a_way_adds_is_beside_the_other_pairs() -> None:
    """Where none differs it is nothing, and a slow one has all of it, also with pairs missing."""
    rng = np.random.default_rng(13)
    logs = rng.normal(0, 0.3, (7, 1)) + rng.normal(0, 0.3, (1, 7))
    logs[np.diag_indices(7)] = np.nan
    logs[1, 2] = np.nan
    logs[4, 0] += 0.5
    added = ways.added(model.fit(np.exp(logs)))
    assert added[4, 0] == pytest.approx(0.5, abs=1e-6)
    added[4, 0] = 0
    assert np.nanmax(np.abs(added)) < 1e-6
    assert (np.isnan(added) == np.isnan(logs)).all()


def test_what_is_recorded_of_a_pair_is_that_of_both_nodes() -> None:
    one = Night("a", 1, ["n1", "n2", "n3"], {"kernel": ["5", "6", "7"]}, [], of_pairs=True)
    assert one.compared[2:4] == ["n2 → n1", "n2 → n3"]
    assert one.facts_of("n3 → n2") == {"kernel of n3": "7", "kernel of n2": "6"}
    assert Night.of_plain(one.plain()) == one


def test_all_to_alls_with_a_clock_tell_nodes_apart(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "a.h5", Setup(nodes=5, ppn=2, sizes=(1000,), ops=12))
    (one,) = nights.of_file(path)
    assert [(x.part, x.message_size, len(x.effects)) for x in one.lines] == [
        ("ends its ops", 1000, 5)
    ]
    with edited(path) as file:
        file["segments/0"].attrs["sync"] = "barrier"
    assert nights.of_file(path) == []
