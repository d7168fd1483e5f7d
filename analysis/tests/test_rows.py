# SPDX-License-Identifier: BSD-3-Clause
"""Rows of files without a trailer: each is compared with its checksum where it is shown."""

import fcntl
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest

from a2aperf import file_lock, loading, schema, trailer
from conftest import TABLE_2019, Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]
SMALL = synthetic.Setup(nodes=2, ppn=1, sizes=(8, 1000, 60000), ops=12)
POINT = 2
READ = (
    "table", "table --csv", "live --once", "history", "explain", "plot sizes -o x.svg",
    "plot scaling -o x.svg", "report -o x.html", "export --flat -o x.csv",
)  # fmt: skip
COPIES = ("merge {other} -o x.h5", "export --anonymize --key k -o x.h5")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """Of a launch that was killed, and measured all points."""
    path = synthetic.write_launch(tmp_path / "killed.h5", SMALL)
    with edited(path) as file:
        file.attrs["layout"] = "preallocated"
        for name, value in (("end_state", 0), ("end_reason", 0), ("ended", -1)):
            file["segments/0"][name][()] = value
    without_trailer(path)
    return path


@pytest.fixture
def imported(a2a: Run, tmp_path: Path) -> Path:
    """Without samples."""
    path = tmp_path / "imported.h5"
    assert a2a("import", TABLE_2019, "-o", path).status == 0
    return path


def without_trailer(path: Path) -> None:
    """As any program leaves a file that changes it by HDF5."""
    with h5py.File(path, "r+"):
        pass
    assert trailer.of(path) is trailer.Trailer.ABSENT


def falsify(path: Path, point: int = POINT) -> None:
    """A third of the speed, and nothing else says so."""
    with h5py.File(path, "r+") as file:
        for name in ("gbps_rank", "gbps_node", "gbps_compat"):
            if name in file:
                file[name][point] /= 3
        for name in ("time_p50", "time_mean"):
            file[name][point] *= 3


def run(a2a: Run, command: str, path: Path, other: Path) -> Outcome:
    words = [word.format(other=other) for word in command.split()]
    at = 2 if words[0] == "plot" else 1
    return a2a(*words[:at], path, *words[at:])


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        *(("killed", command) for command in (*READ, *COPIES)),
        *(("imported", command) for command in ("table", "explain", "report -o x.html", *COPIES)),
        *(("finished", command) for command in ("table --csv", "history", *COPIES)),
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_shown_by_nobody(
    a2a: Run, request: pytest.FixtureRequest, tmp_path: Path, kind: str, command: str
) -> None:
    other = synthetic.write_launch(tmp_path / "other.h5", synthetic.Setup(nodes=2, ppn=1, seed=9))
    if kind == "finished":
        path = synthetic.write_launch(tmp_path / "finished.h5", SMALL)
        without_trailer(path)
    else:
        path = request.getfixturevalue(kind)
    if kind == "imported" and command.startswith("merge"):
        shutil.copy(path, tmp_path / "more.h5")
        other = tmp_path / "more.h5"
    falsify(path)
    run(a2a, command, path, other).refused(
        f"{path}: damaged: point {POINT} is not as it was written: its checksum is wrong"
    )
    assert not [*tmp_path.glob("x.*")]


@pytest.mark.parametrize("command", [*READ, *COPIES])
def test_rows_that_are_as_they_were_written_are_shown(
    a2a: Run, killed: Path, tmp_path: Path, command: str
) -> None:
    other = synthetic.write_launch(tmp_path / "other.h5", synthetic.Setup(nodes=2, ppn=1, seed=9))
    outcome = run(a2a, command, killed, other)
    assert outcome.status == (1 if command == "live --once" else 0), outcome
    assert "damaged" not in outcome.err


def test_the_others_of_a_folder_are_shown(a2a: Run, killed: Path, tmp_path: Path) -> None:
    nights = tmp_path / "nights"
    nights.mkdir()
    synthetic.write_launch(nights / "sound.h5", synthetic.Setup(nodes=2, ppn=1, seed=9))
    falsify(killed)
    shutil.move(killed, nights)
    outcome = a2a("history", nights)
    assert outcome.status == 3, outcome
    assert f"killed.h5: damaged: point {POINT} is not as it was written" in outcome.err


def test_who_judges_or_compares_nodes_does_without_it(a2a: Run, killed: Path) -> None:
    falsify(killed)
    outcome = a2a("gate", killed, "--min-efficiency", "0.01")
    assert outcome.status == 3 and f"point {POINT} is not as it was written" in outcome.out
    outcome = a2a("history", killed, "--per", "node")
    assert outcome.status == 2 and f"point {POINT} is not as it was written" in outcome.err


def test_a_row_that_was_half_written_is_no_damage(a2a: Run, killed: Path) -> None:
    """A power cut: its state is not on the disk, its checksum is, and not all of the row."""
    with h5py.File(killed, "r+") as file:
        file["state"][POINT] = schema.PENDING
    falsify(killed)
    assert a2a("check", killed).status == 0
    outcome = a2a("table", killed)
    assert outcome.status == 0 and "damaged" not in outcome.err, outcome
    assert loading.load([killed]).points["state"][POINT] == "pending"


def test_rows_of_files_that_have_no_checksums_are_shown(a2a: Run, killed: Path) -> None:
    with h5py.File(killed, "r+") as file:
        file.attrs["schema_version"] = 1
        del file["checksum"], file["digest"]
    falsify(killed)
    assert a2a("table", killed).status == 0


def test_a_point_without_a_checksum_is_damage(a2a: Run, killed: Path) -> None:
    with h5py.File(killed, "r+") as file:
        file["checksum"][POINT] = -1
    a2a("table", killed).refused(f"point {POINT} is not as it was written")


def test_while_a_launch_writes_only_copies_compare_all(a2a: Run, killed: Path) -> None:
    """Each look of `a2a live` would read all samples again; what a copy says is said for ever."""
    other = synthetic.write_launch(
        killed.with_name("o.h5"), synthetic.Setup(nodes=2, ppn=1, seed=9)
    )
    falsify(killed)
    with killed.open("rb") as file:
        mark = struct.pack("hhqqi0q", fcntl.F_RDLCK, 0, file_lock.MARK, 1, 0)
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, mark)
        assert a2a("live", "--once", killed).status == 0
        outcome = a2a("merge", killed, other, "-o", "x.h5")
        assert (outcome.status, f"point {POINT} is not" in outcome.err) == (2, True), outcome
    a2a("live", "--once", killed).refused(f"point {POINT} is not as it was written")


def test_where_nothing_tells_who_writes_live_looks_at_figures_only(
    a2a: Run, killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a network file system it would read all samples of all points at each look."""
    monkeypatch.setattr(file_lock, "_LOCAL", frozenset())
    monkeypatch.setattr("a2aperf.isolated.is_here", lambda: True)
    falsify(killed)
    assert a2a("live", "--once", killed).status == 0
    a2a("table", killed).refused(f"point {POINT} is not as it was written")
