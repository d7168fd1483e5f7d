# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of newer programs: a copy keeps them, or the file is refused."""

import re
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import loading
from conftest import Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]
SMALL = synthetic.Setup(nodes=2, ppn=1, sizes=(8, 1000), ops=3)
HOLDERS = (
    *("/", "raw", "counters", "segments", "segments/0", "segments/0/node_facts"),
    *("segments/0/node_facts/kernel", "time_p50", "mode", "point", "raw/begin", "counters/port"),
)
TEXT = "on node000"
GIVEN = {"newer_text": TEXT, "newer_number": np.int64(2**40), "newer_share": 0.25}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = synthetic.write_launch(tmp_path / "a.h5", SMALL)
    with edited(path) as file:
        for holder in HOLDERS:
            file[holder].attrs.update(GIVEN)
        file["raw/begin"].attrs["newer_list"] = np.arange(3)
    return path


def has_them(path: Path, launch: int = 0, text: str = TEXT) -> None:
    with h5py.File(path) as file:
        for holder in HOLDERS:
            there = file[holder.replace("segments/0", f"segments/{launch}")].attrs
            assert there["newer_text"] == text, holder
            assert there["newer_number"] == GIVEN["newer_number"]
            assert there["newer_share"] == GIVEN["newer_share"]
        assert list(file["raw/begin"].attrs["newer_list"]) == [0, 1, 2]
        assert file["time_p50"].attrs["units"] == "ns"


def other_of(path: Path) -> Path:
    """A file of the same newer program."""
    other = synthetic.write_launch(path.with_name("b.h5"), synthetic.Setup(nodes=2, ppn=1, seed=3))
    with edited(other) as file:
        file.attrs.update(GIVEN)
    return other


def test_merged(a2a: Run, path: Path) -> None:
    both = path.with_name("both.h5")
    assert a2a("merge", other_of(path), path, "-o", both).status == 0
    has_them(both, launch=1)
    with h5py.File(both) as file:
        assert "newer_text" not in file["segments/0/node_facts"].attrs
    assert a2a("check", both).status == 0


@pytest.mark.parametrize("holder", ["raw/begin", "/"])
def test_what_two_files_say_otherwise(a2a: Run, path: Path, holder: str) -> None:
    other = other_of(path)
    with edited(other) as file:
        file[holder].attrs["newer_number"] = 5
    both = path.with_name("both.h5")
    a2a("merge", path, other, "-o", both).refused("attribute newer_number", "differ", "stay apart")
    assert not both.exists()


@pytest.mark.slow
@pytest.mark.parametrize("holder", ["raw/begin", "raw", "segments/0", "segments/0/node_facts", "/"])
@pytest.mark.parametrize("is_fixed", [True, False])
def test_a_text_that_is_not_utf8(a2a: Run, path: Path, holder: str, is_fixed: bool) -> None:
    bytes_ = b"a\xf6\x9eb"
    text = h5py.string_dtype("utf-8", len(bytes_) if is_fixed else None)
    with edited(path) as file:
        there = file[holder].attrs
        there.create("newer_words", np.array(bytes_, text.str if is_fixed else object), dtype=text)
    public = path.with_name("public.h5")
    commands: list[list[object]] = [["export", path, "--anonymize", "-o"]]
    if holder != "/":  # whose attributes must be equal
        commands.append(["merge", path, other_of(path), "-o"])
    for command in commands:
        public.unlink(missing_ok=True)
        assert a2a(*command, public).status == 0
        with h5py.File(public) as file:
            assert file[holder].attrs["newer_words"] == "a\ufffd\ufffdb"


def test_exported_without_names(a2a: Run, path: Path, tmp_path: Path) -> None:
    public = tmp_path / "public.h5"
    outcome = a2a("export", path, "--anonymize", "--key", tmp_path / "key", "-o", public)
    assert outcome.status == 0
    (name,) = re.findall("newer_text: (on host-[0-9a-f]+)", outcome.out)
    has_them(public, text=name)


def test_repaired(a2a: Run, path: Path, tmp_path: Path) -> None:
    with h5py.File(path, "r+") as file:
        file["time_p50"][1] *= 2  # its checksum stays as it was
    new = tmp_path / "new.h5"
    assert a2a("check", "--repair", path, "-o", new).status == 0
    has_them(new)


def test_one_that_cannot_be_kept_is_refused(a2a: Run, path: Path, tmp_path: Path) -> None:
    with edited(path) as file:
        file["raw"].attrs["newer_part"] = file["raw/begin"].ref
    for words in (
        ("merge", other_of(path), path, "-o", tmp_path / "x.h5"),
        ("export", path, "--anonymize", "--key", tmp_path / "key", "-o", tmp_path / "x.h5"),
    ):
        a2a(*words).refused("attribute newer_part of /raw is neither a text nor numbers")
    assert not (tmp_path / "x.h5").exists()


def test_a_merge_says_what_was_repaired(a2a: Run, path: Path, tmp_path: Path) -> None:
    with edited(path) as file:
        file.attrs["repaired"] = "nothing was lost"
    both = tmp_path / "both.h5"
    assert a2a("merge", other_of(path), path, "-o", both).status == 0
    assert loading.load([both]).attributes["both.h5"]["repaired"] == "a.h5: nothing was lost"


@pytest.mark.parametrize("name", ["program_version", "seed"])
def test_one_of_a_launch_that_cannot_be_read_costs_no_other(
    a2a: Run, path: Path, tmp_path: Path, name: str
) -> None:
    with edited(path) as file:
        file["segments/0"].attrs[name] = file["raw/begin"].ref
    a2a("table", path).refused(f"attribute {name} is neither")
    new = tmp_path / "new.h5"
    outcome = a2a("check", "--repair", path, "-o", new)
    assert f"{path}: lost: launch 0: its attribute {name} cannot be read: " in outcome.out
    assert "lost: point" not in outcome.out
    found = loading.load([new])
    assert set(found.points["state"]) == {"complete"}
    (launch,) = found.launches.values()
    assert launch.attributes["newer_text"] == TEXT
    assert launch.attributes[name] in ("", -1)


def test_a_part_with_two_names_ends_nobody(a2a: Run, path: Path, tmp_path: Path) -> None:
    """Twelve groups with four names each for the next one: 4^12 ways."""
    with h5py.File(path, "r+") as file:
        group = file["segments/0/node_facts"].create_group("deep")
        for _ in range(12):
            below = group.create_group("0")
            for name in "123":
                group[name] = below
            group = below
    outcome = a2a("check", path)
    assert "segments/0/node_facts" in outcome.out + outcome.err
    assert outcome.status == 2
    with h5py.File(path, "r+") as file:
        del file["segments/0/node_facts/deep"]
        file["segments/0/node_facts/again"] = file["segments/0/node_facts/kernel"]
    outcome = a2a("check", path)
    assert "/segments/0/node_facts/kernel is there twice" in outcome.out
    assert outcome.status == 2


def test_a_dataset_without_end_ends_nobody(a2a: Run, path: Path) -> None:
    """It takes no room in the file; 2^40 values would take what nobody has."""
    with h5py.File(path, "r+") as file:
        file["segments/0"].create_dataset("endless", (1 << 40,), "i4")
    outcome = a2a("check", path)
    assert "/segments/0/endless has 1099511627776 values" in outcome.out
    assert outcome.status == 2
