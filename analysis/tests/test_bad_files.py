# SPDX-License-Identifier: BSD-3-Clause
"""Every command that reads results refuses bad files in one line, and touches nothing."""

import os
import resource
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from a2aperf import loading, schema, temporary, writer
from a2aperf.errors import InputError
from conftest import Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]
Edit = Callable[[h5py.File], None]
READERS = [
    ("table",),
    ("check",),
    ("live", "--once"),
    ("export", "--anonymize", "-o", "out.h5", "--key", "key"),
    ("merge", "-o", "out.h5"),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_on(a2a: Run, command: tuple[str, ...], path: Path) -> Outcome:
    others = [path.parent / "launch.h5"] if command[0] == "merge" else []
    return a2a(command[0], path, *others, *command[1:])


def not_hdf5(path: Path) -> None:
    path.write_text("hello, I am text\n")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def cut_to_the_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(60)


def of_another_program(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3)


def of_another_schema(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.attrs["schema"] = "netperf"


def with_edit(edit: Edit) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        with edited(path) as file:
            edit(file)

    return apply


def newer(file: h5py.File) -> None:
    file.attrs["schema_version"] = np.int32(3)


def version_in_words(file: h5py.File) -> None:
    file.attrs["schema_version"] = "1"


def without_column(file: h5py.File) -> None:
    del file["time_p50"]


def with_a_group_for_a_column(file: h5py.File) -> None:
    del file["state"]
    file.create_group("state")


def without_segments(file: h5py.File) -> None:
    del file["segments"]


def without_raw(file: h5py.File) -> None:
    del file["raw"]


def without_nodes(file: h5py.File) -> None:
    del file["segments/0/nodes"]


def with_nan(file: h5py.File) -> None:
    file["time_p50"][2] = np.nan


def with_zero_ops(file: h5py.File) -> None:
    file["ops"][1] = 0
    file["attempts"][1] = 0


def with_a_segment_too_many(file: h5py.File) -> None:
    file["segment"][0] = 7


def with_a_strange_rule(file: h5py.File) -> None:
    file["stop_rule"][0] = 9


CASES: list[tuple[Callable[[Path], None], list[str]]] = [
    (not_hdf5, ["not an HDF5 file", "a2a import"]),
    (empty, ["empty file"]),
    (truncated, ["truncated"]),
    (cut_to_the_header, ["bad.h5: "]),
    (of_another_program, ["has no schema", "reads schema 'a2aperf' version 1 and 2"]),
    (of_another_schema, ["schema 'netperf'", "reads schema 'a2aperf' version 1 and 2"]),
    (with_edit(newer), ["schema version 3", "reads schema 'a2aperf' version 1 and 2"]),
    (with_edit(version_in_words), ["damaged: schema version '1' is no number; this a2a"]),
    (with_edit(without_column), ["column time_p50 missing"]),
    (with_edit(with_a_group_for_a_column), ["/state is no dataset"]),
    (with_edit(without_segments), ["/segments missing"]),
    (with_edit(without_raw), ["group /raw is missing"]),
    (with_edit(without_nodes), ["damaged", "nodes"]),
    (with_edit(with_nan), ["point 2 (16000 B)", "NaN"]),
    (with_edit(with_zero_ops), ["point 1 (8000 B)", "zero ops"]),
    (with_edit(with_a_segment_too_many), ["segment that is not there"]),
    (with_edit(with_a_strange_rule), ["column stop_rule has values without a meaning"]),
]


@pytest.mark.parametrize("command", READERS, ids=lambda command: str(command[0]))
@pytest.mark.parametrize(("spoil", "words"), CASES)
def test_bad_file(
    a2a: Run,
    launch: Path,
    tmp_path: Path,
    command: tuple[str, ...],
    spoil: Callable[[Path], None],
    words: list[str],
) -> None:
    path = Path(shutil.copy(launch, tmp_path / "bad.h5"))
    spoil(path)
    before = {entry: entry.read_bytes() for entry in tmp_path.iterdir()}
    run_on(a2a, command, path).refused("bad.h5: ", *words)
    assert {entry: entry.read_bytes() for entry in tmp_path.iterdir()} == before


@pytest.mark.parametrize("command", READERS, ids=lambda command: str(command[0]))
def test_missing_file_and_folder(a2a: Run, launch: Path, command: tuple[str, ...]) -> None:
    run_on(a2a, command, launch.parent / "none.h5").refused("none.h5: no such file")
    folder = launch.parent / "folder"
    folder.mkdir()
    run_on(a2a, command, folder).refused("folder", "is a folder")


@pytest.mark.parametrize("command", READERS, ids=lambda command: str(command[0]))
def test_empty_file_list(a2a: Run, command: tuple[str, ...]) -> None:
    a2a(*command).refused("FILE", f"a2a {command[0]} --help")


def test_empty_list_of_paths() -> None:
    with pytest.raises(Exception, match="at least one results file"):
        loading.load([])


@contextmanager
def without_root() -> Iterator[Path]:
    """A folder of a user without rights, who runs what is inside; root may do everything."""
    folder = Path(tempfile.mkdtemp())
    user, nobody = os.geteuid(), 65534
    try:
        if user == 0:
            os.chown(folder, nobody, nobody)
            os.seteuid(nobody)
        yield folder
    finally:
        os.seteuid(user)
        shutil.rmtree(folder)


def test_unreadable_file(a2a: Run, launch: Path) -> None:
    content = launch.read_bytes()
    assert a2a("table", launch).status == 0  # and every module is loaded
    with without_root() as folder:
        path = folder / "run.h5"
        path.write_bytes(content)
        path.chmod(0)
        a2a("table", path).refused("run.h5: cannot be read: Permission denied")


def outputs(launch: Path) -> list[tuple[str, ...]]:
    other = synthetic.write_launch(launch.parent / "other.h5", synthetic.Setup(seed=9))
    return [
        ("export", str(launch), "--anonymize", "--key", "key"),
        ("merge", str(launch), str(other)),
    ]


def test_unwritable_output(a2a: Run, launch: Path, tmp_path: Path) -> None:
    for command in outputs(launch):
        a2a(*command, "-o", tmp_path / "none" / "x.h5").refused("none does not exist")
        a2a(*command, "-o", tmp_path).refused("is a folder")
        a2a(*command, "-o", launch).refused("exists already", "--force")
    assert loading.load([launch]).points["state"].eq("complete").all()


def test_folder_without_permission(a2a: Run, launch: Path) -> None:
    content = launch.read_bytes()
    assert a2a(*outputs(launch)[1], "-o", "warm-up.h5").status == 0
    other = (launch.parent / "other.h5").read_bytes()
    with without_root() as folder:
        files = [folder / "a.h5", folder / "b.h5"]
        for path, what in zip(files, (content, other), strict=True):
            path.write_bytes(what)
        locked = folder / "locked"
        locked.mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
        a2a("merge", *files, "-o", locked / "x.h5").refused("locked is not writable")
        with (
            pytest.raises(InputError, match=r"x\.h5: cannot be written: Permission denied"),
            temporary.of(locked / "x.h5"),
        ):
            pass  # what the check before cannot see, such as a race


def test_full_disk_leaves_nothing(a2a: Run, launch: Path) -> None:
    """A limit on the size of files stands for the full disk: the same error at the same place."""
    command = outputs(launch)[0]
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limit[1]))
        outcome = a2a(*command, "-o", "x.h5")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert outcome.status == 2
    assert outcome.err.splitlines()[-1].startswith("a2a: x.h5: cannot be written: ")
    assert sorted(path.name for path in Path().iterdir()) == ["key", "launch.h5", "other.h5"]


