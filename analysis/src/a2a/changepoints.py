# SPDX-License-Identifier: BSD-3-Clause
"""Steps in a series of jobs: told apart from drift, and from jobs that are like the one before.

Sought in all lines together by circular binary segmentation (Olshen et al., Biostatistics 5,
2004): the stretch of jobs whose two levels describe a line better than a smooth curve (a cubic)
does. It counts when series without a step hardly ever have one as good: series of noise that
remembers (AR(1), a coefficient of 0.7 and more if the residuals allow for it), and the same about
the curve that was fitted; both must be refuted. The ends of the stretch are the changes; the parts
are then searched again. Jobs far out are first moved to three robust standard deviations from the
median of five jobs around them, so that a single bad day neither hides a change nor makes one.
"""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

Floats = NDArray[np.float64]

ERROR: Final = 0.01  # per search, family-wise over lines and places
FEWEST: Final = 3  # jobs on each side of a change
LEAST: Final = 8  # jobs from which a step can be told from a smooth curve
_DRAWS: Final = 500
_AT_ONCE: Final = 25
_PLACES: Final = 96  # ends of a stretch that are tried
_IN_MEMORY: Final = 1_000_000  # numbers in one array
_DEGREE: Final = 3
_LEAST_MEMORY: Final = 0.7  # some tens of jobs cannot show that they remember less
_MOST_MEMORY: Final = 0.95
_SURE: Final = 1.645  # standard errors by which the memory may be underestimated


@dataclass(frozen=True)
class Split:
    """A change between job `index - 1` and job `index`, and how surprising it is."""

    index: int
    p: float


def splits(y: Floats, rng: np.random.Generator) -> list[Split]:
    """Steps of y [jobs in time order, lines], NaN where a job lacks the line."""
    found = _search(y, 0, len(y), rng)
    return sorted(found, key=lambda split: split.index)


def memory(residuals: Floats, parameters: int) -> float:
    """The largest lag-1 autocorrelation that residuals [jobs, lines] of a fit allow for (95 %)."""
    n = len(residuals)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = residuals / np.nanstd(residuals, axis=0)
    pairs = np.nanmean(z[1:] * z[:-1]) if n > 1 else np.nan
    if not math.isfinite(pairs) or n <= parameters + 1:
        return 0.0
    # A fit takes the slow part out of the noise, so the residuals seem to remember less.
    centre = (n * pairs + parameters) / (n - parameters)
    return float(np.clip(centre + _SURE / math.sqrt(n), 0.0, _MOST_MEMORY))


def _search(y: Floats, start: int, stop: int, rng: np.random.Generator) -> list[Split]:
    n = stop - start
    if n < LEAST:
        return []
    part = y[start:stop, (~np.isnan(y[start:stop])).sum(axis=0) >= LEAST]
    if not part.size:
        return []
    part = _with_mean(_without_bad_days((part - np.nanmedian(part, axis=0))[None])[0])
    stretches = _stretches(n)
    curves = _Curves(part)
    strength = curves.strength(part[None], stretches)[0]
    best = int(np.argmax(strength))
    if strength[best] <= 0:
        return []
    null = _Null(part, curves, stretches[best])
    p = max(null.chance(strength[best], curve, stretches, rng) for curve in (False, True))
    if p > ERROR:
        return []
    ends = [start + int(end) for end in stretches[best] if 0 < end < n]
    bounds = [start, *ends, stop]
    parts = [_search(y, a, b, rng) for a, b in itertools.pairwise(bounds)]
    return [Split(end, p) for end in ends] + [split for part in parts for split in part]


def _without_bad_days(series: Floats) -> Floats:
    """Values [draws, jobs, lines] within ± 3 standard deviations of the median of the five around.

    The deviation is that of the line (by the median absolute deviation).
    """
    padded = np.pad(series, ((0, 0), (2, 2), (0, 0)), mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 5, axis=1)
    median = np.nanmedian if np.isnan(series).any() else np.median
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # five jobs without the line
        centre = median(around, axis=3)
        reach = 3 * 1.4826 * median(np.abs(series - centre), axis=1)
    reach = np.where(reach > 0, reach, np.inf)[:, None]
    return np.asarray(centre + np.clip(series - centre, -reach, reach))


def _with_mean(y: Floats) -> Floats:
    """Adds the mean of the lines, where all jobs have one: what they share is seen best there."""
    known = ~np.isnan(y).any(axis=0)
    if known.sum() < 2:
        return y
    spread = y[:, known].std(axis=0)
    scaled = y[:, known] / np.where(spread > 0, spread, 1.0)
    return np.column_stack([y, scaled.mean(axis=1)])


