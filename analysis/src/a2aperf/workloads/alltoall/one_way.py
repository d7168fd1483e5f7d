# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of which a barrier start does not carry what was reached: it goes one way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import schema
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.alltoall import matrices

REACHED: Final = "bound_share"
_SAYS: Final = "barrier"
"""In what a file says of that column where its program left it out."""
WHY: Final = "ops start at a barrier and messages go one way: --sync clock tells it"


def are_untold(found: Results) -> pd.Series[bool]:
    """Of which points the time is what their ranks left the barrier apart."""
    points = found.points
    if matrices.TRAFFIC not in points:
        return pd.Series(False, index=points.index)
    uneven = points[~matrices.are_uniform(points) & (points["role"] != schema.PIPELINED)]
    known: dict[tuple[object, ...], bool] = {}
    untold = []
    for index, row in uneven.iterrows():
        if not at_a_barrier(found, row):
            continue
        of = tuple(
            str(row.get(name)) for name in ("file", "traffic_matrix", matrices.DRAWS, "ranks")
        )
        if of not in known:
            known[of] = goes(found, row)
        if known[of]:
            untold.append(index)
    return pd.Series(points.index.isin(untold), index=points.index)


def at_a_barrier(found: Results, row: pd.Series) -> bool:
    """Whether the ops of a point start so."""
    launch = found.launches.get(str(row["launch"]))
    return launch is not None and str(launch.attributes.get("sync")) == "barrier"


def goes(found: Results, row: pd.Series) -> bool:
    """Whether messages of a point go one way; of a lost matrix nothing is known."""
    ops = matrices.in_turn(found, row)
    return ops is not None and matrices.goes_one_way(ops)


def without_reached(found: Results) -> Results:
    """Leaves out what was reached of the bound where nothing carries it.

    A program that knew better had left it out, too: what it has there is told as wrong. But for
    resumed files, whose points may be of an older program than what describes them.
    """
    points = found.points
    if REACHED not in points or points[REACHED].isna().all():
        return found
    there: NDArray[np.bool_] = points[REACHED].notna().to_numpy(bool)
    try:
        untold = are_untold(found.select(points[REACHED].notna()))
    except InputError:  # the matrices are damaged: whoever asks for them is told
        return found
    wrong = points.index[there][untold.to_numpy(bool)]
    if not len(wrong):
        return found
    said: list[str] = []
    if _SAYS in found.columns[REACHED].long_name:
        segments = Counter(launch.path for launch in found.launches.values())
        said = [
            f"point {row['point']}: {REACHED} is {row[REACHED]:g}, and {WHY}"
            for _, row in points.loc[wrong].iterrows()
            if segments[found.launches[str(row["launch"])].path] == 1
        ]
    left = points.assign(**{REACHED: points[REACHED].mask(points.index.isin(wrong))})
    return replace(found, points=left, untold=(*found.untold, *said))
