# SPDX-License-Identifier: BSD-3-Clause
import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from a2aperf import cli, compat, layouts, loading, metrics, schema
from conftest import Outcome
from support import synthetic
from support.edited import edited
from support.synthetic import Setup
from support.synthetic_pairs import write_pairs
from support.synthetic_streams import Pipe, write_streams

Run = Callable[..., Outcome]
SETUP = synthetic.Setup(environment={"PSM2_RCVTHREAD": "0"}, labels={"cluster": "north"})


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    """Launches of 8 and of 16 ranks with different settings; the larger one first."""
    large = replace(SETUP, nodes=8, seed=1, environment={"PSM2_RCVTHREAD": "1"})
    return [
        synthetic.write_launch(tmp_path / "large.h5", large),
        synthetic.write_launch(tmp_path / "small.h5", SETUP),
    ]


def test_table_shows_the_points(a2a: Run, launch: Path) -> None:
    lines = a2a("table", launch).out.splitlines()
    assert lines[0].split("  ")[0].strip() == "ranks"
    assert [line.split()[:5] for line in lines[1:]] == [
        ["8", "4", "2", size, "100"] for size in ("1000", "8000", "16000", "60000")
    ]
    row = loading.load([launch]).points.iloc[3]
    for column in ("time_min", "time_mean", "time_p50", "time_p90", "time_p99", "time_max"):
        assert f"{row[column] / 1e3:.2f}" in lines[4].split()
    assert lines[4].split()[-2:] == [f"{row['gbps_rank']:.2f}", f"{row['gbps_node_net']:.2f}"]


def test_a_heading_has_the_unit_of_its_column() -> None:
    units = {"load_level": "%", "load_size": "B", "trip_rate": "1/s", "load_gbps": "Gbit/s"}
    columns = {name: schema.Column(name, "float64", name, unit) for name, unit in units.items()}
    assert [layouts.shown(name, columns).heading for name in columns] == [
        "load level %", "load size B", "trip rate/s", "Gbit/s load"
    ]  # fmt: skip


def test_a_low_rate_is_not_shown_as_none() -> None:
    assert [layouts.gbps(x) for x in (0.0, 0.00046, 0.0123, 0.1, 12.345)] == [
        "0.00", "0.00046", "0.012", "0.10", "12.35"
    ]  # fmt: skip


def test_several_files_are_sorted_by_ranks_and_named(a2a: Run, two: list[Path]) -> None:
    lines = a2a("table", *two).out.splitlines()
    assert [line.split()[0] for line in lines] == ["file"] + 4 * ["small.h5"] + 4 * ["large.h5"]


def test_wide_has_every_metric(a2a: Run, launch: Path) -> None:
    heading = a2a("table", launch, "--layout", "wide").out.splitlines()[0]
    every = set(metrics.rates(8, 1000, 1.0, 1.0, [2] * 4, 100.0)) | set(
        metrics.time_statistics([1.0, 2.0])
    )
    for name in every:
        assert layouts.shown(name).heading in heading, name
    assert {"invalid", "last rank", "ops"} <= {word.strip() for word in heading.split("  ")}


def test_wide_marks_a_percentile_that_is_the_maximum(a2a: Run, tmp_path: Path) -> None:
    for ops, marked in ((99, True), (100, False)):
        setup = replace(SETUP, ops=ops, seed=ops, sizes=(1000,))
        path = synthetic.write_launch(tmp_path / f"{ops}.h5", setup)
        line = a2a("table", path, "--layout", "wide").out.splitlines()[1]
        assert (" =max" in line) == marked


