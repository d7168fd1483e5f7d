# SPDX-License-Identifier: BSD-3-Clause
"""The other half of the project writes what this half reads: real launches of a2aperf.

The program is $A2APERF, or the release build of this clone.
"""

import csv
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import compat, loading, strict
from conftest import Outcome
from support.edited import edited

Run = Callable[..., Outcome]
TOP = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("A2APERF", TOP / "build/release/src/app/a2aperf"))
LAUNCHER = TOP / "test/support/mpirun.sh"
FACTS = "node001\tgovernor\tok\tperformance — all 48 cores\n"
SECONDS = 300  # a deadline, not an expectation

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (PROGRAM.exists() and LAUNCHER.exists()),
        reason=f"no a2aperf at {PROGRAM}: build it, or name it in $A2APERF",
    ),
]


def words(path: Path, *options: str, ranks: int = 3) -> list[str]:
    # one way to start for all tests: a busy machine would end up with ops that began late
    common = "alltoall --provider tcp --sync barrier --poll yield --warmup 2 --ops 12".split()
    launcher = [str(LAUNCHER), "-t", str(SECONDS), str(ranks)]
    return [*launcher, str(PROGRAM), *common, *options, "-o", str(path)]


def launch(path: Path, *options: str) -> str:
    """Measure; returns what the program printed on stdout."""
    done = subprocess.run(
        words(path, *options), capture_output=True, text=True, timeout=SECONDS + 30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def with_baseline(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file with rows of all roles, and the table that the program printed as CSV."""
    path = tmp_path_factory.mktemp("measured") / "run.h5"
    facts = path.with_name("facts.txt")
    facts.write_text(FACTS, encoding="utf-8")
    options = "--sizes 1000,8000 --baseline mpi --label who=test --format csv"
    return path, launch(path, *options.split(), "--attach", str(facts))


def test_check_recomputes_every_figure(a2a: Run, with_baseline: tuple[Path, str]) -> None:
    path, _ = with_baseline
    outcome = a2a("check", path)
    assert outcome.status == 0, outcome.out
    assert "error" not in outcome.out


def test_what_is_read_is_what_was_printed(with_baseline: tuple[Path, str]) -> None:
    path, printed = with_baseline
    rows = list(csv.DictReader(printed.splitlines()))
    points = loading.load([path]).measured(("measure", "baseline")).points
    key = ["role", "mode", "schedule", "message_size"]
    ours = {tuple(str(row[name]) for name in key): row for _, row in points.iterrows()}
    assert len(ours) == len(rows) == 4
    for row in rows:
        mine = ours[tuple(row[name] for name in key)]
        for name in ("ops", "time_p50", "time_p99", "gbps_rank", "msg_rate", "rank_time_p50"):
            assert float(row[name]) == pytest.approx(float(mine[name]), rel=1e-12), name


def test_a_file_with_other_columns_than_ours(
    a2a: Run, with_baseline: tuple[Path, str], tmp_path: Path
) -> None:
    """One more, as a newer program would write it, and one fewer."""
    path = tmp_path / "newer.h5"
    path.write_bytes(with_baseline[0].read_bytes())
    with edited(path) as file:
        jitter = file.create_dataset("jitter", data=1000.0 * np.arange(len(file["state"])))
        jitter.attrs.update(long_name="spread of the op time", units="ns", better="lower")
        jitter.dims[0].attach_scale(file["point"])
        del file["autocorrelation"]
    heading, *rows = a2a("table", path, "--columns", "message_size,jitter").out.splitlines()
    assert heading.split("  ") == ["msg B", "jitter µs"]
    assert [float(row.split()[1]) for row in rows] == [1.0, 2.0, 3.0, 4.0]  # between sentinels
    kept = a2a("table", path, "--columns", "jitter", "--where", "jitter>2500").out
    assert kept.split()[2:] == ["3.00", "4.00"]
    figure = tmp_path / "jitter.svg"
    assert a2a("plot", "sizes", path, "--what", "jitter", "-o", figure).status == 0
    assert "Spread of the op time (ns)" in figure.read_text(encoding="utf-8")
    a2a("table", path, "--columns", "autocorrelation").refused("autocorrelation")
    told = a2a("check", path)
    assert told.status == 2
    assert "column autocorrelation is missing" in told.out


def test_provenance_is_read(with_baseline: tuple[Path, str]) -> None:
    path, _ = with_baseline
    found = loading.load([path])
    (launched,) = found.launches.values()
    assert launched.labels == {"who": "test"}
    assert launched.attachments == {"facts.txt": FACTS}
    assert launched.attributes["sync"] == "barrier"
    assert "--sizes 1000,8000" in launched.attributes["command_line"]
    assert launched.node_facts["kernel"] == [platform.release()]
    assert all(launched.node_facts["memlock"]) and all(launched.node_facts["irqbalance"])
    assert launched.node_of_rank.tolist() == [0, 0, 0]
    counters = found.counters("run.h5", 0)
    assert counters is not None
    assert all(values.size == 3 for values in counters.per_rank.values())
    assert (counters.per_rank["threads"] >= 1).all()


def test_counters_are_told_per_message(a2a: Run, with_baseline: tuple[Path, str]) -> None:
    path, _ = with_baseline
    rows = list(csv.DictReader(a2a("table", path, "--counters", "--csv").out.splitlines()))
    assert {(row["role"], row["message_size"]) for row in rows} == {
        (role, size) for role in ("measure", "baseline") for size in ("1000", "8000")
    }
    for row in rows:
        assert int(row["messages"]) == 12 * 3 * 2, row  # --ops 12, of three ranks
    (busy,) = [
        row
        for row in rows
        if (row["role"], row["message_size"], row["counter"]) == ("measure", "8000", "user_time")
    ]
    spent = int(busy["sum"])
    assert float(busy["per_gb"]) == pytest.approx(spent / (72 * 8000) * 1e9)


def test_both_halves_print_the_same_compat_table(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    printed = launch(path, *"--sizes 1000,2000 --format compat".split())
    assert a2a("table", path, "--layout", "compat").out == printed
    text = tmp_path / "printed.txt"
    text.write_text(printed)
    assert a2a("import", text, "-o", tmp_path / "again.h5").status == 0
    again = loading.load([tmp_path / "again.h5"]).points
    assert again["time_p50"].tolist() == pytest.approx(
        loading.load([path]).measured().points["time_p50"].tolist(), abs=5
    )
    assert tuple(printed.splitlines()[:2]) == compat.HEADING


def test_live_follows_a_running_job(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    with subprocess.Popen(
        words(path, "--sizes", "1000,2000,4000"), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as job:
        try:
            while not path.exists() and job.poll() is None:
                time.sleep(0.01)
            command = [sys.executable, "-m", "a2aperf", "live", str(path), "--interval", "0.1"]
            seen = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False
            )
            assert job.wait(timeout=SECONDS) == 0
        finally:
            job.kill()
    assert seen.returncode == 0, seen.stderr
    sizes = [line.split()[6] for line in seen.stdout.splitlines()[1:]]
    assert [size for size in sizes if size in ("1000", "2000", "4000")]
    assert seen.stderr.splitlines()[-1].endswith("finished")
    assert len(sizes) == len(loading.load([path]).measured().points)  # and no sentinel


def test_two_launches_merge_and_go_out_without_names(
    a2a: Run, with_baseline: tuple[Path, str], tmp_path: Path
) -> None:
    path, _ = with_baseline
    other = tmp_path / "other.h5"
    launch(other, "--sizes", "1000")
    merged, public = tmp_path / "merged.h5", tmp_path / "public.h5"
    assert a2a("merge", path, other, "-o", merged).status == 0
    assert a2a("check", merged).status == 0
    key = tmp_path / "key"
    assert a2a("export", merged, "--anonymize", "--key", key, "-o", public).status == 0
    assert a2a("check", public).status == 0
    found = loading.load([public])
    named = loading.load([merged])
    hosts = {node for launched in named.launches.values() for node in launched.nodes}
    assert hosts
    assert not hosts & {node for launched in found.launches.values() for node in launched.nodes}
    text = " ".join(
        f"{launched.attributes} {launched.environment} {launched.fi_info}"
        for launched in found.launches.values()
    )
    assert str(tmp_path) not in text
    assert str(PROGRAM) not in text


BETWEEN_DATASETS = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"}
BETWEEN_DATASETS |= {"checksum"}  # of other points another one


def parts(path: Path) -> dict[str, object]:
    """Every dataset of a file: its kind of values, attributes and dimension scales."""
    found: dict[str, object] = {}

    def note(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Group):
            return
        attributes = {
            key: strict.text(value) if isinstance(value, bytes) else repr(value)
            for key, value in item.attrs.items()
            if key not in BETWEEN_DATASETS
        }
        scales = [[scale.name for scale in dimension.values()] for dimension in item.dims]
        kind = "text" if item.dtype.kind in "OS" else str(item.dtype)
        found[name] = kind, attributes, scales

    with h5py.File(path, "r") as file:
        file.visititems(note)
        found["/"] = sorted(file.attrs)
    return found


def planned(path: Path) -> list[list[int]]:
    with h5py.File(path, "r") as file:
        return [group["planned_order"][()].tolist() for group in file["segments"].values()]


def required(path: Path) -> dict[str, int]:
    with h5py.File(path, "r") as file:
        group = file["segments/0"]
        names = strict.texts(group["environment_name"])
        return dict(zip(names, group["environment_required"][()].tolist(), strict=True))


def test_a_copy_has_every_part_of_what_was_measured(
    a2a: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FI_TCP_IFACE", "lo")
    files = [tmp_path / "a.h5", tmp_path / "b.h5"]
    for path, sizes in zip(files, ("1000,2000", "4000"), strict=True):
        launch(path, "--sizes", sizes, "--trace")
    merged, public = tmp_path / "merged.h5", tmp_path / "public.h5"
    assert a2a("merge", *files, "-o", merged).status == 0
    key = tmp_path / "key"
    assert a2a("export", files[0], "--anonymize", "--key", key, "-o", public).status == 0
    whole = parts(files[0])
    assert parts(public) == whole
    second = {n.replace("ts/0", "ts/1", 1): p for n, p in whole.items() if n.startswith("seg")}
    assert parts(merged) == whole | second
    own = [planned(path)[0] for path in files]
    points = len(loading.load([files[0]]).points)
    assert planned(merged) == [own[0], [point + points for point in own[1]]]
    assert planned(public) == own[:1]
    assert required(public) == required(merged) == required(files[0])
    assert 1 in required(files[0]).values()


def test_a_matrix_of_pairs_is_read_as_it_was_printed(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "pairs.h5"
    common = "pairs --provider tcp --sync barrier --poll yield --warmup 2 --ops 6 --sizes 8,4096"
    launcher = [str(LAUNCHER), "-t", str(SECONDS), "3"]
    command = [*launcher, str(PROGRAM), *common.split(), "--format", "csv", "-o", str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS + 30, check=False
    )
    assert done.returncode == 0, done.stderr
    outcome = a2a("check", path)
    assert outcome.status == 0, outcome.out
    assert "error" not in outcome.out
    printed = list(csv.DictReader(done.stdout.splitlines()))
    rows = list(csv.DictReader(a2a("table", path, "--csv").out.splitlines()))
    assert len(rows) == len(printed) == 3 * 2 * 2
    key = ("message_size", "source", "destination")
    ours = {tuple(row[name] for name in key): row for row in rows}
    for row in printed:
        mine = ours[tuple(row[name] for name in key)]
        assert float(mine["time_p50"]) == pytest.approx(float(row["time_p50"]), rel=1e-9)
        assert int(mine["ops"]) == int(row["ops"]) == 6
    public = tmp_path / "public.h5"
    secret = tmp_path / "key"
    assert a2a("export", path, "--anonymize", "--key", secret, "-o", public).status == 0
    assert parts(public) == parts(path)
    assert a2a("explain", path).status == 0
    assert a2a("plot", "matrix", path, "-o", tmp_path / "matrix.png").status == 0
    a2a("plot", "sizes", path, "-o", tmp_path / "sizes.png").refused("a2aperf pairs")
