# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a matrix of pairs in an order in which those that behave alike stand together."""

from __future__ import annotations

import numpy as np

from a2aperf.workloads.pairs import model


def order(times: model.Floats) -> list[int]:
    """Rows whose residuals are alike as sender and as receiver, side by side; times [R, R]."""
    if len(times) < 3:
        return list(range(len(times)))
    from scipy.cluster import hierarchy  # takes a while, and is seldom asked for

    residual = np.nan_to_num(model.fit(times).residual)
    tree = hierarchy.linkage(np.hstack([residual, residual.T]), "average", optimal_ordering=True)
    return [int(leaf) for leaf in hierarchy.leaves_list(tree)]