def test_compat_of_measured_files_is_one_table(a2a: Run, tmp_path: Path) -> None:
    paths = []
    for nodes in (4, 8):  # what differs by nature or follows from the ranks is no setting
        by_nature = {"SLURM_JOB_ID": f"{nodes}", "FI_UNIVERSE_SIZE": f"{nodes}", "FI_X": f"{nodes}"}
        setup = replace(
            SETUP,
            nodes=nodes,
            seed=nodes,
            environment={**SETUP.environment, **by_nature},
            attributes={"tuned_environment": f"FI_UNIVERSE_SIZE={nodes} FI_X={nodes}"},
        )
        paths.append(synthetic.write_launch(tmp_path / f"{nodes}.h5", setup))
    lines = a2a("table", *paths, "--layout", "compat").out.splitlines()
    assert tuple(lines[:2]) == compat.HEADING
    assert [line.split()[0] if line else "" for line in lines[2:]] == 4 * ["8"] + [""] + 4 * ["16"]


def test_compat_says_what_differs(a2a: Run, two: list[Path]) -> None:
    lines = a2a("table", *two, "--layout", "compat").out.splitlines()
    assert [line for line in lines if "=" in line] == ["PSM2_RCVTHREAD=0", "PSM2_RCVTHREAD=1"]
    assert lines.count(compat.HEADING[0]) == 2


def test_compat_carries_settings_with_commas(a2a: Run, tmp_path: Path) -> None:
    paths = []
    for seed, devices in enumerate(("self,shm", "self,shm,hfi")):
        setup = replace(SETUP, seed=seed, environment={"PSM2_DEVICES": devices})
        paths.append(synthetic.write_launch(tmp_path / f"{seed}.h5", setup))
    text = tmp_path / "x.txt"
    text.write_text(a2a("table", *paths, "--layout", "compat").out)
    assert a2a("import", text, "-o", tmp_path / "again.h5").status == 0
    again = loading.load([tmp_path / "again.h5"])
    assert again.values("PSM2_DEVICES").tolist() == 4 * ["self,shm"] + 4 * ["self,shm,hfi"]


def test_compat_keeps_baseline_rows_together(a2a: Run, tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "b.h5", replace(SETUP, baseline=True))
    lines = a2a("table", path, "--layout", "compat").out.splitlines()
    assert lines.count(compat.HEADING[0]) == 2
    engines = [line.split(",")[0] for line in lines if "engine=" in line]
    assert engines == ["engine=a2aperf", "engine=mpi"]


def test_compat_takes_every_role_and_only_what_was_measured(a2a: Run, tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "b.h5", replace(SETUP, sizes=(1000,), sentinel=True))
    rows = [
        line
        for line in a2a("table", path, "--layout", "compat", "--role", "all").out.splitlines()
        if line.startswith("            8")
    ]
    assert len(rows) == 3
    with edited(path) as file:
        file["state"][:] = schema.STATES.index("failed")
        file["ops"][:] = 0  # as those of a point that failed
    assert a2a("table", path, "--role", "all").out.count("failed") == 3
    outcome = a2a("table", path, "--layout", "compat", "--role", "all")
    outcome.refused("no point is complete", "3 failed")


def test_baseline_rows_say_their_engine_and_sentinels_are_hidden(a2a: Run, tmp_path: Path) -> None:
    setup = replace(SETUP, baseline=True, sentinel=True)
    path = synthetic.write_launch(tmp_path / "b.h5", setup)
    lines = a2a("table", path).out.splitlines()
    assert len(lines) == 1 + 8
    assert sum("library" in line for line in lines) == 4
    assert len(a2a("table", path, "--role", "all").out.splitlines()) == 1 + 10
    assert len(a2a("table", path, "--role", "sentinel").out.splitlines()) == 1 + 2


def test_csv_rounds_nothing_and_leaves_unknown_empty(a2a: Run, launch: Path) -> None:
    rows = list(csv.DictReader(a2a("table", launch, "--csv").out.splitlines()))
    points = loading.load([launch]).points
    assert set(schema.COLUMN) <= set(rows[0])
    assert [float(row["time_p50"]) for row in rows] == points["time_p50"].tolist()
    assert [float(row["gbps_rank"]) for row in rows] == points["gbps_rank"].tolist()
    assert {row["partner"] for row in rows} == {""}
    assert {row["time_p99_low"] for row in rows} == {""}


