# SPDX-License-Identifier: BSD-3-Clause
"""What the gate says of jobs whose truth is known: A2A_GATE_STUDIES=2000 for the long run."""

from __future__ import annotations

import os

import numpy as np
import pytest

from a2aperf import laws
from a2aperf.gating.checks import State, worst
from support.synthetic_jobs import Study

pytestmark = pytest.mark.slow
STUDIES = int(os.environ.get("A2A_GATE_STUDIES", "100"))
SLOWER = (State.WARNING, State.CRITICAL)


def states(study: Study, seed: int) -> list[State]:
    """Of all bands together, in each study."""
    rng = np.random.default_rng(seed)
    return [worst(one.state for one in study.losses(rng)) for _ in range(STUDIES)]


def at_most(share: float) -> float:
    """More than that comes once in 1000 times where the share is held."""
    return float(laws.binomial_ppf(0.999, STUDIES, share))


@pytest.mark.parametrize("jobs", [5, 8, 20])
@pytest.mark.parametrize(
    "more",
    [{}, {"within": 0.03, "fewer": 2}, {"between": 0.005, "of_job_and_size": 0.03}],
    ids=["usual", "fewer launches", "sizes by themselves"],
)
def test_false_alarms(jobs: int, more: dict[str, float]) -> None:
    found = states(Study(jobs=jobs, **more), 1)  # type: ignore[arg-type]
    assert sum(one in SLOWER for one in found) <= at_most(0.05)


@pytest.mark.parametrize("jobs", [5, 8, 20])
@pytest.mark.parametrize("others", [1, 3])
@pytest.mark.parametrize("memory", [0.5, 0.8])
def test_jobs_like_the_one_before(jobs: int, others: int, memory: float) -> None:
    study = Study(jobs=jobs, others=others, others_a_day=1, memory=memory)
    assert sum(one in SLOWER for one in states(study, 9)) <= at_most(0.05)


@pytest.mark.parametrize("days", [5, 8])
@pytest.mark.parametrize("others", [1, 4])
def test_jobs_of_a_day_are_no_jobs_of_their_own(days: int, others: int) -> None:
    study = Study(jobs=4 * days, a_day=4, of_day=0.02, between=0.01, others=others)
    assert sum(one in SLOWER for one in states(study, 8)) <= at_most(0.05)


@pytest.mark.parametrize("jobs", [5, 8, 20])
@pytest.mark.parametrize("bands", [1, 3])
def test_a_loss_that_matters_is_not_called_ok(jobs: int, bands: int) -> None:
    found = states(Study(jobs=jobs, loss=0.1, in_bands=bands), 2)
    assert sum(one == State.OK for one in found) <= at_most(0.05)


@pytest.mark.parametrize(("jobs", "least"), [(5, 0.45), (8, 0.7), (20, 0.95)])
def test_an_equal_cluster_is_ok(jobs: int, least: float) -> None:
    found = states(Study(jobs=jobs), 3)
    assert sum(one == State.OK for one in found) >= least * STUDIES - 3 * STUDIES**0.5 / 2


@pytest.mark.parametrize(
    ("jobs", "loss", "least"), [(5, 0.2, 0.88), (8, 0.1, 0.78), (8, 0.2, 0.97), (20, 0.1, 0.97)]
)
def test_power(jobs: int, loss: float, least: float) -> None:
    found = states(Study(jobs=jobs, loss=loss), 4)
    assert sum(one in SLOWER for one in found) >= least * STUDIES - 3 * STUDIES**0.5 / 2


@pytest.mark.parametrize("jobs", [5, 8, 20])
@pytest.mark.parametrize("more", [{}, {"of_job_and_size": 0.03}], ids=["usual", "by themselves"])
def test_single_sizes_are_hardly_ever_named_where_nothing_was_lost(
    jobs: int, more: dict[str, float]
) -> None:
    rng = np.random.default_rng(6)
    studies = [Study(jobs=jobs, **more).singles(rng) for _ in range(STUDIES)]  # type: ignore[arg-type]
    assert sum(bool(one) for one in studies) <= at_most(0.01)


@pytest.mark.parametrize(("jobs", "loss"), [(8, 0.25), (20, 0.15)])
def test_a_loss_at_one_size_is_named_there(jobs: int, loss: float) -> None:
    """Its band says nothing of it, whose mean lost an eighth as much."""
    rng = np.random.default_rng(7)
    found = [Study(jobs=jobs, at_one=loss).singles(rng) for _ in range(STUDIES)]
    assert sum(one == [3] for one in found) >= 0.8 * STUDIES


def test_what_is_missing_is_never_ok() -> None:
    rng = np.random.default_rng(5)
    for study in (Study(jobs=4), Study(fewer=3), Study(fewer=4)):
        if study.fewer == study.launches:
            continue
        assert {one.state for one in study.losses(rng)} == {State.UNKNOWN}
