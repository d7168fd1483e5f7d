# SPDX-License-Identifier: BSD-3-Clause
"""Every node over the nights of many files, and the index that spares reading them again."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import h5py
import pytest

from a2aperf import asking, isolated, loading, reading, trailer
from a2aperf.nodes import kept, names, nights
from a2aperf.nodes.night import Night, Per
from conftest import Outcome
from support import synthetic, synthetic_pairs
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
START = datetime(2026, 1, 1, 3, tzinfo=UTC)


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
    a2a("history", nightly / "00.h5").refused("'a2a history --per node' those of many nights")
    made = json.loads(a2a("history", folder, "--per", "node", "--json").out)
    assert [one["node"] for one in made["moved"]] == ["node003"]
    assert made["candidates"] == {"node003": "sends slower since 2026-01-15"}
    (line,) = a2a("history", folder, "--per", "node", "--drain-list").out.splitlines()
    assert line == (
        "scontrol update NodeName=node003 State=DRAIN Reason='a2a: sends slower since 2026-01-15'"
    )


@pytest.mark.parametrize("per", ["node", "adapter", "direction", "pair"])
def test_a_node_is_one_with_and_without_its_domain(
    a2a: A2A, nightly: Path, tmp_path: Path, per: Per
) -> None:
    """From the night on in which it is slow its system has the domain in its name."""
    folder = shutil.copytree(nightly, tmp_path / "nightly")
    for day in range(14, 24):
        with edited(folder / f"{day:02}.h5") as opened:
            called_so = opened["segments/0/nodes"]
            called_so[...] = [f"{name.decode()}.cluster" for name in called_so[()]]
    for _ in range(2):  # the second time from the index
        made = json.loads(a2a("history", folder, "--per", per, "--json").out)
        assert "cluster" not in json.dumps(made)
        moved = "node005 → node001" if per == "pair" else "node003"
        assert any(moved in one[per] for one in made["moved"])
    if per == "node":
        (line,) = a2a("history", folder, "--per", "node", "--drain-list").out.splitlines()
        assert line.startswith("scontrol update NodeName=node003 State=DRAIN ")


def called(*nodes: str) -> Night:
    return Night(" ".join(nodes), 1, list(nodes), {}, [])


@pytest.mark.parametrize(
    ("nights_of", "same"),
    [
        ([("n1", "n2"), ("n1.a", "n2.a")], [["n1", "n2"], ["n1", "n2"]]),
        ([("n1", "n2"), ("n1.a", "n3.a")], [["n1", "n2"], ["n1", "n3"]]),
        ([("n1 out",), ("n1.a out",)], [["n1 out"], ["n1 out"]]),
        ([("n1.a", "n2.a"), ("n3",)], None),  # nobody is called both ways
        ([("n1", "n2"), ("n1.a",), ("n1.b",)], None),  # of which domain it is nobody says
        ([("n1", "n1.a"), ("n2", "n2.a")], None),  # at the same time, so two of them
    ],
)
def test_which_names_are_one_node(
    nights_of: list[tuple[str, ...]], same: list[list[str]] | None
) -> None:
    found = [called(*one) for one in nights_of]
    made = [one.nodes for one in names.without_domains(found)]
    assert made == (same or [list(one) for one in nights_of])


def test_nodes_of_two_clusters_with_the_same_names_are_no_one_node(
    a2a: A2A, nightly: Path, tmp_path: Path
) -> None:
    """In turn they are refused, and nobody is drained; a cluster that was renewed is one."""
    folder = shutil.copytree(nightly, tmp_path / "nightly")

    def other(day: int, fact: str = "cpu_model") -> None:
        setup = Setup(
            nodes=6, ppn=1, sizes=(60000,), ops=5, seed=100 + day,
            node_facts={fact: "other CPU"}, started=START + timedelta(days=day, hours=1),
        )  # fmt: skip
        synthetic_pairs.write_pairs(folder / f"other-{day:02}.h5", setup)

    other(5, "nic_driver")  # another provider's adapter
    other(24)  # after all of the first one
    assert "candidates to drain: node003" in a2a("history", folder, "--per", "node").out
    other(7)
    for words in ((), ("--drain-list",), ("--json",)):
        a2a("history", folder, "--per", "node", *words).refused(
            "different clusters: cpu_model is", "'other CPU'", "both have node001"
        )


@pytest.mark.slow
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
    whole = nights.with_damage

    def until_interrupted(path: Path, per: Per) -> tuple[list[Night], tuple[str, ...]]:
        if len(read) == left[0]:
            raise KeyboardInterrupt
        read.append(path)
        return whole(path, per)

    monkeypatch.setattr(nights, "with_damage", until_interrupted)
    with pytest.raises(KeyboardInterrupt):
        kept.read(files)
    left[0] = len(files)
    kept.read(files)
    assert read == files


@pytest.mark.slow
def test_several_processes_tell_the_same(
    nightly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of many files on a machine of two cores, one of which is damaged."""
    folder = shutil.copytree(nightly, tmp_path / "nightly", copy_function=shutil.copy2)
    files = sorted(folder.glob("*.h5"))
    files[3].write_bytes(files[3].read_bytes()[:5000])

    def both() -> tuple[list[str], dict[Path, str]]:
        kept.index(folder).unlink(missing_ok=True)
        told_by, refused = kept.read(files)
        assert kept.index(folder).exists()
        return [json.dumps(one.plain()) for one in told_by], refused

    here = both()
    assert len(here[0]) == 23 and len(here[1]) == 1
    isolated.end()
    monkeypatch.setattr(asking, "FILES_OF_A_READER", 3)
    monkeypatch.setattr(asking, "_cores", lambda: 2)
    monkeypatch.setattr(loading, "load", None)  # nothing is read here
    try:
        assert both() == here
    finally:
        isolated.end()