def test_json_has_units_and_null(a2a: Run, launch: Path) -> None:
    document = json.loads(a2a("table", launch, "--json").out)
    assert document["columns"]["time_p50"]["units"] == "ns"
    assert len(document["rows"]) == 4
    assert document["rows"][0]["ops"] == 100
    assert document["rows"][0]["partner"] is None
    assert document["rows"][0]["time_p99_low"] is None


def test_columns_may_be_settings(a2a: Run, two: list[Path]) -> None:
    out = a2a("table", *two, "--columns", "ppn,PSM2_RCVTHREAD,cluster,kernel", "--csv").out
    rows = list(csv.reader(out.splitlines()))
    assert rows[0] == ["ranks_per_node", "PSM2_RCVTHREAD", "cluster", "kernel"]
    assert rows[1] == ["2.0", "0", "north", "6.1.0"]
    assert rows[-1] == ["2.0", "1", "north", "6.1.0"]


@pytest.mark.parametrize(
    ("expressions", "count"),
    [
        (["ppn=2"], 8),
        (["ranks=16"], 4),
        (["size=1000,8000"], 4),
        (["message_size>=16kB"], 4),
        (["message_size<8kB"], 2),
        (["message_size!=1000"], 6),
        (["PSM2_RCVTHREAD=0"], 4),
        (["PSM2_RCVTHREAD=0,1", "ranks<=8"], 4),
        (["cluster=north", "file=large.h5"], 4),
        (["partner="], 8),
        (["time_p50>1ns", "time_p50<1s"], 8),
        (["time_p50>0.001 ms", "time_p50 < 1000000us"], 8),
        (["time_p50>0.001\N{MICRO SIGN}s", "time_p50>0.001\N{GREEK SMALL LETTER MU}s"], 8),
    ],
)
def test_where(a2a: Run, two: list[Path], expressions: list[str], count: int) -> None:
    options = [word for expression in expressions for word in ("--where", expression)]
    assert len(a2a("table", *two, *options).out.splitlines()) == 1 + count


def test_a_value_that_no_point_has_is_told(a2a: Run, two: list[Path]) -> None:
    outcome = a2a("table", *two, "--where", "message_size=1kB,3,5")
    assert len(outcome.out.splitlines()) > 1
    assert outcome.err == "a2a: --where 'message_size=1kB,3,5': no point has 3 and 5\n"
    assert a2a("table", *two, "--where", "message_size!=1kB,3").err == ""
    assert a2a("table", *two, "--where", "PSM2_RCVTHREAD=0,").err == ""


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("mode!=a\nb", ["on one line"]),
        ("ppn", ["expected NAME=VALUE"]),
        ("ppn=two", ["'two' is not a number"]),
        ("time_p50>50 parsec", ["'50 parsec' is not a number, in ns\n"]),
        ("gbps_rank>1 Gbit/s", ["'1 Gbit/s' is not a number, in Gbit/s\n"]),
        ("ppn=3", ["--where 'ppn=3' leaves no point: ppn is 2\n"]),
        ("window=1", ["leaves no point: window is all\n"]),
        ("message_size<1", ["leaves no point: message_size is 1000 to 60000\n"]),
        ("provider=psm", ["leaves no point: provider is psm2\n"]),
        ("skip_reason=x", ["leaves no point: no point has skip_reason\n"]),
        ("pppn=2", ["no file records 'pppn'", "did you mean ppn"]),
    ],
)
def test_bad_where(a2a: Run, launch: Path, expression: str, words: list[str]) -> None:
    a2a("table", launch, "--where", expression).refused(*words)


