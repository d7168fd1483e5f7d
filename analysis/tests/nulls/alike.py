# SPDX-License-Identifier: BSD-3-Clause
"""What may be said of jobs that are like the one before, by the spread of those of a baseline."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from a2aperf import jobs
from nulls.row import Outcome, Row

Floats = NDArray[np.float64]

_LEVEL: Final = 0.05
_DAY_NS: Final = 86400e9
_BURN: Final = 60
BEFORE: Final = (5, 8, 12, 20, 30)
TODAY: Final = (1, 3, 5)
MEMORIES: Final = (0.0, 0.3, 0.5, 0.8)
_FAR: Final = {(0.5, 5): 0.06, (0.8, 5): 0.1, (0.8, 8): 0.08, (0.8, 12): 0.07}
"""What few jobs show of how alike they are is less than the rest, far from them."""


def series(rng: np.random.Generator, count: int, memory: float) -> Floats:
    """Values of spread 1, each like the one before."""
    white = rng.normal(size=count + _BURN)
    return np.asarray(lfilter([np.sqrt(1 - memory**2)], [1, -memory], white)[_BURN:])


def is_slower(
    rng: np.random.Generator, before: int, today: int, memory: float, far: bool, loss: float
) -> bool:
    """Whether the jobs of today are called slower, one a day, after the baseline or far from it.

    `loss` in spreads of a job.
    """
    y = series(rng, before + today, memory)
    if far:
        y[before:] = series(rng, today, memory)
    day = np.arange(1.0, 1 + before + today) * _DAY_NS
    spread = jobs.Spread.of(y[:before], day[:before])
    assert spread is not None
    change = float(y[before:].mean()) - loss - spread.mean
    return change < -spread.further(day[before:]).bound(_LEVEL)


def _row(
    before: int, today: int, memory: float, far: bool, loss: float = 0, found: float = 0
) -> Row:
    def study(rng: np.random.Generator) -> dict[str, Outcome]:
        slower = is_slower(rng, before, today, memory, far, loss)
        return {"slower": Outcome.CALLED if slower else Outcome.SILENT}

    lost = f", a loss of {loss:g} spreads" if loss else ""
    name = f"jobs: {today} {'far from' if far else 'after'} {before}, memory {memory}{lost}"
    if loss:
        return Row(name, study, true={"slower": found})
    limit = _FAR.get((memory, before), _LEVEL) if far else _LEVEL
    return Row(name, study, false={"slower": limit})


ROWS: Final = (
    *(
        _row(before, today, memory, far)
        for before in BEFORE
        for today in TODAY
        for memory in MEMORIES
        for far in (False, True)
    ),
    *(
        _row(before, today, memory, True, loss, 0.8)
        for before, today, memory, loss in (
            (5, 1, 0.0, 8),
            (8, 1, 0.0, 6),
            (20, 1, 0.0, 4),
            (20, 3, 0.0, 3),
            (20, 1, 0.5, 5),
            (30, 3, 0.5, 4),
        )
    ),
)
