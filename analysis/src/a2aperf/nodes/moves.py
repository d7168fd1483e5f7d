# SPDX-License-Identifier: BSD-3-Clause
"""Series of nights that moved to another level and stay there: which, since when, how far.

A series is what a node did each night beside the others, as a logarithm. The median of its
last nights is held against that of the nights before; how far such medians differ where nothing
moved is taken from all series and nights together, so that nights which are like the ones before
make the limit wider, and a series that is restless by itself has a wider one of its own. Everything
here is a function of arrays; a night that a series lacks is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from a2aperf import laws

Floats = NDArray[np.float64]

ERROR: Final = 0.02
"""Chance that a year of nights in which nothing moved names anything."""
RECENT: Final = 5
"""Nights whose median is held against those before."""
LEAST_BEFORE: Final = 10
LEAST: Final = LEAST_BEFORE + RECENT
"""Nights of a series without which nothing is said of it."""
WORTH: Final = 1.03
"""Factor below which nothing is worth a line, however sure it is."""
_MOST_BEFORE: Final = 30
_YEAR: Final = 365
_UPPER: Final = 0.25
_TAIL: Final = 0.98
_AROUND: Final = 9
_RATIO_ERROR: Final = 1.63  # of tail over median of n normal sizes, in units of 1 / √n
_SURE: Final = 2.0  # standard errors
_LEAST_DEGREES, _MOST_DEGREES = 3.0, 1000.0


@dataclass(frozen=True)
class Move:
    """A series (its number) that went to another level: `first` is the first night there.

    `factor` is on the level, `before` and `after` are the nights behind its two medians, up to the
    next move. `now` is the factor of the last nights on the level before this move. `is_gradual`: a
    straight line is closer to the nights around it than two levels are.
    """

    series: int
    first: int
    factor: float
    before: int
    after: int
    now: float
    is_gradual: bool


@dataclass(frozen=True)
class Found:
    """The moves in order of series and night, and the factor from which one can be told.

    `searched` are the series with enough nights, `least` is the limit of an ordinary one that is
    known every night; NaN where none is searched.
    """

    moves: list[Move]
    searched: int
    least: float


@dataclass(frozen=True)
class _Series:
    """The nights of one series that are known, and the standardised steps at them."""

    number: int
    nights: NDArray[np.intp]
    values: Floats
    steps: Floats
    """Of the nights from LEAST − 1 on: the step over the root of what its medians leave it."""


def moves(values: Floats, error: float = ERROR) -> Found:
    """Of values [nights in order, series]; `error` is what a year without a move may cost."""
    series = [_series(number, line) for number, line in enumerate(values.T)]
    known = [one for one in series if one.values.size >= LEAST]
    if not known:
        return Found([], 0, float("nan"))
    restless = np.array([_restless(one.values) for one in known])
    usual = float(np.median(restless))
    wider = np.maximum(1.0, restless / usual) if usual > 0 else np.ones(len(known))
    steps = np.concatenate([one.steps / by for one, by in zip(known, wider, strict=True)])
    apart = np.concatenate([_apart(x.values) / by for x, by in zip(known, wider, strict=True)])
    chance = error / (2 * len(known) * max(_YEAR, len(values)))
    limit = _limit(np.abs(steps), _degrees(np.abs(apart)), chance)
    found = []
    for one, by in zip(known, wider, strict=True):
        found += _of_series(one, limit * by)
    ordinary = limit * np.sqrt(1 / RECENT + 1 / _MOST_BEFORE)
    return Found(found, len(known), max(float(np.exp(ordinary)), WORTH))


def _limit(steps: Floats, degrees: float, chance: float) -> float:
    """Size that a step has with that chance, to either side, where nothing moved.

    A median of RECENT nights is beyond x where half of them are, and nights are as Student's t with
    these degrees; the scale is that of the upper quarter of the steps, as far as so many can tell
    it. Not of the median step: what a matrix of few nodes says of each gathers about 0.
    """
    freedom = laws.mad_freedom(steps.size / RECENT)
    unsure = laws.t_isf(chance, freedom) / laws.t_isf(chance, _MOST_DEGREES)
    scale = float(np.quantile(steps, 1 - _UPPER)) / _of_median(_UPPER / 2, degrees)
    return float(scale * _of_median(chance, degrees) * unsure)


def _of_median(chance: float, degrees: float) -> float:
    """What the median of RECENT nights is beyond with that chance."""
    half = (RECENT + 1) / 2
    return float(laws.t_isf(float(laws.special.betaincinv(half, half, chance)), degrees))


def _degrees(apart: Floats) -> float:
    """Of Student's t, by how much larger than their median the largest of single nights are."""
    middle, tail = np.quantile(apart, [0.5, _TAIL])
    by_chance = 1 + _SURE * _RATIO_ERROR / np.sqrt(apart.size)
    degrees = _MOST_DEGREES
    while degrees > _LEAST_DEGREES and tail > by_chance * middle * _tail_of(degrees):
        degrees /= 1.2
    return degrees