def test_bad_options(a2a: Run, launch: Path) -> None:
    a2a("table", launch, "--csv", "--json").refused("not both")
    a2a("table", launch, "--role", "boss").refused("expected one of measure, baseline, sentinel")
    a2a("table", launch, "--role", "baseline").refused("no point has role baseline")
    a2a("table", launch, "--columns", "speed").refused("no file records 'speed'")
    a2a("table", launch, "--layout", "compat", "--columns", "ops").refused("fixed columns")
    a2a("table", launch, "--layout", "tall").refused("'tall'", "a2a table --help")
    a2a("table").refused("FILE", "a2a table --help")
    a2a("tabel", launch).refused("'tabel'")
    a2a("plot", "tailz", launch, "-o", "x.png").refused("kind 'tailz': did you mean tails?")


def test_without_arguments_the_help_is_shown(a2a: Run) -> None:
    outcome = a2a()
    assert outcome.status == 2
    assert outcome.out.count("a2a table run.h5") == 1
    assert outcome.err == ""


def test_help_names_both_commands_and_has_examples(a2a: Run) -> None:
    outcome = a2a("--help")
    assert outcome.status == 0
    assert "a2aperf measures, a2a analyses" in outcome.out
    assert "a2a table run.h5" in outcome.out


@pytest.mark.parametrize("name", [row.name for row in cli.COMMANDS])
def test_every_command_has_help_with_examples(a2a: Run, name: str) -> None:
    outcome = a2a(name, "--help")
    assert outcome.status == 0
    assert f"a2a {name} " in outcome.out.split("Examples")[1]


def run_installed(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-m", "a2aperf", *map(str, arguments)]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        words, capture_output=True, text=True, timeout=600, env=environment, check=False, **options
    )


def test_the_version_is_the_project_s(a2a: Run) -> None:
    build = (Path(__file__).parents[2] / "meson.build").read_text()
    project = re.search(r"^\s*version: '([^']+)'", build, re.MULTILINE)
    assert project is not None
    assert a2a("--version").out == f"a2a {project[1]}\n"


def test_as_a_process(launch: Path, tmp_path: Path) -> None:
    good = run_installed("table", launch)
    assert (good.returncode, good.stderr) == (0, "")
    assert len(good.stdout.splitlines()) == 5
    assert "\x1b" not in good.stdout  # no colour when piped
    bad = run_installed("table", tmp_path / "none.h5")
    assert bad.returncode == 2
    assert bad.stderr == f"a2a: {tmp_path}/none.h5: no such file\n"


