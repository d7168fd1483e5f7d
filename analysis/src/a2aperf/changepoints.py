# SPDX-License-Identifier: BSD-3-Clause
"""Steps in a series of jobs: told apart from drift, and from jobs that are like the one before.

Sought in what the lines have in common (the median over lines) and in each line by itself: one
step, or two, added to a smooth course (`stepfit`). They count when hardly any series without a step
has as good ones (`steplimits`); the error is shared out over common part and lines, one step and
two. The parts between the steps are then searched again. Jobs far out are first moved to three
robust standard deviations from the median of five jobs around them, so that a single bad day
neither hides a change nor makes one. Noise is not always normal: jobs of a machine with two speeds
have runs of one of them. So the same jobs in another order must hardly ever have as good steps. Nor
is it always alike, and a good day between bad ones is moved, too: so the jobs on both sides of a
step, as they were, must differ by more than they scatter there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws, stepfit, steplimits

Floats = NDArray[np.float64]

ERROR: Final = 0.01  # per search, family-wise over lines and places
LEAST_P: Final = 0.001
LEAST: Final = 8  # jobs from which a step can be told from a smooth course
_LINES: Final = 0.25  # of the error, for lines by themselves where they have a common part
_TWO: Final = 0.2  # of the error, for two steps at once
_OF_ALL: Final = 0.75  # of the jobs, that a line of the common part is known in
_ORDERS: Final = 99  # of the same jobs, drawn
_IN_ANY_ORDER: Final = 0.05  # of them, that may have as good steps
_SEED: Final = 20261129
_NEAR: Final = 8  # jobs on each side of a step, at most, that must differ
_DIFFERS: Final = 0.01  # chance of such a difference of theirs


@dataclass(frozen=True)
class Split:
    """A change between job `index - 1` and job `index`, and how surprising it is.

    `p` is no smaller than `LEAST_P`, to which it was drawn.
    """

    index: int
    p: float


@dataclass(frozen=True)
class _Candidate:
    """The best step, or two, of a series, with p corrected for all that was tried."""

    places: tuple[int, ...]
    p: float


def splits(y: Floats) -> list[Split]:
    """Steps of y [jobs in time order, lines], NaN where a job lacks the line."""
    return sorted(_search(y, 0, len(y)), key=lambda split: split.index)


def _search(y: Floats, start: int, stop: int) -> list[Split]:
    best = min(_candidates(y[start:stop]), key=lambda found: found.p, default=None)
    if best is None or best.p > ERROR or not _is_in_this_order(y[start:stop]):
        return []
    ends = [start + place for place in best.places]
    parts = [_search(y, a, b) for a, b in itertools.pairwise([start, *ends, stop])]
    p = max(best.p, LEAST_P)
    return [Split(end, p) for end in ends] + [split for part in parts for split in part]


def _candidates(y: Floats) -> Iterator[_Candidate]:
    """Of the common part and of each line."""
    for line, share in _sought(y):
        yield _best(line, share)


def _sought(y: Floats) -> Iterator[tuple[Floats, float]]:
    """The common part and each line, with its share of the error."""
    lines = [line for line in y.T if (~np.isnan(line)).sum() >= LEAST]
    common = _common(y)
    share = 1.0
    if common is not None:
        yield common, 1 - _LINES
        share = _LINES
    for line in lines:
        yield line, share / len(lines)


def _is_in_this_order(y: Floats) -> bool:
    """Whether jobs in any order hardly ever have steps as good as in theirs.

    A test by permutation: where jobs do not depend on each other it holds whatever their noise.
    """
    rng = np.random.default_rng(_SEED)
    orders = [np.arange(len(y)), *(rng.permutation(len(y)) for _ in range(_ORDERS))]
    drawn = [list(_sought(y[order])) for order in orders]
    least = np.ones(len(orders))
    for of_orders in zip(*drawn, strict=True):
        series = np.array([line[~np.isnan(line)] for line, _ in of_orders])
        least = np.minimum(least, _chances(series, of_orders[0][1]))
    return bool((least <= least[0]).mean() <= _IN_ANY_ORDER)


def _chances(series: Floats, share: float) -> Floats:
    """Of series [draws, jobs] of one line: p of the best step of each, or of its best two."""
    fit = stepfit.of_jobs(series.shape[1])
    of_each = zip(*fit.ratios(_levels(series)), strict=True)
    return np.array([min(_p_one(fit, one, share), _p_two(fit, two, share)) for one, two in of_each])


def _levels(series: Floats) -> Floats:
    """Of series [draws, jobs]: about their medians, and single bad days moved."""
    return stepfit.without_bad_days(series - np.median(series, axis=1, keepdims=True))


def _p_one(fit: stepfit.StepFit, one: Floats, share: float) -> float:
    """Of the best step by the ratios [places]; 1 in the first or the last two jobs."""
    at = int(np.argmax(one))  # in the last two the next ones will tell
    if not fit.allowed[at]:
        return 1.0
    return steplimits.chance(fit.jobs, one[at], "one") / (share * (1 - _TWO))


def _p_two(fit: stepfit.StepFit, two: Floats, share: float) -> float:
    """Of the best two steps by the ratios [pairs]; 1 where there is no room for two."""
    if not len(two):
        return 1.0
    return steplimits.chance(fit.jobs, two.max(), "two") / (share * _TWO)


def _common(y: Floats) -> Floats | None:
    """The median over lines of jobs that have all of them, NaN for the others.

    Lines that many jobs lack are left out: where the lines change, so would their median.
    """
    y = y[:, (~np.isnan(y)).mean(axis=0) >= _OF_ALL]
    whole = ~np.isnan(y).any(axis=1)
    if y.shape[1] < 2 or whole.sum() < LEAST:
        return None
    known = y[whole]
    moves = np.abs(np.diff(known, axis=0))
    scale = np.median(moves, axis=0)
    scale = np.where(scale > 0, scale, moves.mean(axis=0))
    moving = scale > 0
    if moving.sum() < 2:
        return None
    common = np.full(len(y), np.nan)
    scaled = (known - np.median(known, axis=0))[:, moving] / scale[moving]
    common[whole] = np.median(scaled, axis=1)
    return common


def _best(line: Floats, share: float) -> _Candidate:
    """The best step of a line, or its best two where the second, too, is one."""
    jobs = np.flatnonzero(~np.isnan(line))
    fit = stepfit.of_jobs(len(jobs))
    level = _levels(line[jobs][None])
    one, two = (found[0] for found in fit.ratios(level))
    at = int(np.argmax(one))
    p_one, p_two = _p_one(fit, one, share), _p_two(fit, two, share)
    ends, p = [fit.nearest(level[0], at)], p_one
    if len(two):
        second = steplimits.chance(fit.jobs, two.max() - one[at], "one")
        if p_two <= ERROR and not p_one <= ERROR < second:
            pair = fit.pairs[int(np.argmax(two))]
            ends, p = [fit.nearest(level[0], end) for end in pair], min(p_one, p_two)
    places = tuple(int(jobs[end]) for end in ends)
    return _Candidate(places, p if _differ(line[jobs], ends) else 1.0)


def _differ(values: Floats, ends: Sequence[int]) -> bool:
    """Whether the jobs on both sides of each end differ, by what those near it scatter."""
    return all(_are_apart(a, b) for a, b in itertools.pairwise(np.split(values, ends)))


def _are_apart(before: Floats, after: Floats) -> bool:
    """By Welch's t test of the jobs next to each other."""
    a, b = _most(before[-_NEAR:]), _most(after[:_NEAR])
    way = float(np.sign(np.median(b) - np.median(a)))
    return laws.welch(_towards(a, way), _towards(b, -way)) <= _DIFFERS


def _towards(values: Floats, way: float) -> Floats:
    """None is farther from their median away from the other side than one is towards it.

    A bad day that lies even farther off than they do speaks for the step, not against it.
    """
    off = way * (values - np.median(values))
    return np.asarray(np.maximum(off, -off.max()) * way + np.median(values))


def _most(values: Floats) -> Floats:
    """Without the quarter that is farthest from their median; of fewer than six, all."""
    if len(values) < 6:
        return values
    order = np.argsort(np.abs(values - np.median(values)), kind="stable")
    return values[order[: len(values) - len(values) // 4]]