def _apart(values: Floats) -> Floats:
    """How far each night lies from the median of those around it: a move shows in few of them."""
    around = sliding_window_view(values, _AROUND)
    middle = _AROUND // 2
    return np.asarray(around[:, middle] - np.median(np.delete(around, middle, axis=1), axis=1))


def _tail_of(freedom: float) -> float:
    """How many times as large as its median the tail of Student's t is."""
    return float(laws.t_isf((1 - _TAIL) / 2, freedom) / laws.t_isf(0.25, freedom))


def _series(number: int, line: Floats) -> _Series:
    nights = np.flatnonzero(np.isfinite(line))
    values = line[nights]
    if values.size < LEAST:
        return _Series(number, nights, values, np.empty(0))
    recent = np.median(sliding_window_view(values, RECENT), axis=1)[LEAST_BEFORE:]
    padded = np.concatenate([np.full(_MOST_BEFORE - LEAST_BEFORE, np.nan), values[:-RECENT]])
    before = np.nanmedian(sliding_window_view(padded, _MOST_BEFORE), axis=1)
    count = np.minimum(np.arange(LEAST_BEFORE, values.size - RECENT + 1), _MOST_BEFORE)
    steps = (recent - before) / np.sqrt(1 / RECENT + 1 / count)
    return _Series(number, nights, values, steps)


def _restless(values: Floats) -> float:
    """How far a night lies from the one before, in the median."""
    return float(np.median(np.abs(np.diff(values))))


def _of_series(one: _Series, limit: float) -> list[Move]:
    beyond = np.where(np.abs(one.steps) > limit, np.sign(one.steps), 0.0)
    starts: list[int] = []
    last, sign = -_MOST_BEFORE, 0.0
    for at in np.flatnonzero(beyond):
        if beyond[at] != sign or at - last > RECENT:
            starts.append(_start(one.values, int(at) + LEAST))
        last, sign = int(at), beyond[at]
    ends = sorted({0, *starts, one.values.size})
    made = [_move(one, *around) for around in zip(ends, ends[1:], ends[2:], strict=False)]
    return [move for move in made if abs(np.log(move.factor)) >= np.log(WORTH)]


def _start(values: Floats, seen: int) -> int:
    """The first night of a level that shows in the RECENT nights before `seen`: of least cost.

    The cost of a night is the sum of distances from the medians before and after it.
    """
    base = max(0, seen - RECENT - _MOST_BEFORE)
    stop = min(seen + RECENT, values.size)
    places = range(max(seen - 2 * RECENT, base + 2), seen)
    return min(places, key=lambda at: _cost(values[base:at]) + _cost(values[at:stop]))


def _cost(values: Floats) -> float:
    return float(np.abs(values - np.median(values)).sum())


def _move(one: _Series, begin: int, start: int, end: int) -> Move:
    before = one.values[max(begin, start - _MOST_BEFORE) : start]
    after = one.values[start:end]
    level = float(np.median(before))
    factor = float(np.exp(np.median(after) - level))
    now = float(np.exp(np.median(one.values[-RECENT:]) - level))
    around = np.concatenate([before, after[:_MOST_BEFORE]])
    night = np.arange(around.size, dtype=np.float64)
    line = np.polynomial.Polynomial.fit(night, around, 1)(night)
    levels = _cost(before) + _cost(after[:_MOST_BEFORE])
    is_gradual = float(np.abs(around - line).sum()) < levels
    first = int(one.nights[start])
    return Move(one.number, first, factor, before.size, after.size, now, is_gradual)
