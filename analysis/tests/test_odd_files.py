# SPDX-License-Identifier: BSD-3-Clause
"""What is no regular file, wherever a command reads one: one line at once, and nothing touched."""

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from a2aperf import baselines, regular, switches
from a2aperf.errors import InputError
from a2aperf.studies import study
from conftest import Outcome
from support import synthetic

Run = Callable[..., Outcome]
KINDS = {
    "fifo": "a pipe",
    "folder": "a folder",
    "socket": "a socket",
    "/dev/zero": "a device",
    "/dev/null": "a device",
}
READERS = [
    ("table",),
    ("check",),
    ("live", "--once"),
    ("explain",),
    ("report", "-o", "out.html"),
    ("export", "--anonymize", "-o", "out.h5", "--key", "key"),
    ("merge", "-o", "out.h5"),
]


def names() -> set[str]:
    return {entry.name for entry in Path().iterdir()}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """One of every kind, in the working folder, as a socket's name is short. All names there."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    Path("folder").mkdir()
    with Path("big").open("wb") as big:
        big.truncate(1 << 30)  # takes no room
    synthetic.write_launch(tmp_path / "launch.h5", synthetic.Setup())
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        yield names()


@pytest.mark.parametrize("name", [name for name in KINDS if name != "folder"])
@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_as_results(a2a: Run, here: set[str], command: tuple[str, ...], name: str) -> None:
    others = ["launch.h5"] if command[0] == "merge" else []
    outcome = a2a(command[0], name, *others, *command[1:])
    assert outcome.status == 2
    assert outcome.err == f"a2a: {name}: is {KINDS[name]}, not a results file\n"
    assert names() - {"key"} == here


@pytest.mark.parametrize("name", KINDS)
def test_as_text_to_import(a2a: Run, here: set[str], name: str) -> None:
    outcome = a2a("import", name, "-o", "out.h5")
    assert (outcome.status, outcome.err) == (2, f"a2a: {name}: {KINDS[name]}, not a file\n")
    assert names() == here


def test_a_large_text_to_import(a2a: Run, here: set[str]) -> None:
    outcome = a2a("import", "big", "-o", "out.h5")
    assert (outcome.status, outcome.err) == (2, "a2a: big: more than the 64 MiB that are read\n")
    assert names() == here


@pytest.mark.parametrize("name", KINDS)
def test_as_key(a2a: Run, here: set[str], name: str) -> None:
    outcome = a2a("export", "launch.h5", "--anonymize", "-o", "out.h5", "--key", name)
    assert outcome.status == 2
    assert outcome.err == f"a2a: {name}: cannot be used as key: {KINDS[name]}, not a file\n"
    assert names() == here


@pytest.mark.parametrize("name", KINDS)
def test_as_baselines_switches_and_plan(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("A2A_BASELINES", name)
    for read in (
        baselines.read,
        lambda: switches.read(Path(name)),
        lambda: study._text(Path(name)),
    ):
        with pytest.raises(InputError, match=f"{KINDS[name]}, not a file"):
            read()


def test_a_text_comes_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes("é\r\nb\rc\n".encode())
    assert regular.read_text(file) == file.read_text(encoding="utf-8") == "é\nb\nc\n"
    file.write_bytes(b"\xef\xbb\xbf" + "é\n".encode())  # as spreadsheets write it
    assert regular.read_text(file) == "é\n"
    file.write_bytes(b"\xff")
    assert regular.read_text(file, errors="replace") == "�"
    with pytest.raises(UnicodeDecodeError):
        regular.read_text(file)
    file.write_bytes(b"x" * (regular.MOST + 1))
    with pytest.raises(OSError, match="more than the 64 MiB that are read"):
        regular.read_text(file)
    with pytest.raises(FileNotFoundError):
        regular.read_text(tmp_path / "missing")
    assert regular.other_kind(tmp_path / "missing") == ""
