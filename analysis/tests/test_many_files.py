# SPDX-License-Identifier: BSD-3-Clause
"""Several processes read many files: what they say is the same, and none outlives its question."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import h5py
import pytest

from a2aperf import asking, copies, isolated, loading, terminal
from a2aperf.errors import InputError
from conftest import Outcome
from support import synthetic

COUNT = 6
Run = Callable[..., Outcome]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = [synthetic.Setup(nodes=2, ppn=1, sizes=(8,), ops=3, seed=seed) for seed in range(COUNT)]
    return [synthetic.write_launch(tmp_path / f"{one.seed}.h5", one) for one in made]


@pytest.fixture
def by_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As of many files on a machine of two cores."""
    isolated.end()
    monkeypatch.setattr(asking, "FILES_OF_A_READER", 3)
    monkeypatch.setattr(asking, "_cores", lambda: 2)
    yield
    isolated.end()


def reader_of(file: h5py.File) -> tuple[int, str]:
    """A question; it takes long enough for both to have some."""
    time.sleep(0.05)
    return os.getpid(), Path(file.filename).stem


def told(answer: tuple[int, str] | InputError) -> tuple[int, str]:
    assert not isinstance(answer, InputError)
    return answer


def for_ever(file: h5py.File) -> None:
    """A question."""
    signal.pause()


@pytest.mark.slow
def test_the_answers_are_those_of_one_process_in_the_order_of_the_files(
    files: list[Path], by_two: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(asking.ask_each(files, reader_of)) as answers:
        readers, names = zip(*map(told, answers), strict=True)
    assert names == tuple(path.stem for path in files)
    assert len(set(readers)) == 2 and os.getpid() not in readers
    together = loading.load(files).points
    monkeypatch.setattr(asking, "_cores", lambda: 1)
    assert loading.load(files).points.equals(together)


def test_few_files_are_read_here(files: list[Path], by_two: None) -> None:
    with closing(asking.ask_each(files[:5], reader_of)) as answers:
        assert {reader for reader, _ in map(told, answers)} == {os.getpid()}


def test_the_first_file_that_is_wrong_is_the_one_that_is_told(
    files: list[Path], by_two: None, a2a: Run
) -> None:
    files[4].write_bytes(b"no HDF5")
    files[2].unlink()
    with pytest.raises(InputError, match=r"2\.h5: no such file"):
        loading.load(files)
    a2a("table", *files).refused("2.h5: no such file")


def test_who_is_not_waited_for_any_more_ends(files: list[Path], by_two: None) -> None:
    """As by ^C: two are asked what takes for ever."""
    asked = asking.ask_each([files[0], *files], question_of_the_first)
    assert next(asked) == "first"
    started = [*isolated._called[os.getpid()], *isolated._idle.get(os.getpid(), [])]
    asked.close()
    assert not isolated._called[os.getpid()]
    for reader in started:
        if reader not in isolated._idle.get(os.getpid(), []):
            assert reader._process.returncode == -signal.SIGKILL
    assert isolated.call(files[0], divmod, 7, 2) == (3, 1)


def question_of_the_first(file: h5py.File) -> str:
    """A question that has an answer once in each process."""
    if os.environ.get("A2A_TEST_ASKED"):
        for_ever(file)
    os.environ["A2A_TEST_ASKED"] = "yes"
    return "first"


def test_who_waits_is_told_how_many_are_left_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(terminal.tracked(iter(range(100)), 100, "reading")) == list(range(100))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert list(terminal.tracked(iter(range(3)), 3, "reading")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
    assert list(terminal.tracked(iter(range(100)), 100, "reading")) == list(range(100))
    assert "reading" in capsys.readouterr().err
    monkeypatch.setattr("sys.stderr", None)  # closed by who started us
    assert list(terminal.tracked(iter(range(100)), 100, "reading")) == list(range(100))


def test_of_copies_the_first_stays_and_of_a_merged_file_its_parts(
    files: list[Path], a2a: Run, tmp_path: Path
) -> None:
    merged, copy = tmp_path / "all.h5", tmp_path / "copy.h5"
    assert a2a("merge", *files, "-o", merged).status == 0
    copy.write_bytes(files[3].read_bytes())
    assert copies.without_copies([merged, copy, *files]) == (files, [merged, copy])
