# SPDX-License-Identifier: BSD-3-Clause
"""The model of a matrix of pairs: it finds what was put there, and nothing in clean noise."""

from __future__ import annotations

import numpy as np
import pytest

from a2aperf.workloads.pairs import model
from a2aperf.workloads.pairs.model import Floats, Weak

NOISE = 0.05


def times(ranks: int, seed: int, noise: float = NOISE, tail: str = "normal") -> Floats:
    """Clean times: nodes differ by a percent, pairs by noise of the logarithm."""
    random = np.random.default_rng((seed, ranks))
    if tail == "power":
        single = np.log1p(random.pareto(1 / noise / 3, (ranks, ranks)))
    else:
        single = random.normal(0, noise, (ranks, ranks))
    ends = random.normal(0, 0.01, (2, ranks))
    out = np.exp(10 + single + ends[0][:, None] + ends[1][None, :])
    np.fill_diagonal(out, np.nan)
    return np.asarray(out)


def groups(ranks: int) -> model.Ints:
    return np.arange(ranks) // (ranks // 4)


def named(found: list[Weak]) -> set[tuple[str, int, int]]:
    return {(one.kind, one.source, one.destination) for one in found}


@pytest.mark.parametrize(("ranks", "steps"), [(3, 2), (20, 1), (20, 2)])
def test_of_too_few_pairs_nothing_is_expected(ranks: int, steps: int) -> None:
    """Ends of which nothing is known leave no pair's time to expect; the median stays known."""
    found = times(ranks, 1, noise=0.0)
    away = (np.arange(ranks)[None, :] - np.arange(ranks)[:, None]) % ranks
    found[(away == 0) | (away > steps)] = np.nan
    fit = model.fit(found)
    assert np.isnan(fit.expected).all()
    assert fit.overall == pytest.approx(10, abs=0.1)


@pytest.mark.parametrize(("steps", "is_judged"), [(1, False), (2, False), (3, True), (7, True)])
def test_pairs_are_judged_from_three_to_a_rank_on(steps: int, is_judged: bool) -> None:
    of = times(8, 1)
    source, destination = np.indices(of.shape)
    assert model.is_judged(np.where((destination - source) % 8 <= steps, of, np.nan)) == is_judged


def test_the_fit_gives_back_what_was_put_in() -> None:
    sender, receiver = np.array([0.0, 0.3, -0.2, 0.1, 0.0]), np.array([0.2, 0.0, 0.0, -0.4, 0.0])
    clean = np.exp(7 + sender[:, None] + receiver[None, :])
    np.fill_diagonal(clean, np.nan)
    clean[2, 3] *= 4  # one of four: the medians stay
    found = model.fit(clean)
    assert found.sender == pytest.approx(sender, abs=1e-4)
    assert found.receiver == pytest.approx(receiver, abs=1e-4)
    assert found.overall == pytest.approx(7, abs=1e-4)
    assert found.residual[2, 3] == pytest.approx(np.log(4), abs=1e-4)
    assert np.exp(found.expected[2, 3]) * 4 == pytest.approx(clean[2, 3], rel=1e-3)


@pytest.mark.parametrize(
    ("ranks", "trials", "tail"),
    [
        (8, 60, "normal"),
        (20, 40, "normal"),
        (320, 1, "normal"),
        (20, 40, "power"),
        (80, 5, "power"),
    ],
)
def test_clean_noise_has_no_weak_link(ranks: int, trials: int, tail: str) -> None:
    noise = NOISE if tail == "normal" else 0.03
    called = [
        named(model.weak(times(ranks, seed, noise, tail), groups(ranks), has_steps=True))
        for seed in range(trials)
    ]
    # 1 % a kind; beyond 3 of 60 would be chance in one of ten thousand sets of trials
    assert sum(map(bool, called)) <= (3 if trials > 5 else 0), called


@pytest.mark.parametrize("ranks", [8, 20, 80, 320])
def test_one_weak_thing_is_named_and_nothing_else(ranks: int) -> None:
    sends = times(ranks, 1)
    sends[3] /= 0.48
    (one,) = model.weak(sends, has_steps=True)
    assert named([one]) == {("sender", 3, -1)}
    assert 1 / one.factor == pytest.approx(0.48, rel=0.1)
    assert one.n == ranks - 1
    assert named(model.weak(sends.T, has_steps=True)) == {("receiver", -1, 3)}
    pair = times(ranks, 2)
    pair[2, 5] *= 2
    assert named(model.weak(pair, has_steps=True)) == {("pair", 2, 5)}


@pytest.mark.parametrize("ranks", [4, 5, 6])
def test_a_small_matrix_is_enough_for_a_plain_case(ranks: int) -> None:
    sends, pair = times(ranks, 1, 0.02), times(ranks, 2, 0.02)
    sends[1] /= 0.4
    pair[1, 3] /= 0.4
    assert named(model.weak(sends, has_steps=True)) == {("sender", 1, -1)}
    assert named(model.weak(pair, has_steps=True)) == {("pair", 1, 3)}


def test_a_slow_way_between_switches_is_one_finding() -> None:
    slow = times(40, 3)
    where = groups(40)
    slow[np.ix_(where == 0, where == 2)] *= 1.5
    (one,) = model.weak(slow, where, has_steps=True)
    assert named([one]) == {("block", 0, 2)}
    assert one.n == 100
    assert 1 / one.factor == pytest.approx(1 / 1.5, rel=0.05)


def test_a_bad_moment_blames_the_step_and_no_pair() -> None:
    slow = times(20, 4)
    source = np.arange(20)
    slow[source, (source + 7) % 20] *= 2
    assert named(model.weak(slow, has_steps=True)) == {("step", 7, -1)}
    assert {one.kind for one in model.weak(slow)} == {"pair"}  # a matrix that has no steps


def test_a_sample_of_the_steps_will_do() -> None:
    some = times(64, 5)
    source, destination = np.indices(some.shape)
    some[(destination - source) % 64 % 5 != 1] = np.nan
    some[10] /= 0.48
    assert named(model.weak(some, has_steps=True)) == {("sender", 10, -1)}


def test_what_was_not_measured_says_nothing() -> None:
    nothing = np.full((8, 8), np.nan)
    assert model.weak(nothing, groups(8), has_steps=True) == []
    single = nothing.copy()
    single[np.arange(8), (np.arange(8) + 1) % 8] = 1000.0
    single[2, 3] = 9000.0
    assert model.weak(single, groups(8), has_steps=True) == []
    assert np.isnan(model.fit(single).sender).all()


def test_clocks_that_disagree_are_not_weak_links() -> None:
    skewed = times(20, 6, 0.01)
    skewed[4] += 0.5 * np.nanmedian(skewed)
    assert named(model.weak(skewed)) == {("sender", 4, -1)}
    assert model.weak(skewed, resolution=float(np.nanmedian(skewed))) == []


def test_the_median_pair_is_that_of_the_programs_table() -> None:
    times = np.array([[np.nan, 1.0], [2.0, 4.0]])  # of an odd number the middle one
    assert model.middle(times, is_rate=False) == 2.0
    even = np.array([[np.nan, 1.0, 2.0], [4.0, 8.0, np.nan]])
    assert model.middle(even, is_rate=False) == 2.0
    assert model.middle(8 / even, is_rate=True) == 8 / 2.0  # the same pair
    assert np.isnan(model.middle(np.full((2, 2), np.nan), is_rate=True))
