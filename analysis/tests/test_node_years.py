# SPDX-License-Identifier: BSD-3-Clause
"""Nodes over a year of jobs whose levels differ: none is named in clean ones, a swapped cable is.

A2A_NODE_YEARS=200 for the long run.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from a2aperf import laws
from a2aperf.nodes import history, moves, nights
from a2aperf.nodes.night import DAY_NS, Line, Night
from support import node_years, synthetic_pairs
from support.edited import edited
from support.synthetic import Setup

YEARS = int(os.environ.get("A2A_NODE_YEARS", "20"))
FEW = YEARS // 2  # of the many nodes, which take longer
YEAR = 365
PARTS = len(node_years.PARTS)
TENTH = float(np.log(1.1))


def at_most(share: float, studies: int) -> float:
    """More than that comes once in 1000 times where the share is held."""
    return float(laws.binomial_ppf(0.999, studies, share))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "jobs", "share", "years"),
    [(20, 1, 1.0, YEARS), (20, 3, 1.0, YEARS), (20, 3, 0.5, YEARS), (320, 3, 0.5, FEW)],
)
def test_a_clean_year_of_jobs_names_no_node(
    nodes: int, jobs: int, share: float, years: int
) -> None:
    """Jobs of a day have their nodes' weather in common, and each a level of its own."""
    rng = np.random.default_rng(nodes + jobs)
    named = 0
    for _ in range(years):
        year = node_years.launches(rng, np.zeros((YEAR, PARTS, nodes)), jobs, share)
        named += bool(history.of_nights(year).moved)
    assert named <= at_most(moves.ERROR, years)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "jobs", "times"), [(20, 1, 3 * YEARS), (20, 3, YEARS), (320, 1, FEW)]
)
def test_a_swapped_cable_is_found_within_five_nights(nodes: int, jobs: int, times: int) -> None:
    """The bad one was at one node and is at another: both are named, and who has it is drained."""
    rng = np.random.default_rng(nodes + jobs)
    missed = 0
    for _ in range(times):
        before = int(rng.integers(40, 100))
        moved = np.zeros((before + moves.RECENT, PARTS, nodes))
        moved[:before, :, 3] = TENTH
        moved[before:, :, 5] = TENTH
        made = history.of_nights(node_years.launches(rng, moved, jobs))
        ways = {one.node: one for one in made.moved}
        is_found = {"n003", "n005"} <= set(ways) and list(made.candidates()) == ["n005"]
        missed += not is_found
        for node, is_slower in (("n003", False), ("n005", True)):
            if node in ways:
                assert ways[node].is_slower == is_slower
                assert abs(ways[node].first - node_years.FIRST - before) <= 2
    assert missed <= at_most(0.05, times)


def test_the_cable_that_a_site_records_stands_beside_the_move(tmp_path: Path) -> None:
    """Two nodes change their cables: as files have it, and beside what changed with it."""
    setup = Setup(
        nodes=8, ppn=1, sizes=(60_000,), ops=5, node_facts={"site_cable_serial": "S0"}
    )  # fmt: skip
    file = synthetic_pairs.write_pairs(tmp_path / "a.h5", setup)
    serials = [f"S{at}" for at in range(8)]
    swapped = [*serials[:3], "S5", "S4", "S3", *serials[6:]]
    recorded = []
    for these in (serials, swapped):
        with edited(file) as opened:
            opened["segments/0/node_facts/site_cable_serial"][...] = these
        (one,) = nights.of_file(file)
        assert one.facts["site_cable_serial"] == these
        recorded.append(one.facts)
    moved = np.zeros((60, PARTS, 8))
    moved[:40, :, 3] = moved[40:, :, 5] = np.log(1.3)
    found = node_years.launches(np.random.default_rng(1), moved)
    for day, one in enumerate(found):
        one.facts.update(recorded[day >= 40])
    made = history.of_nights(found)
    assert {one.node: one.facts for one in made.moved} == {
        "n003": [("site_cable_serial", "S3", "S5")],
        "n005": [("site_cable_serial", "S5", "S3")],
    }
    assert made.changed is not None
    told = [(one.day - node_years.FIRST, one.fact, one.nodes) for one in made.changed.facts]
    assert told == [(40, "site_cable_serial", ["n003"]), (40, "site_cable_serial", ["n005"])]


def test_a_day_has_the_median_of_the_launches_that_know_the_node() -> None:
    nan = float("nan")
    rows: list[tuple[str, list[float]]] = [
        ("abcd", [1, 2, 3, 4]),
        ("abce", [5, nan, 9, 7]),
        ("abcd", [3, nan, nan, 6]),
    ]
    found = [
        Night(nodes + str(at), DAY_NS + at, list(nodes), {}, [Line("sends", 8, values)])
        for at, (nodes, values) in enumerate(rows)
    ]
    (table,) = history.of_nights(found).series.values()
    assert table.tolist() == [[3, 2, 6, 5, 7]]
