# SPDX-License-Identifier: BSD-3-Clause
"""What happens within a point, drawn as steps: intervals from its start and a height for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from a2aperf import labels, style
from a2aperf.chart import Curve, Floats
from a2aperf.deferred import pandas as pd


def lines(
    rows: pd.DataFrame,
    sizes: Sequence[int],
    course: Callable[[Any, int], tuple[Floats, Floats]],
) -> tuple[Curve, ...]:
    """A step line for each row, with a look for each message size.

    `sizes` are all of the figure, whose panels have one legend.
    `course` gives for a row's index and its size the edges of n intervals, [n + 1], and the n
    heights between them.
    """
    drawn = []
    for look, size in enumerate(sizes):
        mine = rows[rows["message_size"] == size]
        for nth, index in enumerate(mine.index):
            edges, heights = course(index, size)
            drawn.append(
                Curve(
                    labels.size_text(size),
                    edges,
                    np.append(heights, heights[-1]),
                    look=look % style.MOST_LINES,
                    form="step",
                    faint=len(mine) > 1,
                    listed=nth == 0,
                )
            )
    return tuple(drawn)
