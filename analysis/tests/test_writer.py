# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written in folders that others can write to, too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from a2aperf import trailer, writer
from conftest import Outcome
from support import synthetic

Run = Callable[..., Outcome]
SMALL = synthetic.Setup(nodes=2, ppn=1, sizes=(8,), ops=3)
VICTIM = "somebody's only copy"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "elsewhere" / "victim"
    path.parent.mkdir()
    path.write_text(VICTIM)
    return path


def swap(folder: Path, victim: Path) -> None:
    """What is being made there is a link to another file now."""
    (name,) = folder.glob(".*.tmp")
    name.unlink()
    name.symlink_to(victim)


@pytest.mark.parametrize("at", ["_require_space", "_write"])
def test_a_large_file_is_never_written_through_a_link(
    a2a: Run, launch: Path, victim: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    other = synthetic.write_launch(victim.with_name("other.h5"), SMALL)
    before = getattr(writer, at)

    def swapped(*arguments: object) -> None:
        swap(launch.parent, victim)
        before(*arguments)

    monkeypatch.setattr(writer, "IN_MEMORY", 0)
    monkeypatch.setattr(writer, at, swapped)
    output = launch.with_name("x.h5")
    a2a("merge", launch, other, "-o", output).refused(f"{output}: cannot be written: ")
    assert victim.read_text() == VICTIM
    assert not output.exists()
    assert not output.is_symlink()


def test_nor_is_a_changed_copy(tmp_path: Path, launch: Path, victim: Path) -> None:
    def change(path: Path) -> None:
        swap(tmp_path, victim)
        with path.open("r+b") as stream:
            stream.write(b"changed")

    output = tmp_path / "x.h5"
    with pytest.raises(Exception, match="is another file by now"):
        writer.write_copy(output, launch, change, lambda made: None)
    assert victim.read_text() == VICTIM
    assert not output.exists()


def test_a_large_file_is_whole(a2a: Run, launch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = synthetic.write_launch(launch.with_name("other.h5"), SMALL)
    monkeypatch.setattr(writer, "IN_MEMORY", 0)
    output = launch.with_name("x.h5")
    assert a2a("merge", launch, other, "-o", output, "--mixed").status == 0
    assert trailer.of(output) is trailer.Trailer.RIGHT
    assert sorted(path.name for path in launch.parent.iterdir()) == [
        "launch.h5",
        "other.h5",
        "x.h5",
    ]
