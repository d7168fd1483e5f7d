# SPDX-License-Identifier: BSD-3-Clause
"""Percentiles of round trips on a tail axis: each further nine is as wide as the last."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from a2aperf import curves, labels, setting_order, style
from a2aperf.chart import Axis, Chart, Curve, Figure
from a2aperf.curves import Kind, Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.maxima import are_maxima
from a2aperf.results import Results
from a2aperf.round_trips import histogram

_QUANTILES: Final = {
    "time_min": 0.0,  # beside the scale: a minimum has no percentile
    "time_p50": 0.5,
    "time_p90": 0.9,
    "time_p99": 0.99,
    "time_p999": 0.999,
    "time_p9999": 0.9999,
    "time_p99999": 0.99999,
}
_ROLES: Final = ("echo",)
_APART: Final = 0.15  # of the longest from a percentile, in nines


def figure(results: Results, options: Options) -> Figure:
    """A panel per operation and setting, a line per size from its minimum to its maximum."""
    found = results.complete(_ROLES)
    points = setting_order.with_settings(found, found.points, options.by, scaled=True)
    points, maxima = _without_maxima(found, _with_further(found, points))
    names = [name for name in _QUANTILES if name in points and points[name].notna().any()]
    points = points[points[names].notna().any(axis=1)] if names else points.iloc[:0]
    if points.empty:
        raise InputError("tails: no round trip here has a percentile")
    left_out: tuple[str, ...] = ()
    without = len(found.points) - len(points)
    if without:
        left_out = (f"{labels.count_text(without, 'point')} without percentiles not drawn",)
    shown, fewer = curves.thinned(points, "message_size", max(options.most, style.MOST_LINES))
    left_out += fewer
    sizes = sorted(shown["message_size"].unique())
    limits = _limits(shown, names)
    charts = [
        _chart(str(name), shown[shown["setting"] == name], names, sizes, limits)
        for name in setting_order.in_order(shown)
    ]
    title = "Round trips: percentiles"
    return Figure("tails", title, tuple(charts), (*_said(shown), *maxima), left_out)


def _with_further(found: Results, points: pd.DataFrame) -> pd.DataFrame:
    """With more percentiles than a file has columns for, where a histogram has them."""
    quantiles = {name: q for name, q in _QUANTILES.items() if q > 0.999}
    rows = points[histogram.rest_on_it(points)]
    if rows.empty:
        return points
    told = {index: histogram.further(found, row, quantiles) for index, row in rows.iterrows()}
    further = pd.DataFrame.from_dict(told, orient="index", columns=list(quantiles))
    lacking = {name: np.nan for name in quantiles if name not in points}
    return points.assign(**lacking).fillna(further)


def _without_maxima(found: Results, points: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Without percentiles for which n is too small: the longest, where known, stands for them."""
    if "time_max" not in points:
        return points, ()
    names = [name for name, q in _QUANTILES.items() if q > 0.5 and name in points]
    longest, without = points["time_max"], points.copy()
    untold = []
    for name in names:
        is_maximum = pd.Series(are_maxima(found, points, _QUANTILES[name]), index=points.index)
        without[name] = points[name].mask(is_maximum & longest.notna())
        if (points["ops"].isna() & (points[name] == longest)).any():
            untold.append(_nines(_QUANTILES[name]))
    notes: list[str] = []
    if (without[names].isna() & points[names].notna()).to_numpy().any():
        notes.append("a percentile that is the longest, since n is too small, has no mark")
    if untold:
        which = labels.list_text(untold)
        verb = "is" if len(untold) == 1 else "are"
        notes.append(f"{which} {verb} the longest here and there: n, which is unknown, is small")
    return without, tuple(notes)


def _nines(quantile: float) -> str:
    return f"p{100 * quantile:.10g}"


def _place(quantile: float) -> float:
    """Nines: 1 at p90, 2 at p99; the minimum stands left of p50."""
    return -math.log10(1 - quantile) if quantile else -math.log10(2)


def _limits(points: pd.DataFrame, names: list[str]) -> tuple[float, float]:
    known = points[[*names, "time_max"]].to_numpy(dtype=float) / 1000
    return curves.with_air(known[np.isfinite(known) & (known > 0)], log=True)


def _chart(
    setting: str,
    rows: pd.DataFrame,
    names: list[str],
    sizes: list[float],
    limits: tuple[float, float],
) -> Chart:
    drawn = []
    for look, size in enumerate(sizes):
        mine = rows[rows["message_size"] == size]
        if len(mine):
            drawn.append(_curve(mine, names, size, look))
    ticks = [(_place(q), _nines(q) if q else "min") for q in _QUANTILES.values()]
    last = max(float(curve.x[-1]) for curve in drawn)
    return Chart(
        title=setting or "Round trips",
        x=Axis(
            "Percentile",
            ticks=tuple((x, text) for x, text in ticks if x <= last + 0.01),
            limits=(_place(0.0) - 0.1, last + 0.1),
        ),
        y=Axis("Round trip (µs)", log=True, limits=limits, unit="µs"),
        curves=tuple(drawn),
        legend="Size of the answer",
    )


def _curve(rows: pd.DataFrame, names: list[str], size: float, look: int) -> Curve:
    """Of what is known: a percentile that is not there is passed over, and the next one drawn."""
    values = rows[names].to_numpy(dtype=float) / 1000
    known = [place for place in range(len(names)) if np.isfinite(values[:, place]).any()]
    x = [_place(_QUANTILES[names[place]]) for place in known]
    of = [values[np.isfinite(values[:, place]), place] for place in known]
    if _tells_longest(rows):
        # All of n are within 1 − 1/n, nearly; of several n right of every percentile.
        x.append(max(math.log10(float(rows["ops"].max())), max(x) + _APART))
        of.append(rows["time_max"].to_numpy(dtype=float) / 1000)
    middle, low, high = (np.array([f(v) for v in of]) for f in (np.median, np.min, np.max))
    if len(rows) == 1:
        low = high = np.full(len(x), np.nan)
    return Curve(labels.size_text(size), np.array(x), middle, low, high, look % style.MOST_LINES)


def _tells_longest(rows: pd.DataFrame) -> bool:
    """Whether it is known of all, and where on the axis it stands."""
    return bool((rows["time_max"].notna() & rows["ops"].notna() & (rows["ops"] > 1)).all())


def _said(points: pd.DataFrame) -> tuple[str, ...]:
    known = points["ops"].dropna()
    span = labels.range_text(int(n) for n in known)
    n = f"n\u00a0=\u00a0{span} round trips per point" if len(known) else ""
    if len(known) < len(points):
        n = f"{n}, of some unknown" if n else "n unknown: the text does not tell it"
    lines = points.groupby(["setting", "message_size"], dropna=False)
    many = lines["point"].size()
    if many.max() > 1:
        launches = lines["launch"].nunique()
        what = "launches" if (launches == many).all() else "runs"
        said = f"median of {labels.range_text(many)} {what}, bars: their range"
    else:
        said = "one run each, so no interval: how much runs differ is not known"
    has_longest = any(_tells_longest(rows) for _, rows in lines)
    longest = ["right of the percentiles: the longest"] if has_longest else []
    return (n, said, *longest, *filter(None, [histogram.words(points)]))


KINDS: dict[str, Kind] = {
    "tails": Kind(
        figure,
        "percentiles of round trips from the minimum to the last nine, a line per size",
        "A line that turns up early has a long tail: few round trips take much longer than the "
        "others. Each further nine is as wide as the last.",
    ),
}
