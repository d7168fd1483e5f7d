# SPDX-License-Identifier: BSD-3-Clause
"""Transfer modes over one interconnect: where they cross, by the rule of the interconnects."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from a2aperf import blocks, laws, loading
from a2aperf.suite import modes, ranking
from conftest import Outcome
from support import synthetic
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
SIZES = (1000, 8000, 60000)
BOTH = Setup(nodes=2, ppn=1, sizes=SIZES, ops=20, sync="barrier", provider="tcp",
             modes=("tagged", "write-imm"))  # fmt: skip
START = {"tcp": 4_000.0, "net": 9_000.0}
CROSSING = {1000: 1.3, 8000: 0.8, 60000: 0.8}
"""What write-imm takes, of the time of tagged."""


def study(folder: Path, of: Mapping[str, Mapping[int, float]], launches: int = 8) -> list[Path]:
    """Launches in turn; `of` is what write-imm takes by interconnect and size."""
    folder.mkdir()
    order = list(itertools.islice(itertools.cycle(["tcp", "net", "net", "tcp"]), 2 * launches))
    for number, name in enumerate(order):
        times = {("write-imm", size): factor for size, factor in of.get(name, {}).items()}
        synthetic.write_launch(
            folder / f"{number:02}.h5",
            replace(BOTH, alpha_ns=START[name], seed=number,
                    labels={ranking.LABEL: name},
                    effects=Effects(launch_spread=0.01, noise=0.01, modes_at=times),
                    started=BOTH.started + timedelta(minutes=number)),
        )  # fmt: skip
    return sorted(folder.glob("*.h5"))


def test_a_mode_pays_from_a_size_on_over_one_interconnect(a2a: A2A, tmp_path: Path) -> None:
    study(tmp_path / "x", {"tcp": CROSSING})
    said = a2a("suite", tmp_path / "x").out.replace("\xa0", " ")
    words = " ".join(said.split())
    assert (
        "over tcp: tagged ahead of write-imm at 1 kB (by 30 %); write-imm ahead of tagged from "
        "8 kB on (by 25 %); they cross between 1 kB and 8 kB" in words
    )
    assert "over net: write-imm ahead" not in words and "over net: tagged ahead" not in words
    assert "5 % error for all claims on modes together (2 pairs)" in words
    told = json.loads(a2a("suite", tmp_path / "x", "--json").out)["workloads"][0]["modes"]
    ahead = {(one["interconnect"], one["ahead"]): one["sizes"]
             for one in told if one["verdict"] == "ahead"}  # fmt: skip
    assert ahead == {("tcp", "tagged"): [1000], ("tcp", "write-imm"): [8000, 60000]}


def test_of_few_launches_nothing_is_said_but_that(a2a: A2A, tmp_path: Path) -> None:
    study(tmp_path / "x", {"tcp": CROSSING}, launches=2)
    words = " ".join(a2a("suite", tmp_path / "x").out.replace("\xa0", " ").split())
    assert "over tcp" not in words
    assert "modes: of 2 of 2 pairs there are too few launches to decide anything" in words


def test_of_one_mode_nothing_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    for number, name in enumerate(("tcp", "net")):
        one = replace(BOTH, modes=("tagged",), seed=number, labels={ranking.LABEL: name})
        synthetic.write_launch(folder / f"{number}.h5", one)
    made = modes.modes(ranking.rank(loading.load(sorted(folder.glob("*.h5")))))
    assert (made.duels, made.pairs, made.notes) == ([], 0, ())


@pytest.mark.nulls
def test_equal_modes_are_not_ranked() -> None:
    """Two modes of each launch in turn, over two interconnects with 8 launches each."""
    rng = np.random.default_rng(5)
    side = np.tile([False, True], 8)
    block = blocks.within([0] * 16, [0] * 16, side)
    cells = [ranking.Cell("measure", size) for size in SIZES]
    wrong, studies = 0, 40
    for _ in range(studies):
        said: list[ranking.Against] = []
        for _ in START:
            shared = np.repeat(rng.normal(0, 0.02, (8, 1)), 2, axis=0)
            y = shared + rng.normal(0, 0.01, (16, len(SIZES)))
            paired = ranking.Paired(cells, y, side, block)
            said += ranking.of_two([paired], 2).values()
        wrong += any(one.verdict in (ranking.AHEAD, ranking.BEHIND) for one in said)
    assert wrong <= laws.binomial_ppf(0.999, studies, 0.05)
