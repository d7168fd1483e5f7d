# SPDX-License-Identifier: BSD-3-Clause
"""What the way of a pair adds to what its sender and its receiver take with the others."""

from __future__ import annotations

import numpy as np

from a2aperf import others
from a2aperf.workloads.pairs.model import Fit, Floats


def added(found: Fit) -> Floats:
    """Logarithms [source, destination]: the residual beside those of the others.

    Median polish leaves 0 to the median pair of each row and column, so that residuals of few nodes
    look closer together than pairs are. Beside the medians of the others alone they do not.
    """
    residual = found.residual
    return np.asarray(residual - others.medians(residual) - others.medians(residual.T).T)
