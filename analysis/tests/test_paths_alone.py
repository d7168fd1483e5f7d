# SPDX-License-Identifier: BSD-3-Clause
"""What all paths carry together, beside what one of them carries while no other one is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from a2aperf import loading
from a2aperf.explain import finders
from conftest import Outcome
from support import native_paths
from support.edited import edited
from support.shared_link import Setting, write

Run = Callable[..., Outcome]
SIZE = native_paths.SIZES[0]


def launched(path: Path, *, later_s: int = 0, hosts: tuple[str, str] | None = None) -> Path:
    """Three paths; of the first point all but the first begin so much later."""
    native_paths.write(path)
    with edited(path) as file:
        file["segments/0"].attrs["time_origin"] += later_s
        file["paths/connected"][1:3] = later_s * native_paths.SECOND_NS
        if hosts:
            file["segments/0/nodes"][...] = [one.encode() for one in hosts]
    return path


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Its first path is alone for three of the intervals."""
    return launched(tmp_path / "begun.h5", later_s=3)


@pytest.fixture
def alone_gbps(begun: Path) -> float:
    """In the first of them it began."""
    with edited(begun) as file:
        return float(file["paths/interval_bytes"][0, 1:3].sum()) / 2 * 8e-9


def listed(a2a: Run, *files: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(a2a("table", *files, "--json").out)["rows"]
    return rows


def test_a_path_that_others_join(a2a: Run, begun: Path, alone_gbps: float) -> None:
    told = json.loads(a2a("explain", begun, "--json").out)
    (one,) = (x for x in told if x["kind"] == "sharing" and "point 0" in x["where"])
    assert one["numbers"]["of_one_alone"] == pytest.approx(2, abs=0.05)
    assert "times what path 0 (low-latency) carries alone" in one["text"]
    rows = listed(a2a, begun)
    here = [row["alone_gbps"] for row in rows if row["message_size"] == SIZE]
    assert here == pytest.approx([alone_gbps] * 3)  # the others are alike but for their class
    assert {row["alone_gbps"] for row in rows if row["message_size"] != SIZE} == {None}
    heading = a2a("table", begun).out.splitlines()[0]
    assert "Gbit/s alone" in heading


def test_the_interval_in_which_a_path_begins_does_not_count(
    a2a: Run, begun: Path, alone_gbps: float
) -> None:
    with edited(begun) as file:
        for name in ("interval_bytes", "interval_messages"):
            file["paths"][name][0, 0] //= 4
    here = [row["alone_gbps"] for row in listed(a2a, begun) if row["message_size"] == SIZE]
    assert here == pytest.approx([alone_gbps] * 3)


def test_who_carries_more_in_company_was_not_at_its_best_alone(a2a: Run, begun: Path) -> None:
    with edited(begun) as file:
        for name in ("interval_bytes", "interval_messages"):
            file["paths"][name][0, :3] //= 4
    assert "carries alone" not in a2a("explain", begun).out
    assert {row["alone_gbps"] for row in listed(a2a, begun)} == {None}


def test_in_another_launch_between_the_same_hosts(
    a2a: Run, tmp_path: Path, begun: Path, alone_gbps: float
) -> None:
    shared = launched(tmp_path / "shared.h5")
    assert "carries alone" not in a2a("explain", shared).out
    for files in ((begun, shared), (shared, begun)):
        here = [row["alone_gbps"] for row in listed(a2a, *files) if row["message_size"] == SIZE]
        assert here == pytest.approx([alone_gbps] * 6)


def test_not_between_other_hosts(a2a: Run, tmp_path: Path, begun: Path) -> None:
    shared = launched(tmp_path / "shared.h5", hosts=("other1", "other2"))
    rows = [row for row in listed(a2a, begun, shared) if row["launch"] == "shared.h5#0"]
    assert len(rows) == 6 and {row["alone_gbps"] for row in rows} == {None}


def test_an_interval_in_which_another_one_begins_is_not_of_one_alone(
    a2a: Run, tmp_path: Path
) -> None:
    at_once = launched(tmp_path / "q.h5")
    with edited(at_once) as file:
        file["paths/connected"][1:3] = native_paths.SECOND_NS - 1
    assert {row["alone_gbps"] for row in listed(a2a, at_once)} == {None}


def test_notes_that_do_not_say_where_limit_nothing_in_others(tmp_path: Path) -> None:
    """Another text may be of another machine."""
    conf = "qos_sl2vl 0,1\nqos_vlarb_high 0:0\nqos_vlarb_low 0:1,1:1\n"
    slow = tuple([2_000] * 12)
    alone = write(tmp_path / "alone.h5", [Setting((1,), (slow,), tables=conf)])
    both = write(tmp_path / "b.h5", [Setting((0, 1), (tuple([8_000] * 12), slow), tables=conf)])
    said = finders.explain(loading.load([alone, both]).complete(("qos",)))
    assert not any("carries alone" in one.text for one in said)
    (one,) = (one for one in said if one.kind == "model")
    assert "by SL2VL and VLArb 0.500, 0.500" in one.text
