# SPDX-License-Identifier: BSD-3-Clause
"""What is recorded to change over the nights, whether or not a node moved with it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from a2aperf.nodes import changes, history, told
from a2aperf.nodes.night import DAY_NS, Line, Night

pytestmark = pytest.mark.usefixtures("summed_once")

FIRST = 20_000


def night(day: int, nodes: Sequence[str], **facts: Sequence[str]) -> Night:
    lines = [Line("sends", 60000, [0.001 * at for at in range(len(nodes))])]
    each = {name: list(values) for name, values in facts.items()}
    return Night(f"{day} {nodes}", (FIRST + day) * DAY_NS + 1, list(nodes), each, lines)


def names(*at: int) -> list[str]:
    return [f"node{one:03}" for one in at]


def test_a_node_that_was_replaced_is_told_with_both_days() -> None:
    before, after = names(1, 2, 3, 4), names(1, 2, 4, 99)
    found = [night(day, before if day < 12 else after) for day in range(24)]
    made = changes.of_nights(found)
    assert made.came == {"node099": FIRST + 12} and made.left == {"node003": FIRST + 11}
    lines = told.lines(history.of_nights(found))
    assert "first measured 2024-10-16: node099" in lines
    assert "last measured 2024-10-15: node003" in lines


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_nodes_that_an_allocation_lacks_did_not_leave(share: float) -> None:
    """Of 500 folders of random allocations: 1 in 1000 is the error."""
    rng = np.random.default_rng(7)
    told_of = 0
    for _ in range(500):
        found = []
        for day in range(60):
            there = np.flatnonzero(rng.random(20) < share)
            found.append(night(day, names(*there)))
        made = changes.of_nights([one for one in found if one.nodes])
        told_of += bool(made.came or made.left)
    assert told_of <= 4  # more has a chance of 0.2 % at the error that is held


def test_a_change_without_a_move_is_told_once_for_all_its_nodes() -> None:
    nodes = names(*range(8))
    found = []
    for day in range(30):
        kernel = ["6.2" if day >= 20 else "6.1"] * 8
        bios = ["2" if node == "node005" and day >= 25 else "1" for node in nodes]
        found.append(night(day, nodes, kernel=kernel, bios=bios, speed=[str(day)] * 8))
    made = history.of_nights(found)
    assert made.changed is not None and not made.moved
    assert [
        (x.day - FIRST, x.fact, x.before, x.after, len(x.nodes)) for x in made.changed.facts
    ] == [
        (20, "kernel", "6.1", "6.2", 8),
        (25, "bios", "1", "2", 1),
    ]
    text = "\n".join(told.lines(made))
    assert "all 8 nodes" in text and "node005" in text
    plain = json.loads(json.dumps(told.plain(made)))
    assert plain["changed"][1]["nodes"] == ["node005"] and plain["came"] == {}


def test_what_is_not_recorded_in_a_night_is_no_change() -> None:
    nodes = names(*range(4))
    found = [night(day, nodes, kernel=["6.1" if day % 3 else ""] * 4) for day in range(12)]
    found += [night(day, nodes) for day in range(12, 15)]
    assert changes.of_nights(found).facts == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("AAABAAAA", []),
        ("AAABCCCC", [(4, "A", "C")]),
        ("AAAB", [(3, "A", "B")]),
        ("AAABBBAA", [(3, "A", "B"), (6, "B", "A")]),
        ("ABABABAB", []),
    ],
)
def test_what_came_for_a_night_is_no_change(values: str, said: list[tuple[int, str, str]]) -> None:
    found = [night(day, names(1, 2), bios=[value, "x"]) for day, value in enumerate(values)]
    made = changes.of_nights(found).facts
    assert [(one.day - FIRST, one.before, one.after) for one in made] == said


def test_of_no_nights_nothing_changed() -> None:
    assert changes.of_nights([]) == changes.Changes([], {}, {})


def test_of_many_changes_the_latest_are_told() -> None:
    nodes = names(*range(4))
    found = [night(day, nodes, kernel=[f"6.{day // 4}"] * 4) for day in range(80)]
    lines = told.lines(history.of_nights(found))
    assert "7 other changes of what is recorded: --json has all" in lines
    assert sum("kernel" in line for line in lines) == 12
