# SPDX-License-Identifier: BSD-3-Clause
"""Published rates of interconnects against message size."""

from __future__ import annotations

import numpy as np

from a2aperf import curves, labels, style
from a2aperf.chart import Axis, Chart, Curve, Figure
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.interconnects.published import ROLE


def figure(results: Results, options: Options) -> Figure:
    """A panel per text, a line per interconnect."""
    found = results.complete((ROLE,))
    has_place = found.points["byte_rate"].notna() & found.points["payload"].notna()
    points = found.points[has_place]
    if points.empty:
        raise InputError("no published rate has a size")
    points, fewer = curves.at_most(points, "interconnect", style.MOST_LINES, "interconnects")
    looks = list(points["interconnect"].unique())  # the same in every panel
    every = list(points.groupby("launch", sort=False))
    charts = []
    for launch, rows in every[: curves.MOST_PANELS]:
        lines = []
        for name in rows["interconnect"].unique():
            mine = rows[rows["interconnect"] == name].sort_values("payload")
            x, y = (mine[column].to_numpy(dtype=np.float64) for column in ("payload", "byte_rate"))
            lines.append(Curve(str(name), x, y / 1e6, look=looks.index(name)))
        ticks = labels.size_ticks(rows["payload"].astype(float))
        charts.append(
            Chart(
                title=str(launch),
                x=Axis("Message size", log=True, ticks=ticks, unit="B"),
                y=Axis("MB/s, as published", log=True),
                curves=tuple(lines),
                legend="Interconnect",
            )
        )
    left_out = curves.fitting(len(every), curves.MOST_PANELS, "texts")
    left_out += fewer
    if without := int((~has_place).sum()):
        left_out += (f"{labels.count_text(without, 'row')} without a rate at a size not drawn",)
    notes = ("published figures without intervals", "a2a explain has what contradicts itself")
    return Figure("ranking", "Interconnects side by side", tuple(charts), notes, left_out)
