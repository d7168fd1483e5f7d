# SPDX-License-Identifier: BSD-3-Clause
"""What the way of a pair adds to what its sender and its receiver take with the others."""

from __future__ import annotations

import numpy as np

from a2aperf.workloads.pairs.model import Fit, Floats


def added(found: Fit) -> Floats:
    """Logarithms [source, destination]: the residual beside those of the others.

    Median polish leaves 0 to the median pair of each row and column, so that residuals of few nodes
    look closer together than pairs are. Beside the medians of the others alone they do not.
    """
    residual = found.residual
    return np.asarray(residual - _others(residual) - _others(residual.T).T)


def _others(values: Floats) -> Floats:
    """Of each value the median of the others of its row; NaN where there are none."""
    ordered = np.sort(values, axis=1)  # NaN last
    rank = np.argsort(np.argsort(values, axis=1), axis=1)
    count = np.isfinite(values).sum(axis=1, keepdims=True)
    last = values.shape[1] - 1
    middle = [np.clip(place, 0, last) for place in ((count - 2) // 2, (count - 1) // 2)]
    low, high = (
        np.take_along_axis(ordered, np.minimum(place + (place >= rank), last), axis=1)
        for place in middle
    )
    return np.where(count > 1, (low + high) / 2, np.nan)
