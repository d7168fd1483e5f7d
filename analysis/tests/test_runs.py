# SPDX-License-Identifier: BSD-3-Clause
"""The library as a notebook uses it, and that it says what the commands say."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.figure import Figure

import a2aperf
from a2aperf import errors, plots, results, verdicts
from a2aperf.drawing import Page
from a2aperf.explain.finders import FINDERS
from a2aperf.runs import Runs
from a2aperf.workloads import alltoall
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Effects, Setup
from support.synthetic_pairs import write_pairs

A2A = Callable[..., Outcome]
START = datetime(2025, 6, 15, tzinfo=UTC)
A = Setup(sizes=(1000, 60000), ops=30, labels={"who": "test"})
B = replace(A, environment={"PSM2_RCVTHREAD": "0"}, effects=Effects(slowdown=1 / 1.2))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight launches a side, in turn, one minute apart."""
    here = tmp_path_factory.mktemp("runs")
    for i in range(16):
        setup = (A, B, B, A)[i % 4]
        effects = replace(setup.effects, launch_spread=0.01)
        made = replace(setup, effects=effects, seed=i, started=START + timedelta(minutes=i))
        synthetic.write_launch(here / f"{i:02}.h5", made)
    return here


@pytest.fixture(scope="module")
def runs(folder: Path) -> Runs:
    return a2aperf.open(folder / "*.h5")


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.h5"))


