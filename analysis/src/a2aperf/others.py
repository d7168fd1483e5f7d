# SPDX-License-Identifier: BSD-3-Clause
"""Each value beside those of the others.

Beside the median of all the middle one has 0, always of an odd number: who is it now and then
looks closer to itself, night after night, than it is, and its next deviation like a change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def medians(values: Floats) -> Floats:
    """Of each value [.., N] the median of the others of its row; NaN where there are none."""
    ordered = np.sort(values, axis=-1)  # NaN last
    rank = np.argsort(np.argsort(values, axis=-1), axis=-1)
    count = np.isfinite(values).sum(axis=-1, keepdims=True)
    last = values.shape[-1] - 1
    middle = [np.clip(place, 0, last) for place in ((count - 2) // 2, (count - 1) // 2)]
    low, high = (
        np.take_along_axis(ordered, np.minimum(place + (place >= rank), last), axis=-1)
        for place in middle
    )
    return np.where(count > 1, (low + high) / 2, np.nan)


def beside(values: Floats) -> Floats:
    """Each value [.., N] less the median of the others of its row."""
    return np.asarray(values - medians(values))
