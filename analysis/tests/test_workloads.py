# SPDX-License-Identifier: BSD-3-Clause
"""A workload is one package and one row; of one that is not known nothing is claimed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import a2aperf
from a2aperf import plots, schema, workloads
from a2aperf.workloads.workload import Workload
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]

PACKAGE = Path(workloads.__file__).parent.parent


def modules_outside(key: str) -> list[Path]:
    own = Path(workloads.__file__).parent
    found = [path for path in PACKAGE.rglob("*.py") if own / key not in path.parents]
    assert len(found) > 50
    return [path for path in found if path != own / "__init__.py"]


@pytest.mark.parametrize("workload", workloads.ALL, ids=lambda one: one.key)
def test_no_other_module_imports_a_workload(workload: Workload) -> None:
    key = workload.key.replace("-", "_")
    imported = re.compile(rf"a2aperf\.workloads\.{key}\b|workloads import .*\b{key}\b")
    named = [path for path in modules_outside(key) if imported.search(path.read_text())]
    assert named == []


def test_no_other_module_asks_for_the_role_of_pairs() -> None:
    asks = re.compile(r"""["']pairs["']|role.*["']pair["']""")
    assert [path for path in modules_outside("pairs") if asks.search(path.read_text())] == []


def test_no_module_asks_for_a_finding_or_a_figure_by_name() -> None:
    kinds = {finder.kind for one in workloads.ALL for finder in one.finders} | plots.KINDS.keys()
    asks = re.compile(rf"""kind (?:==|!=|in|not in) [({{]?["'](?:{"|".join(kinds)})["']""")
    assert asks.search('finder.kind == "tails"') and asks.search("x.kind in ('sizes', 'cdf')")
    modules = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "studies"]
    assert [
        path for path in modules if asks.search(path.read_text())
    ] == []  # studies have kinds, too


def test_every_role_is_that_of_one_workload() -> None:
    roles = [role for workload in workloads.ALL for role in workload.roles]
    assert len(set(roles)) == len(roles)
    for workload in workloads.ALL:
        assert all(workloads.of_role(role) is workload for role in workload.roles)
        looked_at = {role for finder in workload.finders for role in finder.roles}
        assert looked_at <= set(workload.roles)


