# SPDX-License-Identifier: BSD-3-Clause
"""How much better a smooth course with a step describes a series of jobs than one without.

The course is a parabola (a cubic from 30 jobs on) and the noise remembers: a job is like the one
before it, AR(1), with whatever coefficient of `MEMORY` suits each description best. A step that is
kept counts, therefore; slow noise, which wanders as far but in small moves, does not.
"""

from __future__ import annotations

import itertools
import math
import warnings
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

FEWEST: Final = 3  # jobs on each side of a step
MEMORY: Final = (0.0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.93, 0.97)
CUBIC: Final = 30  # jobs from which on the course is a cubic
_SINGLE: Final = 96  # places at which a step is tried
_PAIRS: Final = 36  # places at which two are


def without_bad_days(series: Floats) -> Floats:
    """Values [draws, jobs] within ± 3 standard deviations of the median of the five jobs around.

    The deviation is that of the series (by the median absolute deviation).
    """
    padded = np.pad(series, ((0, 0), (2, 2)), mode="reflect")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        centre = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5, axis=1), axis=2)
    reach = 3 * laws.NORMAL_OF_MAD * np.median(np.abs(series - centre), axis=1)
    reach = np.where(reach > 0, reach, np.inf)[:, None]
    return np.asarray(centre + np.clip(series - centre, -reach, reach))


class StepFit:
    """The descriptions of series of `jobs` jobs; a place is the first job after a step."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        stride = -(-jobs // _SINGLE)
        # A step in the last two jobs cannot be claimed, but must not be taken for an earlier one.
        self.places: Places = np.arange(FEWEST - 1, jobs - FEWEST + 2, stride)
        self.allowed = (self.places >= FEWEST) & (self.places <= jobs - FEWEST)
        allowed = np.flatnonzero(self.allowed)
        every = -(-len(allowed) // _PAIRS)
        self._apart = stride * every  # two steps that were tried
        pairs = [
            (a, b)
            for a, b in itertools.combinations(allowed[::every], 2)
            if self.places[b] - self.places[a] >= FEWEST
        ]
        self.pairs: Places = np.array(pairs, dtype=np.intp).reshape(-1, 2)
        course = np.vander(np.linspace(-1, 1, jobs), 3 if jobs < CUBIC else 4)
        steps = (np.arange(jobs)[:, None] >= self.places).astype(float)
        self._described = []
        first, second = self.pairs.T
        for phi in MEMORY:
            basis = np.linalg.qr(_white(course.T, phi).T)[0]
            left = _white(steps.T, phi).T
            left = left - basis @ (basis.T @ left)
            left = left / np.linalg.norm(left, axis=0)
            alike = np.einsum("jp,jp->p", left[:, first], left[:, second])
            self._described.append((phi, basis, left, alike))

    def ratios(self, series: Floats) -> tuple[Floats, Floats]:
        """Log-likelihood ratios (times two) of `series` [draws, jobs] without NaN.

        Of one step to none, [draws, places], and of two to none, [draws, pairs].
        """
        n = self.jobs
        about = ((series - series.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        # Rounding must not turn lines that never change into certain changes.
        floor = np.maximum(1e-9 * about, 1e-300)
        none = np.full(len(series), np.inf)
        one = np.full((len(series), len(self.places)), np.inf)
        two = np.full((len(series), len(self.pairs)), np.inf)
        first, second = self.pairs.T
        for phi, course, steps, alike in self._described:
            white = _white(series, phi)
            # Not by `@`: its threads wait for each other longer than so small a product takes.
            of_course = np.einsum("dj,jk->dk", white, course)
            left = (white**2).sum(axis=1) - (of_course**2).sum(axis=1)
            taken = np.einsum("dj,jp->dp", white, steps)
            a, b = taken[:, first], taken[:, second]
            both = (a**2 + b**2 - 2 * alike * a * b) / (1 - alike**2)
            cost = (1 - phi**2) ** (-1 / n)
            for best, rest in (
                (none, left),
                (one, left[:, None] - taken**2),
                (two, left[:, None] - both),
            ):
                least = floor.reshape(-1, *[1] * (rest.ndim - 1))
                np.minimum(best, cost * np.maximum(rest, least), out=best)
        moves = (about > 1e-18 * n)[:, None]
        return (
            np.where(moves, n * np.log(none[:, None] / one), 0.0),
            np.where(moves, n * np.log(none[:, None] / two), 0.0),
        )

    def nearest(self, values: Floats, number: int) -> int:
        """The job at or about place `number` that two levels of the jobs around it suit best.

        Where not every job was tried; else the job of that place.
        """
        place = int(self.places[number])
        reach = self._apart - 1
        start = max(0, place - reach - FEWEST)
        around = values[start : place + reach + FEWEST]
        ends = range(max(FEWEST, place - reach), min(self.jobs - FEWEST, place + reach) + 1)

        def left(end: int) -> float:
            parts = np.split(around, [end - start])
            return sum(float(((part - part.mean()) ** 2).sum()) for part in parts)

        return min(ends, key=left) if reach else place


@lru_cache(maxsize=64)
def of_jobs(jobs: int) -> StepFit:
    """The descriptions for so many jobs."""
    return StepFit(jobs)


def _white(series: Floats, phi: float) -> Floats:
    """Series [draws, jobs] as independent noise would be, if they are AR(1)."""
    start = math.sqrt(1 - phi**2) * series[:, :1]
    return np.concatenate([start, series[:, 1:] - phi * series[:, :-1]], axis=1)
