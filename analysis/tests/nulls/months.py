# SPDX-License-Identifier: BSD-3-Clause
"""What `history` may say of months whose course is known: drawn as medians of launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from a2aperf import changepoints, jobs
from nulls.row import Outcome, Row

Floats = NDArray[np.float64]

_LINES: Final = 4
_SPREAD: Final = float(np.hypot(0.01, 0.003))


@dataclass(frozen=True)
class Months:
    """Jobs over months: each like the one before (AR(1)), a slow course, steps (in spreads)."""

    jobs: int = 24
    launches: int = 1  # in a job; they differ as much as jobs do
    uneven: bool = False  # one launch in a job, or as many, or between
    memory: float = 0.0  # 1 is a random walk
    shared: float = 0.01  # spread of a job, which all lines have in common
    tails: float = np.inf  # degrees of freedom of Student's t
    slow: float = 0.0  # share of the jobs that are 40 spreads slower, whichever
    bad_days: int = 0  # single ones, 20 spreads slower
    bad_pairs: int = 0  # of days, 40 spreads slower, with a good day or more between them
    grows: float = 1.0  # times that the spread is, from some job on
    course: Literal["steady", "line", "wave", "settling"] = "steady"
    step: float = 0.0
    back: int = 0  # jobs after which the step is undone
    after: int = 0  # jobs after the step, else half of them

    @property
    def places(self) -> list[int]:
        """The first jobs after the steps."""
        first = self.jobs - self.after if self.after else self.jobs // 2 - 1
        return [first, first + self.back] if self.back else [first]

    def speeds(self, rng: np.random.Generator) -> Floats:
        """Log speed [jobs, lines]."""
        y = self._noise(rng)
        y[rng.integers(2, self.jobs - 1) :] *= self.grows
        y += self._course()[:, None]
        for sign, place in zip((1, -1), self.places, strict=False):
            y[place:] += sign * self.step * _SPREAD
        if self.slow:
            y[rng.random(self.jobs) < self.slow] -= 40 * _SPREAD
        bad = rng.choice(np.arange(1, self.jobs - 1, 3), self.bad_days, replace=False)
        y[bad] -= 20 * _SPREAD
        if self.bad_pairs:
            free = self.jobs - 3 * self.bad_pairs + 2  # places of days, a pair being one
            first = np.sort(rng.choice(free, self.bad_pairs, replace=False))
            first += 2 * np.arange(self.bad_pairs)
            y[np.concatenate([first, first + 1])] -= 40 * _SPREAD
        if self.launches == 1:
            return y
        low = 1 if self.uneven else self.launches
        of_job = np.arange(self.jobs).repeat(rng.integers(low, self.launches + 1, self.jobs))
        return jobs.medians(y[of_job] + rng.normal(0, 0.01, (len(of_job), _LINES)), [of_job])

    def _noise(self, rng: np.random.Generator) -> Floats:
        length = self.jobs + 50
        own = np.sqrt(_SPREAD**2 - self.shared**2)
        shocks = self.shared * self._drawn((length, 1), rng)
        shocks = shocks + own * self._drawn((length, _LINES), rng)
        scale = np.sqrt(1 - self.memory**2) if self.memory < 1 else 0.5
        return np.asarray(lfilter([scale], [1, -self.memory], shocks, axis=0))[-self.jobs :]

    def _drawn(self, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
        if np.isinf(self.tails):
            return rng.normal(size=shape)
        drawn = rng.standard_t(self.tails, shape) / np.sqrt(self.tails / (self.tails - 2))
        return np.asarray(drawn)

    def _course(self) -> Floats:
        time = np.linspace(0, 1, self.jobs)
        courses = {
            "steady": 0 * time,
            "line": 0.1 * time,
            "wave": 0.05 * np.sin(2 * np.pi * time),
            "settling": 0.1 / (1 + np.exp(-8 * (time - 0.5))),
        }
        return courses[self.course]


def _row(
    name: str,
    months: Months,
    false: Mapping[str, float] | None = None,
    true: Mapping[str, float] | None = None,
) -> Row:
    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        claims = ["step", "step at its place"]
        if months.jobs < changepoints.LEAST:
            return dict.fromkeys(claims, Outcome.ABSTAINED)
        found = [split.index for split in changepoints.splits(months.speeds(rng))]
        near = all(any(abs(place - at) <= 1 for place in found) for at in months.places)
        said = {"step": bool(found), "step at its place": near}
        return {k: Outcome.CALLED if called else Outcome.SILENT for k, called in said.items()}

    return Row(f"history: {name}", study, false or {}, true or {})


_NONE: Final = {"step": 0.01}
_RARE: Final = {"step": 0.05}


def _found(share: float) -> dict[str, float]:
    return {"step at its place": share}


ROWS: Final = (
    _row("24 steady jobs", Months(), false=_NONE),
    _row("16 steady jobs", Months(jobs=16), false=_NONE),
    _row("6 jobs of 8 launches", Months(jobs=6, launches=8), false=_NONE),
    _row("10 jobs of 8 launches", Months(jobs=10, launches=8), false=_NONE),
    _row("20 jobs of 1 to 8 launches", Months(jobs=20, launches=8, uneven=True), false=_NONE),
    _row("lines that share nothing", Months(shared=0), false=_NONE),
    _row("heavy tails", Months(tails=3), false=_NONE),
    _row("three bad days", Months(bad_days=3), false=_NONE),
    _row("a job like the one before (0.5)", Months(memory=0.5), false=_NONE),
    _row("a job like the one before (0.7)", Months(memory=0.7), false=_NONE),
    _row("a job like the one before (0.9)", Months(memory=0.9), false=_NONE),
    _row("a fifth of the jobs slow", Months(slow=0.2, shared=0.002), false=_RARE),
    _row("half of 40 jobs slow", Months(jobs=40, slow=0.5), false=_RARE),
    *(
        _row(f"half of {n} jobs slow", Months(jobs=n, slow=0.5, shared=0.002), false=_RARE)
        for n in (8, 9, 10, 11)
    ),
    *(
        _row(f"two pairs of bad days in {n} jobs", Months(jobs=n, bad_pairs=2), false=_RARE)
        for n in (8, 10, 12, 16, 24, 40)
    ),
    *(
        _row(f"a spread that grows tenfold in {n} jobs", Months(jobs=n, grows=10), false=_RARE)
        for n in (8, 11, 16, 24, 40)
    ),
    _row("a random walk", Months(memory=1), false=_NONE),
    _row("a random walk of 60 jobs", Months(jobs=60, memory=1), false=_NONE),
    _row("a drift of 10 % along a line", Months(course="line"), false=_NONE),
    _row("a wave of 5 %", Months(course="wave"), false=_NONE),
    _row("10 % that settle over a third of the time", Months(course="settling"), false=_NONE),
    _row("the same over 40 jobs", Months(jobs=40, course="settling"), false=_NONE),
    _row("a step of 12 spreads in 10 jobs", Months(jobs=10, step=12), true=_found(0.5)),
    _row("a step of 5 spreads in 24 jobs", Months(step=5), true=_found(0.3)),
    _row("a step of 8 spreads in 16 jobs", Months(jobs=16, step=8), true=_found(0.5)),
    _row("a step of 8 spreads in 24 jobs", Months(step=8), true=_found(0.9)),
    _row("a step of 12 spreads in 24 jobs", Months(step=12), true=_found(0.95)),
)
