# SPDX-License-Identifier: BSD-3-Clause
"""What was counted for each message, against the message size: of every workload."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from a2aperf import counter_table, curves, labels, setting_order, style
from a2aperf.chart import Axis, Chart, Curve, Figure
from a2aperf.curves import Kind, Option, Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results

_PER: Final = {"message": "per_message", "gb": "per_gb", "second": "per_second"}
_LABELS: Final = {"message": "Per message", "gb": "Per GB of payload", "second": "Per second"}
_TITLES: Final = {"message": "for each message", "gb": "per GB", "second": "per second"}
OPTIONS: Final = (
    Option("per", "what the counters are divided by. Default: message.", tuple(_PER)),
)


def figure(results: Results, options: Options) -> Figure:
    """Panels of times and of numbers for each setting, a line for each counter."""
    per = str(options.own.get("per") or "message")
    made = counter_table.frame(results)
    told = counter_table.left_out(results, made)
    left_out = [told.removeprefix("left out: ")] if told else []
    points = setting_order.with_settings(results, results.points, options.by)
    key = ["file", "point"]
    rows = made.merge(points[[*key, "setting", setting_order.PLACE]], on=key)
    rows = rows.assign(value=rows[_PER[per]].astype(float))
    if (rows["message_size"] == 0).any():
        left_out.append(curves.NO_PLACE)
    rows = rows[(rows["message_size"] > 0) & rows["value"].notna()]
    zero = rows.groupby("counter")["value"].max() == 0
    if zero.any():
        left_out.append(f"{labels.count_text(int(zero.sum()), 'counter')} with 0 at every point")
    rows = rows[~rows["counter"].isin(zero.index[zero])]
    if rows.empty:
        raise InputError(f"counters: nothing to draw: {'; '.join(left_out) or 'none is known'}")
    names, fewer = _names(rows)
    rows = rows[rows["counter"].isin(names)]
    settings = setting_order.in_order(rows)
    kinds = [of for is_time in (True, False) if len(of := rows[_is_time(rows) == is_time])]
    most = curves.MOST_PANELS // len(kinds)
    left_out += [*fewer, *curves.fitting(len(settings), most, "settings")]
    charts = [
        _chart(str(place), here, names, per)
        for of in kinds
        for place in settings[:most]
        if len(here := of[of["setting"] == place])
    ]
    launches = rows.groupby(["setting", "message_size", "counter"])["launch"].nunique()
    spread = ": their median, bars: their range" if launches.max() > 1 else ""
    n = f"n\u00a0=\u00a0{labels.range_text(launches)} launches{spread}"
    if launches.max() == 1:
        n = "n\u00a0=\u00a01 launch, so no interval: how much launches differ is not known"
    said = [n, "of all ranks or nodes together"]
    if (rows["value"] == 0).any():
        said.append("where a line lacks a mark it has 0")
    title = f"What was counted {_TITLES[per]}"
    return Figure("counters", title, curves.alike(charts), tuple(said), tuple(left_out))


def _is_time(rows: pd.DataFrame) -> pd.Series[bool]:
    return rows["counter_units"] == "ns"


def _names(rows: pd.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """As many as there are colours: times, then of the others those with most."""
    highest = rows.assign(is_time=_is_time(rows)).groupby("counter")[["is_time", "value"]].max()
    ranked = highest.sort_values(["is_time", "value"], ascending=False, kind="stable")
    names = [str(name) for name in ranked.index]
    return names[: style.MOST_LINES], curves.fitting(len(names), style.MOST_LINES, "counters")


def _chart(setting: str, rows: pd.DataFrame, names: list[str], per: str) -> Chart:
    is_time = bool(_is_time(rows).all())
    lines = []
    for look, name in enumerate(names):
        values = rows[rows["counter"] == name].groupby("message_size")["value"]
        middle = values.median()
        if middle.empty:  # of the other panel
            continue
        scale = 1e-3 if is_time else 1.0
        y, low, high = (
            np.where(one > 0, one * scale, np.nan)
            for one in (middle.to_numpy(), values.min().to_numpy(), values.max().to_numpy())
        )
        single = values.size().to_numpy() == 1
        low, high = (np.where(single, np.nan, one) for one in (low, high))
        x = middle.index.to_numpy(dtype=float)
        lines.append(Curve(name.replace("_", " "), x, y, low, high, look))
    unit = f"{_LABELS[per]} (µs)" if is_time else _LABELS[per]
    return Chart(
        title="Times" if is_time else "Counts",
        subtitle=setting,
        x=replace(curves.size_axis(rows), label="Message size"),
        y=Axis(unit, log=True),
        curves=tuple(lines),
    )


KINDS: Final = {
    "counters": Kind(
        figure,
        "context switches, faults, CPU time and port counters of each message, against its size",
        "A line that is level costs each message the same. A step says at which size another "
        "protocol begins; interrupts and context switches say who waits in the kernel.",
        options=OPTIONS,
        in_report=lambda results: False,  # of so many lines, for who asks
    ),
}
