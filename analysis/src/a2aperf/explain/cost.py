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
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.labels import count_text
from a2aperf.results import Results

Floats = NDArray[np.float64]

_FEWEST_SIZES: Final = 4
_FEWEST_LAUNCHES: Final = 3  # below that, an interval between launches says nothing
_HOLDS: Final = 0.15  # root mean square of the relative residuals
_TOLD: Final = 0.3  # the same, of each launch's own line: one that misses by more describes nothing
_ALIKE: Final = 0.03  # the same, whatever fits of each rank count leave
_AS_WELL: Final = 1.5  # times what those leave
_SANE: Final = 0.5  # of the cost of a byte: a half width that bounds the rate from above
_SEEN: Final = 0.1  # of the longest messages' time: bytes that take less tell no rate
_ROUNDS: Final = 5  # of finding the weights


@dataclass(frozen=True)
class Fit:
    """Coefficients in ns and ns/B, and the half widths of their 95 % intervals.

    A half width is NaN where too few launches tell how far launches differ. `once` is α, or
    α + (R−1)·o where `per_message` is NaN: one rank count only.
    """

    once: float
    per_message: float
    per_byte: float
    half: tuple[float, float, float]
    residual: float  # root mean square, relative
    of_launch: float  # the same about each launch's own line
    worst: float  # the largest, relative, with its sign: positive = slower than the model
    worst_at: int  # index of the point
    n: int
    launches: int

    @property
    def crossing(self) -> float:
        """Message size in B above which bytes cost more than messages; NaN if not known."""
        if math.isnan(self.per_message) or self.per_byte <= 0:
            return math.nan
        return self.per_message / self.per_byte


def fit(ranks: Floats, size: Floats, time: Floats, launch: NDArray[np.int64]) -> Fit | None:
    """Fits points [n] (R, B, T in ns, number of the launch); None with fewer than 4 sizes.

    Launches of one program differ as a whole, by more than their ops tell: each is fitted alone,
    T = a + (R−1)·B·g, and the coefficients are means over the launches, with the interval that
    Student's t gives them. a = α + (R−1)·o is then fitted over the rank counts.
    """
    fits = [
        (float(ranks[its][0]), *_line(ranks[its], size[its], time[its]))
        for its in (launch == one for one in np.unique(launch))
        if len(np.unique(size[its])) >= _FEWEST_SIZES
    ]
    if not fits:
        return None
    scale, at_zero, slope, squares = (np.array(values) for values in zip(*fits, strict=True))
    per_byte, half_byte = _mean(slope)
    if len(np.unique(scale)) > 1:
        (once, per_message), (half_once, half_message) = _costs(scale, at_zero)
    else:
        once, half_once = _mean(at_zero)
        per_message, half_message = math.nan, math.nan
    offset = once if math.isnan(per_message) else once + (ranks - 1) * per_message
    left = 1 - (offset + (ranks - 1) * size * per_byte) / time
    worst = int(np.argmax(np.abs(left)))
    return Fit(
        once,
        per_message,
        per_byte,
        (half_once, half_message, half_byte),
        math.sqrt(float(left @ left) / len(time)),
        math.sqrt(float(squares.sum()) / len(time)),
        float(left[worst]),
        worst,
        len(time),
        len(fits),
    )


def _line(ranks: Floats, size: Floats, time: Floats) -> tuple[float, float, float]:
    """A in ns, g in ns/B of one launch and the sum of squares of its relative residuals.

    These are made small.
    """
    design = np.stack([np.ones_like(time), (ranks - 1) * size], axis=1) / time[:, None]
    scale = design.max(axis=0)
    found = np.linalg.lstsq(design / scale, np.ones_like(time), rcond=None)[0] / scale
    left = 1 - (found[0] + found[1] * (ranks - 1) * size) / time
    return float(found[0]), float(found[1]), float(left @ left)


def _mean(values: Floats) -> tuple[float, float]:
    """Mean over launches and the half width of its 95 % interval; NaN for too few launches."""
    n = len(values)
    if n < _FEWEST_LAUNCHES:
        return float(values.mean()), math.nan
    error = float(values.std(ddof=1)) / math.sqrt(n)
    return float(values.mean()), float(laws.t_ppf(0.975, n - 1)) * error


