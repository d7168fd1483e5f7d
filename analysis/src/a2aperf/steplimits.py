# SPDX-License-Identifier: BSD-3-Clause
"""How rarely a series of jobs without a step has one that describes it so well (`stepfit`).

The table was drawn by `benchmarks/step_limits.py`, for the coefficient of memory that is worst.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from a2aperf.stepfit import CUBIC

# Jobs: the ratios reached by 1 % and by 0.1 % of series, of one step and of two.
_RATIOS: Final = {
    8: (24.3, 36.3, 0.0, 0.0),
    9: (22.7, 34.9, 23.9, 38.4),
    10: (22.9, 34.2, 27.9, 41.6),
    11: (22.9, 34.4, 29.9, 44.7),
    12: (23.2, 33.3, 31.4, 45.0),
    14: (22.9, 34.0, 32.5, 45.5),
    16: (23.1, 33.1, 33.3, 46.5),
    19: (22.7, 32.7, 33.3, 46.1),
    24: (22.5, 31.5, 33.9, 44.8),
    29: (22.3, 31.2, 34.3, 44.5),
    30: (23.2, 33.4, 36.2, 47.1),
    40: (22.8, 32.0, 34.8, 45.8),
    60: (22.3, 32.3, 30.0, 40.8),
    96: (21.5, 27.6, 27.8, 37.2),
    150: (19.6, 25.9, 26.4, 35.7),
}
JOBS: Final = tuple(_RATIOS)


def chance(jobs: int, ratio: float, steps: Literal["one", "two"]) -> float:
    """The share of series without a step that reach this ratio; beyond 0.1 % extrapolated."""
    column = 0 if steps == "one" else 2
    # The course changes from a parabola to a cubic: nothing is interpolated across that.
    rows = [n for n in JOBS if (n < CUBIC) == (jobs < CUBIC)]
    hundredth, thousandth = (
        float(np.interp(np.log(jobs), np.log(rows), [_RATIOS[n][column + k] for n in rows]))
        for k in (0, 1)
    )
    return float(min(1.0, 10 ** (-2 - (ratio - hundredth) / (thousandth - hundredth))))
