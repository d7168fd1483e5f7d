# SPDX-License-Identifier: BSD-3-Clause
"""Impact against the level of the load."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from a2aperf import curves, labels, laws, setting_order, style
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure
from a2aperf.curves import Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.interference import impact

_SHOWN: Final = ("p50", "p99")
_LEAST: Final = 3
"""Launches that an interval over them needs."""


def figure(results: Results, options: Options) -> Figure:
    """A panel per setting and percentile, a line per size."""
    found = results.complete(impact.ROLES)
    axes = ("load_level",)
    points = setting_order.with_settings(found, found.points, options.by, axes, scaled=True)
    points = points[points["impact_p50"].notna()]
    here = impact.has_load(points)
    without = int((~here).sum())
    points = points[here]
    if points.empty:
        why = f": {impact.NO_LOAD}" if without else ""
        raise InputError(f"interference: no point here has an impact{why}")
    most = max(options.most, style.MOST_LINES), curves.MOST_PANELS // len(_SHOWN)
    points, left_out = curves.thinned(points, "message_size", *most)
    sizes = sorted(points["message_size"].unique())  # looks are the same in every panel
    charts = [
        _chart(str(name), rows, sizes, shown)
        for name in setting_order.in_order(points)
        for shown in _SHOWN
        if (rows := points[points["setting"] == name])[f"impact_{shown}"].notna().any()
    ]
    if without:
        left_out = (*left_out, f"{labels.count_text(without, 'point')}: {impact.NO_LOAD}")
    title = "Impact of a load on others"
    return Figure("interference", title, curves.alike(charts), _said(points), left_out)


def _chart(setting: str, rows: pd.DataFrame, sizes: list[int], name: str) -> Chart:
    drawn = []
    for look, size in enumerate(sizes):
        mine = rows[(rows["message_size"] == size) & rows[f"impact_{name}"].notna()]
        if mine.empty:
            continue
        levels = [
            (level, _ratio(of, name), of) for level, of in mine.groupby("load_level", sort=True)
        ]
        x = np.array([float(str(level)) for level, _, _ in levels])
        y, low, high = (np.array([ratio[i] for _, ratio, _ in levels]) for i in range(3))
        hover = tuple(f"load {of['load_gbps'].median():.3g} Gbit/s" for _, _, of in levels)
        drawn.append(
            Curve(labels.size_text(size), x, y, low, high, look % style.MOST_LINES, hover=hover)
        )
    kinds = rows["victim_kind"].unique() if "victim_kind" in rows else [impact.ECHO]
    things = impact.THINGS.get(str(kinds[0]), "time") if len(kinds) == 1 else "time"
    top = max(float(np.nanmax(np.append(one.x, 100.0))) for one in drawn)
    return Chart(
        title=f"{impact.STATISTICS[name]} {things}",
        subtitle=setting,
        x=Axis("Load (% of its full rate)", limits=(-3.0, top + 3)),
        y=Axis("Impact: under load / alone", log=True),
        curves=tuple(drawn),
        bounds=(Bound("no impact", np.array([0.0, top]), np.array([1.0, 1.0])),),
        legend="Size",
    )


def _ratio(rows: pd.DataFrame, name: str) -> tuple[float, float, float]:
    """Of one launch its own; of several the geometric mean, of three or more with its interval."""
    if len(rows) == 1:
        ratio, low, high = (
            float(rows[f"impact_{name}{end}"].iloc[0]) for end in ("", "_low", "_high")
        )
        return ratio, low, high
    logs = np.log(rows[f"impact_{name}"].to_numpy(dtype=float))
    mean = float(logs.mean())
    if logs.size < _LEAST:
        return math.exp(mean), math.nan, math.nan
    reach = float(laws.t_ppf(0.975, logs.size - 1)) * float(logs.std(ddof=1)) / math.sqrt(logs.size)
    return math.exp(mean), math.exp(mean - reach), math.exp(mean + reach)


def _said(points: pd.DataFrame) -> tuple[str, ...]:
    alternations = labels.range_text(int(n) for n in points["alternations"])
    n = f"n\u00a0=\u00a0{alternations} alternations per point"
    many = points.groupby(["setting", "message_size", "load_level"])["point"].size()
    if many.max() > 1:
        launches = labels.range_text(many)
        return (
            n,
            f"geometric mean of {launches} launches, bars: its 95\u00a0% interval of 3 or more",
        )
    return n, "one launch, bars: 95\u00a0% interval over the alternations of 6 or more"
