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
    points = found.points[found.points["byte_rate"].notna() & found.points["payload"].notna()]
    if points.empty:
        raise InputError("no published rate has a size")
    every = list(points.groupby("launch", sort=False))
    charts = []
    for launch, rows in every[: curves.MOST_PANELS]:
        names = list(rows["interconnect"].unique())
        lines = []
        for look, name in enumerate(names[: style.MOST_LINES]):
            mine = rows[rows["interconnect"] == name].sort_values("payload")
            x, y = (mine[column].to_numpy(dtype=np.float64) for column in ("payload", "byte_rate"))
            lines.append(Curve(str(name), x, y / 1e6, look=look))
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
    most = points.groupby("launch")["interconnect"].nunique().max()
    left_out += curves.fitting(int(most), style.MOST_LINES, "interconnects")
    notes = ("published figures without intervals", "a2a explain has what contradicts itself")
    return Figure("ranking", "Interconnects side by side", tuple(charts), notes, left_out)
