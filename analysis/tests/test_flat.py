# SPDX-License-Identifier: BSD-3-Clause
"""Flat rows for other tools: each format read back by a reader that is not ours."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import h5py
import pytest
from pyarrow import parquet

import a2aperf
from a2aperf import schema
from conftest import TABLE_2019, Outcome
from support import native_streams, synthetic, synthetic_pairs
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
SETUP = Setup(nodes=2, ppn=2, sizes=(8, 1000, 60000), ops=12, environment={"PSM2_RCVTHREAD": "0"})


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic.write_launch(tmp_path_factory.mktemp("flat") / "a.h5", SETUP)


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def query(path: Path, text: str) -> list[Any]:
    opened: Any = duckdb.connect(str(path)) if path.suffix == ".duckdb" else sqlite3.connect(path)
    with closing(opened) as base:
        return list(base.execute(text).fetchall())


def test_a_row_per_point_in_every_format(a2a: A2A, launch: Path, tmp_path: Path) -> None:
    wanted = a2aperf.open(launch).to_dataframe("all")
    p50 = wanted["time_p50"].tolist()
    for suffix in ("csv", "jsonl", "parquet", "sqlite", "duckdb"):
        path = tmp_path / f"points.{suffix}"
        out = a2a("export", launch, "--flat", "-o", path)
        assert out.status == 0 and out.out.endswith(
            f"points.{suffix}: {len(wanted)} rows of points\n"
        )
    with (tmp_path / "points.csv").open(newline="", encoding="utf-8") as stream:
        rows: list[Any] = list(csv.DictReader(stream))
    assert [float(row["time_p50"]) for row in rows] == p50
    assert {row["PSM2_RCVTHREAD"] for row in rows} == {"0"}
    lines = read_lines(tmp_path / "points.jsonl")
    assert [line["time_p50"] for line in lines] == p50
    table = parquet.read_table(tmp_path / "points.parquet")
    assert table["time_p50"].to_pylist() == p50
    assert table.schema.field("time_p50").metadata[b"units"] == b"ns"
    for suffix in ("sqlite", "duckdb"):
        path = tmp_path / f"points.{suffix}"
        assert [row[0] for row in query(path, "SELECT time_p50 FROM points ORDER BY point")] == p50
        said = query(path, "SELECT unit FROM columns WHERE rows = 'points' AND name = 'time_p50'")
        assert said == [("ns",)]


def test_every_column_says_what_it_is(a2a: A2A, launch: Path, tmp_path: Path) -> None:
    pairs = synthetic_pairs.write_pairs(tmp_path / "p.h5", Setup(nodes=4, ppn=1, sizes=(8,), ops=5))
    base = tmp_path / "site.sqlite"
    for rows, file in (("points", launch), ("ops", launch), ("pairs", pairs)):
        assert a2a("export", file, "--flat", "--rows", rows, "-o", base).status == 0
        assert (
            a2a("export", file, "--flat", "--rows", rows, "-o", tmp_path / "x.parquet").status == 0
        )
        for field in parquet.read_schema(tmp_path / "x.parquet"):
            assert (field.metadata or {}).get(b"long_name"), (rows, field.name)
        (tmp_path / "x.parquet").unlink()
    assert query(base, "SELECT rows, name FROM columns WHERE meaning = ''") == []
    rate = query(base, "SELECT unit FROM columns WHERE name = 'link_rate_gbps'")
    assert rate == [("Gbit/s",)]
    said = query(base, "SELECT meaning FROM columns WHERE name = 'PSM2_RCVTHREAD'")
    assert said == [("recorded of the launch: an option, a version, a label or a variable",)]


@pytest.mark.parametrize("suffix", ["sqlite", "duckdb"])
def test_a_database_has_each_launch_once(
    a2a: A2A, launch: Path, tmp_path: Path, suffix: str
) -> None:
    base = tmp_path / f"site.{suffix}"
    for _ in range(2):
        assert a2a("export", launch, "--flat", "-o", base).status == 0
    first = query(base, "SELECT count(*), count(DISTINCT launch_id) FROM points")
    assert first == [(len(a2aperf.open(launch).to_dataframe("all")), 1)]
    # Another launch has a setting more, and what is no all-to-all other columns.
    more = synthetic.write_launch(
        tmp_path / "b.h5", Setup(nodes=2, sizes=(8,), seed=5, environment={"psm2_rcvthread": "1"})
    )
    stream = native_streams.write(tmp_path / "s.h5")
    assert a2a("export", more, stream, "--flat", "-o", base).status == 0
    assert query(base, "SELECT count(DISTINCT launch_id) FROM points") == [(3,)]
    kept = "SELECT DISTINCT PSM2_RCVTHREAD FROM points WHERE file = 'a.h5'"
    assert query(base, kept) == [("0",)]


def resumed(file: h5py.File) -> None:
    """As if all points but the first were measured by a second launch."""
    file.copy("segments/0", "segments/1")
    file["segments/1"].attrs["time_origin"] = file["segments/0"].attrs["time_origin"] + 10**12
    file["segment"][1:] = 1


@pytest.mark.parametrize("suffix", ["sqlite", "duckdb"])
def test_what_is_no_launchs_is_there_once_too(a2a: A2A, tmp_path: Path, suffix: str) -> None:
    base = tmp_path / f"site.{suffix}"
    file = synthetic.write_launch(tmp_path / "a.h5", SETUP)
    with edited(file) as opened:
        opened["state"][1], opened["segment"][1] = schema.STATES.index("skipped"), -1
        opened["skip_reason"][1] = "no memory"
        for column in ("ops", "attempts", "stop_rule"):
            opened[column][1] = 0
    pairs = synthetic_pairs.write_pairs(tmp_path / "p.h5", Setup(nodes=4, ppn=1, sizes=(8,), ops=5))
    for _ in range(2):
        assert a2a("export", file, "--flat", "-o", base).status == 0
        assert a2a("export", pairs, "--flat", "--rows", "pairs", "-o", base).status == 0
        with edited(pairs) as opened:  # the second time it has been resumed
            if "1" not in opened["segments"]:
                resumed(opened)
    assert query(base, "SELECT state, launch FROM points ORDER BY point") == [
        ("complete", "a.h5#0"), ("skipped", None), ("complete", "a.h5#0"),
    ]  # fmt: skip
    assert query(base, "SELECT count(*), count(launch_id) FROM pairs") == [(12, 12)]
    assert query(base, "SELECT count(launch) FROM pairs") == [(0,)]  # one of two, who knows which


@pytest.mark.parametrize("suffix", ["sqlite", "duckdb"])
def test_a_column_is_of_numbers_before_it_has_any(
    a2a: A2A, launch: Path, tmp_path: Path, suffix: str
) -> None:
    """On one node nothing leaves it; tomorrow's launch has two."""
    base = tmp_path / f"site.{suffix}"
    alone = synthetic.write_launch(tmp_path / "one.h5", Setup(nodes=1, ppn=2, sizes=(8,), ops=5))
    for file in (alone, launch):
        assert a2a("export", file, "--flat", "-o", base).status == 0
    rate = "gbps_node_net_max"
    assert query(base, f"SELECT {rate} FROM points WHERE file = 'one.h5'") == [(None,)]
    (largest,) = query(base, f"SELECT max({rate} + 0.0), max({rate}) FROM points")
    assert largest[0] == largest[1] == a2aperf.open(launch).to_dataframe("all")[rate].max()


