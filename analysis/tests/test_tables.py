# SPDX-License-Identifier: BSD-3-Clause
"""A table is rows of columns, whatever shows it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from a2aperf import tables, verdicts
from a2aperf.tables import BLANK, Cell, Column, Table
from conftest import Outcome
from support import synthetic
from support.synthetic import Setup

DATA = pd.DataFrame({"name": ["a", "b"], "time": [1500.0, math.nan], "n": [3, 12]})
COLUMNS = (
    Column("name", left=True, of="name"),
    Column("µs", lambda time: f"{time / 1e3:.2f}", of="time"),
    Column("seen", lambda row: f"{row['n']} of 20", by="n"),
)


def test_a_column_writes_and_sorts_by_fields_of_its_row() -> None:
    first, second = Table.of(COLUMNS, DATA).rows
    assert first == [Cell("a", "a"), Cell("1.50", "1500.0"), Cell("3 of 20", "3")]
    assert second[1] == BLANK
    assert [cell.key for cell in second] == ["b", "", "12"]


def test_lines_are_aligned_under_their_headings() -> None:
    made = Table.of(COLUMNS, DATA)
    assert made.lines() == ["name    µs      seen", "a     1.50   3 of 20", "b        -  12 of 20"]
    assert made.lines([6, 0, 0])[1] == "a       1.50   3 of 20"
    marked = Table(COLUMNS[:1], [[Cell("1.50", mark="max")]])
    assert marked.lines() == ["name", "1.50 =max"]


@pytest.mark.parametrize("value", [math.nan, math.inf, pd.NA, np.float64("nan")])
def test_what_is_no_number_is_null_for_machines(value: object) -> None:
    data = pd.DataFrame({"x": pd.Series([value], dtype=object), "n": np.array([3])})
    (row,) = tables.records(data)
    assert json.loads(json.dumps(row, allow_nan=False)) == {"x": None, "n": 3}


def test_slow_rates_of_a_comparison_keep_their_digits(
    a2a: Callable[..., Outcome], tmp_path: Path
) -> None:
    setup = Setup(sizes=(1, 60000), ops=20, baseline=True)
    path = synthetic.write_launch(tmp_path / "a.h5", setup)
    told = a2a("compare", path, "--by", "engine").out.splitlines()
    rows = [line.split() for line in told if line.endswith("undecided")]
    rates = [row[row.index("1:1") + 1 :][:2] for row in rows]
    assert [[len(rate.partition(".")[2]) for rate in row] for row in rates] == [[5, 5], [2, 2]], (
        told
    )
    assert all(rate.startswith("0.00") for rate in rates[0])
    assert verdicts._rate(0.5) == "0.500"
