# SPDX-License-Identifier: BSD-3-Clause
"""Anonymized copies of files with columns, attributes and facts that this a2a does not know."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from a2aperf import loading, schema
from conftest import Outcome
from support import native_interference, native_paths, native_streams, synthetic
from support.edited import edited

Run = Callable[..., Outcome]
PLANTED = " nid00017.acme.com 10.1.2.3 /home/erin/x"
SECRETS = ("nid00017", "acme", "10.1.2.3", "erin", "node001")


def column(file: h5py.File, name: str = "remark", **said: str) -> None:
    """One more, as a newer program may have."""
    dataset = file.create_dataset(name, data=np.zeros(len(file["state"])))
    for key, value in {"long_name": "x", "units": "1", **said}.items():
        dataset.attrs[key] = value
    dataset.dims[0].attach_scale(file["point"])


def words(file: h5py.File) -> None:
    dataset = file.create_dataset("kind", data=np.zeros(len(file["state"]), "i1"))
    dataset.attrs["long_name"] = "x"
    dataset.attrs["flag_values"] = np.arange(4, dtype="i1")
    dataset.attrs["flag_meanings"] = "plain nid00017.acme.com /home/erin/x node001"
    dataset.dims[0].attach_scale(file["point"])


def fact(file: h5py.File) -> None:
    facts = file["segments/0/node_facts"]
    made = facts.create_dataset("site_nid00017", data=["a", "b"], dtype=h5py.string_dtype())
    made.attrs["note_nid00017"] = 1


PLANTS: dict[str, Callable[[h5py.File], Any]] = {
    "units": lambda file: column(file, units=f"Gbit/s{PLANTED}"),
    "better": lambda file: column(file, better=f"higher{PLANTED}"),
    "long_name": lambda file: column(file, long_name=f"seen{PLANTED}"),
    "flag_meanings": words,
    "column": lambda file: column(file, "on_nid00017"),
    "column of a domain": lambda file: column(file, "seen_by_nid00017.acme.com"),
    "attribute of the file": lambda file: file.attrs.create("run_on_nid00017", "1"),
    "number of the file": lambda file: file.attrs.create("run_on_nid00017", 5),
    "attribute of a launch": lambda file: file["segments/0"].attrs.create("x_nid00017", "1"),
    "of a domain": lambda file: file["segments/0"].attrs.create("x_nid00017.acme.com", "1"),
    "fact": fact,
    "own host in units": lambda file: column(file, units="s on node001"),
    "own host in a column": lambda file: column(file, "time_node001"),
    "attribute of a column": lambda file: file["time_p50"].attrs.create("by_nid00017", "x"),
}


def exported(a2a: Run, path: Path) -> tuple[Path, str]:
    output = path.with_name("out.h5")
    outcome = a2a("export", path, "--anonymize", "--key", path.with_name("key"), "-o", output)
    assert outcome.status == 0, outcome
    assert a2a("check", output).out == f"{output}: sound\n"
    return output, outcome.out.replace(str(path.parent), "")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    setup = synthetic.Setup(nodes=2, ppn=1, sizes=(8, 1000), ops=12)
    return synthetic.write_launch(tmp_path / "x.h5", setup)


@pytest.mark.parametrize("where", PLANTS)
def test_a_host_is_gone_from_what_describes_itself(a2a: Run, small: Path, where: str) -> None:
    with edited(small) as file:
        PLANTS[where](file)
    output, told = exported(a2a, small)
    content = output.read_bytes()
    for secret in SECRETS:
        assert secret.encode() not in content, secret
        assert secret not in told, secret
    assert b"host-" in content


def test_what_does_not_look_like_a_host_is_listed(a2a: Run, small: Path) -> None:
    with edited(small) as file:
        column(file, "on_kepler", units="kepler/s", better="as kepler", long_name="of kepler")
        words(file)
        file["kind"].attrs["flag_meanings"] = "plain kepler odd other"
        file.attrs["seen_by_kepler"] = 3
        file["segments/0"].attrs["gone_to_kepler"] = 4
    output, told = exported(a2a, small)
    lines = [line.strip() for line in told.splitlines()]
    assert "units: kepler/s" in lines
    assert "better: as kepler" in lines
    assert "meaning of a column: of kepler" in lines
    names = {line.partition(": ")[0]: line.partition(": ")[2].split(", ") for line in lines}
    assert "on_kepler" in names["names of columns"]
    assert {"seen_by_kepler", "gone_to_kepler"} <= {*names["names of attributes"]}
    assert names["words for numbers"] == ["plain", "kepler", "odd", "other"]
    with h5py.File(output) as file:
        assert {"on_kepler", "kind"} <= set(file)


def test_values_of_a_column_stay_with_its_other_name(a2a: Run, small: Path) -> None:
    with edited(small) as file:
        column(file, "on_nid00017", better="lower")
        file["on_nid00017"][...] = np.arange(len(file["state"]))
        file["on_nid00017"].attrs["added"] = "later"
    output, _ = exported(a2a, small)
    with h5py.File(output) as file:
        (name,) = (name for name in file if name.startswith("on_host-"))
        assert list(file[name]) == list(range(len(file["state"])))
        assert (file[name].attrs["better"], file[name].attrs["added"]) == ("lower", "later")


@pytest.mark.parametrize(
    "write", [native_paths.write, native_interference.write, native_streams.write]
)
def test_names_of_a_workload_stay(a2a: Run, tmp_path: Path, write: Callable[[Path], Path]) -> None:
    """Were users and nodes called as its columns and words are."""
    path = write(tmp_path / "x.h5")
    with h5py.File(path) as file:
        before = {name for name in file if isinstance(file[name], h5py.Dataset)}
    with edited(path) as file:
        launch = file["segments/0"]
        names, values = ("environment_name", "environment_value")
        users = ["load", "stream", "path", "rate", "victim"]
        for name, texts in ((names, [f"{one}_USER" for one in users]), (values, users)):
            del launch[name]
            launch.create_dataset(name, data=texts, dtype=h5py.string_dtype())
        for name in ("environment_uniform", "environment_required"):
            if name in launch:
                kind = launch[name].dtype
                del launch[name]
                launch.create_dataset(name, data=np.ones(len(users), kind))
    output, _ = exported(a2a, path)
    with h5py.File(output) as file:
        assert {name for name in file if isinstance(file[name], h5py.Dataset)} == before
    first, second = (loading.load([one]) for one in (path, output))
    assert list(first.points["role"]) == list(second.points["role"])
    assert [one.flags for one in first.described] == [one.flags for one in second.described]
    assert [one.units for one in first.described] == [one.units for one in second.described]
    assert {one.name for one in first.described} >= set(schema.COLUMN) & before
