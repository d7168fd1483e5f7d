# SPDX-License-Identifier: BSD-3-Clause
"""Where files and results stand: folders nobody may enter, links that lead around, full disks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Outcome
from support import synthetic

Run = Callable[..., Outcome]
SMALL = synthetic.Setup(nodes=2, ppn=1, sizes=(8,), ops=3)
# Root may read everything.
AS_ANYBODY = (
    ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    if os.geteuid() == 0
    else []
)


def process(*words: object, **others: object) -> subprocess.CompletedProcess[str]:
    command = [*AS_ANYBODY, sys.executable, "-m", "a2aperf", *map(str, words)]
    return subprocess.run(command, text=True, stderr=subprocess.PIPE, **others)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file that is read and one in a folder that nobody may enter."""
    (tmp_path / "runs").mkdir()
    synthetic.write_launch(tmp_path / "runs/a.h5", SMALL)
    inner = tmp_path / "runs/closed"
    inner.mkdir()
    shutil.copy(tmp_path / "runs/a.h5", inner / "b.h5")
    inner.chmod(0)
    yield tmp_path / "runs"
    inner.chmod(0o700)


@pytest.mark.parametrize("command", [("history",), ("history", "--per", "node")])
def test_a_folder_in_a_folder_that_nobody_may_enter_is_said(
    closed: Path, command: tuple[str, ...]
) -> None:
    done = process(*command, closed)
    assert done.stderr == f"a2a: {closed / 'closed'}: cannot be read: Permission denied\n"
    assert done.returncode == 2


@pytest.mark.parametrize(
    "command", [("table",), ("check",), ("explain",), ("check", "--repair", "-o", "x.h5")]
)
def test_a_file_that_nobody_may_read_is_not_called_damaged(
    closed: Path, command: tuple[str, ...]
) -> None:
    file = closed / "closed/b.h5"
    done = process(command[0], file, *command[1:], cwd=closed)
    assert (done.returncode, done.stderr) == (
        2,
        f"a2a: {file}: cannot be read: Permission denied\n",
    )


def test_a_link_that_leads_to_itself_is_said(a2a: Run, tmp_path: Path) -> None:
    synthetic.write_launch(tmp_path / "a.h5", SMALL)
    link = tmp_path / "loop.h5"
    link.symlink_to(link)
    a2a("table", link).refused(f"{link}: cannot be read: Too many levels of symbolic links")
    outcome = a2a("history", tmp_path)
    said = f"a2a: left out: {link}: cannot be read: Too many levels of symbolic links\n"
    assert (outcome.status, outcome.err) == (3, said)


def test_links_to_folders_are_followed_once(a2a: Run, tmp_path: Path) -> None:
    runs, other = tmp_path / "runs", tmp_path / "other"
    runs.mkdir()
    other.mkdir()
    synthetic.write_launch(runs / "a.h5", SMALL)
    synthetic.write_launch(other / "b.h5", synthetic.Setup(nodes=2, ppn=1, sizes=(8,), seed=1))
    (runs / "link").symlink_to(other)
    (other / "back").symlink_to(runs)
    outcome = a2a("history", runs)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("2 launches ")


def test_a_name_that_is_no_text_is_shown_as_its_bytes(a2a: Run, tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "a.h5", SMALL).rename(tmp_path / "x\udcff.h5")
    other = synthetic.write_launch(tmp_path / "b.h5", synthetic.Setup(nodes=2, seed=1))
    outcome = a2a("table", file, other, "--csv")
    assert outcome.status == 0
    assert "\nx\\xff.h5," in outcome.out
    assert a2a("history", tmp_path).status == 0


@pytest.mark.parametrize("words", [("table",), ("table", "--csv"), ("table", "--help")])
def test_a_disk_that_is_full_is_said(launch: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = process(words[0], launch, *words[1:], stdout=full)
    assert (done.returncode, done.stderr) == (
        2,
        "a2a: standard output: No space left on device\n",
    )


def test_a_standard_output_that_is_closed_is_said(launch: Path) -> None:
    script = 'exec "$0" -m a2aperf table "$1" >&-'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable, str(launch)], stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (2, "a2a: standard output is closed\n")
    script = 'exec "$0" -m a2aperf table "$1" 2>&-'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable, str(launch)], stdout=subprocess.PIPE, text=True
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1 + len(synthetic.Setup().sizes)
