# SPDX-License-Identifier: BSD-3-Clause
"""Every node over many nights: which moved, which did not; A2A_NODE_YEARS=200 for the long run."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.nodes import history, kept, moves, nights, told
from a2aperf.nodes.night import Line, Night, Per
from a2aperf.workloads.pairs import model, ways
from conftest import Outcome
from support import synthetic, synthetic_pairs
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
Floats = NDArray[np.float64]
YEARS = int(os.environ.get("A2A_NODE_YEARS", "12"))
FEW = YEARS // 10 or 1  # of the many nodes, which take longer
START = datetime(2026, 1, 1, 3, tzinfo=UTC)


def noise(rng: np.random.Generator, days: int, series: int, memory: float = 0.0) -> Floats:
    """Nights of 2 % spread, each like the one before."""
    drawn = rng.normal(0, 0.02 * np.sqrt(1 - memory**2), (days, series))
    drawn[0] /= np.sqrt(1 - memory**2)
    for day in range(1, days):
        drawn[day] += memory * drawn[day - 1]
    return drawn


def beside_the_median(values: Floats, nodes: int) -> Floats:
    parts = np.split(values, values.shape[1] // nodes, axis=1)
    return np.concatenate([x - np.median(x, axis=1, keepdims=True) for x in parts], axis=1)


def at_most(share: float, studies: int) -> float:
    """More than that comes once in 1000 times where the share is held."""
    return float(laws.binomial_ppf(0.999, studies, share))


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "years"), [(20, YEARS), (320, FEW)])
@pytest.mark.parametrize("memory", [0.0, 0.5])
def test_a_clean_year_names_no_node(nodes: int, years: int, memory: float) -> None:
    rng = np.random.default_rng(nodes)
    named = [
        moves.moves(beside_the_median(noise(rng, 365, 2 * nodes, memory), nodes)).moves
        for _ in range(years)
    ]
    assert sum(map(bool, named)) <= at_most(0.05, years)


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "times"), [(20, 5 * YEARS), (320, 5 * FEW)])
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
        found = moves.moves(beside_the_median(values, nodes)).moves
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


def test_a_node_that_was_always_slow_did_not_move() -> None:
    values = noise(np.random.default_rng(4), 40, 12)
    values[:, 5] += np.log(1.25)
    made = history.of_nights([night(day, row.tolist()) for day, row in enumerate(values)])
    assert made.moved == []
    (one,) = made.slow
    assert (one.node, one.nights) == ("n5", 40)
    assert one.factor == pytest.approx(1.25, rel=0.03)


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
        values = beside_the_median(noise(rng, 30, 20) * spread / 0.02, 20)
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


@pytest.fixture(scope="module")
def nightly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 nights of six nodes; from the 15th on the third sends slowly, and the way of a pair is."""
    folder = tmp_path_factory.mktemp("nightly")
    for day in range(24):
        truth = synthetic_pairs.Truth()
        if day >= 14:
            truth = synthetic_pairs.Truth(senders={2: 1.3}, pairs={(4, 0): 1.4})
        setup = Setup(
            nodes=6, ppn=1, sizes=(60000,), ops=5, seed=day, started=START + timedelta(days=day)
        )
        synthetic_pairs.write_pairs(folder / f"{day:02}.h5", setup, truth)
    return folder


