# SPDX-License-Identifier: BSD-3-Clause
"""Made-up launches over several interconnects whose speeds are known, in the order of a plan."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks
from a2aperf.studies import suited
from a2aperf.studies.interconnects import Interconnect
from a2aperf.suite.ranking import Against, Cell, Paired, of_two
from a2aperf.suite.rounds import pairs_of

Floats = NDArray[np.float64]
Drift = Literal["none", "line", "wave", "walk"]
DRIFTS: Final[tuple[Drift, ...]] = ("none", "line", "wave", "walk")
SIZES: Final = (64, 4096, 262144)


@dataclass(frozen=True)
class Truth:
    """`interconnects` with `launches` of each workload; `speed` is the log of what differs.

    `shared` is the spread of a launch, `own` of one size in it; a line or wave of 10 % over the
    study, or a random walk of 1 % a launch.
    """

    interconnects: int = 3
    launches: int = 8
    speed: Mapping[tuple[int, int], float] = field(default_factory=dict)
    """By interconnect and place among the sizes."""
    shared: float = 0.02
    own: float = 0.01
    drift: Drift = "none"

    @property
    def names(self) -> list[str]:
        return [f"i{number}" for number in range(self.interconnects)]

    def study(self, rng: np.random.Generator) -> dict[tuple[str, str], dict[Cell, Against]]:
        """What is said of each two: of the second against the first."""
        plan = self._plan(int(rng.integers(2**31)))
        drift = self._drift(rng, len(plan))
        speed: dict[tuple[str, str], list[tuple[int, Floats]]] = {}
        for at, (name, workload) in enumerate(plan):
            own = [self.speed.get((self.names.index(name), place), 0.0) for place in range(3)]
            effect = drift[at] + rng.normal(0, self.shared) + rng.normal(0, self.own, len(SIZES))
            speed.setdefault((name, workload), []).append((at, np.array(own) + effect))
        found = {}
        for first, second in itertools.combinations(self.names, 2):
            paired = [_paired(key, speed[first, key], speed[second, key])
                      for key in dict.fromkeys(key for _, key in plan)]  # fmt: skip
            found[first, second] = of_two(paired, pairs_of(self.interconnects))
        return found

    def _plan(self, seed: int) -> list[tuple[str, str]]:
        """Label and workload of each launch, as the script is told them."""
        across = [Interconnect(name, "tcp", name) for name in self.names]
        keys = suited.chosen("")
        asked = suited.Request(across, keys, self.launches, seed, "", False, ())
        rows = [line.split("\t") for line in suited.rows(asked).splitlines()]
        return [(row[0], row[3].split()[0]) for row in rows]

    def _drift(self, rng: np.random.Generator, n: int) -> Floats:
        time = np.linspace(0, 1, n)
        if self.drift == "line":
            return 0.1 * time
        if self.drift == "wave":
            return 0.05 * np.sin(2 * np.pi * (n / 12 * time + rng.random()))
        return np.cumsum(rng.normal(0, 0.01, n)) if self.drift == "walk" else np.zeros(n)


def _paired(key: str, first: list[tuple[int, Floats]], second: list[tuple[int, Floats]]) -> Paired:
    """In the order of time, with the blocks that a comparison finds."""
    launches = sorted([(*one, False) for one in first] + [(*one, True) for one in second],
                      key=lambda one: one[0])  # fmt: skip
    side = np.array([one[2] for one in launches])
    y = np.array([one[1] for one in launches])
    return Paired([Cell(key, size) for size in SIZES], y, side, blocks.alternating(side))