def test_columns_of_other_launches_keep_what_they_are(
    a2a: A2A, launch: Path, tmp_path: Path
) -> None:
    base = tmp_path / "site.sqlite"
    for file in (native_streams.write(tmp_path / "s.h5"), launch):
        assert a2a("export", file, "--flat", "-o", base).status == 0
    have = {row[1] for row in query(base, "PRAGMA table_info(points)")}
    said = [row[0] for row in query(base, "SELECT name FROM columns WHERE rows = 'points'")]
    assert set(said) == have and len(said) == len(have)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "sqlite", "duckdb"])
def test_a_label_may_be_called_as_the_key_is(a2a: A2A, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    labelled = Setup(nodes=2, sizes=(8,), ops=5, labels={"launch_id": "mine"})
    file = synthetic.write_launch(tmp_path / "a.h5", labelled)
    assert a2a("export", file, "--flat", "-o", path).status == 0
    if suffix in ("sqlite", "duckdb"):
        rows = query(path, "SELECT launch_id_2, length(launch_id) FROM points")
        assert rows == [("mine", 16)]


@pytest.mark.parametrize("suffix", ["sqlite", "duckdb"])
@pytest.mark.parametrize("table", ["points", "columns"])
def test_a_table_of_another_program_stays_as_it_is(
    a2a: A2A, launch: Path, tmp_path: Path, table: str, suffix: str
) -> None:
    base = tmp_path / f"site.{suffix}"
    opened: Any = duckdb.connect(str(base)) if suffix == "duckdb" else sqlite3.connect(base)
    with closing(opened):
        opened.execute(f"CREATE TABLE {table} (name TEXT, price DOUBLE)")
        opened.execute(f"INSERT INTO {table} VALUES ('mine', 1)")
        opened.commit()
    a2a("export", launch, "--flat", "-o", base).refused(f"its table {table} is another program's")
    assert query(base, f"SELECT * FROM {table}") == [("mine", 1.0)]
    tables = query(base, "SELECT name FROM sqlite_master WHERE type = 'table'")
    assert tables == [(table,)]


def test_a_merged_launch_takes_the_place_of_its_own(a2a: A2A, launch: Path, tmp_path: Path) -> None:
    other = synthetic.write_launch(tmp_path / "b.h5", Setup(nodes=2, ppn=2, sizes=(8,), seed=5))
    merged, base = tmp_path / "both.h5", tmp_path / "site.sqlite"
    assert a2a("merge", launch, other, "-o", merged).status == 0
    for files in ((launch, other), (merged,)):
        assert a2a("export", *files, "--flat", "-o", base).status == 0
        assert query(base, "SELECT count(DISTINCT launch_id) FROM points") == [(2,)]
    assert query(base, "SELECT DISTINCT file FROM points") == [("both.h5",)]


@pytest.mark.parametrize("suffix", ["sqlite", "duckdb"])
def test_a_database_is_never_made_behind_a_link(
    a2a: A2A, launch: Path, tmp_path: Path, suffix: str
) -> None:
    base = tmp_path / f"site.{suffix}"
    base.symlink_to(tmp_path / "elsewhere")
    a2a("export", launch, "--flat", "-o", base).refused("symbolic link", "the file itself")
    assert not (tmp_path / "elsewhere").exists()


def test_a_row_per_op_has_the_samples(a2a: A2A, launch: Path, tmp_path: Path) -> None:
    path = tmp_path / "ops.jsonl"
    assert a2a("export", launch, "--flat", "--rows", "ops", "-o", path).status == 0
    rows = read_lines(path)
    runs = a2aperf.open(launch)
    for size in SETUP.sizes:
        told = [r for r in rows if r["message_size"] == size and r["valid"]]
        found = runs.ops(message_size=size)
        assert [r["time"] for r in told] == found.max("rank").values.tolist()
        assert [r["start"] for r in told] == found["start"].values.tolist()
    names = "launch_id, point, op, valid, start, time, mode"
    wanted = [tuple(row[name] for name in names.split(", ")) for row in rows]
    for suffix in ("sqlite", "duckdb"):
        base = tmp_path / f"ops.{suffix}"
        assert a2a("export", launch, "--flat", "--rows", "ops", "-o", base).status == 0
        assert query(base, f"SELECT {names} FROM ops") == wanted


def test_a_row_per_pair(a2a: A2A, tmp_path: Path) -> None:
    file = synthetic_pairs.write_pairs(
        tmp_path / "p.h5", Setup(nodes=4, ppn=1, sizes=(8,), ops=5), synthetic_pairs.Truth()
    )
    out = a2a("export", file, "--flat", "--rows", "pairs", "-o", tmp_path / "p.csv")
    assert out.out.endswith("12 rows of pairs\n")
    with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as stream:
        ends = {(row["source"], row["destination"]) for row in csv.DictReader(stream)}
    assert len(ends) == 12


def test_an_import_has_rows_of_points_alone(a2a: A2A, tmp_path: Path) -> None:
    file = tmp_path / "2019.h5"
    assert a2a("import", TABLE_2019, "-o", file).status == 0
    assert a2a("export", file, "--flat", "-o", tmp_path / "x.csv").out.endswith(
        "247 rows of points\n"
    )
    out = a2a("export", file, "--flat", "--rows", "ops", "-o", tmp_path / "y.csv")
    assert (out.status, (tmp_path / "y.csv").exists()) == (2, False)
    assert "there are no ops in these files" in out.err


def test_what_cannot_be_asked(a2a: A2A, launch: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("mine")
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but long enough to be looked at" * 30)
    refused = {
        ("--flat", "-o", there): "exists already; --force replaces it",
        ("--flat", "-o", text): "cannot be appended to",
        ("--flat", "-o", tmp_path / "x.xlsx"): "flat rows are written as .csv, .jsonl, .parquet",
        ("--flat",): "give --flat and -o FILE",
        ("--rows", "ops", "-o", tmp_path / "x.csv"): "give --flat and -o FILE",
        (
            "--flat",
            "--rows",
            "nodes",
            "-o",
            tmp_path / "x.csv",
        ): "expected one of points, pairs, paths, ops",
        ("--flat", "--anonymize", "-o", tmp_path / "x.csv"): "--flat writes rows as they are",
        ("-o", tmp_path / "x.csv"): "give --anonymize or --flat",
        (launch, "--anonymize", "-o", tmp_path / "x.h5"): "--anonymize takes one file",
    }
    for options, why in refused.items():
        out = a2a("export", launch, *options)
        assert out.status == 2 and why in out.err, options
    assert there.read_text() == "mine" and text.read_text().startswith("no database")
    assert a2a("export", launch, "--flat", "-o", there, "--force").status == 0
