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
from support import synthetic
from support.synthetic import Setup

Floats = NDArray[np.float64]
START = datetime(2026, 1, 1, tzinfo=UTC)
SETUP = Setup(sizes=(1000, 8000, 30000, 60000), ops=40)
_AT = 3  # the size of a loss at one


@dataclass(frozen=True)
class Study:
    """`jobs` of a baseline and one more, which is slower by `loss` at all sizes or one band.

    Spreads are standard deviations of the log of the time: of a job, of a launch in it, of a size
    in a launch; `of_job_and_size` is how differently jobs change at the sizes.
    """

    jobs: int = 8
    launches: int = 4
    fewer: int = 0  # launches that the last job lacks
    cells: int = 24
    bands: int = 3
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

    def _drawn(
        self, rng: np.random.Generator
    ) -> tuple[Floats, NDArray[np.intp], NDArray[np.bool_], list[NDArray[np.intp]]]:
        """Log speeds [launches, cells], their jobs and whether they are the last one's; bands."""
        counts = [self.launches] * self.jobs + [self.launches - self.fewer]
        job = np.repeat(np.arange(self.jobs + 1), counts)
        y = np.repeat(rng.normal(0, self.between, (self.jobs + 1, 1)), counts, axis=0)
        own = rng.normal(0, self.of_job_and_size, (self.jobs + 1, self.cells))
        y = y + np.repeat(own, counts, axis=0) + rng.normal(0, self.within, (len(job), 1))
        y = y + rng.normal(0, self.own, (len(job), self.cells))
        bands = np.array_split(np.arange(self.cells), self.bands)
        candidate = job == self.jobs
        for cells in bands[: self.in_bands]:
            y[np.ix_(candidate, cells)] += math.log1p(-self.loss)
        y[candidate, _AT] += math.log1p(-self.at_one)
        return y, job, candidate, bands


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
