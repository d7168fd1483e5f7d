# SPDX-License-Identifier: BSD-3-Clause
"""Where a percentile is the largest sample, because there are too few for one of its own."""

from __future__ import annotations

from a2aperf import metrics
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results


def are_maxima(results: Results, points: pd.DataFrame, q: float) -> list[bool]:
    """Whether the q-th quantile is the maximum, for each of the points, by its file's rule."""
    rules = points["file"].map(lambda file: results.attributes[file].get("percentile_rule", "rank"))
    return [
        bool(pd.notna(n)) and n > 0 and metrics.percentile_is_maximum(int(n), q, rule)
        for n, rule in zip(points["ops"], rules, strict=True)
    ]
