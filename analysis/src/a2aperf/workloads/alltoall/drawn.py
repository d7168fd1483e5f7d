# SPDX-License-Identifier: BSD-3-Clause
"""Traffic as a figure: its matrices, and imbalance against what was reached."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from a2aperf import labels
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure, Heat
from a2aperf.curves import MOST_PANELS, Options, fitting
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.alltoall import matrices, one_way, uneven

_MOST_TICKS = 16


def figure(results: Results, options: Options) -> Figure:
    """A heat map of source and destination for every traffic, then what was reached of each."""
    found = results.complete(("measure",))
    points = found.points
    if matrices.TRAFFIC not in points or (points[matrices.TRAFFIC] == matrices.UNIFORM).all():
        raise InputError(
            "all traffic here is uniform; 'a2aperf alltoall --traffic' measures other traffic"
        )
    kinds = points[points[matrices.TRAFFIC] != matrices.UNIFORM].groupby(
        ["traffic_digest", matrices.TRAFFIC], sort=False
    )
    charts = [
        chart
        for (_, name), rows in kinds
        if (chart := _matrix(found, str(name), rows.iloc[0])) is not None
    ]
    left_out = fitting(len(charts), MOST_PANELS, "matrices")
    untold = one_way.are_untold(found)
    if untold.any():
        left_out += (one_way.said(int(untold.sum())),)
    reached = _reached(points, untold)
    if not charts and reached is None:
        raise InputError("no point has a matrix, or a share that was reached of its bound")
    return Figure(
        "traffic",
        "Who sends how much to whom, and what was reached of it",
        (*charts[:MOST_PANELS], *([reached] if reached else [])),
        left_out=left_out,
    )


def _matrix(found: Results, name: str, row: pd.Series) -> Chart | None:
    weights = matrices.weights(found, row)
    if weights is None:
        return None
    mean = weights.sum() / (len(weights) * (len(weights) - 1))
    shares = np.where(np.eye(len(weights), dtype=bool), np.nan, weights / mean)
    place = np.arange(len(weights), dtype=float)
    names = tuple(str(rank) for rank in range(len(weights)))
    every = max(1, -(-len(weights) // _MOST_TICKS))
    ticks = tuple((float(rank), str(rank)) for rank in range(0, len(weights), every))
    return Chart(
        title=name,
        subtitle=f"{labels.count_text(int(np.count_nonzero(weights)), 'message')} {_of_ops(row)}",
        x=Axis("Destination (rank)", ticks=ticks),
        y=Axis("Source (rank)", ticks=ticks),
        heat=Heat(
            shares,
            place,
            place,
            "bytes over the mean of all pairs",
            float(np.nanmax(shares)),
            0.0,
            names,
            hover="{y} → {x}: {z} times the mean",
            dark_is_high=True,
        ),
    )


def _of_ops(row: pd.Series) -> str:
    draws = matrices.draws(row)
    return "an op" if draws == 1 else f"in the first op, of {draws} draws"


def _reached(points: pd.DataFrame, untold: pd.Series[bool]) -> Chart | None:
    """A mark for each point: at its imbalance what was reached of the bound.

    Where there is none: of what each rank moves in the uniform traffic beside it.
    """
    bounded = points["bound_share"].astype(float)
    is_bounded = bool(bounded.notna().any())
    share = 100 * (bounded if is_bounded else uneven.beside_uniform(points)).mask(untold)
    known = points.assign(share=share)[share.notna() & points["imbalance"].notna()]
    if matrices.are_uniform(known).all():
        return None
    curves = []
    for look, (name, rows) in enumerate(known.groupby(matrices.TRAFFIC, sort=False)):
        hover = tuple(labels.size_text(size) for size in rows["message_size"])
        x, y = rows["imbalance"].to_numpy(float), rows["share"].to_numpy(float)
        curves.append(Curve(str(name), x, y, look=look, form="points", hover=hover))
    of = "the bound" if is_bounded else "the uniform traffic's rate, at the busiest rank"
    ends = np.array([1.0, max(1.05, float(known["imbalance"].max()))])
    return Chart(
        title="Imbalance and rate",
        x=Axis("imbalance: busiest rank / mean", from_zero=False),
        y=Axis(f"% of {of}", from_zero=True, unit="%"),
        curves=tuple(replace(curve, parts=("", "")) for curve in curves),
        bounds=(Bound("100 %", ends, np.array([100.0, 100.0])),),
        legend="traffic",
        notes=("a mark is a point: a message size with one mode, schedule and window",),
    )
