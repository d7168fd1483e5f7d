# SPDX-License-Identifier: BSD-3-Clause
"""Made-up screenings with a known truth: as speeds, and as results files of a plan's launches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf.screening import design, estimate
from a2aperf.screening.design import Design
from a2aperf.screening.estimate import Estimate
from a2aperf.screening.plan import LABEL, Plan
from a2aperf.screening.trial import Trial
from support import synthetic
from support.synthetic import Effects, Setup

Floats = NDArray[np.float64]
Drift = Literal["none", "line", "wave", "walk"]
DRIFTS: tuple[Drift, ...] = ("none", "line", "wave", "walk")
START = datetime(2026, 3, 1, tzinfo=UTC)
SETUP = Setup(sizes=(1000, 4000, 8000, 20000, 40000, 80000, 160000), ops=30, provider="psm2")


@dataclass(frozen=True)
class Truth:
    """Changes of speed by setting; `together` by two: in both only, or in both and in none.

    `spread` and `own` are standard deviations of the log: of a launch, and of a band in a launch.
    """

    settings: int = 20
    changes: Mapping[int, float] = field(default_factory=dict)
    both: Mapping[tuple[int, int], float] = field(default_factory=dict)
    both_or_none: Mapping[tuple[int, int], float] = field(default_factory=dict)
    drift: Drift = "none"
    spread: float = 0.02
    own: float = 0.005
    bands: int = 3

    def speeds(self, arranged: Design, rng: np.random.Generator) -> Floats:
        """Log speed [launches, bands]."""
        n = arranged.launches
        made = arranged.levels > 0
        y = self.launches(n, rng)
        for setting, change in self.changes.items():
            y += math.log1p(change) * made[:, setting]
        for (a, b), change in self.both.items():
            y += math.log1p(change) * (made[:, a] & made[:, b])
        for (a, b), change in self.both_or_none.items():
            y += math.log1p(change) * (made[:, a] == made[:, b])
        return np.asarray(y[:, None] + rng.normal(0, self.own, (n, self.bands)))

    def screening(self, rng: np.random.Generator) -> Estimate:
        """A design of its own, launched and estimated."""
        arranged = design.make(self.settings, rng)
        return estimate.estimate(self.speeds(arranged, rng), arranged)

    def launches(self, n: int, rng: np.random.Generator) -> Floats:
        """What each of n launches has at all sizes, without any setting."""
        return np.asarray(rng.normal(0, self.spread, n) + self._drift(n, rng))

    def _drift(self, n: int, rng: np.random.Generator) -> Floats:
        """A line of 10 %, a wave of ± 5 % over 12 launches, a walk of 1 % a launch."""
        time = np.arange(n)
        if self.drift == "line":
            return 0.1 * time / (n - 1)
        if self.drift == "wave":
            return np.asarray(0.05 * np.sin(2 * np.pi * (time / 12 + rng.random())))
        if self.drift == "walk":
            return np.cumsum(rng.normal(0, 0.01, n))
        return np.zeros(n)


def launched(
    folder: Path,
    plan: Plan,
    changes: Mapping[str, float],
    lost: Sequence[int] = (),
    ignored: Sequence[str] = (),
    setup: Setup = SETUP,
    start: datetime = START,
) -> list[Path]:
    """The files of a plan's launches, with the changes of speed by `NAME` or `NAME=VALUE`.

    No file of the launches `lost`; no launch records the variables `ignored`.
    """
    rows = {plan.label(i): plan.environment(i) for i in range(plan.design.launches)}
    return _written(folder, rows, changes, start, lost, ignored, setup)


def confirmed(
    folder: Path,
    trial: Trial,
    changes: Mapping[str, float],
    sizes: Sequence[int] = SETUP.sizes,
    lost: Sequence[int] = (),
    start: datetime = START + timedelta(hours=1),
) -> list[Path]:
    """The files of a trial's launches, which follow those of its screening."""
    rows = {trial.label(i): trial.environment(i) for i in range(trial.launches)}
    return _written(folder, rows, changes, start, lost, (), replace(SETUP, sizes=sizes))


def _written(
    folder: Path,
    rows: Mapping[str, Mapping[str, str]],
    changes: Mapping[str, float],
    start: datetime,
    lost: Sequence[int],
    ignored: Sequence[str],
    setup: Setup,
) -> list[Path]:
    folder.mkdir(exist_ok=True)
    files = []
    for i, (label, environment) in enumerate(rows.items()):
        if i in lost:
            continue
        made = {*environment, *(f"{name}={value}" for name, value in environment.items())}
        speed = math.prod(1 + x for name, x in changes.items() if name in made)
        files.append(
            synthetic.write_launch(
                folder / f"{label}.h5",
                replace(
                    setup,
                    seed=1000 + i + start.hour * 100,
                    started=start + timedelta(minutes=i),
                    environment={k: v for k, v in environment.items() if k not in ignored},
                    labels={LABEL: label},
                    effects=Effects(slowdown=1 / speed, launch_spread=0.01, noise=0.01),
                ),
            )
        )
    return files


def trial_speeds(
    trial: Trial, effects: Mapping[str, Floats], truth: Truth, rng: np.random.Generator
) -> Floats:
    """Log speed [launches, cells] of a trial whose settings have these effects [cells]."""
    cells = len(next(iter(effects.values())))
    common = truth.launches(trial.launches, rng)
    y = common[:, None] + rng.normal(0, truth.own, (trial.launches, cells))
    for i in range(trial.launches):
        for name in trial.environment(i):
            y[i] += effects[name]
    return np.asarray(y)
