# SPDX-License-Identifier: BSD-3-Clause
"""Where the mean latency of messages over a relay is: at the relay, at the client, on the way."""

from __future__ import annotations

from typing import Final

import numpy as np

from a2aperf import curves, labels, setting_order
from a2aperf.chart import Axis, Chart, Curve, Figure
from a2aperf.curves import Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.open_loop import rates, relay

_PARTS: Final = (
    ("rest", "both hops and the server"),
    ("there", "in the relay"),
    ("back", "in the relay with the answer"),
    ("client", "before the send"),
)
"""From the bottom up."""
_PANELS: Final = 2
"""Of each setting and size."""


def figure(results: Results, options: Options) -> Figure:
    """Of each setting and size the parts in µs, and their shares one upon the other.

    The shares stand at the rates that were offered: between them nothing is known.
    """
    found = results.complete(rates.ROLES)
    points = relay.over_relays(found)
    if points.empty:
        raise InputError("relay: no point here has messages over a relay (--relays)")
    known = {index: relay.parts(found, row) for index, row in points.iterrows()}
    left_out: tuple[str, ...] = ()
    lost = [index for index, part in known.items() if part is None]
    if lost:
        many = labels.count_text(len(lost), "point")
        left_out += (f"{many} with messages without an answer, or without samples, not drawn",)
    points = setting_order.with_settings(found, points, options.by, axes=("rate",), scaled=True)
    points = points.drop(index=lost)
    if points.empty:
        raise InputError(f"relay: nothing to draw: {left_out[0]}")
    for name, _ in _PARTS:
        points[name] = [getattr(known[index], name) / 1000 for index in points.index]
    places = [
        (str(name), int(size))
        for name in setting_order.in_order(points)
        for size in sorted(points.loc[points["setting"] == name, "message_size"].unique())
    ]
    most = curves.MOST_PANELS // _PANELS
    left_out += curves.fitting(len(places), most, "settings and sizes")
    shown = [
        (name, size, points[(points["setting"] == name) & (points["message_size"] == size)])
        for name, size in places[:most]
    ]
    charts = [chart for name, size, rows in shown for chart in _charts(name, size, rows)]
    drawn = pd.concat([rows for _, _, rows in shown])
    title = "Mean latency over a relay"
    return Figure("relay", title, curves.alike(charts), _said(drawn), left_out)


def _charts(setting: str, size: int, rows: pd.DataFrame) -> tuple[Chart, Chart]:
    """The means of launches, so that parts add up to the whole."""
    means = rows.groupby("rate", sort=True)[["offered_rate", *dict(_PARTS)]].mean()
    x = means["offered_rate"].to_numpy(dtype=float)
    part = means[list(dict(_PARTS))].to_numpy(dtype=float).T
    shares = 100 * part / part.sum(axis=0)
    subtitle = ", ".join(filter(None, (labels.size_text(size), setting)))
    rate = Axis("Offered rate (messages/s)", log=True, unit="messages/s")
    lines, bars = [], []
    tops = np.cumsum(shares, axis=0)
    for look, (_, name) in enumerate(_PARTS):
        hover = tuple(f"{share:.1f} % of the mean latency" for share in shares[look])
        lines.append(Curve(name, x, part[look], look=look, hover=hover))
        low = tops[look] - shares[look]
        bars.append(
            Curve(name, x, tops[look], low, tops[look], look=look, form="bars", listed=False)
        )
        bars.append(Curve(name, x, tops[look], look=look, form="points", hover=hover, listed=False))
    legend = "Where the time is"
    return (
        Chart(
            title="Parts of the mean latency",
            subtitle=subtitle,
            x=rate,
            y=Axis("Time (µs)", from_zero=True, unit="µs"),
            curves=tuple(lines),
            legend=legend,
        ),
        Chart(
            title="Their shares",
            subtitle=subtitle,
            x=rate,
            y=Axis("% of the mean latency", limits=(0.0, 103.0)),
            curves=tuple(bars),
            legend=legend,
        ),
    )


def _said(points: pd.DataFrame) -> tuple[str, ...]:
    many = points.groupby(["setting", "message_size", "rate"])["point"].size()
    launches = (
        f"means of {labels.range_text(many)} launches"
        if many.max() > 1
        else "one launch, so no interval: how much launches differ is not known"
    )
    return (
        *rates.said(points),
        launches,
        "times in the relay by its own clock, the rest is what is left of the client's",
    )


def is_there(results: Results) -> bool:
    """Whether some point went over a relay and can be taken apart."""
    found = results.measured(rates.ROLES)
    return any(
        relay.parts(found, row) is not None for _, row in relay.over_relays(found).iterrows()
    )
