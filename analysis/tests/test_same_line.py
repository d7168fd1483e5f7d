# SPDX-License-Identifier: BSD-3-Clause
"""Plots, findings, histories, tables and samples agree on which launches are on one line."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import a2aperf
from a2aperf import arrays, history, loading, plots, point_table
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.results import Results
from support import synthetic
from support.synthetic import Setup

pytestmark = pytest.mark.usefixtures("summed_once")

SETUP = Setup(sizes=(1000, 8000, 16000, 60000), ops=30)
Change = dict[str, Any]


def launches(folder: Path, changes: Sequence[Change]) -> Results:
    return loading.load(
        synthetic.write_launch(folder / f"{i}.h5", replace(SETUP, seed=i, **change))
        for i, change in enumerate(changes)
    )


def labelled(*values: str) -> list[Change]:
    return [{"labels": {"build": value}} for value in values]


def with_variable(name: str, *values: str) -> list[Change]:
    return [{"environment": {name: value}} for value in values]


def attributed(name: str, *values: str) -> list[Change]:
    return [{"attributes": {name: value}} for value in values]


def in_plots(found: Results) -> int:
    charts = plots.KINDS["sizes"].make(found, Options()).charts
    return len({curve.parts for curve in charts[0].curves})


def in_findings(found: Results) -> int:
    """Costs are told of every line."""
    runs = a2aperf.Runs(lambda: found)
    return len(runs.findings("cost"))


def in_history(found: Results) -> int:
    return int(history.history(found).lines["series"].nunique())


def in_tables(found: Results) -> int:
    table = point_table.table(found)
    if table.columns[0].heading != "setting":
        return 1
    return len({row[0].text for row in table.rows})


def in_samples(found: Results) -> int:
    """1 where all ops at one size are a sample of one thing, 2 where that is refused."""
    pytest.importorskip("xarray", reason="samples are arrays of xarray")
    one = found.select(found.points["message_size"] == 1000)
    try:
        arrays.ops(one, "end", True)
    except InputError:
        return 2
    return 1


COUNTS = (in_plots, in_findings, in_history, in_tables)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        (labelled("a", "b"), 2),
        (labelled("a", "b", "c"), 3),
        (labelled("a", "a", "b", "b", "c", "c"), 3),
        (labelled("1", "2", "3", "4", "5"), 1),  # a label that counts launches is no setting
        (with_variable("PSM2_RCVTHREAD", "0", "1", "2"), 3),
        (with_variable("OMPI_MCA_pml", "cm", "ob1"), 2),
        (with_variable("OMPI_MCA_pml", "cm", "ob1", "ucx"), 3),
        (with_variable("OMPI_COMM_WORLD_RANK", "0", "1"), 1),  # the launcher's own
        (with_variable("FI_PSM2_UUID", "a", "b", "c"), 1),
        ([{"sync": "clock"}, {"sync": "barrier"}], 2),
        (attributed("poll", "spin", "yield", "yield"), 2),
        (attributed("poll", "spin", "throttle=8", "throttle=16"), 3),
        (attributed("memory", "normal", "huge"), 2),
        ([{}, {}], 1),
    ],
    ids=str,
)
def test_lines(
    tmp_path: Path, changes: Sequence[Change], lines: int, count: Callable[[Results], int]
) -> None:
    assert count(launches(tmp_path, changes)) == lines


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        (labelled("a", "b", "c"), 2),
        (labelled("1", "2", "3", "4", "5"), 1),
        (with_variable("OMPI_MCA_pml", "cm", "ob1"), 2),
        ([{"sync": "clock"}, {"sync": "barrier"}], 2),
        ([{}, {}], 1),
    ],
    ids=str,
)
def test_samples(tmp_path: Path, changes: Sequence[Change], lines: int) -> None:
    assert in_samples(launches(tmp_path, changes)) == lines


@pytest.mark.parametrize("count", [in_plots, in_history, in_tables])
def test_what_follows_from_the_scale_tells_nothing_apart(
    tmp_path: Path, count: Callable[[Results], int]
) -> None:
    """Many ranks on few cores start from a barrier: that is one line over the ranks."""
    found = launches(
        tmp_path,
        [{"nodes": 2, "ppn": 1, "sync": "clock"}, {"nodes": 4, "ppn": 1, "sync": "barrier"}],
    )
    counted = count(found)
    assert counted == (2 if count is in_plots else 1)  # plots: a curve for each number of ranks


def test_what_is_said_is_what_differs(tmp_path: Path) -> None:
    changes = [{"sync": sync, "attributes": {"poll": "spin"}} for sync in ("clock", "barrier")]
    found = launches(tmp_path, changes)
    charts = plots.KINDS["sizes"].make(found, Options()).charts
    assert {curve.name for curve in charts[0].curves} == {"clock start", "barrier start"}
