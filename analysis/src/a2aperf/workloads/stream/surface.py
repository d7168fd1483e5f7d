# SPDX-License-Identifier: BSD-3-Clause
"""What the window does at each message size: the credit surface of streams."""

from __future__ import annotations

from typing import Final

import numpy as np

from a2aperf import labels, layouts
from a2aperf.chart import Axis, Chart, Figure, Heat
from a2aperf.curves import Option, Options
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.stream import drawn

_QUANTITIES: Final = {
    "share": "% of the highest rate of the size",
    "gbps": "Gbit/s",
    "messages": "million messages/s",
}
OPTIONS: Final = (
    Option("what", "quantity of the colours. Default: share, beside gbps.", tuple(_QUANTITIES)),
)
_LARGEST: Final = 2**31


def figure(results: Results, options: Options) -> Figure:
    """Heat maps of window and message size, for each setting."""
    points, left_out = drawn.points(results, options, axes=("window",))
    hatched = "hatched: not measured" + (", or left out" if left_out else "")
    known = points[points["window"].notna()]
    windows = sorted(map(int, known["window"].unique()), key=_order)
    if len(windows) < 2:
        told = f"window {layouts.window(windows[0])} alone" if windows else "no window"
        raise InputError(f"credits: a surface needs two windows; the points here have {told}")
    if len(known) < len(points):
        many = labels.count_text(len(points) - len(known), "point")
        left_out += (f"{many} whose window is unknown not drawn",)
    panels, without = drawn.panels(known, options, ("share", "gbps"))
    charts = [_chart(name, rows, quantity, hatched) for name, quantity, rows in panels]
    left_out += without
    place = ["setting", "window", "message_size"]
    said = drawn.sample(known, place, "their range is not drawn")
    return Figure("credits", "Streams by window and size", tuple(charts), said, left_out)


def has_surface(results: Results) -> bool:
    """Whether some stream has another window than another."""
    found = results.measured(drawn.ROLES).points
    return bool(found["window"].nunique() > 1)


def _order(window: int) -> int:
    """`all`, which the file has as 0, is the largest."""
    return int(window) or _LARGEST


def _chart(setting: str, rows: pd.DataFrame, quantity: str, hatched: str) -> Chart:
    values = rows.assign(value=rows["gbps" if quantity == "gbps" else "msg_rate"])
    table = values.pivot_table(
        index="message_size", columns="window", values="value", aggfunc="median"
    ).sort_index()
    table = table[sorted(table.columns, key=lambda window: _order(int(str(window))))]
    z = table.to_numpy(dtype=float)
    if quantity == "share":
        z = 100 * z / np.nanmax(z, axis=1, keepdims=True)
    elif quantity == "messages":
        z = z / 1e6
    x, y = (np.arange(count, dtype=float) for count in (z.shape[1], z.shape[0]))
    windows = [layouts.window(window) for window in table.columns]
    sizes = [labels.size_text(size) for size in table.index]
    notes = (hatched,) if np.isnan(z).any() else ()
    top = 100.0 if quantity == "share" else float(np.nanmax(z)) or 1.0
    return Chart(
        title="Share of the highest" if quantity == "share" else "Rate",
        subtitle=setting,
        x=Axis("Window (messages)", ticks=tuple(zip(x.tolist(), windows, strict=True))),
        y=Axis("Message size", ticks=tuple(zip(y.tolist(), sizes, strict=True))),
        heat=Heat(z, x, y, _QUANTITIES[quantity], top, hover="window {x}, size {y}: {z}"),
        notes=notes,
    )
