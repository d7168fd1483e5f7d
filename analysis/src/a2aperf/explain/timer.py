# SPDX-License-Identifier: BSD-3-Clause
"""A delay that depends neither on size nor on scale: a timer, not the network.

A timer's delays gather at one value, with a gap below it; those of a jitter thin out from zero on.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, listed, ms, percent, us
from a2aperf.results import Results

Floats = NDArray[np.float64]

_WIDTH: Final = 1.4  # largest ÷ smallest delay of the window
_FEWEST: Final = 10  # rows
_SHARE: Final = 0.25  # of the rows
_RANGE: Final = 4.0  # the rows' medians span at least this factor
_BETTER: Final = 1.5  # times as many as when delays are taken in units of the median
_GAP: Final = 0.2  # of the delay: what nine in ten ops stay below where only percentiles are known
_ERROR: Final = 1e-4  # of a gap below the window where the density only falls


def window(delays: Floats) -> tuple[float, int]:
    """Start of the window [start, 1.4 · start] with most delays, and how many it holds.

    Starts are tried in steps of 2 % and named with two digits, so that the window can be cited.
    """
    positive = delays[delays > 0]
    if not len(positive):
        return 0.0, 0
    steps = np.exp(np.arange(np.log(positive.min() / _WIDTH), np.log(positive.max()) + 0.02, 0.02))
    digits = 10 ** (np.floor(np.log10(steps)) - 1)
    starts = np.unique(np.round(steps / digits) * digits)
    ordered = np.sort(positive)
    inside = np.searchsorted(ordered, starts * _WIDTH * (1 + 1e-9), side="right")
    inside -= np.searchsorted(ordered, starts * (1 - 1e-9), side="left")
    best = np.flatnonzero(inside == inside.max())
    best = best[len(best) // 2]  # the delays lie around its middle
    return float(starts[best]), int(inside[best])


def find(found: Results) -> list[Finding]:
    """The window of p99 - p50 that holds most rows, if size and scale do not explain it."""
    points = found.points.assign(series=series.named(found))
    middle = points["time_p50"].to_numpy(dtype=np.float64)
    delays = points["time_p99"].to_numpy(dtype=np.float64) - middle
    start, count = window(delays)
    if count < max(_FEWEST, _SHARE * len(points)):
        return []
    inside = (delays >= start * (1 - 1e-9)) & (delays <= start * _WIDTH * (1 + 1e-9))
    span = middle[inside].max() / middle[inside].min()
    _, in_proportion = window(delays / middle)
    if span < _RANGE or count < _BETTER * in_proportion:
        return []
    rows = points[inside]
    gap = _gap(found, rows, start)
    if not gap:
        return []
    return [
        Finding(
            "timer",
            f"in {count} of {len(points)} rows p99 - p50 lies between {ms(start)} and "
            f"{ms(start * _WIDTH)}, although their p50 ranges from {us(middle[inside].min())} to "
            f"{us(middle[inside].max())} (a factor of {span:.0f}); of (p99 - p50) / p50 "
            f"no more than {in_proportion} rows are as much alike; {gap}",
            f"{rows['message_size'].nunique()} sizes, ranks "
            f"{listed(sorted(set(rows['ranks'])), 12)}",
            count,
            "rows",
            weight=count / len(points),
            numbers={
                "rows": count,
                "of": len(points),
                "from_ns": start,
                "to_ns": start * _WIDTH,
                "share": percent(count / len(points)),
            },
        )
    ]


def _gap(found: Results, rows: pd.DataFrame, start: float) -> str:
    """How delays gather there with a gap below, in words; empty: a jitter of constant scale.

    From the samples: more ops are late by the window than by a stretch as long just below it, all
    rows together. Where only percentiles are known: in half of the rows nine in ten ops are late
    by a fifth of it at most.
    """
    known = rows[rows["has_raw"]]
    if known.empty:
        small = int((rows["time_p90"] - rows["time_p50"] <= _GAP * start).sum())
        if small < max(_FEWEST, len(rows) / 2):
            return ""
        return f"in {small} of the {len(rows)} rows p90 - p50 is a fifth of that or less"
    below = inside = 0
    for _, row in known.iterrows():
        late = found.op_times(str(row["file"]), int(row["point"])) - float(row["time_p50"])
        inside += int(((late >= start) & (late < _WIDTH * start)).sum())
        below += int(((late >= (2 - _WIDTH) * start) & (late < start)).sum())
    if laws.binomial_cdf(below, inside + below, 0.5) >= _ERROR:
        return ""
    return (
        f"{inside} ops are late by that, and {below} by {ms((2 - _WIDTH) * start)} to {ms(start)}"
    )
