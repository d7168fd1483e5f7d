# SPDX-License-Identifier: BSD-3-Clause
"""The results file as others read it: h5py, xarray with both its engines, h5dump; finished and half written."""

import shutil
import subprocess
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
import xarray

from expected import attempts_of, is_skipped, median_of, samples_of
from processes import PATIENCE

POINTS, RANKS, NODES, OPS = 16, 5, 2, 40
SHAPE = {"points": POINTS, "ranks": RANKS, "nodes": NODES, "ops": OPS}
MEASURED = [p for p in range(POINTS) if not is_skipped(p, POINTS)]
STATES = [2 if is_skipped(p, POINTS) else 1 for p in range(POINTS)]
GROUPS = (None, "raw", "counters", "segments/0")


@pytest.fixture(params=["compact", "preallocated"])
def results(request, writer, tmp_path: Path) -> Path:
    """A file in either layout."""
    file = tmp_path / "results.h5"
    done = writer.run(file, end=1 if request.param == "compact" else 0, **SHAPE)
    assert (done.returncode, done.stderr) == (0, "")
    with h5py.File(file, "r") as opened:
        assert opened.attrs["layout"] == request.param
    return file


def check_samples(file: h5py.File, point: int, ranks: int, ops: int) -> None:
    attempts = attempts_of(point, ops)
    assert file["attempts"][point] == attempts
    for name, values in samples_of(point, attempts, ranks).items():
        np.testing.assert_array_equal(file["raw"][name][point, :attempts], values)
    assert file["time_p50"][point] == median_of(point, attempts, ranks)


def test_h5py_reads_every_sample(results: Path) -> None:
    with h5py.File(results, "r") as file:
        assert file["state"][()].tolist() == STATES
        for point in MEASURED:
            check_samples(file, point, RANKS, OPS)
            counters = file["counters"]
            assert counters["voluntary_switches"][point].tolist() == [100 * point + r for r in range(RANKS)]
            assert counters["thread_affinity"][point].tolist() == [b"0-1;0-1"] * RANKS
            assert counters["port"][point].tolist() == [[1000 * point + 10 * n + c for c in (0, 1)] for n in (0, 1)]
        segment = file["segments/0"]
        assert segment["nodes"].asstr()[()].tolist() == ["node000", "node001"]
        assert segment["label_value"].asstr()[0] == "grün"
        assert segment["attachment_name"].asstr()[()].tolist() == ["topology.txt"]
        assert segment["attachment_text"].asstr()[()].tolist() == ["two\nlines\n"]
        assert segment["node_of_rank"][()].tolist() == [0, 0, 0, 1, 1]
        assert segment["planned_order"][()].tolist() == [p for p in MEASURED if p in (0, POINTS - 1) or p % 2]
        assert segment["end_state"][()] == (1 if file.attrs["layout"] == "compact" else 0)


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_shows_one_row_per_point(results: Path, engine: str) -> None:
    with xarray.open_dataset(results, engine=engine) as data:
        assert dict(data.sizes) == {"point": POINTS}
        assert data["state"].values.tolist() == STATES
        assert data["message_size"].attrs["units"] == "B"
        assert data["time_p50"].attrs["units"] == "ns"
        assert data["gbps_rank"].attrs["long_name"]
        assert data["mode"].values[:3].tolist() == ["tagged", "tagged", "collective"]
        assert data["state"].attrs["flag_meanings"] == "pending complete skipped failed"
        skipped = STATES.index(2)
        assert np.isnan(data["segment"].values[skipped])  # -1 told as _FillValue
        assert np.isnat(data["started"].values[skipped])
        assert data["started"].values[0] == np.datetime64(1_700_000_000, "s")
        assert np.isnan(data["time_p50"].values[skipped])
        assert data["time_p50"].values[0] == median_of(0, attempts_of(0, OPS), RANKS)
        assert "needs 2.1 GB" in str(data["skip_reason"].values[skipped])


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.filterwarnings("ignore:The 'phony_dims' kwarg")
def test_xarray_loads_every_group(results: Path, engine: str, group: str | None) -> None:
    with xarray.open_dataset(results, engine=engine, group=group) as data:
        data.load()
        if group == "raw":
            assert data["begin"].dims == ("point", "attempt", "rank")


