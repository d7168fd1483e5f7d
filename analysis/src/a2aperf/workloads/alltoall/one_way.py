# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of which a barrier start carries no rate: it goes one way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from a2aperf import labels, metrics, schema
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.explain.finding import Finding
from a2aperf.results import Results
from a2aperf.workloads.alltoall import matrices

REACHED: Final = "bound_share"
_OF_RATES: Final = "gbps_rank"
_RATES: Final = (REACHED, *metrics.rates(2, 1, 1.0, 1.0, (), np.nan))
_RATIOS: Final = ("ratio", "ratio_low", "ratio_high")
LEFT_OUT: Final = (*_RATES, *_RATIOS)
"""Columns that follow from the time of an op."""
_SAYS: Final = "barrier"
"""In what a file says of them where its program left them out.

Of all rates in the first one's words, of a ratio and its interval in the ratio's.
"""
WHY: Final = "ops start at a barrier and messages go one way: --sync clock tells it"


def said(points: int) -> str:
    """So many were left out, and why."""
    return f"{labels.count_text(points, 'point')} without a rate: {WHY}"


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
    try:
        ops = matrices.in_turn(found, row)
    except InputError:  # damaged: whoever asks for it is told
        return False
    return ops is not None and matrices.goes_one_way(ops)


def of_told(find: Callable[[Results], list[Finding]]) -> Callable[[Results], list[Finding]]:
    """The same of points whose times tell a speed; that of others it does not is said of them."""

    def told(found: Results) -> list[Finding]:
        untold = are_untold(found)
        return find(found.select(~untold)) if not untold.all() else []

    return told


def without_rates(found: Results) -> Results:
    """Leaves out rates, and what was reached of the bound, where nothing carries them.

    A program that knew better had left them out, too: what it has there is told as wrong. But for
    resumed files, whose points may be of an older program than what describes them.
    """
    there = found.points.reindex(columns=[*LEFT_OUT]).notna()
    has_any = there.any(axis=1) & (found.points["state"] != "pending")  # those are half written
    untold = are_untold(found.select(has_any)).to_numpy(bool)
    wrong = found.points.index[has_any][untold]
    if not len(wrong):
        return found
    segments = Counter(launch.path for launch in found.launches.values())
    said: list[str] = []
    silent: dict[Path, list[Any]] = {}
    for index, row in found.points.loc[wrong].iterrows():
        names = [name for name in LEFT_OUT if there.at[index, name] and _leaves_out(found, name)]
        path = found.launches[str(row["launch"])].path
        if segments[path] > 1 or not names:
            silent.setdefault(path, []).append(index)
            continue
        said += [f"point {row['point']}: {name} is {row[name]:g}, and {WHY}" for name in names]
    is_wrong = found.points.index.isin(wrong)
    left = found.points.assign(
        **{name: found.points[name].mask(is_wrong) for name in LEFT_OUT if there[name].any()}
    )
    older = [f"{path}: {_older(there.loc[points])}" for path, points in silent.items()]
    return replace(found, points=left, untold=(*found.untold, *said), older=(*found.older, *older))


def _older(there: pd.DataFrame) -> str:
    """What older points have that is left out; `there`: which of the columns each has."""
    what = [
        words
        for words, names in (("rates", _RATES), ("ratios", _RATIOS))
        if there[[*names]].any(axis=None)
    ]
    points = labels.count_text(len(there), "point")
    return f"{' and '.join(what)} of {points} left out: {WHY}"


def _leaves_out(found: Results, name: str) -> bool:
    """Whether the program that described a column left it out where nothing carries it."""
    says = REACHED if name == REACHED else _RATIOS[0] if name in _RATIOS else _OF_RATES
    of_all = found.columns.get(says)
    return of_all is not None and _SAYS in of_all.long_name
