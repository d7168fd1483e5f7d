# SPDX-License-Identifier: BSD-3-Clause
"""Made-up jobs of several launches, with a known spread between jobs and within them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from a2aperf.gating import losses
from a2aperf.gating.losses import Loss
from a2aperf.jobs import Steps
from support import synthetic
from support.synthetic import Setup

Floats = NDArray[np.float64]
START = datetime(2026, 1, 1, tzinfo=UTC)
SETUP = Setup(sizes=(1000, 8000, 30000, 60000), ops=40)
_AT = 3  # the size of a loss at one


@dataclass(frozen=True)
class Study:
    """`jobs` of a baseline and `others`, which are slower by `loss` at all sizes or one band.

    There are `a_day` of the baseline and of the others, one a day unless it is said; the others
    follow the baseline, or come so long `after` it that they are not like it. Spreads are standard
    deviations of the log of the time: of a day, of a job in it, of a launch in it, of a size in a
    launch; `of_job_and_size` is how differently jobs change at the sizes. `memory` is how much a
    job is like the one before.
    """

    jobs: int = 8
    others: int = 1
    a_day: int = 1
    launches: int = 4
    fewer: int = 0  # launches that the last job lacks
    cells: int = 24
    bands: int = 3
    others_a_day: int = 0  # 0: all of one day
    after: int = 0  # days
    memory: float = 0.0
    of_day: float = 0.0
    between: float = 0.02
    within: float = 0.01
    own: float = 0.005
    of_job_and_size: float = 0.005
    loss: float = 0.0
    in_bands: int = 3
    at_one: float = 0.0
    """Loss at a single size beside it."""

    def losses(self, rng: np.random.Generator, tolerated: float = 0.1) -> list[Loss]:
        """What the gate says of each band."""
        return losses.judge(*self._drawn(rng), tolerated)

    def singles(self, rng: np.random.Generator, tolerated: float = 0.1) -> list[int]:
        """Sizes that the gate names by themselves."""
        made = self._drawn(rng)
        bands = losses.judge(*made, tolerated)
        return [cell for cell, _ in losses.single(*made, bands, tolerated)]

    def _days(self) -> NDArray[np.intp]:
        """The day of each job."""
        of_others = np.arange(self.others) // (self.others_a_day or self.others)
        first = -(-self.jobs // self.a_day) + self.after
        return np.append(np.arange(self.jobs) // self.a_day, first + of_others)

    def _alike(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Noise of spread 1 of jobs in order, [jobs, …]."""
        white = rng.normal(size=shape)
        for job in range(1, len(white)):
            if not (self.after and job == self.jobs):
                white[job] = (
                    self.memory * white[job - 1] + math.sqrt(1 - self.memory**2) * white[job]
                )
        return white

    def _drawn(
        self, rng: np.random.Generator
    ) -> tuple[Floats, Steps, Floats, NDArray[np.bool_], list[NDArray[np.intp]]]:
        """Log speeds [launches, cells], jobs and days, their begin; whether the others'; bands."""
        counts = [self.launches] * self.jobs + [self.launches - self.fewer] * self.others
        days = self._days()
        day = np.unique(days, return_inverse=True)[1]
        job = np.repeat(np.arange(len(counts)), counts)
        of_job = rng.normal(0, self.of_day, (len(counts), 1))[day]
        of_job = of_job + self.between * self._alike(rng, (len(counts), 1))
        of_job = of_job + self.of_job_and_size * self._alike(rng, (len(counts), self.cells))
        y = of_job[job] + rng.normal(0, self.within, (len(job), 1))
        y = y + rng.normal(0, self.own, (len(job), self.cells))
        bands = np.array_split(np.arange(self.cells), self.bands)
        candidate = job >= self.jobs
        for cells in bands[: self.in_bands]:
            y[np.ix_(candidate, cells)] += math.log1p(-self.loss)
        y[candidate, _AT] += math.log1p(-self.at_one)
        of_a_day = np.arange(len(day)) - np.searchsorted(day, day)
        begun = 86400e9 * (1 + days + of_a_day / 24)[job]
        steps = [job, day] if self.a_day > 1 else [job]
        return y, steps, begun, candidate, bands


def night(
    folder: Path, day: int, launches: int = 2, setup: Setup = SETUP, slowdown: float = 1.0
) -> list[Path]:
    """The files of one job: launches that follow each other, on a day of their own."""
    folder.mkdir(exist_ok=True)
    files = []
    factor = slowdown * float(np.exp(np.random.default_rng(day).normal(0, 0.01)))
    for i in range(launches):
        made = replace(
            setup,
            seed=100 * day + i,
            started=START + timedelta(days=day, minutes=10 * i),
            effects=replace(setup.effects, slowdown=factor, launch_spread=0.002),
        )
        files.append(synthetic.write_launch(folder / f"day{day:03}-{i}.h5", made))
    return files


def baseline(folder: Path, jobs: int, setup: Setup = SETUP) -> Path:
    """A folder of so many nights."""
    for day in range(jobs):
        night(folder, day, setup=setup)
    return folder