def test_h5dump_reads_all_of_it(results: Path) -> None:
    done = subprocess.run(["h5dump", str(results)], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'DATASET "gbps_rank"' in done.stdout and "tcp;ofi_rxm" in done.stdout


def test_the_file_is_of_the_oldest_format(results: Path) -> None:
    with h5py.File(results, "r") as file:
        assert file.id.get_create_plist().get_version()[0] == 0  # superblock


def test_a_running_launch_can_be_followed(writer, tmp_path: Path) -> None:
    """Every acknowledged point is there for a reader that opens the file anew, its own locking left on."""
    file = tmp_path / "results.h5"
    with writer.start(file, step=1, **SHAPE) as process:
        seen = []
        for word, point in writer.steps(process):
            if word == "done":
                seen.append(point)
                with h5py.File(file, "r") as opened:
                    assert np.flatnonzero(checksums.states(opened) == 1).tolist() == seen
                    check_samples(opened, point, RANKS, OPS)
                with xarray.open_dataset(file, engine="netcdf4") as data:
                    written = data["checksum"].notnull() & (data["state"] != 2)
                    assert int(written.sum()) == len(seen)
    assert process.returncode == 0
    assert seen == MEASURED


def test_a_setting_for_hdf5s_locks_changes_nothing(writer, tmp_path: Path) -> None:
    for setting in ("TRUE", "BEST_EFFORT", "FALSE"):
        file = tmp_path / f"{setting}.h5"
        for options in ({"stop_after": 3, "end": 2}, {"resume": 1}):
            done = writer.run(file, prefix=("env", f"HDF5_USE_FILE_LOCKING={setting}"), **options, **SHAPE)
            assert (done.returncode, done.stderr) == (0, "")


def data_ranges(file: Path) -> list[tuple[int, int]]:
    """Where in the file the values of plain datasets lie."""
    ranges = []

    def visit(_: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype != object and item.id.get_offset() is not None:
            ranges.append((item.id.get_offset(), item.id.get_offset() + item.id.get_storage_size()))

    with h5py.File(file, "r") as opened:
        opened.visititems(visit)
    return ranges


def test_after_its_creation_only_data_is_written(writer, tmp_path: Path) -> None:
    file, copy = tmp_path / "results.h5", tmp_path / "created.h5"
    with writer.start(file, end=0, step=1, **SHAPE) as process:
        for word, _ in writer.steps(process):
            if word == "ready":
                shutil.copyfile(file, copy)
    assert process.returncode == 0
    before, after = (np.frombuffer(path.read_bytes(), np.uint8) for path in (copy, file))
    assert before.size == after.size
    changed = np.flatnonzero(before != after)
    assert changed.size > 10_000
    is_data = np.zeros(after.size, bool)
    is_data[20] = True  # of the superblock: open for writing, cleared by closing; no reader of this format heeds it
    for begin, end in data_ranges(file):
        is_data[begin:end] = True
    assert is_data[changed].all()


def test_what_is_not_used_takes_no_disk_space_and_is_gone_at_the_end(writer, tmp_path: Path) -> None:
    file = tmp_path / "results.h5"
    shape = {"points": 200, "ranks": 64, "ops": 1000}
    writer.run(file, stop_after=2, end=2, **shape)
    status = file.stat()
    assert status.st_size > 200 * 64 * 1000 * 24
    assert status.st_blocks * 512 < status.st_size / 50
    writer.run(file, resume=1, stop_after=2, end=1, **shape)
    assert file.stat().st_size < status.st_size / 50
    with h5py.File(file, "r") as opened:
        assert opened.attrs["layout"] == "compact"
        assert len(opened["segments"]) == 2
        assert opened["segment"][:4].tolist() == [0, 0, 1, 1]
        for point in range(4):
            check_samples(opened, point, 64, 1000)
    assert [path.name for path in tmp_path.iterdir()] == ["results.h5"]
