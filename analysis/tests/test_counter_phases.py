# SPDX-License-Identifier: BSD-3-Clause
"""What is counted outside of the timed ops: by a point's verification and by a launch's start."""

import csv
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import datasets, loading, schema
from conftest import Outcome
from support import counter_values, synthetic
from support.edited import edited

Run = Callable[..., Outcome]
PORT = "hfi1_0/1/counters/port_xmit_wait"


def rows_of(a2a: Run, path: Path, phase: str) -> list[dict[str, str]]:
    outcome = a2a("table", path, "--counters", "--phase", phase, "--csv")
    assert outcome.err == ""
    return list(csv.DictReader(outcome.out.splitlines()))


def test_of_the_verification_of_each_point(a2a: Run, launch: Path) -> None:
    """8 ranks of 4 nodes: of point 1 rank r has counted 2 r, and the nodes 10 each."""
    rows = [row for row in rows_of(a2a, launch, "verification") if row["point"] == "1"]
    assert {row["phase"] for row in rows} == {"verification"}
    assert "threads" not in {row["counter"] for row in rows}
    (faults,) = [row for row in rows if row["counter"] == "minor_faults"]
    named = ("counted", "sum", "min", "max", "max_at", "messages", "per_message")
    assert [faults[name] for name in named] == ["8", "56", "0", "14", "7", "", ""]
    (port,) = [row for row in rows if row["counter"] == PORT]
    assert [port[name] for name in named[:4]] == ["4", "40", "10", "10"]


def test_of_the_start_of_each_launch(a2a: Run, launch: Path) -> None:
    rows = rows_of(a2a, launch, "start")
    (faults,) = [row for row in rows if row["counter"] == "minor_faults"]
    named = ("file", "launch", "nodes", "ranks", "phase", "sum", "max", "max_at")
    said = [launch.name, f"{launch.name}#0", "4", "8", "start", "28000", "7000", "7"]
    assert [faults[name] for name in named] == said
    assert "point" not in rows[0]


def test_the_heading_says_the_phase(a2a: Run, launch: Path) -> None:
    for words, phase in ((), "timed"), (("--phase", "start"), "start"):
        heading = a2a("table", launch, "--counters", *words).out.splitlines()[0]
        assert f"counter ({phase})" in heading
        assert ("per message" in heading) == ("per s" in heading) == (phase == "timed")


def test_a_phase_is_one_of_counters(a2a: Run, launch: Path) -> None:
    outcome = a2a("table", launch, "--phase", "start")
    assert (outcome.status, outcome.err) == (2, "a2a: --phase is of --counters: give both\n")


def make_without_later(group: h5py.Group) -> None:
    """By a program that counted interrupts alone, and looked neither at memory nor at a clock."""
    for name in [one for one in group if one.removeprefix("verification_") in datasets.CAME_LATER]:
        del group[name]
    if "values_of_ranks" in group:
        counter_values.remove(group.file)


def make_older(file: h5py.File) -> None:
    """By a program that did not count so."""
    for name in [name for name in file["counters"] if name.startswith("verification_")]:
        del file["counters"][name]
    make_without_later(file["counters"])
    del file["segments/0/start_counters"]


@pytest.mark.parametrize(
    ("phase", "says"),
    [
        ("verification", "no point here has counters of its verification"),
        ("start", "no launch here"),
    ],
)
def test_older_files_have_none(a2a: Run, launch: Path, phase: str, says: str) -> None:
    with edited(launch) as file:
        make_older(file)
    assert a2a("check", launch).out == f"{launch}: sound\n"
    assert a2a("table", launch, "--counters").status == 0
    outcome = a2a("table", launch, "--counters", "--phase", phase)
    assert outcome.status == 2
    assert says in outcome.err


def require_same(one: schema.Counters | None, other: schema.Counters | None) -> None:
    assert one is not None
    assert other is not None
    assert one.per_rank.keys() == other.per_rank.keys()
    assert all(np.array_equal(one.per_rank[name], other.per_rank[name]) for name in one.per_rank)
    assert one.per_node.keys() == other.per_node.keys()
    assert all(np.array_equal(one.per_node[name], other.per_node[name]) for name in one.per_node)
    for old, new in zip(one.ports.values(), other.ports.values(), strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize("how", ["merge", "export", "repair"])
def test_copies_keep_them(a2a: Run, launch: Path, tmp_path: Path, how: str) -> None:
    other = synthetic.write_launch(tmp_path / "other.h5", synthetic.Setup(seed=5))
    with edited(other) as file:
        make_older(file)
    copy = tmp_path / "copy.h5"
    words = {
        "merge": ("merge", launch, other, "-o", copy),
        "export": ("export", launch, "--anonymize", "--key", tmp_path / "key", "-o", copy),
        "repair": ("check", "--repair", launch, "-o", copy),
    }[how]
    assert a2a(*words).status in (0, 1)
    before, after = loading.load([launch]), loading.load([copy])
    for point in before.points["point"]:
        one, new = (
            found.counters(name, int(point))
            for found, name in ((before, launch.name), (after, copy.name))
        )
        assert one is not None
        assert new is not None
        require_same(one.verification, new.verification)
        require_same(one.before, new.before)
        require_same(one.after, new.after)
    require_same(*(next(iter(found.launches.values())).start for found in (before, after)))
    assert a2a("check", copy).status == 0
    if how == "merge":
        assert list(after.launches.values())[1].start is None
        last = int(after.points["point"].iloc[-1])
        blank = after.counters(copy.name, last)
        assert blank is not None
        assert blank.verification is not None
        assert not blank.verification.have_any()
        assert blank.before is not None
        assert not blank.before.have_any()
        outcome = a2a("table", copy, "--counters", "--phase", "verification")
        assert f"left out: {len(before.points)} points without counters" in outcome.err


def test_what_is_counted_beside_those_of_a_file_that_has_none(
    a2a: Run, launch: Path, tmp_path: Path
) -> None:
    """What the older one did not count is unknown in the merged one, and its rows say so."""
    older = synthetic.write_launch(tmp_path / "older.h5", synthetic.Setup(seed=5))
    with edited(older) as file:
        for group in (file["counters"], file["segments/0/start_counters"]):
            make_without_later(group)
    assert a2a("check", older).out == f"{older}: sound\n"
    assert "softirqs" not in a2a("table", older, "--counters", "--csv").out
    copy = tmp_path / "copy.h5"
    assert a2a("merge", older, launch, "-o", copy).status == 0
    assert a2a("check", copy).out == f"{copy}: sound\n"
    points = len(loading.load([older]).points)
    with h5py.File(copy) as file, h5py.File(launch) as new:
        for name in (*datasets.CAME_LATER, "verification_wall_time", "verification_node_idle_time"):
            counted = file["counters"][name][()]
            assert (counted[:points] == -1).all()
            assert np.array_equal(counted[points:], new["counters"][name][()])
        assert "softirqs_net_rx" not in file["segments/0/start_counters"]
        assert "softirqs_net_rx" in file["segments/1/start_counters"]


def test_an_export_has_no_name_of_a_port_that_names_a_host(a2a: Run, tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", synthetic.Setup())
    with edited(path) as file:
        names = file["segments/0/start_counters/port_names"]
        names[0] = "node001/1/counters/port_xmit_wait"
    copy = tmp_path / "copy.h5"
    words = ("export", path, "--anonymize", "--key", tmp_path / "key", "-o", copy)
    assert a2a(*words).status == 0
    with h5py.File(copy) as file:
        (name,) = file["segments/0/start_counters/port_names"].asstr()[()]
    assert name.endswith("/1/counters/port_xmit_wait")
    assert "node001" not in name
