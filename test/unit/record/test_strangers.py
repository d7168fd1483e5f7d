# SPDX-License-Identifier: BSD-3-Clause
"""What a newer program has put into a file: a resumed one keeps it, or is refused as it was (src/record/strangers.cpp)."""

from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest

SHAPE = {"points": 16, "ranks": 5, "nodes": 2, "ops": 30}
TEXTS = np.array(["one", "zwölf"], dtype=h5py.string_dtype())
ATTRIBUTES = {
    "newer_text": "said by a newer a2aperf",
    "newer_number": np.int16(-3),
    "newer_share": np.float32(0.25),
    "newer_list": np.arange(4, dtype=np.int64),
    "newer_texts": TEXTS,
    "newer_fixed": np.array([b"a", b"bcd"], dtype="S3"),
}
HOLDERS = [
    "/", "raw", "counters", "segments", "segments/0", "segments/0/node_facts", "time_p50", "role", "point", "checksum",
    "raw/begin", "raw/rank", "counters/port", "counters/thread_affinity", "digest",
]  # fmt: skip
KEPT = {
    "segments/0/newer_number": np.int64(7),
    "segments/0/newer_list": np.array([1.5, np.nan]),
    "segments/0/newer_texts": TEXTS,
    "segments/0/newer_group/deeper/values": np.arange(6).reshape(2, 3),
    "segments/0/rank_facts/newer_fact": TEXTS,
}
REFUSED = [
    "newer_column", "newer_group/values", "raw/newer_column", "raw/newer_group/values", "counters/newer_counter",
    "counters/newer_group/values", "segments/newer_part", "segments/newer_group/values",
]  # fmt: skip


def reseal(file: h5py.File) -> None:
    """As the newer program would have left it."""
    file["digest"][()] = checksums.digest(file)


@pytest.fixture(params=[1, 2], ids=["compact", "preallocated"])
def begun(request, writer, tmp_path: Path) -> Path:
    """Some of whose points are there."""
    file = tmp_path / "a.h5"
    assert writer.run(file, stop_after=9, end=request.param, **SHAPE).returncode == 0
    return file


@pytest.mark.parametrize("end", [1, 2])
def test_attributes_and_parts_of_launches_are_kept(writer, begun: Path, end: int) -> None:
    with h5py.File(begun, "r+", libver="earliest") as file:
        for path, values in KEPT.items():
            file[path] = values
        for holder in [*HOLDERS, *KEPT, "segments/0/newer_group"]:
            file[holder].attrs.update(ATTRIBUTES)
        reseal(file)
    done = writer.run(begun, resume=1, end=end, **SHAPE)
    assert done.returncode == 0, done.stderr
    checksums.require_right(begun)
    with h5py.File(begun) as file:
        assert len(file["segments"]) == 2
        for holder in [*HOLDERS, *KEPT, "segments/0/newer_group"]:
            for name, value in ATTRIBUTES.items():
                there = file[holder].attrs[name]
                np.testing.assert_array_equal(there, value, err_msg=f"{holder} {name}")
                assert np.asarray(there).dtype == np.asarray(value).dtype or isinstance(value, str)
        for path, values in KEPT.items():
            there = file[path].asstr()[()] if values is TEXTS else file[path][()]
            np.testing.assert_array_equal(there, values)


@pytest.mark.parametrize("path", REFUSED)
def test_other_members_are_refused_and_the_file_stays(writer, begun: Path, path: str) -> None:
    with h5py.File(begun, "r+", libver="earliest") as file:
        file[path] = np.zeros((16, 5)) if path.startswith(("raw", "counters")) else np.zeros(16)
        for point in np.flatnonzero(file["checksum"][()] >= 0) if "group" not in path else ():
            file["checksum"][point] = checksums.of_point(file, point)
        reseal(file)
    before = begun.read_bytes()
    done = writer.run(begun, resume=1, **SHAPE)
    named = path.removesuffix("/values")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and f"holds '{named}', which this a2aperf doesn't know" in done.stderr
    assert begun.read_bytes() == before


def test_words_that_a_newer_program_added_are_refused(writer, begun: Path) -> None:
    with h5py.File(begun, "r+", libver="earliest") as file:
        column = file["stop_rule"]
        column.attrs["flag_meanings"] = f"{column.attrs['flag_meanings']} full-moon"
        reseal(file)
    before = begun.read_bytes()
    done = writer.run(begun, resume=1, **SHAPE)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and "holds 'stop_rule: full-moon', which this a2aperf doesn't know" in done.stderr
    assert begun.read_bytes() == before


def test_a_part_with_two_names_is_refused(writer, begun: Path) -> None:
    """Twelve groups with four names each for the next one: to go all 4^12 ways would take hours."""
    with h5py.File(begun, "r+", libver="earliest") as file:
        group = file["segments/0"].create_group("newer_group")
        for _ in range(12):
            below = group.create_group("0")
            for name in "123":
                group[name] = below
            group = below
    before = begun.read_bytes()
    done = writer.run(begun, resume=1, **SHAPE)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1 and "is there twice" in done.stderr
    assert begun.read_bytes() == before


def test_an_older_file_without_checksums_of_what_was_asked(writer, tmp_path: Path) -> None:
    """Its numbers are compared with the plan, and that is all; one that fits gets them."""
    file = tmp_path / "a.h5"
    assert writer.run(file, stop_after=9, end=2, **SHAPE).returncode == 0
    with h5py.File(file, "r+", libver="earliest") as opened:
        asked = [name for name in opened if "checksum" in opened[name].attrs]
        assert {"window", "message_size", "ranks", "nodes", "ranks_per_node", "partner", "distance"} <= set(asked)
        for name in asked:
            del opened[name].attrs["checksum"]
        reseal(opened)
        window = opened["window"][15]
        opened["window"][15] = 77
    before = file.read_bytes()
    done = writer.run(file, resume=1, **SHAPE)
    assert done.returncode == 2
    assert "point 15 has window 77 in the file" in done.stderr
    assert file.read_bytes() == before
    with h5py.File(file, "r+", libver="earliest") as opened:
        opened["window"][15] = window
    assert writer.run(file, resume=1, end=1, **SHAPE).returncode == 0
    with h5py.File(file) as opened:
        assert [name for name in opened if "checksum" in opened[name].attrs] == asked
