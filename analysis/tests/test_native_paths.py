# SPDX-License-Identifier: BSD-3-Clause
"""Files as the program writes them of paths: sound, shown, copied, repaired."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import loading
from conftest import Outcome
from support import native_paths
from support.edited import edited

Run = Callable[..., Outcome]


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    return native_paths.write(tmp_path / "paths.h5")


def test_it_is_sound(paths: Path, a2a: Run) -> None:
    outcome = a2a("check", paths)
    assert (outcome.status, outcome.err) == (0, ""), outcome


def test_classes_have_their_shares(paths: Path, a2a: Run) -> None:
    rows = json.loads(a2a("table", paths, "--json").out)["rows"]
    assert [row["share"] for row in rows] == pytest.approx([0.5, 0.25, 0.25] * 2, abs=0.01)
    bulk = rows[1]
    assert bulk["class_share_low"] < 0.5 < bulk["class_share_high"]
    assert bulk["class_share"] == pytest.approx(rows[1]["share"] + rows[2]["share"])
    assert all(row["idle"] == 0 for row in rows)


def test_points_that_differ_in_their_pages_are_settings_of_their_own(
    a2a: Run, tmp_path: Path
) -> None:
    both = native_paths.write(tmp_path / "m.h5", (4096, 4096), ("default", "huge"))
    assert a2a("check", both).out == f"{both}: sound\n"
    table = a2a("table", both).out.splitlines()
    assert " memory " in table[0] and " default " in table[1] and " huge " in table[4]
    lines = a2a("history", both).out
    assert "memory default" in lines and "memory huge" in lines


def test_what_is_granted_and_not_seen_is_told_once_a_class(paths: Path, a2a: Run) -> None:
    told = [one for one in json.loads(a2a("explain", paths, "--json").out)
            if one["kind"] == "honoured"]  # fmt: skip
    texts = [one["text"] for one in told]
    assert texts[:2] == [
        "path 0 (low-latency): low-latency is granted, not verified",
        "path 1 (bulk), path 2 (bulk): bulk is granted, not verified",
    ]
    assert len(texts) == 4


def test_a_class_that_a_measured_file_does_not_call_granted_is_not(paths: Path, a2a: Run) -> None:
    with h5py.File(paths, "r+") as file:
        file["paths/class_granted"][...] = [""] * 6
        file["paths/class_trouble"][...] = ["", "", "default_roce_tos: no such file"] * 2
    texts = [one["text"] for one in json.loads(a2a("explain", paths, "--json").out)]
    assert "path 1 (bulk): bulk was asked for, and not granted" in texts
    of_last = "path 2 (bulk): bulk was asked for, and not granted: default_roce_tos: no such file"
    assert of_last in texts
    assert "default_roce_tos" in a2a("table", paths).out


def test_files_of_before_troubles_were_told_have_none(paths: Path, a2a: Run) -> None:
    with h5py.File(paths, "r+") as file:
        del file["paths/class_trouble"]
    rows = json.loads(a2a("table", paths, "--json").out)["rows"]
    assert not any(row["class_trouble"] for row in rows)
    assert [row["class_granted"] for row in rows[:2]] == ["low-latency", "bulk"]


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("bulk:1,low-latency:x", "is no list of CLASS:WEIGHT"),
        ("bulk=1", "is no list of CLASS:WEIGHT"),
        ("bulk:2,best-effort:1", "has none for class low-latency"),
        ("bulk:0,low-latency:0", "has none above 0"),
        ("bulk:2,low-latency:2", ""),
    ],
)
def test_weights_that_say_nothing_are_told(a2a: Run, paths: Path, label: str, said: str) -> None:
    with edited(paths) as file:
        labels = file["segments/0"]
        del labels["label_name"], labels["label_value"]
        labels["label_name"], labels["label_value"] = ["weights"], [label]
    text = " ".join(a2a("explain", paths).out.split())
    if said:
        assert f"the label weights '{label}' {said}" in text
    else:
        assert "by the label weights 0.500, 0.250, 0.250: agree" in text
        assert "the label weights '" not in text


def test_its_samples_are_no_ops(paths: Path, a2a: Run, tmp_path: Path) -> None:
    assert a2a("table", paths, "--counters").status == 2
    assert a2a("live", paths, "--once").status == 0
    page = tmp_path / "page.html"
    assert a2a("report", paths, "-o", page).status == 0
    assert "Paths that share a link" in page.read_text(encoding="utf-8")


def test_damaged_intervals_are_lost_and_the_points_stay(
    paths: Path, a2a: Run, tmp_path: Path
) -> None:
    with h5py.File(paths, "r+") as file:  # and not sealed again
        file["paths/interval_bytes"][0, 0] += 1
    assert a2a("check", paths).status == 2
    again = tmp_path / "again.h5"
    mended = a2a("check", paths, "--repair", "-o", again)
    assert mended.status != 2, mended
    assert a2a("check", again).status != 2
    kept = json.loads(a2a("table", again, "--role", "all", "--json").out)["rows"]
    assert [row["state"] for row in kept] == ["complete", "complete"]


def test_paths_whose_messages_took_no_time_have_no_rate(paths: Path, a2a: Run) -> None:
    """A file that has one is refused, and no command shows it."""
    with edited(paths) as file:
        group, mine = file["paths"], file["paths/of_point"][:] == 0
        intervals = group["interval_begin"].shape[1]
        for name, values in (("interval_begin", np.arange(intervals)), ("interval_length", 1)):
            every = group[name][()]
            every[mine] = values
            group[name][...] = every
        messages = group["interval_messages"][()][mine].sum()
        size = int(file["message_size"][0])
        rate = float(messages) / intervals * 1e9
        figures = {"shared_time": intervals, "msg_rate": rate, "byte_rate": rate * size,
                   "gbps": rate * size * 8e-9}  # fmt: skip
        for name, value in figures.items():
            file[name][0] = value
    outcome = a2a("check", paths)
    assert outcome.status == 2
    assert "point 0: shared_time is 12 ns with " in outcome.out
    told = json.loads(a2a("table", paths, "--json").out)["rows"]
    assert [row["gbps"] is None for row in told] == [True] * 3 + [False] * 3
    points = loading.load([paths]).points
    assert points["gbps"].isna().tolist() == [True, False]
    assert a2a("explain", paths).status == 0
