# SPDX-License-Identifier: BSD-3-Clause
"""How launches are cut into A/B blocks, and that every exchange stays inside them."""

from __future__ import annotations

import numpy as np
import pytest

from a2aperf import blocks

pytestmark = pytest.mark.slow


def sides(text: str) -> blocks.Sides:
    return np.array([letter == "B" for letter in text])


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("ABBA", [0, 0, 0, 0]),
        ("ABBAABBA", [0, 0, 0, 0, 1, 1, 1, 1]),
        ("ABBAAB", [0, 0, 0, 0, 1, 1]),
        ("AABBABBA", [0, 0, 0, 0, 0, 0, 1, 1]),
        ("AAAABBBB", [0] * 8),
        ("AAB", [0, 0, 0]),
        ("ABBAA", [0, 0, 0, 0, 0]),
        ("A", [0]),
    ],
)
def test_two_balanced_runs_make_a_block(order: str, expected: list[int]) -> None:
    assert blocks.alternating(sides(order)).tolist() == expected


def test_blocks_stay_inside_an_allocation() -> None:
    block = blocks.within([0] * 7, ["x", "x", "y", "y", "z", "x", "x"], sides("ABABAAB"))
    assert block.tolist() == [0, 0, 1, 1, 2, 0, 0]


def test_allocations_with_one_side_only_are_compared_with_each_other() -> None:
    assert blocks.within([0] * 4, ["x", "x", "y", "y"], sides("AABB")).tolist() == [0, 0, 0, 0]
    # Each side has nodes of its own, and they take turns: A B B A A B B A.
    block = blocks.within([0] * 8, list("xyyxxyyx"), sides("ABBAABBA"))
    assert block.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_kinds_are_never_mixed() -> None:
    block = blocks.within([8, 8, 16, 16, 8, 16], ["x", "y", "x", "y", "z", "z"], sides("ABABBA"))
    assert block.tolist() == [0, 0, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("order", "low", "high"),
    [("ABBAABBA", 0, 0), ("ABABABAB", 0.4, 0.5), ("AAAABBBB", 0.8, 1), ("A", 0, 0)],
)
def test_lean_shows_an_order_that_follows_time(order: str, low: float, high: float) -> None:
    side = sides(order)
    assert low <= blocks.lean(side, blocks.alternating(side)) <= high


@pytest.mark.parametrize(
    ("order", "number"), [("ABBA", 6), ("ABBAABBA", 36), ("AAAABBBB", 70), ("ABBAAB", 12)]
)
def test_every_arrangement_once(order: str, number: int) -> None:
    side = sides(order)
    block = blocks.alternating(side)
    rows = blocks.arrangements(side, block, np.random.default_rng(0))
    assert blocks.count(side, block) == number == len(np.unique(rows, axis=0)) == len(rows)
    assert (rows == side).all(axis=1).sum() == 1
    for b in np.unique(block):
        assert (rows[:, block == b].sum(axis=1) == side[block == b].sum()).all()


def test_many_arrangements_are_drawn_and_keep_the_real_one() -> None:
    side = sides("ABBA" * 8)
    block = blocks.alternating(side)
    rows = blocks.arrangements(side, block, np.random.default_rng(0))
    assert len(rows) == blocks.ENUMERATED < blocks.count(side, block)
    assert (rows[0] == side).all()
    assert all((rows[:, block == b].sum(axis=1) == 2).all() for b in np.unique(block))
    assert rows.mean(axis=0) == pytest.approx(np.full(len(side), 0.5), abs=0.05)
