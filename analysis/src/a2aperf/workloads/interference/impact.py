# SPDX-License-Identifier: BSD-3-Clause
"""How much longer victims take under load than alone, of phases that alternate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws, means, metrics, schema
from a2aperf.deferred import pandas as pd

ROLES: Final = ("interference",)
STATISTICS: Final = {"mean": "mean", "p50": "median", "p99": "p99", "p999": "p99.9"}
"""Of the victims' times in a phase, as in the names of columns, and in words."""
THINGS: Final = {"echo": "round trip", "stream": "window of the stream", "all-to-all": "all-to-all"}
"""What a time is of, by the kind of victims."""
ECHO: Final = "echo"
"""The only kind of victims that there once was: files of then do not say it."""
LEAST: Final = 6
"""Alternations that an interval needs."""
REST: Final = 0.01
"""Of what comes in phases with load, that may come in those that should have none."""
LOAD, ALONE, LOADED = 1, 2, 3
"""Kinds of phases, as samples have them; 0: it had not settled."""

Times = NDArray[np.float64]
Alternation = tuple[Times, Times]
"""Times of its two phases, alone and under load."""


NO_LOAD: Final = "no message of the load came: no impact"
"""Why figures of a point say nothing."""


def has_load(points: pd.DataFrame) -> pd.Series[bool]:
    """Whether the load that points ask for was there; of messages of no bytes no rate tells it."""
    asked = (points["load_level"] > 0) & (points["load_size"] > 0)
    return ~asked | (points["load_gbps"] > 0)


@dataclass(frozen=True)
class Impact:
    """Geometric means over the alternations, and their ratio with its 95 % interval."""

    alone: float = math.nan
    loaded: float = math.nan
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan


def alternations(
    trips: NDArray[Any], phases: NDArray[Any], kinds: NDArray[Any], count: int
) -> list[Alternation]:
    """Times that count, of all victims together."""
    of = (phases - 1) // 2
    there = trips != schema.NO_MOMENT
    sides = [there & (kinds == kind) for kind in (ALONE, LOADED)]
    alone, loaded = (
        [trips[mine & (of == i)].astype(np.float64) for i in range(count)] for mine in sides
    )
    return list(zip(alone, loaded, strict=True))


def statistic(name: str, times: Times) -> float:
    """By nearest rank; a tail's is absent where it would be the longest."""
    if not times.size:
        return math.nan
    if name == "mean":
        return float(times.mean())
    q = {"p50": 0.5, "p99": 0.99, "p999": 0.999}[name]
    if q > 0.5 and metrics.percentile_is_maximum(times.size, q, "rank"):
        return math.nan
    return float(metrics.percentile(times, q, "rank"))


def impact(name: str, of: Sequence[Alternation]) -> Impact:
    """All is absent where a phase has too few times."""
    alone, loaded = _logs(name, of)
    if not alone.size or not np.isfinite(alone).all() or not np.isfinite(loaded).all():
        return Impact()
    mean, low, high = ratio_of(loaded - alone)
    return Impact(math.exp(alone.mean()), math.exp(loaded.mean()), mean, low, high)


def lasts(name: str, of: Sequence[Alternation]) -> bool:
    """Whether the ratio is not 1 also where alternations may be like the ones before (`means`).

    A load that makes its phases differ, and goes on doing so for several, makes them so. Nothing is
    said where a phase has too few times for the figure.
    """
    alone, loaded = _logs(name, of)
    if not np.isfinite(alone).all() or not np.isfinite(loaded).all():
        return False
    low, high = means.interval(loaded - alone)
    return not low <= 0 <= high


def _logs(name: str, of: Sequence[Alternation]) -> tuple[Times, Times]:
    """Logarithms of the figures of phases alone and under load; NaN where there is none."""
    alone, loaded = (
        np.log([statistic(name, one[side]) for one in of], dtype=np.float64) for side in (0, 1)
    )
    return alone, loaded


def ratio_of(logs: NDArray[np.float64]) -> tuple[float, float, float]:
    """Geometric mean of ratios whose logarithms these are, and its interval, as the program's."""
    n, mean = logs.size, float(logs.mean())
    if n < LEAST:
        return math.exp(mean), math.nan, math.nan
    reach = student(n - 1) * float(logs.std(ddof=1)) / math.sqrt(n)
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)


def student(nu: int) -> float:
    """97.5 % quantile of Student's t: Cornish-Fisher (Abramowitz & Stegun 26.7.5)."""
    z = 1.959963984540054
    z3, z5, z7 = z**3, z**5, z**7
    return (
        z
        + (z3 + z) / (4 * nu)
        + (5 * z5 + 16 * z3 + 3 * z) / (96 * nu**2)
        + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * nu**3)
    )


def chance(ratio: float, low: float, high: float, count: int) -> float:
    """Of a ratio so far from 1 or farther where there is no impact; 1 where it has no interval."""
    if not all(map(math.isfinite, (ratio, low, high))) or not 0 < low < high:
        return 1.0
    error = (math.log(high) - math.log(low)) / 2 / student(count - 1)
    return float(2 * laws.t_sf(abs(math.log(ratio)) / error, count - 1))
