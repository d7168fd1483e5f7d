# SPDX-License-Identifier: BSD-3-Clause
"""Which recorded variables are settings: those that decide results, and no launcher's own."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from a2aperf import grouping, loading
from a2aperf.results import Results
from conftest import Outcome
from support import synthetic
from support.synthetic import Effects, Setup

A2A = Callable[..., Outcome]
START = datetime(2025, 6, 15, tzinfo=UTC)
BASE = Setup(sizes=(8000, 60000), ops=30)
SETTINGS = ("MLX5_SINGLE_THREADED", "IBV_FORK_SAFE", "UCX_RNDV_THRESH", "MY_SWITCH")
LAUNCHERS = (
    "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURMD_NODENAME", "OMPI_MCA_orte_top_session_dir",
    "OMPI_COMM_WORLD_SIZE", "OPAL_PREFIX", "PMIX_SERVER_URI41", "PMIX_MCA_gds", "PRTE_MCA_plm",
    "PMI_RANK", "PBS_JOBID", "LSB_JOBID", "MY_JOB_ID", "HOSTNAME", "PATH", "TMPDIR",
    "A2APERF_FOLDER",
)  # fmt: skip


def interleaved(folder: Path, name: str) -> list[Path]:
    """Of two sides of FI_X: half of the blocks have another value of `name`, and are slow."""
    files = []
    for i in range(16):
        side, other = "ABBA"[i % 4], "01"[i // 4 % 2]
        slowdown = (1.4 if other == "1" else 1.0) * (1.05 if side == "B" else 1.0)
        setup = replace(
            BASE,
            seed=i,
            started=START + timedelta(minutes=i),
            environment={"FI_X": side, name: other},
            effects=Effects(launch_spread=0.005, slowdown=slowdown),
        )
        files.append(synthetic.write_launch(folder / f"{i:02}.h5", setup))
    return files


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_differs_is_not_averaged_in(a2a: A2A, tmp_path: Path, name: str) -> None:
    files = interleaved(tmp_path, name)
    (found,) = json.loads(a2a("compare", *files, "--by", "FI_X", "--json").out)
    assert [cell[name] for cell in found["cells"]] == ["0", "1", "0", "1"]
    assert {cell["launches_baseline"] for cell in found["cells"]} == {4}


def of_values(folder: Path, *environments: dict[str, str]) -> Results:
    files = [
        synthetic.write_launch(
            folder / f"{i}.h5", replace(BASE, sizes=(1000,), seed=i, environment=one)
        )
        for i, one in enumerate(environments)
    ]
    return loading.load(files)


def test_what_is_a_launchers_own_tells_nothing_apart(a2a: A2A, tmp_path: Path) -> None:
    found = of_values(tmp_path, *(dict.fromkeys(LAUNCHERS, value) for value in "ab"))
    assert set(grouping.setting_labels(found, found.points)) == {""}
    told = a2a("table", *sorted(tmp_path.iterdir()), "--csv").out
    rows = list(csv.DictReader(told.splitlines()))
    assert not set(LAUNCHERS) & set(rows[0])


def test_what_counts_launches_is_no_setting(tmp_path: Path) -> None:
    environments = [{"RUN": str(i), "MLX5_X": str(i), "SIDE": "ab"[i % 2]} for i in range(6)]
    found = of_values(tmp_path, *environments)
    assert grouping.setting_names(found, found.points, ()) == ["MLX5_X", "SIDE"]


def test_a_required_variable_is_unknown_where_nobody_required_it(a2a: A2A, tmp_path: Path) -> None:
    """The program stores variables of the fabric and of launchers, and what was required."""
    found = of_values(tmp_path, {"MY_SWITCH": "1", "MLX5_X": "1"}, {})
    labels = set(grouping.setting_labels(found, found.points))
    assert labels == {"MLX5_X=1, MY_SWITCH=1", "MLX5_X not set, MY_SWITCH unknown"}
    files = sorted(tmp_path.iterdir())
    said = a2a("compare", *files, "--by", "MY_SWITCH").out
    assert "MY_SWITCH unknown" in said
    assert "MY_SWITCH not set" not in said
    assert "MLX5_X not set" in a2a("compare", *files, "--by", "MLX5_X").out


@pytest.mark.parametrize("name", SETTINGS)
def test_every_column_has_it(a2a: A2A, tmp_path: Path, name: str) -> None:
    of_values(tmp_path, {name: "1"})
    (row,) = csv.DictReader(a2a("table", *tmp_path.iterdir(), "--csv").out.splitlines())
    assert row[name] == "1"
