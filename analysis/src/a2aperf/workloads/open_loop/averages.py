# SPDX-License-Identifier: BSD-3-Clause
"""Averages per second that have more than one mode: their mean then is that of neither."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd
from a2aperf.explain import modes
from a2aperf.explain.finding import Finding, Number, percent, us
from a2aperf.labels import list_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.open_loop import rates, seconds

_SECOND: Final = 10**9
_LEAST: Final = 40
"""Intervals: of fewer no valley is beyond chance."""


def find(found: Results) -> list[Finding]:
    """Points whose rate was kept; where it was not, averages grow for as long as the point is."""
    points = found.points
    kept = points[rates.kept(points)]
    return [one for _, row in kept.iterrows() if (one := _of_point(found, row))]


def _of_point(found: Results, row: pd.Series[Any]) -> Finding | None:
    known = seconds.of(found, row, _LEAST)
    if known is None:
        return None
    means = _whole(known, row["asked_duration"])
    parts = modes.modes(1000 * means) if means.size >= _LEAST else []
    if len(parts) < 2:
        return None
    told = [f"{percent(one.share)} around {us(one.median)} (n={one.count})" for one in parts]
    each = "second" if known.length == _SECOND else f"{known.length / _SECOND:g} s"
    text = (
        f"at {rates.text(row['offered_rate'])} the mean latencies of each {each} have "
        f"{len(parts)} modes: {list_text(told)}"
    )
    numbers: dict[str, Number] = {}
    for place, one in enumerate(parts):
        numbers |= {f"median_{place}": one.median, f"share_{place}": one.share}
    where = f"{row['launch']}, {size_text(int(row['message_size']))}"
    weight = 1 - max(one.share for one in parts)
    return Finding("averages", text, where, int(means.size), "intervals", weight, numbers)


def _whole(known: seconds.Means, duration: Any) -> NDArray[np.float64]:
    """Without intervals in which nothing was due, and the last one, of which a part may be.

    A point that ends by its number of messages has no duration.
    """
    means = known.means
    if pd.isna(duration) or duration < means.size * known.length:
        means = means[:-1]
    return means[np.isfinite(means)]
