# SPDX-License-Identifier: BSD-3-Clause
"""Launches with more ranks than cores: that is said first, and nobody is shown to be last."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from a2aperf import loading, plots, report
from a2aperf.curves import Options
from a2aperf.errors import InputError
from conftest import Outcome
from support import synthetic
from support.synthetic import Effects, Setup

A2A = Callable[..., Outcome]
WORDS = "oversubscribed: 4 ranks on 2 cores"
START = datetime(2025, 6, 15, tzinfo=UTC)


def launches(folder: Path, crowded: str) -> list[Path]:
    """A B B A …; a letter of `crowded` for each launch, `x` where four ranks share two cores."""
    return [
        synthetic.write_launch(
            folder / f"{i:02}.h5",
            Setup(
                nodes=1,
                ppn=4,
                sizes=(1000,),
                ops=30,
                seed=i,
                started=START + timedelta(minutes=i),
                environment={"FI_X": "ABBA"[i % 4]},
                node_facts={"cores_of_ranks": "2" if at == "x" else "4"},
                effects=Effects(straggler=(1, 0.9), slowdown=3.0 if "ABBA"[i % 4] == "B" else 1.0),
            ),
        )
        for i, at in enumerate(crowded)
    ]


def test_a_comparison_says_it_first_and_once(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, "x" * 12)
    told = a2a("compare", *files, "--by", "FI_X").out
    assert "slower" in told
    assert told.splitlines()[0] == f"{WORDS}, in 12 of 12 launches"
    assert told.count(WORDS) == 1
    (found,) = json.loads(a2a("compare", *files, "--by", "FI_X", "--json").out)
    assert found["doubts"][0] == f"{WORDS}, in 12 of 12 launches"


def test_a_history_says_it_first(a2a: A2A, tmp_path: Path) -> None:
    files = launches(tmp_path, "xx.")
    assert a2a("history", *files).out.splitlines()[0] == f"{WORDS}, in 2 of 3 launches"
    assert json.loads(a2a("history", *files, "--json").out)["notes"][0].startswith(WORDS)
    assert "oversubscribed" not in a2a("history", files[2]).out


def test_nobody_is_shown_to_be_last(tmp_path: Path) -> None:
    files = launches(tmp_path, "xx.")
    crowded = loading.load(files[:2])
    with pytest.raises(InputError, match=f"{WORDS}, in 2 of 2.*: the kernel decides which rank is"):
        plots.made("ranks", crowded, Options())
    page = report.render(crowded)
    assert "Who is last" not in page
    assert "bright column" not in page
    mixed = loading.load(files)
    figure = plots.made("ranks", mixed, Options())
    assert any("launch 02.h5" in note for note in figure.notes)
    assert "2 oversubscribed launches not looked at" in figure.left_out
    assert "ow often each rank" in report.render(mixed)
