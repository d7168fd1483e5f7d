# SPDX-License-Identifier: BSD-3-Clause
"""What `explain` may say of paths that share a link, where their shares are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from a2aperf.workloads.qos import expected
from nulls.row import Outcome, Row

Floats = NDArray[np.float64]

_BURN: Final = 60


@dataclass(frozen=True)
class Paths:
    """Paths of one weight; what one gets in an interval has noise like that of the one before."""

    paths: int = 8
    intervals: int = 30
    memory: float = 0.0
    noise: float = 0.2
    independent: float = 0.0  # share of the variance that no interval has from the one before
    of: Literal["all", "half"] = "all"  # the paths whose noise lasts
    tails: float = np.inf  # degrees of freedom of Student's t
    course: Literal["steady", "line", "wave"] = "steady"
    off: float = 0.0  # of its share, that the last path gets more

    def came(self, rng: np.random.Generator) -> Floats:
        """What came [paths, intervals]."""
        level = 1 + self.noise * (self.noise_of(rng) + self._course(rng))
        level[-1] *= 1 + self.off * self.paths / (self.paths - 1 - self.off)  # of all, off more
        return np.maximum(level, 0)

    def noise_of(self, rng: np.random.Generator) -> Floats:
        """Of variance 1 [paths, intervals]."""
        memory = np.full(self.paths, self.memory)
        if self.of == "half":
            memory[::2] = 0
        shocks = self._drawn(rng, self.intervals + _BURN)
        lasting = [
            lfilter([np.sqrt(1 - one**2)], [1, -one], own)[_BURN:]
            for one, own in zip(memory, shocks, strict=True)
        ]
        beside = self._drawn(rng, self.intervals)
        return np.asarray(
            np.sqrt(1 - self.independent) * np.array(lasting) + np.sqrt(self.independent) * beside
        )

    def _drawn(self, rng: np.random.Generator, count: int) -> Floats:
        if np.isinf(self.tails):
            return rng.normal(size=(self.paths, count))
        drawn = rng.standard_t(self.tails, (self.paths, count))
        return np.asarray(drawn / np.sqrt(self.tails / (self.tails - 2)))

    def _course(self, rng: np.random.Generator) -> Floats:
        time = np.linspace(-1, 1, self.intervals)
        each = rng.normal(size=(self.paths, 1))
        if self.course == "line":
            return np.asarray(1.5 * each * time)
        if self.course == "wave":
            phase = 2 * np.pi * rng.random(each.shape)
            return np.asarray(np.sin(np.pi * (1.5 + np.abs(each)) * time + phase))
        return np.asarray(0 * each * time)


def _row(
    name: str,
    paths: Paths,
    false: Mapping[str, float] | None = None,
    true: Mapping[str, float] | None = None,
) -> Row:
    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        off = expected.off(paths.came(rng), [1 / paths.paths] * paths.paths)
        said = {"off": bool(off), "off, that path": paths.paths - 1 in off}
        return {k: Outcome.CALLED if called else Outcome.SILENT for k, called in said.items()}

    return Row(f"shares: {name}", study, false or {}, true or {})


_NONE: Final = {"off": 0.05}


def _found(share: float) -> dict[str, float]:
    return {"off, that path": share}


_TRUTHS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{f"memory {memory}": {"memory": memory} for memory in (0.0, 0.5, 0.8, 0.9)},
    "lasting noise in half of it": {"memory": 0.9, "independent": 0.5},
    "lasting noise of half of them": {"memory": 0.9, "of": "half"},
    "heavy tails": {"memory": 0.5, "tails": 3},
    "a drift along a line": {"memory": 0.5, "course": "line"},
    "a wave": {"memory": 0.5, "course": "wave"},
}

ROWS: Final = (
    *(
        _row(f"{x} paths, {n} intervals, {name}", Paths(x, n, **truth), false=_NONE)
        for x in (2, 3, 8)
        for n in (5, 10, 20, 30, 60)
        for name, truth in _TRUTHS.items()
    ),
    *(
        _row(
            f"{x} paths, {n} intervals, one 20 % off, noise of 2 %",
            Paths(x, n, noise=0.02, off=0.2),
            true={"off, that path": 0.9},
        )
        for x, n in ((2, 20), (8, 30), (8, 60))
    ),
)
