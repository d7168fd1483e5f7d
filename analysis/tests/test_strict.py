# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a file of a type, rank or length that they cannot have: one line, status 2."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from a2aperf import oversubscription, strict, switches
from a2aperf.errors import InputError
from conftest import Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]
HUGE = (1 << 40,)
"""More than any memory holds; takes no space in a file where nothing of it was written."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A launch of two nodes."""
    folder = tmp_path_factory.mktemp("sound")
    setup = synthetic.Setup(nodes=2, ppn=1, sizes=(1000,), ops=12, sentinel=True)
    return synthetic.write_launch(folder / "sound.h5", setup).read_bytes()


def replaced(file: h5py.File, name: str, values: Any) -> None:
    """Other values in its place; a shape stands for a dataset of which nothing is written."""
    del file[name]
    if isinstance(values, tuple):
        file.create_dataset(name, values, np.int32, chunks=(1024,) * len(values))
    else:
        file[name] = values


SEGMENT = [
    ("nodes", np.bytes_("node"), "is no list of texts"),
    ("nodes", h5py.Empty("f"), "nodes is empty"),
    ("nodes", HUGE, "no list of texts"),
    ("environment_name", np.zeros(3), "is no list of texts"),
    ("node_of_rank", HUGE, "2 are the most"),
    ("node_of_rank", np.zeros(2, "V4"), "is no list of numbers"),
    ("node_of_rank", np.array([0, 9]), "names a node that is not there"),
    ("node_of_rank", np.array([0, -1]), "names a node that is not there"),
    ("rank_facts/nic", h5py.SoftLink("/nowhere"), "a part that cannot be opened is no dataset"),
    ("clock_domain_of_rank", HUGE, "2 are the most"),
    ("clock_offset", HUGE, "2 are the most"),
    ("clock_drift", HUGE, "2 are the most"),
    ("rank_order", HUGE, "2 are the most"),
    ("planned_order", HUGE, "3 are the most"),
    ("environment_uniform", HUGE, "are the most"),
    ("end_state", 9, "a value without a meaning"),
    ("end_state", -1, "a value without a meaning"),
    ("end_state", np.zeros(3), "is no whole number"),
    ("end_reason", 10, "a value without a meaning"),
    ("end_reason", np.zeros(3), "is no whole number"),
    ("message", np.zeros((2, 2)), "is not one text"),
    ("node_facts/kernel", 7.5, "is no list of texts"),
]
COLUMNS = [
    ("message_size", h5py.Empty("f"), "is empty"),
    ("state", HUGE, "are the most"),
    ("invalid", np.zeros(3, complex), "is no list of numbers"),
    ("ops", np.array([1, np.nan, 3]), "values that are no whole numbers"),
    ("mode", np.zeros(3), "is no list of texts"),
    ("segments", np.zeros(3), "is no group"),
]


def test_who_knows_where_things_are_in_a_file() -> None:
    """What reads and writes it, by three tables; all else asks these."""
    package = Path(strict.__file__).parent
    imports = re.compile(r"^\s*(?:import|from) h5py", re.MULTILINE)
    known = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if imports.search(path.read_text())
    }
    tables = {"datasets.py", "member_attributes.py", "sample_columns.py", "segments.py"}
    sums = {"checksums.py", "integrity.py", "repair.py", "sealing.py", "verified.py"}
    counted = {"counted.py", "counter_group.py", "start_times.py"}
    ways = {
        "asking.py",
        "nodes/asked.py",
        "making.py",
        "opened_once.py",
        "reading.py",
        "strict.py",
        "writer.py",
    }
    assert known == tables | sums | counted | ways


@pytest.mark.parametrize("command", ["table", "check"])
@pytest.mark.parametrize(
    ("name", "values", "words"),
    [*((f"segments/0/{name}", values, words) for name, values, words in SEGMENT), *COLUMNS],
)
def test_a_part_that_cannot_be(
    a2a: Run, tmp_path: Path, sound: bytes, command: str, name: str, values: Any, words: str
) -> None:
    path = tmp_path / "bad.h5"
    path.write_bytes(sound)
    with edited(path) as file:
        replaced(file, name, values)
    a2a(command, path).refused("bad.h5: damaged: ", words)


