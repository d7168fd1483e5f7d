# SPDX-License-Identifier: BSD-3-Clause
"""What goes by way of leaders: its figures, and that nobody is blamed for having more to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from a2aperf import loading
from a2aperf.explain.finders import explain
from a2aperf.workloads.alltoall import forwarding, matrices, verify
from support.synthetic import Effects, Setup, write_launch

BLAMING = ("stragglers", "apart", "behind", "nodes", "slow-pair")


@pytest.mark.parametrize(
    ("node_of_rank", "forwarded", "largest"),
    [
        ([0, 0, 1, 1], 2 * (2 + 2), 4),
        ([0, 0, 0, 1, 1], 2 * (2 * 2 + 1 * 3), 6),
        ([0, 1, 0, 1, 0, 1], 2 * (2 * 3 + 2 * 3), 9),
        ([0, 0, 1, 2, 3, 4], 2 * (1 * 4), 5),  # a rank's block for its leader
        ([0, 1, 2], 0, 1),
    ],
)
def test_what_leaders_forward(node_of_rank: list[int], forwarded: int, largest: int) -> None:
    of_rank = np.array(node_of_rank)
    assert forwarding.forwarded(of_rank, 8) == 8 * forwarded
    assert forwarding.largest(of_rank, 8) == 8 * largest


def test_each_message_that_is_forwarded_counts_once_for_each_leader_it_passes() -> None:
    of_rank = np.array([0, 1, 0, 0, 2, 1, 2, 0])
    first = [int(np.flatnonzero(of_rank == node)[0]) for node in of_rank]
    passed = sum(
        (first[source] != source) + (first[to] != to)
        for source in range(8)
        for to in range(8)
        if of_rank[source] != of_rank[to]
    )
    assert forwarding.forwarded(of_rank, 100) == 100 * passed


def test_nobody_is_blamed_for_having_more_to_do(tmp_path: Path) -> None:
    """The same rank is last where all have the same to do, and is named there."""
    late = Effects(straggler=(0, 0.9))
    said = {}
    for schedule in ("shift", "node-aware"):
        path = tmp_path / f"{schedule}.h5"
        write_launch(path, Setup(effects=late, schedules=(schedule,), trace=True))
        found = loading.load([path]).measured()
        said[schedule] = [one.kind for one in explain(found, BLAMING)]
    assert said["shift"]
    assert said["node-aware"] == []


def test_nodes_are_judged_by_the_other_points_alone() -> None:
    points = pd.DataFrame({"schedule": ["shift", "node-aware"], "traffic": ["uniform"] * 2})
    assert matrices.have_equal_ranks(points).tolist() == [True, False]


@pytest.mark.parametrize(
    ("schedule", "stored", "says"),
    [
        ("node-aware", 64, []),
        ("node-aware", 63, ["forwarded_bytes is 63, leaders forward 64 B"]),
        ("shift", 64, ["forwarded_bytes is 64, leaders forward 0 B"]),
        ("shift", 0, []),
        ("shift", np.nan, []),  # an older file
    ],
)
def test_the_column_is_worked_out_again(schedule: str, stored: float, says: list[str]) -> None:
    row = pd.Series({"schedule": schedule, "message_size": 8, "forwarded_bytes": stored})
    assert list(verify.forwarded(row, np.array([0, 0, 1, 1]))) == says
