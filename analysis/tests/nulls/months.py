# SPDX-License-Identifier: BSD-3-Clause
"""What `history` may say of months whose course is known: drawn as medians of launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from a2a import changepoints, jobs
from nulls.row import Outcome, Row

Floats = NDArray[np.float64]

_LINES: Final = 4
_JOB, _OWN = 0.01, 0.003  # spread of a job, and of one line in it


@dataclass(frozen=True)
class Months:
    """Jobs over months: each like the one before (AR(1)), a slow course, a step (in spreads)."""

    jobs: int = 24
    launches: int = 1  # in a job; they differ as much as jobs do
    memory: float = 0.0
    course: Literal["steady", "line", "wave", "settling"] = "steady"
    step: float = 0.0

    @property
    def place(self) -> int:
        """The first job after the step."""
        return self.jobs // 2 - 1

    def speeds(self, rng: np.random.Generator) -> Floats:
        """Log speed [jobs, lines]."""
        n, burn = self.jobs, 50
        shocks = rng.normal(0, _JOB, (n + burn, 1)) + rng.normal(0, _OWN, (n + burn, _LINES))
        scale = np.sqrt(1 - self.memory**2)
        y = np.asarray(lfilter([scale], [1, -self.memory], shocks, axis=0))[-n:]
        time = np.linspace(0, 1, n)
        y += {
            "steady": 0 * time,
            "line": 0.1 * time,
            "wave": 0.05 * np.sin(2 * np.pi * time),
            "settling": 0.1 / (1 + np.exp(-8 * (time - 0.5))),
        }[self.course][:, None]
        y[self.place :] += self.step * np.hypot(_JOB, _OWN)
        if self.launches == 1:
            return y
        each = y.repeat(self.launches, axis=0)
        each += rng.normal(0, _JOB, each.shape)
        return jobs.medians(each, np.arange(n).repeat(self.launches))


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
        found = [split.index for split in changepoints.splits(months.speeds(rng), rng)]
        near = any(abs(place - months.place) <= 1 for place in found)
        said = {"step": bool(found), "step at its place": near}
        return {k: Outcome.CALLED if called else Outcome.SILENT for k, called in said.items()}

    return Row(f"history: {name}", study, false or {}, true or {})


_NONE: Final = {"step": 0.01}

ROWS: Final = (
    _row("24 steady jobs", Months(), false=_NONE),
    _row("16 steady jobs", Months(jobs=16), false=_NONE),
    _row("6 jobs of 8 launches", Months(jobs=6, launches=8), false=_NONE),
    _row("10 jobs of 8 launches", Months(jobs=10, launches=8), false=_NONE),
    _row("a job like the one before (0.5)", Months(memory=0.5), false=_NONE),
    _row("a job like the one before (0.7)", Months(memory=0.7), false=_NONE),
    _row("a drift of 10 % along a line", Months(course="line"), false=_NONE),
    _row("a wave of 5 %", Months(course="wave"), false=_NONE),
    _row("10 % that settle over a third of the time", Months(course="settling"), false=_NONE),
    _row("a step of 5 spreads in 24 jobs", Months(step=5), true={"step at its place": 0.1}),
    _row("a step of 8 spreads in 24 jobs", Months(step=8), true={"step at its place": 0.7}),
    _row("a step of 12 spreads in 24 jobs", Months(step=12), true={"step at its place": 0.9}),
)
