# SPDX-License-Identifier: BSD-3-Clause
"""Files that are made up once and copied."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from a2aperf import asking, loading
from support import made, summed, synthetic
from support.synthetic import Effects, Setup

SMALL = Setup(sizes=(1000,), ops=3)


def test_a_copy_is_what_would_be_written_and_its_own_file(tmp_path: Path) -> None:
    first = synthetic.write_launch(tmp_path / "a.h5", SMALL)
    first.write_bytes(first.read_bytes()[:-1])
    second = synthetic.write_launch(tmp_path / "b.h5", SMALL)
    made.kept, kept = None, made.kept
    try:
        written = synthetic.write_launch(tmp_path / "c.h5", SMALL)
    finally:
        made.kept = kept
    assert second.read_bytes() == written.read_bytes() != first.read_bytes()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.h5", "b.h5", "c.h5"]


def test_another_effect_is_another_file(tmp_path: Path) -> None:
    other = replace(SMALL, effects=Effects(steps={1000: 2.0}))
    files = [synthetic.write_launch(tmp_path / "x.h5", one).read_bytes() for one in (SMALL, other)]
    assert files[0] != files[1]


def test_what_was_read_of_the_same_content_is_a_copy_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    answer = asking._answer

    def noted(path: Path, question: Any, *arguments: Any) -> Any:
        asked.append(path)
        return answer(path, question, *arguments)

    monkeypatch.setattr(asking, "_answer", summed.once(noted))
    first, same = (synthetic.write_launch(tmp_path / name, SMALL) for name in ("a.h5", "b.h5"))
    other = synthetic.write_launch(tmp_path / "c.h5", replace(SMALL, seed=1))
    expected = [answer(path, asking.summary).columns["time_p50"][0] for path in (first, other)]
    asking.ask(first, asking.summary).columns["time_p50"][0] = -1
    for path, time in zip((first, same, other), (expected[0], *expected), strict=True):
        assert asking.ask(path, asking.summary).columns["time_p50"][0] == time
        assert loading.load([path]).points["time_p50"][0] == time
    assert asked == [first, other]
    synthetic.write_launch(first, replace(SMALL, seed=2))
    assert asking.ask(first, asking.summary).columns["time_p50"][0] not in expected
