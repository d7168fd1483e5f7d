# SPDX-License-Identifier: BSD-3-Clause
"""The model of arbitration: exact answers, and the published settings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from a2aperf import arbitration, filling
from a2aperf.arbitration import Arbitration
from a2aperf.filling import Path
from conftest import DATA
from support.shared_link import MODIFIED, PUBLISHED

INF = math.inf
DEFAULT = arbitration.of_text((DATA / "qos-default.txt").read_text())
CHANGED = arbitration.of_text(MODIFIED)


def by_levels(levels: str, of: Arbitration) -> list[float]:
    lanes = [of.lane(int(level)) for level in levels.split(",")]
    return filling.by_tables([Path(lane) for lane in lanes if lane is not None], of)


@pytest.mark.parametrize(
    ("amount", "weights", "wants", "gets"),
    [
        (12, [1, 2, 3], [INF, INF, INF], [2, 4, 6]),
        (12, [1, 1, 1], [1, INF, INF], [1, 5.5, 5.5]),
        (12, [1, 1, 2], [1, 3, INF], [1, 3, 8]),
        (12, [1, 1], [2, 3], [2, 3]),
        (12, [0, 1], [INF, INF], [0, 12]),
        (0, [1, 1], [INF, INF], [0, 0]),
    ],
)
def test_water_filling(
    amount: float, weights: list[float], wants: list[float], gets: list[float]
) -> None:
    assert filling.water_fill(amount, weights, wants) == pytest.approx(gets)


def test_nobody_could_have_more_without_one_of_lower_level_having_less() -> None:
    """Max-min fairness, on many instances: who is not satisfied has the highest level."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 7))
        weights, wants = rng.uniform(0.1, 4, n), rng.uniform(0, 3, n)
        got = filling.water_fill(2.0, list(weights), list(wants))
        assert sum(got) == pytest.approx(min(2.0, wants.sum()))
        assert (np.array(got) <= wants + 1e-12).all()
        hungry = np.array(got) < wants - 1e-9
        levels = np.array(got) / weights
        if hungry.any():
            assert levels[hungry] == pytest.approx(levels.max())


@pytest.mark.parametrize("size", [4096, 8388608])
def test_default_tables_give_the_published_shares(size: int) -> None:
    assert by_levels("0,0,0", DEFAULT) == pytest.approx([1 / 3] * 3)
    measured = {4096: (0.2545, 0.2545, 0.491), 8388608: (0.25, 0.25, 0.4999)}[size]
    assert by_levels("0,0,1", DEFAULT) == pytest.approx(measured, abs=0.01)


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ("0,0,0", (1 / 3, 1 / 3, 1 / 3)),
        ("0,0,1", (0.5, 0.5, 0.0)),  # VL0 goes before VL1
        ("1,1,2", (7 / 15, 7 / 15, 1 / 15)),  # VL1:VL2 is 14:1
        ("2,2,3", (0.5, 0.5, 0.0)),  # VL3 is in no table
    ],
)
def test_modified_tables_do_not_give_them(levels: str, says: tuple[float, ...]) -> None:
    found = by_levels(levels, CHANGED)
    assert found == pytest.approx(says)
    measured = [shares for of, _, _, shares in PUBLISHED if of == levels]
    agrees = all(np.abs(np.subtract(found, one)).max() < 0.03 for one in measured)
    assert agrees == (levels in ("0,0,0", "2,2,3"))


def test_limit_of_the_high_table() -> None:
    paths = [Path(0), Path(1)]
    tables = {limit: Arbitration((), ((0, 1),), ((1, 1),), limit) for limit in (0, 1, 4, 255)}
    found = {limit: filling.by_tables(paths, of) for limit, of in tables.items()}
    assert found[0] == pytest.approx([1 / 2, 1 / 2])  # a packet of each
    assert found[1] == pytest.approx([1 / 2, 1 / 2])
    assert found[4] == pytest.approx([4 / 5, 1 / 5])
    assert found[255] == pytest.approx([1, 0])
    assert filling.by_tables(paths, tables[4], packet=2048) == pytest.approx([8 / 9, 1 / 9])


def test_what_the_high_table_does_not_want_is_for_the_low_one() -> None:
    of = Arbitration((), ((0, 1),), ((1, 3), (2, 1)), 255)
    found = filling.by_tables([Path(0, 0.2), Path(1), Path(2)], of)
    assert found == pytest.approx([0.2, 0.6, 0.2])


def test_a_lane_of_both_tables_is_served_by_both() -> None:
    of = Arbitration((), ((0, 1),), ((0, 1), (1, 1)), 4)
    assert filling.by_tables([Path(0), Path(1)], of) == pytest.approx([0.9, 0.1])


def test_limits_of_paths_within_a_lane() -> None:
    found = filling.by_weights([Path(0, 0.05), Path(0), Path(1)], {0: 1, 1: 1})
    assert found == pytest.approx([0.05, 0.45, 0.5])


@pytest.mark.parametrize(("limit", "expected"), [(0.5, (0.5, 0.5)), (0.2, (0.2, 0.8))])
def test_a_lane_of_both_tables_leaves_nothing_unused(
    limit: float, expected: tuple[float, float]
) -> None:
    of = Arbitration(None, ((0, 4), (1, 4)), ((0, 4),), 0)
    found = filling.by_tables([Path(0, limit), Path(1, 0.97)], of)
    assert found == pytest.approx(expected)
