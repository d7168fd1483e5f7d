# SPDX-License-Identifier: BSD-3-Clause
"""What a message costs: T = α + (R−1)·(o + B·g), fitted with its residuals and intervals.

α is paid once per op, o per message, g per byte (Hockney's model with LogGP's names). Relative
residuals are made small, so that short and long ops count alike. With one rank count α and
(R−1)·o cannot be told apart; the fit is then T = a + (R−1)·B·g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, stats

from a2a.explain import series
from a2a.explain.finding import Finding, percent, us
from a2a.results import Results

Floats = NDArray[np.float64]

_FEWEST_SIZES: Final = 4
_HOLDS: Final = 0.15  # root mean square of the relative residuals


@dataclass(frozen=True)
class Fit:
    """Coefficients in ns and ns/B with the half widths of their 95 % intervals; never negative.

    `once` is α, or α + (R−1)·o where `per_message` is NaN: one rank count only.
    """

    once: float
    per_message: float
    per_byte: float
    half: tuple[float, float, float]
    residual: float  # root mean square, relative
    worst: float  # the largest, relative, with its sign: positive = slower than the model
    worst_at: int  # index of the point
    n: int

    @property
    def crossing(self) -> float:
        """Message size in B above which bytes cost more than messages; NaN if not known."""
        if math.isnan(self.per_message) or self.per_byte <= 0:
            return math.nan
        return self.per_message / self.per_byte


def fit(ranks: Floats, size: Floats, time: Floats) -> Fit | None:
    """Fits points [n] (R, B, T in ns); None with fewer than 4 sizes or no degree of freedom."""
    if len(np.unique(size)) < _FEWEST_SIZES:
        return None
    scales = len(np.unique(ranks)) > 1
    columns = [np.ones_like(time), (ranks - 1) * size]
    if scales:
        columns.insert(1, ranks - 1)
    design = np.stack(columns, axis=1) / time[:, None]
    freedom = len(time) - design.shape[1]
    if freedom < 1:
        return None
    found = optimize.lsq_linear(
        design / (scale := design.max(axis=0)), np.ones_like(time), (0, np.inf)
    )
    values = found.x / scale
    left = 1 - design @ values  # (T - model) / T
    variance = float(left @ left) / freedom
    covariance = np.linalg.pinv((design / scale).T @ (design / scale)) * variance
    half = stats.t.ppf(0.975, freedom) * np.sqrt(np.diag(covariance)) / scale
    if not scales:
        values, half = np.insert(values, 1, math.nan), np.insert(half, 1, math.nan)
    worst = int(np.argmax(np.abs(left)))
    return Fit(
        float(values[0]),
        float(values[1]),
        float(values[2]),
        (float(half[0]), float(half[1]), float(half[2])),
        math.sqrt(float(left @ left) / len(time)),
        float(left[worst]),
        worst,
        len(time),
    )


def find(found: Results) -> list[Finding]:
    """One fit per series; where it does not hold over all rank counts, one per rank count."""
    findings = []
    for name, line in series.curves(found).groupby("series", sort=False):
        whole = _fit_of(line)
        if whole and whole.residual <= _HOLDS:
            findings.append(_told(whole, line, str(name)))
            continue
        if whole and line["ranks"].nunique() > 1:
            findings.append(_fails(whole, line, str(name)))
        for _, part in line.groupby(["ranks", "nodes"], dropna=False):
            alone = _fit_of(part)
            if alone:
                findings.append(_told(alone, part, str(name)))
    return findings


def _fit_of(line: pd.DataFrame) -> Fit | None:
    return fit(
        *(line[name].to_numpy(dtype=np.float64) for name in ("ranks", "message_size", "time"))
    )


def _where(line: pd.DataFrame, name: str) -> str:
    ranks = sorted(set(line["ranks"]))
    text = f"{ranks[0]} ranks" if len(ranks) == 1 else f"{ranks[0]} to {ranks[-1]} ranks"
    return ", ".join(filter(None, [text, name]))


def _numbers(one: Fit) -> dict[str, float | int | str]:
    return {
        "once_ns": one.once,
        "per_message_ns": one.per_message,
        "per_byte_ns": one.per_byte,
        "residual": one.residual,
        "crossing_bytes": one.crossing,
    }


def _seen(value: float, half: float) -> str:
    """A cost with its interval, or the most it may be where it cannot be told from nothing."""
    if value <= half:
        return f"at most {us(value + half)}"
    return f"{us(value)} (± {us(half)})"


def _told(one: Fit, line: pd.DataFrame, name: str) -> Finding:
    at: Any = line.iloc[one.worst_at]
    gbps = 8 / one.per_byte if one.per_byte > 0 else math.inf
    low, high = (8 / max(one.per_byte + sign * one.half[2], 1e-12) for sign in (1, -1))
    once = f"{_seen(one.once, one.half[0])} per op"
    if math.isnan(one.per_message):
        share = one.once / (int(line["ranks"].iloc[0]) - 1)
        costs = f"{once}, that is at most {us(share)} per message"
        size = share / one.per_byte if one.per_byte > 0 else math.inf
        bound = (
            f"messages below {size:.0f} B or less are bound by their number, larger ones by bytes"
        )
    else:
        costs = f"{once} and {_seen(one.per_message, one.half[1])} per message"
        bound = (
            f"messages below about {one.crossing:.0f} B are bound by their number "
            f"({1e3 / one.per_message:.3g} M/s per rank), larger ones by bytes"
            if one.per_message > 0
            else "no cost per message is seen"
        )
    return Finding(
        "cost",
        f"T = α + (R−1)(o + B·g): {costs}, {gbps:.3g} Gbit/s per rank at best "
        f"({low:.3g} to {high:.3g}); {bound}; residual {percent(one.residual)}, largest "
        f"{percent(one.worst)} at {at['message_size']} B and {at['ranks']} ranks",
        _where(line, name),
        one.n,
        "points",
        weight=float(line["ops"].sum()),
        numbers=_numbers(one),
    )


def _fails(one: Fit, line: pd.DataFrame, name: str) -> Finding:
    at: Any = line.iloc[one.worst_at]
    return Finding(
        "cost",
        f"T = α + (R−1)(o + B·g) does not hold over all rank counts: residual "
        f"{percent(one.residual)}, largest {percent(one.worst)} at {at['message_size']} B and "
        f"{at['ranks']} ranks; something else grows with scale",
        _where(line, name),
        one.n,
        "points",
        weight=math.inf,
        numbers=_numbers(one),
    )