# What a newer program measures --------------------------------------------------------------------


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A file of a workload that is not known here, without the rates of an all-to-all."""
    path = synthetic.write_launch(tmp_path / "ring.h5", Setup(sizes=(8, 1000), ops=12, seed=5))
    with edited(path) as file:
        file.attrs["workload"] = "ring"
        for name in schema.RATES | schema.TIMES:
            del file[name]
        laps = file.create_dataset("laps", data=np.array([2.5, 3.5]))
        laps.attrs.update(long_name="laps a second", units="1/s", better="higher")
        laps.dims[0].attach_scale(file["point"])
    return path


def test_its_points_are_tabulated_and_chosen(newer: Path, a2a: A2A) -> None:
    heading, *rows = a2a("table", newer, "--columns", "role,message_size,laps").out.splitlines()
    assert heading.split() == ["role", "msg", "B", "laps/s"]
    assert [row.split() for row in rows] == [["ring", "8", "2.5"], ["ring", "1000", "3.5"]]
    assert len(a2a("table", newer, "--where", "laps>3").out.splitlines()) == 2
    told = json.loads(a2a("table", newer, "--json").out)
    assert told["columns"]["laps"]["better"] == "higher"
    assert a2aperf.open(newer).to_dataframe("ring")["laps"].tolist() == [2.5, 3.5]


def test_nothing_is_said_of_them_that_holds_of_all_to_alls(
    newer: Path, launch: Path, a2a: A2A, tmp_path: Path
) -> None:
    said = ("ring.h5", "'a2aperf ring', which this a2a does not know", "a2a table")
    for words in (("explain",), ("compare", "--by", "mode"), ("history",)):
        a2a(words[0], newer, *words[1:]).refused(*said)
    a2a("plot", "sizes", newer, "-o", tmp_path / "x.svg").refused(*said)
    a2a("merge", newer, launch, "-o", tmp_path / "both.h5").refused(*said)
    beside = a2a("explain", launch, newer)
    assert (beside.status, beside.out) == (0, a2a("explain", launch).out)
    page = tmp_path / "page.html"
    assert a2a("report", newer, "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "a2aperf ring with 8 ranks" in text
    assert "All-to-all" not in text
    assert "No point is complete" not in text


def test_check_judges_no_figure_of_them(newer: Path, a2a: A2A) -> None:
    outcome = a2a("check", newer)
    assert (outcome.status, outcome.err) == (0, "")
    assert "sound" in outcome.out
    with edited(newer) as file:
        del file["buffer_slots"]  # which the points of every workload have
    outcome = a2a("check", newer)
    assert (outcome.status, "column buffer_slots is missing" in outcome.out) == (2, True)


def test_a_copy_keeps_what_they_are(newer: Path, a2a: A2A, tmp_path: Path) -> None:
    copy = tmp_path / "public.h5"
    key = ("--key", tmp_path / "key")
    assert a2a("export", newer, "--anonymize", *key, "-o", copy).status == 0
    before, after = (a2a("table", path, "--columns", "role,laps").out for path in (newer, copy))
    assert before == after


def test_a_name_may_have_dashes(a2a: A2A, tmp_path: Path) -> None:
    setup = Setup(sizes=(8, 1000), ops=12, seed=5, sentinel=True, baseline=True)
    path = synthetic.write_launch(tmp_path / "loop.h5", setup)
    with edited(path) as file:
        file.attrs["workload"] = "ring-loop"
    a2a("explain", path).refused("'a2aperf ring-loop', which this a2a does not know")
    assert a2a("check", path).status == 0
    assert [workloads.of_role(f"ring-loop{x}").key for x in ("", "-baseline", "-sentinel")] == [
        "ring-loop"
    ] * 3


@pytest.mark.parametrize(
    "place", ["lanes/x", "notes", "counters/temperature", "segments/0/lamps", "segments/0/lamps/x"]
)
def test_a_copy_lacks_nothing(launch: Path, a2a: A2A, tmp_path: Path, place: str) -> None:
    """A group of a workload, or a dataset, that is not known here is not dropped without a word."""
    other = synthetic.write_launch(tmp_path / "other.h5", Setup(seed=3))
    with edited(launch) as file:
        file[place] = np.arange(3)
    said = ("launch.h5", f"knows nothing of /{place.removesuffix('/x')}", "a copy would lack it")
    out = tmp_path / "out.h5"
    a2a("check", launch, "--repair", "-o", out).refused(*said)
    a2a("export", launch, "--anonymize", "--key", tmp_path / "key", "-o", out).refused(*said)
    a2a("merge", other, launch, "-o", out).refused(*said)
    assert not out.exists()


def test_a_copy_keeps_attributes_of_a_launch_that_are_not_known(
    launch: Path, a2a: A2A, tmp_path: Path
) -> None:
    other = synthetic.write_launch(tmp_path / "other.h5", Setup(seed=3))
    with edited(launch) as file:
        file["segments/0"].attrs.update(
            {"lamps": np.int32(7), "glow": 0.25, "said": "by /home/anna/x"}
        )
    public, both = tmp_path / "public.h5", tmp_path / "both.h5"
    assert a2a("export", launch, "--anonymize", "--key", tmp_path / "key", "-o", public).status == 0
    assert a2a("merge", launch, other, "-o", both).status == 0
    for path, said in ((public, "by path-"), (both, "by /home/anna/x")):
        with h5py.File(path) as file:
            attributes = file["segments/0"].attrs
            assert (attributes["lamps"], attributes["glow"]) == (7, 0.25)
            assert attributes["said"].startswith(said) and ("anna" in attributes["said"]) == (
                path == both
            )
