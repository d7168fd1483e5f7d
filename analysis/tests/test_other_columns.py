# SPDX-License-Identifier: BSD-3-Clause
"""Files whose columns are not exactly ours: of a newer writer, or of one that has fewer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import a2aperf
from a2aperf import loading, plots, schema
from a2aperf.curves import Options
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
SETUP = Setup(sizes=(1000, 8000, 60000), ops=12)
NEEDED = schema.NEEDED


def add(path: Path, name: str, values: Any, **attributes: Any) -> None:
    """What a newer writer would do."""
    with edited(path) as file:
        put(file, name, values, **attributes)


def put(file: h5py.File, name: str, values: Any, **attributes: Any) -> None:
    dataset = file.create_dataset(name, data=values)
    dataset.dims[0].attach_scale(file["point"])
    dataset.attrs.update(attributes)


@pytest.fixture
def newer(launch: Path) -> Path:
    jitter = {"long_name": "median absolute deviation of the op time", "units": "ns"}
    rate = {"long_name": "rate of receiving", "units": "Gbit/s"}
    words = {"flag_values": np.arange(2, dtype="i1"), "flag_meanings": "random linear"}
    names = np.array(["hot", "cold", "", "cold"], object).astype(h5py.string_dtype())
    with edited(launch) as file:
        put(file, "jitter", np.array([100.0, 2500.0, 300.0, np.nan]), **jitter, better="lower")
        put(file, "rate_in", np.array([1.0, 2, 3, 4]), **rate)
        put(file, "retries", np.array([0, 3, -1, 7], "i8"), _FillValue=np.int64(-1))
        put(file, "placement", np.array([0, 1, 1, 0], "i1"), **words)
        put(file, "cache", names, long_name="state of the caches")
    return launch


NEW = ("jitter", "rate_in", "retries", "placement", "cache")


def test_columns_of_a_newer_writer_in_tables(newer: Path, a2a: A2A) -> None:
    lines = a2a("table", newer, "--columns", "message_size," + ",".join(NEW)).out.splitlines()
    assert lines[0].split("  ")[-5:] == [
        "jitter µs", "Gbit/s rate in", "retries", "placement", "cache",
    ]  # fmt: skip
    assert lines[1].split() == ["1000", "0.10", "1.00", "0", "random", "hot"]
    assert lines[3].split() == ["16000", "0.30", "3.00", "-", "linear", "-"]
    assert lines[4].split() == ["60000", "-", "4.00", "7", "random", "cold"]
    told = json.loads(a2a("table", newer, "--json").out)
    about = {"long_name": "median absolute deviation of the op time", "units": "ns"}
    assert told["columns"]["jitter"] == {**about, "better": "lower"}
    assert [row["retries"] for row in told["rows"]] == [0, 3, None, 7]
    assert [row["cache"] for row in told["rows"]] == ["hot", "cold", "", "cold"]
    heading, first, *_ = a2a("table", newer, "--csv").out.splitlines()
    found = dict(zip(heading.split(","), first.split(","), strict=True))
    assert [found[name] for name in NEW] == ["100.0", "1.0", "0", "random", "hot"]


@pytest.mark.parametrize(
    ("expression", "sizes"),
    [
        ("jitter>200", [8000, 16000]),
        ("retries=3,7", [8000, 60000]),
        ("placement=random", [1000, 60000]),
        ("cache=", [16000]),
    ],
)
def test_columns_of_a_newer_writer_choose_points(
    newer: Path, expression: str, sizes: list[int]
) -> None:
    frame = a2aperf.open(newer).sel(expression).to_dataframe()
    assert list(frame["message_size"]) == sizes
    assert frame.attrs["units"]["jitter"] == "ns"


@pytest.mark.parametrize("kind", ["sizes", "scaling"])
def test_columns_of_a_newer_writer_are_drawn(newer: Path, tmp_path: Path, kind: str) -> None:
    other = synthetic.write_launch(tmp_path / "other.h5", Setup(nodes=2, seed=1))
    add(other, "jitter", np.array([10.0, 20.0, 30.0, 40.0]), units="ns")
    chart = plots.made(kind, loading.load([newer, other]), Options(own={"what": "jitter"})).charts[
        0
    ]
    # The first file that describes a column is believed.
    assert chart.y.label == "Median absolute deviation of the op time (ns)"
    drawn = np.concatenate([curve.y for curve in chart.curves])
    assert sorted(drawn) == [10, 20, 30, 40, 100, 300, 2500]


def test_what_cannot_be_drawn_is_said(newer: Path, tmp_path: Path, a2a: A2A) -> None:
    out = ("-o", tmp_path / "x.svg", "--what")
    a2a("plot", "sizes", newer, *out, "cache").refused("cache", "is not a number")
    a2a("plot", "sizes", newer, *out, "jitters").refused("jitters", "did you mean jitter")
    a2a("plot", "latency", newer, *out, "jitter").refused("--what", "sizes", "scaling", "matrix")
    assert a2a("plot", "sizes", newer, *out, "jitter").status == 0


def test_columns_of_a_newer_writer_survive_a_merge(newer: Path, tmp_path: Path, a2a: A2A) -> None:
    older = synthetic.write_launch(tmp_path / "older.h5", Setup(sizes=(500,), seed=3))
    merged = tmp_path / "merged.h5"
    assert a2a("merge", newer, older, "-o", merged).status == 0
    found, before = loading.load([merged]), loading.load([newer])
    assert {found.columns[name] for name in NEW} == {before.columns[name] for name in NEW}
    points = found.points
    assert points["jitter"].iloc[:2].tolist() == [100, 2500]
    assert points["jitter"].isna().tolist() == [False, False, False, True, True]
    assert points["retries"].tolist()[:2] == [0, 3]
    assert points["retries"].isna().tolist() == [False, False, True, False, True]
    assert points["cache"].tolist() == ["hot", "cold", "", "cold", ""]
    assert a2a("check", merged).status == 0


def test_words_of_a_newer_column_are_made_anonymous(newer: Path, tmp_path: Path, a2a: A2A) -> None:
    found = loading.load([newer])
    host = next(iter(found.launches.values())).nodes[0]
    names = np.array([host, "b", "c", f"switch of {host}"], object)
    add(newer, "where", names.astype(h5py.string_dtype()))
    out = tmp_path / "given.h5"
    key = tmp_path / "key"
    assert a2a("export", newer, "--anonymize", "--key", key, "-o", out).status == 0
    given = loading.load([out]).points["where"]
    assert given.iloc[1] == "b"
    assert not any(host in text for text in given)


def test_columns_that_say_different_things_stay_apart(
    newer: Path, tmp_path: Path, a2a: A2A
) -> None:
    other = synthetic.write_launch(tmp_path / "other.h5", Setup(seed=1))
    add(other, "jitter", np.array([1.0, 2, 3, 4]), units="µs")
    a2a("table", newer, other).refused("jitter", "ns", "µs", other.name)


def test_what_is_no_column_is_passed_over(launch: Path, a2a: A2A) -> None:
    with edited(launch) as file:
        file["matrix"] = np.zeros((4, 4))
        file["short"] = np.zeros(3)
        file["nothing"] = h5py.Empty("f8")
        file["complex"] = np.zeros(4, complex)
        file["elsewhere"] = h5py.ExternalLink("gone.h5", "/x")
        file["file"] = np.zeros(4)  # a name that tables have for something else
        file.create_group("more")
    found = loading.load([launch])
    assert set(found.columns) == set(schema.COLUMN)
    assert a2a("table", launch).status == 0


def test_a_word_that_a_newer_writer_added(launch: Path, a2a: A2A) -> None:
    with edited(launch) as file:
        rule = file["stop_rule"]
        words = [*schema.STOP_RULES, "tired"]
        rule.attrs["flag_meanings"] = " ".join(words)
        rule.attrs["flag_values"] = np.arange(len(words), dtype="i1")
        rule[0] = len(words) - 1
    assert "tired" in a2a("table", launch, "--columns", "stop_rule").out


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [column.name for column in schema.COLUMNS if column.name not in NEEDED and not column.late],
)
def test_a_missing_column_is_an_error_for_what_needs_it(launch: Path, a2a: A2A, name: str) -> None:
    with edited(launch) as file:
        del file[name]
    asked = a2a("table", launch, "--columns", f"message_size,{name}")
    asked.refused(f"'{name}'", "no file")
    a2a("table", launch, "--where", f"{name}=1").refused(f"'{name}'")
    for words in (("table",), ("table", "--layout", "wide"), ("table", "--csv"), ("explain",)):
        outcome = a2a(words[0], launch, *words[1:])
        assert outcome.status == 0, outcome.err
    found = loading.load([launch])
    for kind in ("sizes", "scaling", "latency"):
        try:
            plots.made(kind, found, Options())
        except a2aperf.InputError as error:
            assert name in str(error)


@pytest.mark.parametrize("name", NEEDED)
def test_without_these_there_are_no_results(launch: Path, a2a: A2A, name: str) -> None:
    with edited(launch) as file:
        del file[name]
    a2a("table", launch).refused(name, "missing")


def test_check_names_what_is_missing(launch: Path, a2a: A2A) -> None:
    with edited(launch) as file:
        del file["efficiency"]
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "column efficiency is missing" in outcome.out


def test_the_better_side_of_a_figure_is_what_any_file_says(
    launch: Path, tmp_path: Path, a2a: A2A
) -> None:
    newer = synthetic.write_launch(tmp_path / "newer.h5", Setup(sizes=(500,), seed=3))
    with edited(newer) as file:
        file["time_p50"].attrs["better"] = "lower"
    both = tmp_path / "both.h5"
    assert a2a("merge", launch, newer, "-o", both).status == 0
    for files in ([launch, newer], [both]):
        told = json.loads(a2a("table", *files, "--json").out)["columns"]
        assert told["time_p50"]["better"] == "lower"
        assert "better" not in told["gbps_rank"]


def test_sums_are_no_figures(launch: Path, a2a: A2A) -> None:
    """What says whether the rest is as it was written is no column of a table."""
    with h5py.File(launch) as file:
        assert {"checksum", "digest"} <= set(file)
    assert not {"checksum", "digest"} & set(loading.load([launch]).columns)
    assert "checksum" not in a2a("table", launch, "--layout", "wide").out