def test_files_of_pairs_tell_which_node_since_when(a2a: A2A, nightly: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(nightly, tmp_path / "nightly")
    shutil.copy(folder / "00.h5", folder / "copy.h5")  # counts once
    first = a2a("history", folder, "--per", "node")
    assert first.out.startswith("24 launches in 24 nights from 2026-01-01 to 2026-01-24 (UTC), 6 n")
    factor = re.search(
        r"node003 sends in (\S+) times its time at 60\xa0kB since 2026-01-15", first.out
    )
    assert factor and float(factor[1]) == pytest.approx(1.3, rel=0.05)
    assert "(14 nights before, 10 after)" in first.out
    assert "candidates to drain: node003" in first.out
    made = json.loads(a2a("history", folder, "--per", "node", "--json").out)
    assert [one["node"] for one in made["moved"]] == ["node003"]
    assert made["candidates"] == {"node003": "sends slower since 2026-01-15"}
    (line,) = a2a("history", folder, "--per", "node", "--drain-list").out.splitlines()
    assert line == (
        "scontrol update NodeName=node003 State=DRAIN Reason='a2a: sends slower since 2026-01-15'"
    )


def test_files_of_pairs_tell_which_way_since_when(a2a: A2A, nightly: Path, tmp_path: Path) -> None:
    """The slow sender is no pair's fault, and the slow way no node's; the index says the same."""
    for _ in range(2):
        made = json.loads(a2a("history", nightly, "--per", "pair", "--json").out)
        assert len(made["pairs"]) == 30 and made["candidates"] == {}
        (one,) = made["moved"]
        assert (one["pair"], one["since"]) == ("node005 → node001", "2026-01-15")
        assert one["moves"][0]["factor"] == pytest.approx(1.4, rel=0.05)
    assert kept.index(nightly, "pair").exists()
    assert a2a("history", nightly, "--per", "pair", "--plot", tmp_path / "pairs.svg").status == 0
    picture = (tmp_path / "pairs.svg").read_text()
    assert "node005 → node001" in picture and "2026-01-01" in picture  # the only row with a name
    out = a2a("history", nightly, "--per", "direction").out
    told_of = re.findall(r"^(\S+ \S+) carries a message in (\S+) times its time at", out, re.M)
    assert [name for name, _ in told_of] == ["node003 out"]
    assert float(told_of[0][1]) == pytest.approx(1.3, rel=0.05)
    assert "drain" not in out and " 12\u00a0directions" in out.replace(" 12 ", " 12\u00a0")


def test_a_first_look_that_is_interrupted_keeps_what_it_read(
    nightly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(nightly, tmp_path / "nightly", copy_function=shutil.copy2)
    kept.index(folder).unlink(missing_ok=True)
    files, left = sorted(folder.glob("*.h5")), [5]
    read: list[Path] = []
    whole = nights.of_file

    def until_interrupted(path: Path, per: Per) -> list[Night]:
        if len(read) == left[0]:
            raise KeyboardInterrupt
        read.append(path)
        return whole(path, per)

    monkeypatch.setattr(nights, "of_file", until_interrupted)
    with pytest.raises(KeyboardInterrupt):
        kept.read(files)
    left[0] = len(files)
    kept.read(files)
    assert read == files


def test_the_index_changes_nothing_but_the_time(
    a2a: A2A, nightly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(nightly, tmp_path / "nightly", copy_function=shutil.copy2)
    index = kept.index(folder)
    index.unlink(missing_ok=True)
    read: list[str] = []
    whole = nights.of_file

    def noted(path: Path, per: Per) -> list[Night]:
        read.append(path.name)
        return whole(path, per)

    monkeypatch.setattr(nights, "of_file", noted)
    first = a2a("history", folder, "--per", "node").out
    assert len(read) == 24 and index.exists()
    assert a2a("history", folder, "--per", "node").out == first
    assert len(read) == 24
    # Another file in the place of one, and one that is gone.
    (folder / "20.h5").unlink()
    shutil.copy(folder / "00.h5", folder / "19.h5")
    changed = a2a("history", folder, "--per", "node").out
    assert read[24:] == ["19.h5"]
    index.unlink()
    assert a2a("history", folder, "--per", "node").out == changed
    for damage in (
        "",
        "[]",
        '{"format": 1',
        json.dumps({"format": 1, "version": "0", "files": {}}),
    ):
        index.write_text(damage)
        assert a2a("history", folder, "--per", "node").out == changed


def test_damaged_files_are_left_out_and_told(a2a: A2A, nightly: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(nightly, tmp_path / "nightly")
    (folder / "03.h5").write_bytes(b"no results")
    out = a2a("history", folder, "--per", "node")
    assert out.status == 3
    assert out.err.startswith("a2a: left out: ") and "03.h5" in out.err
    assert out.out.startswith("23 launches in 23 nights")


def test_what_cannot_be_asked(a2a: A2A, nightly: Path, tmp_path: Path) -> None:
    refused = {
        ("--per", "rack"): "--per rack: expected one of node, adapter, direction, pair",
        ("--plot", "a.svg"): "--plot: expected --per, too",
        ("--per", "pair", "--plot", "a.txt"): "a.txt",
        ("--drain-list",): "--drain-list: expected --per node",
        ("--per", "node", "--all"): "--all means nothing with --per node",
        ("--per", "node", "--where", "ppn=1"): "--where means nothing with --per node",
    }
    for options, why in refused.items():
        out = a2a("history", nightly, *options)
        assert out.status == 2 and why in out.err
    alone = synthetic_pairs.write_pairs(
        tmp_path / "a.h5", Setup(nodes=2, ppn=1, sizes=(8,), ops=5), synthetic_pairs.Truth()
    )
    out = a2a("history", alone, "--per", "node")
    assert out.status == 2 and "nothing here tells nodes apart" in out.err


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


@pytest.mark.slow
def test_a_clean_year_names_no_pair() -> None:
    """Six nodes: few, of which what a sender and a receiver do takes much of each pair."""
    rng = np.random.default_rng(12)
    off = ~np.eye(6, dtype=bool)
    years = YEARS // 4
    named = 0
    for _ in range(years):
        drawn = rng.normal(0, 0.02, (365, 6, 6)) + rng.normal(0, 0.02, (365, 6, 1))
        nightly = [ways.added(model.fit(np.exp(np.where(off, one, np.nan))))[off] for one in drawn]
        named += bool(moves.moves(np.array(nightly)).moves)
    assert named <= at_most(0.05, years)


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
