# SPDX-License-Identifier: BSD-3-Clause
"""What uneven traffic asks of ranks, nodes and links, with answers known beforehand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from a2aperf.workloads.alltoall import matrices, uneven

INCAST = np.array([[0] * 4, [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
NODES = [0, 0, 1, 1]


def test_the_size_is_the_mean_of_all_pairs_and_what_has_a_share_has_a_byte() -> None:
    assert matrices.bytes_of(INCAST, 1000).tolist() == (4000 * INCAST).tolist()
    small = np.zeros((3, 3), np.int64)
    small[0] = [0, 1, 1000]
    assert matrices.bytes_of(small, 1)[0].tolist() == [0, 1, 6]


def test_weights_that_only_large_numbers_hold_are_multiplied_exactly() -> None:
    matrix = np.zeros((2, 2), np.int64)
    matrix[0, 1], matrix[1, 0] = 2**40, 2**40 - 1
    size = 2**40 + 1
    exact = [(w * 2 * size + (2**41 - 1) // 2) // (2**41 - 1) for w in (2**40, 2**40 - 1)]
    assert matrices.bytes_of(matrix, size)[[0, 1], [1, 0]].tolist() == exact


def test_loads_and_bound_of_an_incast() -> None:
    loads = matrices.Loads.of(matrices.bytes_of(INCAST, 1000), NODES)
    assert (loads.total, loads.messages, loads.largest) == (12000, 3, 4000)
    assert loads.rank == matrices.Busiest("rank-receives", 0, 12000)
    assert loads.rank.words == "rank 0 receives"
    assert loads.rank_across.amount == 8000
    assert loads.left.tolist() == [0, 8000]
    assert loads.halves == 8000
    time, busiest = loads.bound(10, 10)
    assert time == pytest.approx(6400)
    assert busiest.kind == "node-sends"  # of equals the first kind
    assert loads.bound(10, 20)[0] == pytest.approx(6400)
    assert loads.bound(10, 20)[1].words == "rank 0 receives"
    assert np.isnan(loads.bound(np.nan, np.nan)[0])


def test_nothing_that_stays_on_a_node_has_a_bound() -> None:
    inside = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    assert np.isnan(matrices.Loads.of(inside, NODES).bound(10, 10)[0])
    assert np.isnan(matrices.Loads.of(INCAST, [0] * 4).bound(10, 10)[0])


def test_beside_the_uniform_traffic_of_the_same_cell() -> None:
    cell = dict.fromkeys(uneven.CELL, 1)
    points = pd.DataFrame(
        [
            {**cell, "traffic": "uniform", "imbalance": 1.0, "time_p50": 100.0},
            {**cell, "traffic": "incast", "imbalance": 4.0, "time_p50": 800.0},
            {**cell, "window": 2, "traffic": "incast", "imbalance": 4.0, "time_p50": 800.0},
        ]
    )
    beside = uneven.beside_uniform(points)
    assert beside.iloc[:2].tolist() == [1.0, 0.5]
    assert np.isnan(beside.iloc[2])  # no uniform point has that window


def test_older_files_have_uniform_traffic() -> None:
    assert matrices.is_uniform({})
    assert matrices.is_uniform({"traffic": "uniform"})
    assert not matrices.is_uniform({"traffic": "zipf=1.2"})


def test_nodes_are_judged_where_all_have_the_same_to_do() -> None:
    points = pd.DataFrame({"traffic": ["uniform", "hot-node=4x"], "point": [0, 1]})
    assert matrices.of_uniform(points)["point"].tolist() == [0]
    assert matrices.of_uniform(points[["point"]])["point"].tolist() == [0, 1]  # an older file