def said_by(program: str) -> str:
    """What a Python of its own prints, in which nothing is imported yet."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout


# Opening ----------------------------------------------------------------------------------------


def test_the_import_loads_no_library() -> None:
    program = (
        "import sys, a2aperf; print(sorted({'numpy', 'pandas', 'matplotlib', 'scipy', 'h5py', "
        "'xarray', 'typer'} & set(sys.modules)), a2aperf.open.__name__, 'open' in dir(a2aperf))"
    )
    assert said_by(program) == "[] open True\n"


def test_the_package_lists_what_is_meant_for_its_users() -> None:
    names = "[name for name in dir(a2aperf) if not name.startswith('_')]"
    assert said_by(f"import a2aperf; print({names})") == "['InputError', 'Runs', 'open']\n"


def test_tables_load_neither_figures_nor_arrays(launch: Path) -> None:
    program = (
        f"import sys, a2aperf; runs = a2aperf.open({str(launch)!r}); "
        "runs.sel(ranks=8).to_dataframe(); runs.launches; "
        "print(sorted({'matplotlib', 'xarray', 'typer'} & set(sys.modules)))"
    )
    assert said_by(program) == "[]\n"


def test_open_reads_nothing_before_it_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "later.h5"
    path.write_text("not yet a results file")
    runs = a2aperf.open(path)
    assert repr(runs) == f"<Runs of {path}: not read yet>"
    with pytest.raises(a2aperf.InputError, match="not an HDF5 file"):
        len(runs)
    synthetic.write_launch(path, A)
    assert len(runs) == 2
    assert repr(runs) == "<Runs: 1 file, 1 launch, 2 points>"


def test_raw_samples_are_not_read_before_ops(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", A)
    with edited(path) as file:
        del file["raw/recv_done"]
    runs = a2aperf.open(path)
    assert len(runs.to_dataframe()) == 2
    assert len(runs.launches) == 1
    assert runs.tree["x.h5#0"].sizes["point"] == 2
    chosen = runs.sel(message_size=1000)
    with pytest.raises(a2aperf.InputError, match=r"damaged.*recv_done"):
        chosen.ops()


@pytest.mark.slow
def test_files_are_given_in_many_ways(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = files(folder)
    monkeypatch.chdir(folder.parent)
    ways: list[Runs] = [
        a2aperf.open(folder),
        a2aperf.open(str(folder / "*.h5")),
        a2aperf.open(f"{folder.name}/*.h5"),
        a2aperf.open(folder.glob("*.h5")),
        a2aperf.open(*named),
        a2aperf.open(named[:4], str(named[4]), *map(str, named[5:])),
    ]
    assert [set(way.results.files) for way in ways] == 6 * [{path.name for path in named}]


def test_a_name_with_brackets_is_a_name(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "n[1].h5", A)
    assert len(a2aperf.open(str(path))) == 2


def test_what_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    for given, words in (
        (tmp_path / "x.h5", "no such file or folder"),
        (tmp_path / "*.h5", "no file matches the pattern"),
        ([], "no files given"),
    ):
        with pytest.raises(a2aperf.InputError, match=words):
            a2aperf.open(given)


# Tables -----------------------------------------------------------------------------------------


def test_to_dataframe_has_what_the_table_has(a2a: A2A, folder: Path, runs: Runs) -> None:
    told = json.loads(a2a("table", *files(folder), "--json").out)
    frame = runs.to_dataframe()
    assert list(frame.columns) == list(told["columns"])
    rows = json.loads(
        frame.to_json(orient="records", double_precision=15)  # unknown is null, as there
    )
    key = ("file", "point")
    for mine, theirs in zip(
        sorted(rows, key=lambda row: [row[k] for k in key]),
        sorted(told["rows"], key=lambda row: [row[k] for k in key]),
        strict=True,
    ):
        for name, value in theirs.items():
            if isinstance(value, float):
                assert mine[name] == pytest.approx(value, rel=1e-12), name
            else:
                assert mine[name] == value, name
    units = {name: of["units"] for name, of in told["columns"].items() if "units" in of}
    assert units.items() <= frame.attrs["units"].items()
    assert (units["time_p50"], units["gbps_rank"]) == ("ns", "Gbit/s")
    assert frame.attrs["long_names"]["time_p50"] == "median op time"


def test_to_dataframe_takes_roles_and_leaves_out_what_is_not_measured(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "x.h5", replace(A, baseline=True, sentinel=True))
    with edited(path) as file:
        file["state"][1] = 0
    runs = a2aperf.open(path)
    assert len(runs) == 6
    assert runs.to_dataframe()["role"].tolist() == ["baseline", "measure", "baseline"]
    assert runs.to_dataframe("sentinel")["role"].tolist() == 2 * ["sentinel"]
    assert len(runs.to_dataframe("all")) == 5
    # Who has chosen roles once need not do so twice; another choice comes after them.
    for chosen in (runs.sel(role="sentinel"), runs.sel("role = sentinel").sel(ranks=8)):
        assert chosen.to_dataframe()["role"].tolist() == 2 * ["sentinel"]
    assert runs.sel("role!=measure").to_dataframe()["role"].nunique() == 2
    assert runs.sel(ranks=8).to_dataframe()["role"].tolist() == ["baseline", "measure", "baseline"]
    with pytest.raises(a2aperf.InputError, match="role x: expected one of measure"):
        runs.to_dataframe("x")


def test_launches_have_a_row_each(runs: Runs) -> None:
    launches = runs.launches
    assert launches["launch"].tolist() == [f"{i:02}.h5#0" for i in range(16)]
    assert launches["start"].dt.floor("s").tolist() == [
        pd.Timestamp(START + timedelta(minutes=i)) for i in range(16)
    ]
    first = launches.iloc[1]
    expected = {
        "file": "01.h5", "segment": 0, "state": "finished", "nodes": 4, "ranks": 8,
        "provider": "psm2", "points": 2, "PSM2_RCVTHREAD": "0", "who": "test", "sync": "clock",
    }  # fmt: skip
    assert {name: first[name] for name in expected} == expected
    assert launches["PSM2_RCVTHREAD"].isna().sum() == 8


def test_launches_of_an_import_say_what_is_known(table_2019: Path) -> None:
    launches = a2aperf.open(table_2019).launches
    assert launches["start"].isna().all()
    points = a2aperf.open(table_2019).to_dataframe().groupby("launch")
    for row in launches.to_dict("records"):
        for name in ("nodes", "ranks"):
            there = set(points[name].get_group(row["launch"]).fillna(-1))
            one = there.pop() if len(there) == 1 else -1
            assert (one == -1 and pd.isna(row[name])) or one == row[name]


def test_pairs_are_a_table(a2a: A2A, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.h5", Setup(nodes=3, ppn=1))
    runs = a2aperf.open(path)
    frame = runs.pairs()
    told = json.loads(a2a("table", path, "--json").out)
    assert frame.to_dict("list")["gbps"] == pytest.approx([row["gbps"] for row in told["rows"]])
    assert frame.attrs["units"]["time_p50"] == "ns"
    with pytest.raises(a2aperf.InputError, match="matrix of all pairs"):
        runs.to_dataframe()
    assert isinstance(runs.plot.matrix(), Figure)


# Choosing ---------------------------------------------------------------------------------------


def test_sel_chooses_by_columns_labels_and_variables(runs: Runs) -> None:
    def sizes(chosen: Runs) -> set[int]:
        return set(chosen.to_dataframe()["message_size"])

    assert len(runs.sel(message_size=1000)) == 16
    assert sizes(runs.sel(message_size="60kB")) == {60000}
    assert sizes(runs.sel(message_size=slice("1kB", 1000))) == {1000}
    assert sizes(runs.sel("message_size>1kB", ppn=2)) == {60000}
    assert len(runs.sel(message_size=np.array([1000, 60000]), ranks=(8,))) == 32
    assert len(runs.sel(PSM2_RCVTHREAD=0).launches) == 8
    assert len(runs.sel(PSM2_RCVTHREAD=None).launches) == 8
    assert len(runs.sel(PSM2_RCVTHREAD=[None, 0]).launches) == 16
    assert len(runs.sel(who="test", mode="tagged", window="all")) == 32
    assert len(runs) == 32


def test_sel_keeps_values_with_commas_and_quotes(tmp_path: Path) -> None:
    for i, text in enumerate(("self,shm", 'a "b", c', "self")):
        setup = replace(A, seed=i, environment={"PSM2_DEVICES": text})
        synthetic.write_launch(tmp_path / f"{i}.h5", setup)
    runs = a2aperf.open(tmp_path)
    for i, text in enumerate(("self,shm", 'a "b", c', "self")):
        assert set(runs.sel(PSM2_DEVICES=text).to_dataframe()["file"]) == {f"{i}.h5"}
    assert len(runs.sel(PSM2_DEVICES=["self,shm", "self"]).launches) == 2


def test_sel_refuses_what_is_not_there(runs: Runs) -> None:
    for settings, words in (
        ({"ppn": 3}, "sel: 'ppn=3' leaves no point"),
        ({"pnn": 2}, "no file records 'pnn'; did you mean ppn"),
        ({"ranks": []}, "expected a value"),
        ({"ranks": "many"}, "'many' is not a number"),
        ({"ranks": slice(2, 8, 2)}, "expected slice"),
    ):
        with pytest.raises(a2aperf.InputError, match=words):
            runs.sel(**settings)


# Arrays -----------------------------------------------------------------------------------------


def test_ops_are_the_samples_of_one_point(launch: Path) -> None:
    runs = a2aperf.open(launch)
    found = runs.ops(message_size=60000)
    row = runs.sel(message_size=60000).to_dataframe().iloc[0]
    assert (*found.dims, *found.shape, found.dtype.name) == ("op", "rank", 100, 8, "int64")
    assert (found.name, found.attrs["units"], found.attrs["message_size"]) == ("end", "ns", 60000)
    times = np.sort(found.max("rank").to_numpy())
    assert (times[49], times[0], times[-1]) == (row["time_p50"], row["time_min"], row["time_max"])
    assert found["host"].to_numpy().tolist() == [f"node{1 + rank // 2:03}" for rank in range(8)]
    end, begin = (runs.ops(name, message_size=60000) for name in ("end", "begin"))
    assert (runs.ops("rank_time", message_size=60000) == end - begin).all()
    with h5py.File(launch) as file:
        point = int(row["point"])
        sent = file["raw/send_done"][point][:100, :8]
        start = file["raw/start"][point][:100] + file["segments/0"].attrs["time_origin"]
    assert np.array_equal(runs.sel(message_size=60000).ops("send_done"), sent)
    assert np.array_equal(found["start"], start)


def test_where_receivers_fetch_the_messages_no_sends_are_done(tmp_path: Path) -> None:
    modes = ("tagged", "read")
    file = synthetic.write_launch(tmp_path / "x.h5", synthetic.Setup(sizes=(1000,), modes=modes))
    runs = a2aperf.open(file)
    assert (runs.ops("send_done", mode="tagged") > 0).all()
    with pytest.raises(a2aperf.InputError, match="in mode read the receivers fetch the messages"):
        runs.ops("send_done", mode="read")
    assert (runs.ops("end", mode="read") == runs.ops("recv_done", mode="read")).all()


def test_a_file_that_is_open_elsewhere_here_is_not_called_damaged(launch: Path) -> None:
    with (
        h5py.File(launch, locking=True),
        pytest.raises(a2aperf.InputError, match="open in this process with file locking"),
    ):
        a2aperf.open(launch).to_dataframe()
    with h5py.File(launch, locking=False):
        assert len(a2aperf.open(launch).to_dataframe()) == 4


def test_ops_of_several_launches_stand_one_after_the_other(runs: Runs) -> None:
    found = runs.sel(PSM2_RCVTHREAD=0).ops(message_size=1000)
    assert found.shape == (8 * 30, 8)
    medians = found.max("rank").groupby("launch").median().to_series()
    chosen = runs.sel(PSM2_RCVTHREAD=0, message_size=1000).to_dataframe().set_index("launch")
    assert medians.to_dict() == pytest.approx(chosen["time_p50"].to_dict(), rel=0.01)


def test_invalid_attempts_are_there_for_those_who_ask(tmp_path: Path) -> None:
    setup = replace(A, sizes=(1000,), effects=Effects(late_share=0.2))
    runs = a2aperf.open(synthetic.write_launch(tmp_path / "x.h5", setup))
    row = runs.to_dataframe().iloc[0]
    assert row["invalid"] > 0
    everything = runs.ops(valid=False)
    assert everything.sizes["op"] == row["attempts"]
    assert int(everything["valid"].sum()) == row["ops"] == runs.ops().sizes["op"]
    assert runs.ops().equals(
        everything[everything["valid"]].assign_coords(op=np.arange(row["ops"]))
    )


def test_ops_of_different_points_are_refused(runs: Runs, table_2019: Path) -> None:
    for settings, words in (
        ({}, r"differ in message_size \(1000, 60000\)"),
        ({"message_size": 1000}, r"differ in PSM2_RCVTHREAD \(not set, 0\)"),
        ({"quantity": "x"}, "quantity x: expected one of end, begin"),
    ):
        with pytest.raises(a2aperf.InputError, match=words):
            runs.ops(**settings)
    imported = a2aperf.open(table_2019).sel(ranks=20, message_size=1000)
    with pytest.raises(a2aperf.InputError, match="has no raw samples"):
        imported.ops()


def test_ops_of_the_baseline_are_there_when_chosen(tmp_path: Path) -> None:
    runs = a2aperf.open(synthetic.write_launch(tmp_path / "x.h5", replace(A, baseline=True)))
    own, mpi = runs.ops(message_size=1000), runs.sel(engine="mpi").ops(message_size=1000)
    assert float(mpi.max("rank").median()) > 1.1 * float(own.max("rank").median())


@pytest.mark.slow
def test_the_tree_has_a_node_per_launch(runs: Runs, tmp_path: Path) -> None:
    tree = runs.tree
    assert isinstance(tree, xr.DataTree)
    assert list(tree.children) == runs.launches["launch"].tolist()
    node = tree["01.h5#0"]
    rows = runs.sel("launch=01.h5#0").to_dataframe()
    assert node["gbps_rank"].to_numpy().tolist() == rows["gbps_rank"].tolist()
    assert node["time_p50"].attrs == {"long_name": "median op time", "units": "ns"}
    assert node["message_size"].to_numpy().tolist() == [1000, 60000]
    assert "message_size" in node.coords
    assert node["mode"].to_numpy().tolist() == ["tagged", "tagged"]
    assert np.isnan(node["partner"]).all()
    assert node.attrs["sync"] == "clock"
    assert node["environment"].attrs == {"PSM2_RCVTHREAD": "0"}
    assert node["labels"].attrs == {"who": "test"}
    tree.to_netcdf(tmp_path / "tree.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "tree.nc", engine="h5netcdf") as again:
        assert again["01.h5#0"]["gbps_rank"].to_numpy().tolist() == rows["gbps_rank"].tolist()


def test_what_installs_a_package_works_where_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's Python takes no packages: there, and in no other place, an environment is made."""
    monkeypatch.setattr(sys, "executable", "/home/a b/bin/python")
    monkeypatch.setattr(sys, "prefix", "/home/a b")
    assert (
        errors.installing("pyarrow", "parquet") == "'/home/a b/bin/python' -m pip install pyarrow"
    )
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    made = "python3 -m venv ~/a2a && ~/a2a/bin/pip install './analysis[parquet]'"
    assert errors.installing("pyarrow", "parquet") == made


