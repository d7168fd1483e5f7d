# SPDX-License-Identifier: BSD-3-Clause
"""Intervals that lasted much longer than was asked: who looks at the queue was stopped."""

from __future__ import annotations

from typing import Final

import numpy as np

from a2aperf.explain import held_up
from a2aperf.explain.finding import Finding, Number, listed
from a2aperf.labels import number_text
from a2aperf.results import Results
from a2aperf.workloads.qos import experiments

_LONG: Final = 2.0
"""Times the median interval."""
_FEWEST: Final = 4  # intervals


def find(found: Results) -> list[Finding]:
    """Of each experiment the paths with such intervals."""
    findings = []
    for one in experiments.of(found):
        lengths = one.paths.interval_length[one.rows].astype(float)
        lengths[lengths <= 0] = np.nan  # none
        if np.isfinite(lengths).sum() < _FEWEST:
            continue
        usual, longest = float(np.nanmedian(lengths)), float(np.nanmax(lengths))
        paths = np.flatnonzero((lengths > _LONG * usual).any(axis=1))
        if not paths.size:
            continue
        n = int(np.isfinite(lengths).sum())
        text = (
            f"an interval lasted {number_text(longest / 1e9, 2)} s, and the median one "
            f"{number_text(usual / 1e9, 2)} s: the receiver of "
            f"{listed([one.name(int(path)) for path in paths])} did not look for as long, so what "
            "each path got, and what senders had outstanding, is of that too"
        )
        numbers: dict[str, Number] = {"longest": longest / 1e9, "paths": int(paths.size)}
        findings.append(
            Finding(held_up.KIND, text, one.where, n, "intervals", longest / usual, numbers)
        )
    return findings