@pytest.mark.parametrize(
    ("where", "name", "value"),
    [
        ("segments/0", "sync", np.int32(3)),
        ("segments/0", "rails", "one"),
        ("segments/0", "link_rate_gbps", np.zeros(2)),
        ("segments/0", "started", h5py.Empty("f")),
        ("segments/0", "anything", np.zeros(2)),
        ("/", "raw_samples", "yes"),
        ("/", "complete_at", np.zeros(2)),
    ],
)
def test_an_attribute_that_cannot_be(
    a2a: Run, tmp_path: Path, sound: bytes, where: str, name: str, value: Any
) -> None:
    path = tmp_path / "bad.h5"
    path.write_bytes(sound)
    with edited(path) as file:
        file[where].attrs[name] = value
    a2a("table", path).refused("bad.h5: damaged: the attribute ", name)


@pytest.mark.parametrize(
    "values", [np.zeros((3, 12)), np.zeros((3, 5, 2)), np.zeros((3, 12, 2), "V4")]
)
def test_samples_that_cannot_be(a2a: Run, tmp_path: Path, sound: bytes, values: Any) -> None:
    path = tmp_path / "bad.h5"
    path.write_bytes(sound)
    with edited(path) as file:
        replaced(file, "raw/recv_done", values)
    a2a("explain", path).refused("bad.h5: damaged: /raw/recv_done")
    outcome = a2a("check", path)
    assert outcome.status == 2
    assert "/raw/recv_done" in outcome.out + outcome.err


def test_a_table_with_fewer_dimensions(a2a: Run, tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "bad.h5"
    path.write_bytes(sound)
    with edited(path) as file:
        replaced(file, "counters/minor_faults", np.zeros(3, np.int64))
    assert "/counters/minor_faults has not the dimensions point, rank" in a2a("check", path).out


def test_text_that_is_no_utf8_is_printed(a2a: Run, tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "odd.h5"
    path.write_bytes(sound)
    with edited(path) as file:
        broken = np.array(b"\xff\xfe", h5py.string_dtype())
        file["segments/0"].attrs.create("provider", broken)
        replaced(file, "segments/0/node_facts/kernel", np.full(2, b"6.1\0\x1b[31m"))
    assert a2a("table", path).status == 0
    export = ("export", path, "--anonymize", "--key", tmp_path / "key", "-o", tmp_path / "x.h5")
    assert a2a(*export).status == 0


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-2,5", {0, 1, 2, 5}),
        ("", set()),
        ("0-4294967295", set()),
        ("²", set()),
        ("1-", set()),
        ("3,x", set()),
        ("9" * 5000, set()),
    ],
)
def test_cpu_lists(text: str, cpus: set[int]) -> None:
    assert oversubscription.cpus_of(text) == cpus


@pytest.mark.parametrize("nodes", ["n[0-²]", f"n[{'9' * 5000}]"])
def test_host_lists_of_no_cluster(nodes: str) -> None:
    with pytest.raises(InputError, match="neither a number nor a range"):
        switches.parse(f"SwitchName=s0 Nodes={nodes}")


def test_an_attribute_may_be_a_list_of_one(a2a: Run, tmp_path: Path, sound: bytes) -> None:
    """So HDF5's own tools, and MATLAB, store them."""
    path = tmp_path / "lists.h5"
    path.write_bytes(sound)
    before = a2a("table", path).out
    with edited(path) as file:
        for holder in (file, file["segments/0"], file["state"]):
            for name, value in list(holder.attrs.items()):
                if name == "title":  # the others: texts of fixed length
                    holder.attrs[name] = np.array([value], dtype=h5py.string_dtype())
                elif name == "raw_samples":
                    holder.attrs[name] = np.array([[value]])
                elif isinstance(value, str):
                    holder.attrs[name] = np.array([value.encode()])
                elif np.ndim(value) == 0 and name != "schema_version":
                    holder.attrs[name] = np.array([value])
    outcome = a2a("check", path)
    assert (outcome.status, outcome.err) == (0, ""), outcome
    assert a2a("table", path).out == before
    with edited(path) as file:
        file.attrs["title"] = np.arange(3)
    a2a("check", path).refused("the attribute title is neither a text nor a number")
