# SPDX-License-Identifier: BSD-3-Clause
"""Made-up comparisons with a known truth: what the tests and benchmarks of the statistics draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks

Floats = NDArray[np.float64]
Drift = Literal["none", "line", "wave", "walk", "memory", "heavy", "settling", "jump"]


@dataclass(frozen=True)
class Trial:
    """`launches` a side in the order A B B A …, a speed `change`, spreads of the log of the time.

    `shared` is the spread of a launch as a whole, `own` of one cell in one launch; `drift` is what
    the machine does meanwhile: a 10 % line or wave over the trial (slow: six launches a period at
    least), a random walk, launch effects with memory, or launch effects with heavy tails
    (Student's t with 2 degrees of freedom), 10 % that settle over the first launches, or a jump of
    10 % anywhere. With `alike` each launch is like the one before beside that (AR(1)). Launches of
    the candidate differ by `wider` times as much.
    """

    launches: int = 8
    cells: int = 24
    shared: float = 0.02
    own: float = 0.005
    change: float = 0.0
    changed: int | None = None  # the change is in this many cells; None: in all
    drift: Drift = "none"
    alike: float = 0.0
    wider: float = 1.0

    @property
    def side(self) -> blocks.Sides:
        """True for the candidate, in time order."""
        return np.resize([False, True, True, False], 2 * self.launches)

    @property
    def block(self) -> blocks.Blocks:
        """Blocks of the launches."""
        return blocks.alternating(self.side)

    def speeds(self, rng: np.random.Generator) -> Floats:
        """Log speed [launches of both sides, cells]."""
        n = 2 * self.launches
        y = self._launch_effects(rng, n)[:, None] + rng.normal(0, self.own, (n, self.cells))
        y[self.side] *= self.wider
        y[np.ix_(self.side, np.arange(self.cells) < (self.changed or self.cells))] += math.log1p(
            self.change
        )
        return y

    def _launch_effects(self, rng: np.random.Generator, n: int) -> Floats:
        time, shocks = np.linspace(0, 1, n), rng.normal(0, self.shared, n)
        for i in range(1, n if self.alike else 0):
            shocks[i] = self.alike * shocks[i - 1] + math.sqrt(1 - self.alike**2) * shocks[i]
        if self.drift == "line":
            shocks += 0.1 * time
        elif self.drift == "wave":
            shocks += 0.05 * np.sin(2 * np.pi * (time * rng.uniform(0.5, n / 6) + rng.random()))
        elif self.drift == "walk":
            shocks = np.cumsum(shocks)
        elif self.drift == "memory":
            for i in range(1, n):
                shocks[i] += 0.7 * shocks[i - 1]
        elif self.drift == "settling":
            shocks += 0.1 * np.exp(-np.arange(n) / rng.uniform(1, 8))
        elif self.drift == "jump":
            shocks[rng.integers(1, n) :] += 0.1
        elif self.drift == "heavy":
            shocks = self.shared * rng.standard_t(2, n)
        return shocks
