# SPDX-License-Identifier: BSD-3-Clause
"""Ops that follow one another without a common start: nothing holds them against others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import a2aperf
from a2aperf import compare, grouping, loading, metrics, roles, schema
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.alltoall import plots
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

Run = Callable[..., Outcome]
SETUP = Setup(nodes=2, sizes=(1000, 8000), ops=20, sync="barrier")


def launches(folder: Path, *roles: str) -> Results:
    paths = [
        synthetic.write_launch(folder / f"{i}.h5", replace(SETUP, seed=i))
        for i in range(len(roles))
    ]
    found = loading.load(paths)
    role_of = dict(zip(found.launches, roles, strict=True))
    return replace(found, points=found.points.assign(role=found.points["launch"].map(role_of)))


def test_the_whole_is_what_any_op_takes_of_the_time() -> None:
    begin = np.array([[0, 20], [100, 110], [1000, 1000]])
    end = np.array([[100, 110], [180, 200], [1050, 1050]])
    assert metrics.whole_time(begin, end) == 250
    assert metrics.whole_time(begin[::-1], end[::-1]) == 250
    assert metrics.whole_time(begin[:1], end[:1]) == 110
    # One within another.
    assert metrics.whole_time(np.array([[0], [10]]), np.array([[100], [20]])) == 100


def test_they_are_left_out_beside_ops_that_start_together(tmp_path: Path) -> None:
    found = launches(tmp_path, "measure", schema.PIPELINED)
    judged = found.to_judge()
    assert set(judged.points["role"]) == {"measure"}
    (note,) = judged.unjudged
    assert note.startswith("2 points of role pipelined left out: ops that follow one another")


def test_a_comparison_that_lacks_them_says_why(tmp_path: Path) -> None:
    found = launches(tmp_path, "measure", schema.PIPELINED).to_judge()
    with pytest.raises(InputError, match=r"needs two values; 2 points of role pipelined left out"):
        compare.by_setting(found, ["sync"])


def test_alone_they_are_not_judged_and_the_reason_is_said(tmp_path: Path) -> None:
    found = launches(tmp_path, schema.PIPELINED, schema.PIPELINED)
    for ask in (found.to_judge, found.complete):
        with pytest.raises(InputError, match=r"have no common start.*'a2a table' shows them"):
            ask()


def test_their_rate_has_no_interval_of_the_median_time(tmp_path: Path) -> None:
    """Nor has one of traffic that is drawn for each op: neither is bytes by that time."""
    points = launches(tmp_path, "measure").points
    plain = grouping.line(points, "message_size", "gbps_rank")
    assert np.isfinite(plain.low).all() and np.isfinite(plain.high).all()
    for changed in ({"role": schema.PIPELINED}, {"traffic_draws": 8}):
        other = points.assign(**changed)
        line = grouping.line(other, "message_size", "gbps_rank")
        assert np.isnan(line.low).all() and np.isnan(line.high).all()
        times = grouping.line(other, "message_size", "time_p50")
        assert np.isfinite(times.low).all()


@pytest.mark.parametrize("kind", [kind for kind in plots.KINDS if kind != "traffic"])
def test_a_figure_without_them_says_so_and_stderr_too(tmp_path: Path, a2a: Run, kind: str) -> None:
    paths = [
        synthetic.write_launch(tmp_path / f"{i}.h5", replace(SETUP, seed=i, labels={"x": str(i)}))
        for i in range(3)
    ]
    with edited(paths[2]) as file:
        file["role"][...] = schema.PIPELINED
    out = tmp_path / "figure.svg"
    by = ["--by", "x"] if kind == "compare" else []
    outcome = a2a("plot", kind, *paths, "-o", out, *by)
    assert outcome.status == 0
    said = "2 points of role pipelined left out"
    assert outcome.err.count(said) == 1
    assert said in out.read_text()


def test_a_frame_has_them_as_the_table_has(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", replace(SETUP, baseline=True))
    with edited(path) as file:
        file["role"][0] = schema.PIPELINED
    runs = a2aperf.open(path)
    assert "pipelined" in set(runs.to_dataframe()["role"])
    assert len(runs.to_dataframe()) == len(runs.to_dataframe(roles.DEFAULT)) == 4