def as_all_of_it_tells(path: Path, per: Per) -> list[Night]:
    """By a copy that no trailer vouches for."""
    copy = path.with_suffix(".unsealed.h5")
    copy.write_bytes(path.read_bytes()[: -trailer.BYTES])
    assert trailer.of(copy) is trailer.Trailer.ABSENT
    return nights.of_file(copy, per)


@pytest.mark.parametrize("per", get_args(Per))
def test_a_sound_file_is_asked_no_more_than_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, per: Per
) -> None:
    """And what it tells is the same as that of all it has."""
    two = Setup(nodes=5, ppn=2, sizes=(1000, 60000), ops=12, seed=3, started=START)
    forwarded = replace(two, schedules=("node-aware", "pairwise"), seed=4)
    files = [
        synthetic_pairs.write_pairs(tmp_path / "pairs.h5", two, synthetic_pairs.Truth()),
        synthetic.write_launch(tmp_path / "alltoall.h5", two),
        synthetic.write_launch(tmp_path / "other.h5", forwarded),
    ]
    told = [as_all_of_it_tells(path, per) for path in files]
    assert any(told)

    def refused(*_: object) -> None:
        raise AssertionError("all of the file is read")

    monkeypatch.setattr(reading, "read_segments", refused)
    for path, known in zip(files, told, strict=True):
        assert trailer.of(path) is trailer.Trailer.RIGHT
        found = nights.of_file(path, per)
        assert [one.plain() for one in found] == [one.plain() for one in known]


@pytest.mark.slow
def test_the_index_changes_nothing_but_the_time(
    a2a: A2A, nightly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(nightly, tmp_path / "nightly", copy_function=shutil.copy2)
    index = kept.index(folder)
    index.unlink(missing_ok=True)
    read: list[str] = []
    whole = nights.with_damage

    def noted(path: Path, per: Per) -> tuple[list[Night], tuple[str, ...]]:
        read.append(path.name)
        return whole(path, per)

    monkeypatch.setattr(nights, "with_damage", noted)
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


def test_a_merged_file_adds_no_launch(a2a: A2A, tmp_path: Path) -> None:
    parts = [
        synthetic.write_launch(
            tmp_path / f"{day}.h5",
            Setup(nodes=4, ppn=1, sizes=(1000,), ops=12, seed=day, started=START),
        )
        for day in range(2)
    ]
    assert a2a("merge", *parts, "-o", tmp_path / "both.h5").status == 0
    told = a2a("history", tmp_path, "--per", "node").out
    assert told.startswith("2 launches in 1 night from ")


def test_damaged_files_are_left_out_and_told(a2a: A2A, nightly: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(nightly, tmp_path / "nightly")
    (folder / "03.h5").write_bytes(b"no results")
    out = a2a("history", folder, "--per", "node")
    assert out.status == 3
    assert out.err.startswith("a2a: left out: ") and "03.h5" in out.err
    assert out.out.startswith("23 launches in 23 nights")


def test_what_is_damaged_and_can_be_read_is_told_each_time(
    a2a: A2A, nightly: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(nightly, tmp_path / "nightly")
    with h5py.File(folder / "03.h5", "r+") as file:
        file["state"][0] = 65
    said = "03.h5: point 0: its state is not as it was written (65): complete"
    for _ in range(2):  # by the files, and by the index beside them
        assert a2a("history", folder, "--per", "node").err.count(said) == 1


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