def test_without_xarray_the_rest_works_and_arrays_say_what_to_do(launch: Path) -> None:
    program = f"""
import sys
sys.modules["xarray"] = None  # as where it is not installed
import a2aperf
runs = a2aperf.open({str(launch)!r}).sel(message_size=1000)
print(len(runs.to_dataframe()))
for ask in (lambda: runs.tree, runs.ops):
    try:
        ask()
    except ImportError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    hint = f"needs xarray: {errors.installing('xarray', 'xarray')}"
    assert done.stdout == f"1\ntree {hint}\nops {hint}\n"


# Questions --------------------------------------------------------------------------------------


def test_compare_says_what_the_command_says(a2a: A2A, folder: Path, runs: Runs) -> None:
    made = runs.sel(ppn=2).compare("PSM2_RCVTHREAD")
    outcome = a2a("compare", *files(folder), "--by", "PSM2_RCVTHREAD", "--json")
    (told,) = json.loads(outcome.out)
    frame = made.frame
    assert frame["verdict"].tolist() == [cell["verdict"] for cell in told["cells"]]
    for name in ("ratio", "ratio_low", "ratio_high", "p", "time_baseline", "rate_candidate"):
        assert frame[name].tolist() == pytest.approx([cell[name] for cell in told["cells"]])
    assert (made.verdict, made.status) == ("faster", outcome.status)
    assert str(made) == a2a("compare", *files(folder), "--by", "PSM2_RCVTHREAD").out.rstrip("\n")
    said = "PSM2_RCVTHREAD=0 against PSM2_RCVTHREAD not set"
    assert repr(made) == f"<Compared: {said}: faster, 2 cells>"
    assert isinstance(made.figure(), Figure)


def test_compare_takes_a_baseline_and_a_margin(a2a: A2A, folder: Path, runs: Runs) -> None:
    made = runs.compare("PSM2_RCVTHREAD", baseline="0", margin=0.01)
    options = "--by PSM2_RCVTHREAD --baseline 0 --margin 1%".split()
    assert str(made) == a2a("compare", *files(folder), *options).out.rstrip("\n")
    assert (made.verdict, made.status) == ("slower", 3)
    for names, margin, words in (
        ((), None, "expected the name"),
        (("PSM2_RCVTHREAD",), 2, "above 0 and below 1"),
        (("who",), None, "a comparison needs two values"),
    ):
        with pytest.raises(a2aperf.InputError, match=words):
            runs.compare(*names, margin=margin)


@pytest.mark.slow
def test_cells_that_disagree_are_mixed(tmp_path: Path) -> None:
    """Faster below the step, slower from it on."""
    twist = replace(B, effects=Effects(slowdown=1 / 1.2, steps={60000: 1.5}))
    for i in range(16):
        setup = (A, twist, twist, A)[i % 4]
        one = replace(setup, seed=i, started=START + timedelta(minutes=i))
        synthetic.write_launch(tmp_path / f"{i:02}.h5", one)
    made = a2aperf.open(tmp_path).compare("PSM2_RCVTHREAD")
    assert made.frame["verdict"].tolist() == ["faster", "slower"]
    assert (made.verdict, made.status) == ("mixed", 3)


def test_findings_are_those_of_explain(a2a: A2A, tmp_path: Path) -> None:
    effects = Effects(timer=(0.1, 3e6), bimodal=(0.3, 1.6))
    path = synthetic.write_launch(tmp_path / "x.h5", Setup(ops=200, effects=effects))
    found = a2aperf.open(path).findings()
    told = json.loads(a2a("explain", path, "--json").out)
    assert [(one.kind, one.where, one.text, one.n) for one in found] == [
        (one["kind"], one["where"], one["text"], one["n"]) for one in told
    ]
    assert found
    assert found.frame["text"].tolist() == [one["text"] for one in told]
    assert repr(found).startswith(f"<{len(told)} finding")
    assert len(str(found).splitlines()) == len(found)
    one_kind = a2aperf.open(path).findings(found[0].kind)
    assert {one.kind for one in one_kind} == {found[0].kind}
    assert len(found[:1]) == 1
    with pytest.raises(a2aperf.InputError, match="findings: x: expected one of"):
        a2aperf.open(path).findings("x")


def test_nothing_found_is_said(tmp_path: Path) -> None:
    runs = a2aperf.open(synthetic.write_launch(tmp_path / "x.h5", A))
    kinds = [finder.kind for finder in FINDERS if finder.kind != "samples"]
    quiet = runs.findings("timer", "drift")
    assert set(kinds) >= {"timer", "drift"}
    assert (repr(quiet), str(quiet), len(quiet.frame)) == ("<0 findings>", "nothing stands out", 0)


def test_different_clusters_are_not_mixed_unless_told(tmp_path: Path) -> None:
    for i, cpu in enumerate(("one", "other")):
        setup = replace(A, seed=i, nodes=4 + i, node_facts={"cpu_model": cpu})
        synthetic.write_launch(tmp_path / f"{i}.h5", setup)
    runs = a2aperf.open(tmp_path)
    for ask in (runs.findings, runs.plot.sizes):
        with pytest.raises(a2aperf.InputError, match="different clusters"):
            ask()
    mixed = a2aperf.open(tmp_path, mixed=True).sel(message_size=1000)
    assert isinstance(mixed.plot.sizes(), Figure)
    assert mixed.findings() is not None


# Figures ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in alltoall.WORKLOAD.plots if kind != "traffic"])
def test_every_figure_is_a_method(runs: Runs, kind: str) -> None:
    assert kind in dir(runs.plot)
    draw = getattr(runs.sel(message_size=60000).plot, kind)
    assert plots.KINDS[kind].says[1:] in draw.__doc__
    figure = draw(by="PSM2_RCVTHREAD")
    assert isinstance(figure, Page)
    assert figure._repr_png_().startswith(b"\x89PNG\r\n")


def test_a_figure_takes_options(runs: Runs) -> None:
    figure = runs.plot.sizes(title="Here", width=3.4, notes=False, y_scale="log")
    assert figure.get_size_inches()[0] == 3.4
    assert "Here" in [text.get_text() for text in figure.texts]
    assert figure.axes[0].get_yscale() == "log"
    with pytest.raises(AttributeError, match="no figure 'size': expected one of scaling"):
        runs.plot.size()
    assert "sizes()" in repr(runs.plot)


def test_the_layer_below_is_within_reach(runs: Runs) -> None:
    assert isinstance(runs.results, results.Results)
    assert verdicts.lines(runs.compare("PSM2_RCVTHREAD").parts[0])