def _costs(ranks: Floats, at_zero: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """α and o with their half widths, from a = α + (R−1)·o of each launch [launches].

    Launches differ by a factor: weights are 1/a, of the fit itself.
    """
    design = np.stack([np.ones_like(ranks), ranks - 1], axis=1)
    expected = np.full_like(at_zero, 1.0)
    least = 0.01 * max(float(np.abs(at_zero).max()), 1e-9)
    for _ in range(_ROUNDS):
        weight = 1 / np.maximum(expected, least)
        values = np.linalg.lstsq(design * weight[:, None], at_zero * weight, rcond=None)[0]
        expected = design @ values
    half = _halves(design * weight[:, None], (at_zero - expected) * weight, ranks)
    return (float(values[0]), float(values[1])), (float(half[0]), float(half[1]))


def _halves(design: Floats, left: Floats, ranks: Floats) -> Floats:
    """Half widths of α and o: the wider of all residuals pooled and each rank count by itself.

    Launches may differ by more at one rank count than at others, and a straight line may not fit:
    the former is Welch's case, the latter is only in the pooled residuals. NaN where a rank count
    has too few launches to tell how far they differ there.
    """
    of_scale = [ranks == one for one in np.unique(ranks)]
    if min(its.sum() for its in of_scale) < _FEWEST_LAUNCHES:
        return np.full(2, math.nan)
    inverse = np.linalg.pinv(design)
    freedom = len(ranks) - 2
    pooled = (inverse**2).sum(axis=1) * float(left @ left) / freedom
    own = np.stack(
        [(inverse[:, its] ** 2).sum(axis=1) * float(left[its].var(ddof=1)) for its in of_scale]
    )
    free = np.array([[its.sum() - 1] for its in of_scale])
    total = np.maximum(own.sum(axis=0), np.finfo(np.float64).tiny)
    welch = total**2 / np.maximum((own**2 / free).sum(axis=0), np.finfo(np.float64).tiny)
    wide = laws.t_ppf(0.975, np.maximum(welch, free.min())) * np.sqrt(total)
    return np.asarray(np.maximum(laws.t_ppf(0.975, freedom) * np.sqrt(pooled), wide))


def find(found: Results) -> list[Finding]:
    """One fit per series; where it does not hold over all rank counts, one per rank count.

    That it does not hold is not told: where ranks share a link it never does. Nor is a fit of one
    rank count that misses its points by far.
    """
    findings = []
    points = found.points.assign(series=series.named(found))
    points = points[points["time_p50"].notna()]  # an imported text may tell none
    for name, line in points.groupby("series", sort=False):
        whole = _fit_of(line)
        alone = [
            (_fit_of(part), part) for _, part in line.groupby(["ranks", "nodes"], dropna=False)
        ]
        if whole and whole.per_byte > 0 and _holds(whole, [one for one, _ in alone if one]):
            findings.append(_told(whole, line, str(name)))
            continue
        findings += [
            _told(one, part, str(name))
            for one, part in alone
            if one and one.per_byte > 0 and one.of_launch <= _TOLD
        ]
    return findings


def _holds(whole: Fit, alone: list[Fit]) -> bool:
    """Whether one set of costs describes all rank counts about as well as one for each."""
    if whole.residual > _HOLDS:
        return False
    count = sum(one.n for one in alone)
    if len(alone) < 2 or not count:
        return True
    squares = sum(one.residual**2 * one.n for one in alone) / count
    return whole.residual <= max(_ALIKE, _AS_WELL * math.sqrt(squares))


def _fit_of(line: pd.DataFrame) -> Fit | None:
    ranks, size, time = (
        line[name].to_numpy(dtype=np.float64) for name in ("ranks", "message_size", "time_p50")
    )
    return fit(ranks, size, time, pd.factorize(line["launch"])[0].astype(np.int64))


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
    if math.isnan(half):
        return f"about {us(value)}" if value > 0 else "nothing that can be seen"
    if value <= half:
        return f"at most {us(value + half)}" if value + half > 0 else "nothing that can be seen"
    return f"{us(value)} (± {us(half)})"


def _best(one: Fit, line: pd.DataFrame) -> str:
    """The rate that the cost of a byte allows, with its interval where that says something.

    Of launches too few for an interval only where bytes are seen in the times at all.
    """
    per_byte, half, launches = one.per_byte, one.half[2], one.launches
    bytes_of = (line["ranks"] - 1) * line["message_size"]
    if math.isnan(half) and float((bytes_of * per_byte / line["time_p50"]).max()) < _SEEN:
        return "what a byte costs is not seen at these sizes"
    text = f"{8 / per_byte:.3g} Gbit/s per rank as messages grow"
    if math.isnan(half):
        count = count_text(launches, "launch", "launches")
        return f"{text} ({count}: insufficient samples for an interval)"
    low = 8 / (per_byte + half)
    if half >= _SANE * per_byte:
        return f"{text} ({low:.3g} or more)"
    return f"{text} ({low:.3g} to {8 / (per_byte - half):.3g})"


def _bound(one: Fit, line: pd.DataFrame) -> str:
    """The size below which messages, and not bytes, are what costs; as far as that is known.

    A size beyond those measured is an extrapolation, and is not told.
    """
    largest = float(line["message_size"].max())
    if math.isnan(one.per_message):
        if not one.once > (0 if math.isnan(one.half[0]) else one.half[0]):
            return ""
        share = one.once / (int(line["ranks"].iloc[0]) - 1)
        size = float(f"{share / one.per_byte:.2g}")
        below = f": message-rate-bound below {size:.0f} B at most" if size <= largest else ""
        return f" (at most {us(share)} per message{below})"
    if not one.per_message > (0 if math.isnan(one.half[1]) else one.half[1]):
        return ""
    rate = 1e3 / one.per_message
    below = f"message-rate-bound below ~{one.crossing:.0f} B: " if one.crossing <= largest else ""
    return f" ({below}{rate:.3g} M/s per rank)"


def _told(one: Fit, line: pd.DataFrame, name: str) -> Finding:
    at: Any = line.iloc[one.worst_at]
    costs = f"{_seen(one.once, one.half[0])} per op"
    if not math.isnan(one.per_message):
        costs += f" and {_seen(one.per_message, one.half[1])} per message"
    costs += _bound(one, line)
    return Finding(
        "cost",
        f"T = α + (R−1)(o + B·g): {costs}, {_best(one, line)}; "
        f"residual {percent(one.residual)}, largest {percent(one.worst)} at "
        f"{at['message_size']} B and {at['ranks']} ranks",
        _where(line, name),
        one.n,
        "points",
        weight=float(line["ops"].sum()),
        numbers=_numbers(one),
    )
