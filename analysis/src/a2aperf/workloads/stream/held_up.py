# SPDX-License-Identifier: BSD-3-Clause
"""Streams in which for a while next to nothing came, though much came before and after.

The rate of the whole counts that time. A receiver that was asked to pause is none of them, and
where a few messages fill an interval one without any is no standstill.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from a2aperf.deferred import pandas as pd
from a2aperf.explain import held_up, series
from a2aperf.explain.finding import Finding, percent
from a2aperf.labels import count_text, number_text
from a2aperf.results import Results
from a2aperf.workloads.stream import intervals
from a2aperf.workloads.stream.intervals import Intervals

_MANY: Final = 10
"""Messages of the median interval from which one without any is not chance."""
_FEWEST: Final = 10  # intervals
_STILL: Final = 0.05
"""Of the median rate. Held up itself, a receiver tells many intervals as a long one."""


def find(found: Results) -> list[Finding]:
    """Of each point its longest standstill."""
    findings = []
    for _, row in found.points.iterrows():
        asked = row.get("free_delay")
        made = None if pd.notna(asked) and asked > 0 else intervals.of(found, row)
        if made is not None and len(made.ends) >= _FEWEST and np.median(made.messages) >= _MANY:
            findings += _of_point(row, made)
    return findings


def _of_point(row: pd.Series[Any], made: Intervals) -> list[Finding]:
    still = made.rates < _STILL * np.median(made.rates)
    edges = np.diff(np.concatenate([[0], still, [0]]).astype(int))
    begins, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
    if not begins.size:
        return []
    moments = np.append(0.0, made.ends)
    lasted = moments[ends] - moments[begins]
    longest = int(np.argmax(lasted))
    share = float(lasted.sum() / made.ends[-1])
    n = len(made.ends)
    return [
        Finding(
            held_up.KIND,
            f"next to nothing came in {still.sum()} of {count_text(n, 'interval')}, for "
            f"{number_text(float(lasted[longest]), 2)} s from "
            f"{number_text(float(moments[begins[longest]]), 2)} s on: the rate of the whole stream "
            f"counts {percent(share)} of its time in which hardly anything moved",
            series.place(row),
            n,
            "intervals",
            weight=share,
            numbers={"intervals": int(still.sum()), "share": share},
        )
    ]