def test_a_large_file_is_not_begun_without_space(
    a2a: Run, launch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = outputs(launch)[1]
    monkeypatch.setattr(writer, "IN_MEMORY", 0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    a2a(*command, "-o", "x.h5").refused("x.h5: may need", "GiB are free")
    monkeypatch.undo()
    monkeypatch.setattr(writer, "IN_MEMORY", 0)
    monkeypatch.chdir(launch.parent)
    assert a2a(*command, "-o", "x.h5").status == 0
    assert a2a("check", "x.h5").status == 0


def test_the_space_asked_for_is_that_of_all_samples(
    a2a: Run, launch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(writer, "IN_MEMORY", 0)
    monkeypatch.setattr(writer, "_require_space", lambda _, size: asked.append(size))
    with edited(launch) as file:
        if "exit" not in file["raw"]:
            file["raw"].create_dataset("exit", data=file["raw/recv_done"][()])
    assert a2a(*outputs(launch)[1], "-o", "x.h5").status == 0
    with h5py.File("x.h5") as file:
        samples = ("begin", "send_done", "recv_done", "exit", "start", "valid")
        assert asked[-1] == sum(file["raw"][name].nbytes for name in samples)


def test_same_launch_twice(a2a: Run, launch: Path, tmp_path: Path) -> None:
    copy = shutil.copy(launch, tmp_path / "copy.h5")
    a2a("table", launch, launch).refused("given twice")
    a2a("merge", launch, copy, "-o", "x.h5").refused("same launch")


def test_a_killed_run_is_read(a2a: Run, launch: Path) -> None:
    """Rows that are not complete may hold anything; the others count."""
    with edited(launch) as file:
        file.attrs["layout"] = "preallocated"
        file["segments/0/end_state"][()] = 0
        for point in (2, 3):
            file["state"][point] = 0
            file["time_p50"][point] = np.nan
            file["ops"][point] = 0
            file["segment"][point] = -1
    outcome = a2a("table", launch)
    assert outcome.status == 0
    assert len(outcome.out.splitlines()) == 3
    assert "2 points are not measured yet (a launch was killed, or still running)" in outcome.err
    told = a2a("explain", launch)
    assert told.status == 0
    assert "did not finish (killed, or still running)" in told.err


def test_what_has_its_sentinel_alone_is_not_explained(a2a: Run, tmp_path: Path) -> None:
    """Of a launch that ended at its first point "nothing stands out" was said."""
    path = synthetic.write_launch(tmp_path / "a.h5", synthetic.Setup(sentinel=True))
    with edited(path) as file:
        sentinel = file["role"][:] == b"sentinel"
        file["state"][~sentinel] = 0
    a2a("explain", path).refused("no point is complete, ", " pending")


@pytest.mark.parametrize("state", ["complete", "failed"])
def test_a_point_without_a_valid_op_is_no_damage(a2a: Run, launch: Path, state: str) -> None:
    """Every op of it began late: it says so, and the other points count.

    Older programs call it complete.
    """
    with edited(launch) as file:
        file["state"][1] = schema.STATES.index(state)
        file["ops"][1], file["invalid"][1] = 0, 100
        file["raw/valid"][1] = 0
        for column in schema.COLUMNS:
            if column.kind == "float64" and column.result and column.name != "clock_error":
                file[column.name][1] = np.nan
        file["last_rank"][1] = schema.UNKNOWN
        file["raw/begin"][1, :, 0] = 1 + file["late_limit"][1]
    lines = a2a("table", launch).out.splitlines()
    assert len(lines) == 5
    assert lines[2].endswith("failed: none of 100 ops was valid")
    assert len(loading.load([launch]).measured().points) == 3
    assert not loading.load([launch]).raw("launch.h5", 1).valid.any()
    outcome = a2a("check", launch)
    assert (outcome.status, outcome.out) == (0, f"{launch}: warning: 1 point failed\n")
    assert a2a("table", launch, "--layout", "compat").out.count("\n") == 5


def test_where_no_op_was_valid_the_reason_is_said(a2a: Run, launch: Path, tmp_path: Path) -> None:
    with edited(launch) as file:
        file["state"][:] = schema.STATES.index("failed")
        file["ops"][:], file["invalid"][:] = 0, 100
        file["raw/valid"][:] = 0
    why = "no point is complete, 4 failed (none of 100 ops was valid)"
    for command in (["explain"], ["history"], ["compare", "--by", "schedule"]):
        a2a(command[0], launch, *command[1:]).refused(why)
    a2a("plot", "sizes", launch, "-o", tmp_path / "x.svg").refused(why)
    page = tmp_path / "x.html"
    assert a2a("report", launch, "-o", page).status == 0
    assert "4 points failed: none of 100 ops was valid." in page.read_text()


def test_a_run_without_a_point_yet(a2a: Run, launch: Path) -> None:
    with edited(launch) as file:
        file["state"][:] = 0
    a2a("table", launch).refused("no point is measured yet")


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_is_read_or_refused(a2a: Run, launch: Path, seed: int) -> None:
    """Random bytes overwritten: HDF5 objects to much, and h5py in many ways; never a traceback."""
    random = np.random.default_rng(seed)
    content = bytearray(launch.read_bytes())
    for place in random.integers(len(content), size=random.integers(1, 10)):
        content[place] = random.integers(256)
    path = launch.parent / "bad.h5"
    path.write_bytes(content)
    outcome = a2a("table", path)
    if outcome.status != 0:
        outcome.refused("bad.h5: ")
