# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a ranking whose verdicts are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from a2aperf.labels import size_text
from a2aperf.suite import duels, figure, outcome, recommendation
from a2aperf.suite.modes import Modes
from a2aperf.suite.outcome import Outcome, Part
from a2aperf.suite.ranking import AHEAD, BEHIND, OPEN, SAME, Against, Cell, Ranking, Standing
from a2aperf.traits import Judged

SHM, TCP, VERBS = NAMES = ("shm", "tcp", "verbs")
Pairs = Mapping[tuple[str, str], int | None]


def ranked(of_sizes: Mapping[int, Pairs]) -> Ranking:
    """By size the verdicts of the first of two against the second; others are not there."""
    standings = {}
    for size, pairs in of_sizes.items():
        here = {name: Standing(8, 1e3, 10.0, 9.0, 11.0) for two in pairs for name in two}
        here = {name: here[name] for name in NAMES if name in here}
        for (first, second), verdict in pairs.items():
            turned = None if verdict is None else -verdict
            here[first].against[second] = Against(verdict, 1.1 ** (verdict or 0), 0.9, 1.2)
            here[second].against[first] = Against(turned, 1.1 ** (turned or 0), 0.9, 1.2)
        standings[Cell("measure", size)] = here
    return Ranking(NAMES, standings, {"measure": Judged()}, (), cast(Any, None), {"measure": []})


def behind_both(of_the_two: int | None = OPEN) -> Pairs:
    return {(SHM, TCP): of_the_two, (SHM, VERBS): AHEAD, (TCP, VERBS): AHEAD}


@pytest.mark.parametrize("sizes", [(64, 4096), (4096, 64)])
def test_what_is_said_of_a_size_is_of_those_that_it_has(sizes: Sequence[int]) -> None:
    """At one of two sizes nobody measured verbs, which is behind at the other one."""
    without, with_all = sizes
    made = ranked({without: {(SHM, TCP): OPEN}, with_all: behind_both()})
    (told,) = recommendation.advice(made, {}, "measure")
    assert (told.sizes, told.leading) == ((with_all,), (SHM, TCP))
    assert "verbs is behind one of them at least" in told.text
    open_ = recommendation.undecided(made, "measure")
    assert open_.startswith(f"{size_text(without)}: nobody is decided to be behind")


def words(of_sizes: Mapping[int, Pairs]) -> list[str]:
    return [str(one).replace("\u00a0", " ") for one in duels.duels(ranked(of_sizes), "measure")]


def test_every_size_is_every_size() -> None:
    ahead: Pairs = {(SHM, TCP): AHEAD}
    alone: Pairs = {(TCP, VERBS): OPEN}
    assert words({64: ahead, 4096: ahead}) == ["shm ahead of tcp at every size (by 10 %)"]
    assert words({64: ahead, 4096: ahead, 65536: alone}) == [
        "shm ahead of tcp up to 4 KiB (by 10 %)"
    ]
    assert words({64: alone, 4096: ahead}) == ["shm ahead of tcp at 4 KiB (by 10 %)"]
    assert words({64: ahead, 4096: alone, 65536: ahead}) == [
        "shm ahead of tcp at 64 B (by 10 %); shm ahead of tcp at 64 KiB (by 10 %)"
    ]
    assert words({64: ahead, 4096: alone, 65536: {(SHM, TCP): BEHIND}}) == [
        "shm ahead of tcp at 64 B (by 10 %); tcp ahead of shm at 64 KiB (by 10 %); "
        "they cross between 64 B and 64 KiB"
    ]


def hollow_marks(made: Ranking) -> list[tuple[str, int]]:
    table = outcome.table(made, {}, "measure")
    assert "1 to 3: undecided, or no different, between these" in table.caption
    part = Part("measure", "alltoall", table, None, (), (), (), "")
    (chart,) = figure.figure(Outcome(made, {}, {}, (part,), Modes((), 0), (), ())).charts
    return [(curve.name, len(curve.x)) for curve in chart.curves if curve.form == "hollow"]


@pytest.mark.parametrize(("verdict", "hollow"), [(SAME, 0), (OPEN, 1)])
def test_what_is_no_different_is_decided(verdict: int | None, hollow: int) -> None:
    made = ranked({64: behind_both(verdict), 4096: behind_both(verdict)})
    assert hollow_marks(made) == [(SHM, 2), (TCP, 2)] * hollow


def test_what_is_held_against_nothing_is_undecided() -> None:
    made = ranked({64: behind_both(SAME)})
    for one in made.standings[Cell("measure", 64)].values():
        one.against.clear()
    assert hollow_marks(made) == [(name, 1) for name in NAMES]
