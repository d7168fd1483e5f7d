# SPDX-License-Identifier: BSD-3-Clause
"""Years of launches of known nodes, as jobs measure them: what they share moves no node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from a2aperf import others
from a2aperf.nodes.night import DAY_NS, Line, Night

Floats = NDArray[np.float64]

PARTS = ("sends", "receives")
FIRST = 20_454
"""The first day, since 1970."""
_NIGHT = 0.02  # spread of a node's night, which all jobs of the day have in common
_WITHIN = 0.005  # of a node in a job, beside that
_JOB = 0.05  # spread of the level of a job, all nodes alike
_DRIFT = 0.0005  # of that level, a day


def launches(
    rng: np.random.Generator, moved: Floats, jobs: int = 1, share: float = 1.0
) -> list[Night]:
    """Launches of `jobs` jobs a day on this share of the nodes, drawn anew for each.

    `moved` [days, parts, nodes]: logarithms of what a node's own time is longer by.
    """
    days, parts, nodes = moved.shape
    names = np.array([f"n{at:03}" for at in range(nodes)])
    found = []
    for day in range(days):
        own = moved[day] + rng.normal(0, _NIGHT, (parts, nodes))
        for job in range(jobs):
            at = np.sort(rng.choice(nodes, round(nodes * share), replace=False))
            level = rng.normal(0, _JOB) + _DRIFT * day
            values = level + own[:, at] + rng.normal(0, _WITHIN, (parts, at.size))
            beside = others.beside(values)
            lines = [Line(PARTS[part], 60_000, beside[part].tolist()) for part in range(parts)]
            started = (FIRST + day) * DAY_NS + job * 3600 * 10**9
            found.append(Night(f"{day} {job}", started, names[at].tolist(), {}, lines))
    return found
