# SPDX-License-Identifier: BSD-3-Clause
"""The library where it is asked for what is rare: what the commands give, or why not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import a2aperf
from conftest import Outcome
from support import mutants, native_streams, synthetic
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
SMALL = Setup(nodes=2, ppn=1, sizes=(1000, 60000), ops=20)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return synthetic.write_launch(tmp_path / "a.h5", SMALL)


def test_points_of_another_workload_are_those_of_the_table(a2a: A2A, tmp_path: Path) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    frame = a2aperf.open(path).to_dataframe()
    told = json.loads(a2a("table", path, "--json").out)["rows"]
    assert frame["message_size"].tolist() == [row["message_size"] for row in told]


def test_an_empty_name_is_no_folder() -> None:
    with pytest.raises(a2aperf.InputError, match="an empty name"):
        a2aperf.open("")


def test_a_moment_is_chosen_to_the_nanosecond(path: Path) -> None:
    started = 1_749_945_600_000_000_001
    with edited(path) as file:
        file["started"][...] = np.arange(started, started + len(file["started"]))
    runs = a2aperf.open(path)
    for value in runs.to_dataframe()["started"]:
        assert runs.sel(started=value).to_dataframe()["started"].tolist() == [value]
    assert len(runs.sel(started=slice(started + 1, None))) == len(runs) - 1


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA, pd.NaT, np.float64("nan")])
def test_what_is_not_recorded_is_chosen_by_any_word_for_it(path: Path, nothing: object) -> None:
    runs = a2aperf.open(path)
    assert len(runs.sel(partner=nothing)) == len(runs)


def test_a_truth_of_numpy_is_one(path: Path) -> None:
    runs = a2aperf.open(path)
    assert len(runs.sel(has_raw=np.True_)) == len(runs.sel(has_raw=True)) == len(runs)


def test_points_that_wait_have_no_launch(path: Path) -> None:
    mutants.killed(path)
    with edited(path) as file:
        file["state"][-1] = 0
        file["segment"][-1] = -1
        file["checksum"][-1] = -1
    waiting = a2aperf.open(path).sel(state="pending")
    assert waiting.launches.empty
    assert "start" in waiting.launches
    with pytest.raises(a2aperf.InputError, match="no point is complete, 1 pending"):
        waiting.ops()


def test_auto_is_the_scale_that_a_figure_takes_by_itself(path: Path) -> None:
    by_itself, auto = (
        [axes.get_xlim() for axes in a2aperf.open(path).plot.sizes(**scale).axes]
        for scale in ({}, {"x_scale": "auto", "y_scale": "auto"})
    )
    assert by_itself == auto


def test_samples_of_two_clusters_stay_apart(tmp_path: Path) -> None:
    one, other = (
        synthetic.write_launch(tmp_path / f"{name}.h5", replace(SMALL, seed=seed))
        for seed, name in enumerate("ab")
    )
    with edited(other) as file:
        facts = file["segments/0/node_facts/cpu_model"]
        facts[...] = ["another"] * len(facts)
    with pytest.raises(a2aperf.InputError, match="different clusters: cpu_model"):
        a2aperf.open(one, other).ops(message_size=1000)
    assert a2aperf.open(one, other, mixed=True).ops(message_size=1000).sizes["op"] > 20


@pytest.mark.parametrize(
    ("kind", "wrong", "says"),
    [
        ("sizes", {"x_scale": "foo"}, "x_scale=foo: expected auto, linear or log"),
        ("sizes", {"y_scale": "Linear"}, "y_scale=Linear: expected"),
        ("sizes", {"width": 0}, "width=0: expected inches above 0"),
        ("sizes", {"width": "column"}, "width=column: expected inches"),
        ("sizes", {"most": 0}, "most=0: expected 1 or more"),
        ("sizes", {"ranks": [8]}, "no figure has a 'ranks'; sel(ranks=…) chooses points"),
        ("compare", {"by": "PSM2_RCVTHREAD", "error": 0}, "expected a share above 0"),
    ],
)
def test_a_wrong_argument_of_a_figure(
    tmp_path: Path, kind: str, wrong: dict[str, Any], says: str
) -> None:
    for i in range(4):
        setup = replace(SMALL, seed=i, environment={"PSM2_RCVTHREAD": str(i % 2)})
        synthetic.write_launch(tmp_path / f"{i}.h5", setup)
    with pytest.raises(a2aperf.InputError) as told:
        getattr(a2aperf.open(tmp_path).plot, kind)(**wrong)
    assert says in str(told.value)


def test_an_unfinished_file_is_read_where_the_package_is_on_the_path_alone(path: Path) -> None:
    """As of `pip install --target`: the process that reads for it finds it, too."""
    mutants.killed(path)
    where = [folder for folder in sys.path if folder]
    program = (
        f"import sys; sys.path[:] = {where!r}; import a2aperf; "
        f"print(len(a2aperf.open({str(path)!r}).to_dataframe()))"
    )
    bare = [getattr(sys, "_base_executable", sys.executable), "-I", "-S", "-c", program]
    done = subprocess.run(bare, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
