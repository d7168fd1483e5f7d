# SPDX-License-Identifier: BSD-3-Clause
"""The interval of a mean of values in their order, each of which may be like the one before.

The values, or 20 batches in a row of more, are described by a mean and noise that remembers, AR(1),
with whatever coefficient of `_MEMORY` suits best. A mean is in the interval where, with it given,
they are described nearly as well: twice the log-likelihood ratio is below what so few series reach
whose memory is the worst of 0.8 and 0.9, all of the noise or half or a quarter of it (values that
lasting noise is hidden in by other noise). So the memory is no estimate, of which few values allow
none: what they cannot rule out is in the interval.

The table was drawn by `benchmarks/mean_limits.py`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MEMORY: Final = np.array([0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.93])
_BATCHES: Final = 20
"""At most: values that are alike only through slow noise are told from others by their means."""
# Values: the ratios reached by 5 %, by 1 % and by 0.1 % of series.
_RATIOS: Final = {
    2: (12.7, 18.9, 28.8),
    3: (9.5, 14.1, 20.2),
    4: (8.7, 12.5, 18.4),
    5: (8.4, 11.5, 16.9),
    7: (8.5, 11.3, 15.6),
    10: (8.4, 11.6, 14.9),
    14: (8.9, 11.9, 15.2),
    17: (9.7, 13.0, 16.3),
    20: (10.2, 13.9, 17.6),
    24: (9.6, 13.5, 16.9),
    30: (9.3, 13.1, 17.4),
    40: (8.0, 11.8, 16.1),
    60: (6.7, 10.4, 14.5),
    100: (5.6, 8.8, 13.0),
    200: (4.4, 7.4, 11.3),
}
_CHANCES: Final = np.log([0.05, 0.01, 0.001])
COUNTS: Final = tuple(_RATIOS)


def interval(values: Floats, error: float = 0.05) -> tuple[float, float]:
    """Both ends, of two values or more, with this error (two-sided)."""
    centre, weight, rest, cost = (part[0] for part in _described(values[None]))
    batches = min(len(values), _BATCHES)
    worst = math.exp(limit(len(values), error) / batches) * float((cost * rest).min())
    reach = np.sqrt(np.maximum(worst / cost - rest, 0) / weight)
    fits = cost * rest <= worst
    return float((centre - reach)[fits].min()), float((centre + reach)[fits].max())


def ratios(series: Floats) -> Floats:
    """Of series [draws, values]: how much better any mean describes each than a mean of 0."""
    centre, weight, rest, cost = _described(series)
    batches = min(series.shape[1], _BATCHES)
    given = (cost * (rest + weight * centre**2)).min(axis=1)
    return np.asarray(batches * np.log(given / (cost * rest).min(axis=1)))


def limit(count: int, error: float) -> float:
    """The ratio that this share of series of so many values reaches; beyond 0.1 % extrapolated."""
    known, at = np.log(COUNTS), math.log(min(max(count, COUNTS[0]), COUNTS[-1]))
    found = [float(np.interp(at, known, column)) for column in np.transpose(list(_RATIOS.values()))]
    low = 0 if math.log(error) > _CHANCES[1] else 1
    beyond = (math.log(error) - _CHANCES[low]) / (_CHANCES[low + 1] - _CHANCES[low])
    return float(found[low] + beyond * (found[low + 1] - found[low]))


def _described(series: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """By each coefficient: the mean, its weight, the squares that are left, what it costs.

    All [draws, coefficients].
    """
    count = series.shape[1]
    if count > _BATCHES:
        edges = np.linspace(0, count, _BATCHES + 1).round().astype(int)
        series = np.add.reduceat(series, edges[:-1], axis=1) / np.diff(edges)
        count = _BATCHES
    weight = count - (count - 2) * _MEMORY
    sums, ends = series.sum(axis=1), series[:, 0] + series[:, -1]
    centre = (ends[:, None] + (1 - _MEMORY) * (sums - ends)[:, None]) / weight
    left = series[:, None] - centre[:, :, None]
    squares, inner = (left**2).sum(axis=2), (left[:, :, 1:-1] ** 2).sum(axis=2)
    neighbours = (left[:, :, 1:] * left[:, :, :-1]).sum(axis=2)
    rest = np.maximum(squares + _MEMORY**2 * inner - 2 * _MEMORY * neighbours, 0)
    cost = np.broadcast_to((1 - _MEMORY**2) ** (-1 / count), rest.shape)
    return centre, np.broadcast_to((1 - _MEMORY) * weight, rest.shape), rest, cost