def test_a_reader_that_stops_reading_is_no_error(launch: Path) -> None:
    words = (
        f"{sys.executable} -m a2aperf table {launch} --json | head -n 1; echo ${{PIPESTATUS[0]}}"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["bash", "-c", words],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout == "{\n0\n"


def test_all_columns_have_the_settings(a2a: Run, tmp_path: Path) -> None:
    setups = [
        synthetic.Setup(sizes=(1000,), environment={"UCX_TLS": "rc,sm"}, labels={"who": "me"}),
        synthetic.Setup(sizes=(1000,), sync="barrier", seed=1),
    ]
    files = [synthetic.write_launch(tmp_path / f"{i}.h5", x) for i, x in enumerate(setups)]
    rows = list(csv.DictReader(a2a("table", *files, "--csv").out.splitlines()))
    assert [row["UCX_TLS"] for row in rows] == ["rc,sm", ""]
    assert [row["who"] for row in rows] == ["me", ""]
    assert [row["sync"] for row in rows] == ["clock", "barrier"]
    told = json.loads(a2a("table", *files, "--json").out)
    assert [row["UCX_TLS"] for row in told["rows"]] == ["rc,sm", None]
    assert list(told["columns"]) == list(rows[0])


def test_oversubscribed_cores_are_said_beside_the_table(a2a: Run, tmp_path: Path) -> None:
    facts = {"cores_of_ranks": "1"}
    setup = Setup(nodes=1, ppn=2, sizes=(1000,), ops=10, sync="barrier", node_facts=facts)
    path = synthetic.write_launch(tmp_path / "a.h5", setup)
    said = "a2a: oversubscribed: 2 ranks on 1 core\n"
    assert a2a("table", path).err == said
    csv = a2a("table", path, "--csv")
    assert csv.err == said
    assert "oversubscribed" not in csv.out  # which a program reads
    pairs = write_pairs(tmp_path / "pairs.h5", setup)
    assert a2a("table", pairs).err == said
    # What is refused is told in one line.
    a2a("table", path, "--columns", "nosuch").refused("nosuch")
    a2a("table", path, "--columns", "ops", "--layout", "compat").refused("--columns")


def test_engines_may_differ_where_roles_do_not(a2a: Run, tmp_path: Path) -> None:
    setup = Setup(nodes=1, ppn=2, sizes=(1000,), ops=10, baseline=True)
    path = synthetic.write_launch(tmp_path / "a.h5", setup)
    with edited(path) as file:
        file["role"][:] = "measure"
    assert a2a("table", path).out.splitlines()[0].split()[0] == "engine"


def test_points_of_another_workload_are_told(a2a: Run, launch: Path, tmp_path: Path) -> None:
    streams = write_streams(tmp_path / "x.h5", [[Pipe(sizes=(8,))]])
    told = "1 point of stream left out; --role stream shows them"
    for words in ((), ("--csv",), ("--role", "measure")):
        assert told in a2a("table", launch, streams, *words).err
    assert "points of alltoall left out" in a2a("table", launch, streams, "--role", "stream").err
    for path in (launch, streams):
        assert a2a("table", path).err == ""
    assert a2a("table", launch, streams, "--role", "all").err == ""


def test_points_beside_a_listing_and_beside_counters_are_told(
    a2a: Run, launch: Path, tmp_path: Path
) -> None:
    streams = write_streams(tmp_path / "x.h5", [[Pipe(sizes=(8,))]])
    pairs = write_pairs(tmp_path / "p.h5", SETUP)
    told = "1 point of stream left out; --role stream shows them"
    for files in ((pairs, streams), (streams, pairs)):
        for words in ((), ("--csv",)):
            assert told in a2a("table", *files, *words).err
    assert told in a2a("table", launch, streams, "--counters").err


def test_a_role_that_where_asks_for_is_shown(a2a: Run, launch: Path, tmp_path: Path) -> None:
    streams = write_streams(tmp_path / "x.h5", [[Pipe(sizes=(8,))]])
    pairs = write_pairs(tmp_path / "p.h5", SETUP)
    alone = a2a("table", streams).out
    for other in (launch, pairs):
        outcome = a2a("table", other, streams, "--where", "role=stream")
        assert (outcome.out, outcome.err) == (alone, "")
    assert a2a("table", launch, pairs, "--where", "role=pair").out == a2a("table", pairs).out


def test_data_of_a_listing_have_the_settings(a2a: Run, tmp_path: Path) -> None:
    setup = replace(SETUP, environment={"FI_LOG_LEVEL": "warn"}, labels={"side": "left"})
    pairs = write_pairs(tmp_path / "p.h5", setup)
    other = write_pairs(tmp_path / "q.h5", replace(SETUP, seed=1, labels={}))
    rows = json.loads(a2a("table", pairs, "--json").out)["rows"]
    own = {"side": "left", "FI_LOG_LEVEL": "warn", "provider": "psm2", "mode": "tagged"}
    assert rows and all({name: row[name] for name in own} == own for row in rows)
    both = list(csv.DictReader(a2a("table", pairs, other, "--csv").out.splitlines()))
    assert {(row["file"], row["side"]) for row in both} == {("p.h5", "left"), ("q.h5", "")}
    # What differs between the steps of a size is not told of its pairs.
    with edited(pairs) as file:
        first = file["message_size"][0]
        file["window"][0] = 7
    rows = json.loads(a2a("table", pairs, "--json").out)["rows"]
    assert {row["window"] for row in rows if row["message_size"] == first} == {None}
    assert {row["window"] for row in rows if row["message_size"] != first} == {0}