def _stretches(n: int) -> NDArray[np.intp]:
    """Ends [i, j) of the stretches to try, [stretches, 2]; what is left of them is no shorter.

    Beyond _PLACES jobs only every second, third, … may be an end.
    """
    places = np.arange(FEWEST, n - FEWEST + 1, -(-n // _PLACES))
    ends = [(i, j) for i, j in itertools.combinations([0, *places, n], 2)]
    kept = [(i, j) for i, j in ends if j - i >= FEWEST and n - (j - i) >= FEWEST]
    # A stretch up to the end is the rest of the one from the start.
    return np.array([(i, j) for i, j in kept if not (j == n and i > 0)], dtype=np.intp)


class _Curves:
    """Smooth curves through lines: one basis for each pattern of known jobs."""

    def __init__(self, y: Floats) -> None:
        self.known = ~np.isnan(y)
        time = np.linspace(-1, 1, len(y))
        powers = np.vander(time, _DEGREE + 1)
        self.bases = np.zeros((y.shape[1], len(y), _DEGREE + 1))
        for line in range(y.shape[1]):
            rows = self.known[:, line]
            self.bases[line, rows] = np.linalg.qr(powers[rows])[0]

    def coefficients(self, series: Floats) -> Floats:
        """Of `series` [draws, jobs, lines] without NaN, [draws, lines, basis]."""
        return np.asarray(np.einsum("djl,ljk->dlk", series, self.bases))

    def fitted(self, y: Floats) -> Floats:
        """The curve of every line, [jobs, lines]."""
        found = self.coefficients(np.nan_to_num(y)[None])[0]
        return np.asarray(np.einsum("lk,ljk->jl", found, self.bases))

    def strength(self, series: Floats, stretches: NDArray[np.intp]) -> Floats:
        """Largest log-likelihood ratio of two levels to a curve in any line, [draws, stretches]."""
        values = np.where(self.known, series, 0.0)
        known = np.broadcast_to(self.known, series.shape)
        power = (values**2).sum(axis=1)
        n = self.known.sum(axis=0)
        total = values.sum(axis=1)
        about_mean = power - total**2 / n
        floor = np.maximum(1e-9 * about_mean, 1e-300)
        curve = np.maximum(power - (self.coefficients(values) ** 2).sum(axis=2), floor)
        count, inside = _within(known[:1], stretches), _within(values, stretches)
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = n - count
            left = total[:, None] - inside
            levels = power[:, None] - inside**2 / count - left**2 / outside
            ratio = n * np.log(curve[:, None] / np.maximum(levels, floor[:, None]))
        ratio = np.where((count >= FEWEST) & (outside >= FEWEST), ratio, 0.0)
        # Rounding must not turn lines that never change into certain changes.
        ratio = np.where(about_mean[:, None] > 1e-18 * n, ratio, 0.0)
        return np.asarray(np.nan_to_num(ratio, nan=0.0, posinf=0.0).max(axis=2))


def _within(values: NDArray[Any], stretches: NDArray[np.intp]) -> Floats:
    """Sums over each stretch, [draws, stretches, lines]."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1, values.shape[2]))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return np.asarray(sums[:, stretches[:, 1]] - sums[:, stretches[:, 0]])


class _Null:
    """Series without a step: noise like the residuals', with or without the curve fitted."""

    def __init__(self, y: Floats, curves: _Curves, ends: NDArray[np.intp]) -> None:
        self.curve, n = curves.fitted(y), len(y)
        step = np.zeros(n)
        start, stop = (int(end) for end in ends)
        step[start:stop] = 1.0
        levels, both = (np.full(y.shape, np.nan) for _ in "lb")
        for line in range(y.shape[1]):
            rows = curves.known[:, line]
            level = np.column_stack([np.ones(n), step])[rows]
            levels[rows, line] = _left(level, y[rows, line])
            design = np.column_stack([curves.bases[line, rows], step[rows]])
            both[rows, line] = _left(design, y[rows, line])
        self.phi = max(_LEAST_MEMORY, memory(levels, 3))  # two levels and a place
        self.residuals: Floats = np.asarray(both)
        self.curves = curves

    def chance(
        self,
        strength: float,
        curve: bool,
        stretches: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> float:
        """Share of such series that have a step as strong."""
        lines = self.residuals.shape[1]
        at_once = max(1, min(_AT_ONCE, _IN_MEMORY // (len(stretches) * lines)))
        reached, made = 0, 0
        # Once too many draws reach it the answer is known.
        while made < _DRAWS and reached < ERROR * (_DRAWS + 1):
            drawn = self.draw(min(at_once, _DRAWS - made), curve, rng)
            largest = self.curves.strength(_without_bad_days(drawn), stretches).max(axis=1)
            reached += int((largest >= strength).sum())
            made += len(drawn)
        return (reached + 1) / (_DRAWS + 1)

    def draw(self, number: int, curve: bool, rng: np.random.Generator) -> Floats:
        """Series [draws, jobs, lines]; jobs are drawn whole, so that lines stay alike."""
        n = len(self.residuals)
        shocks = self.residuals[rng.integers(0, n, size=(number, 2 * n + 20))]
        missing = np.isnan(shocks)
        if missing.any():
            spread = np.nanstd(self.residuals, axis=0)
            shocks = np.where(missing, rng.normal(size=shocks.shape) * spread, shocks)
        noise = lfilter([math.sqrt(1 - self.phi**2)], [1, -self.phi], shocks, axis=1)[:, -n:]
        return np.asarray(self.curve + noise if curve else noise)


def _left(design: Floats, y: Floats) -> Floats:
    return np.asarray(y - design @ np.linalg.lstsq(design, y, rcond=None)[0])
