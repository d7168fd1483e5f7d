# SPDX-License-Identifier: BSD-3-Clause
"""The nights as a picture: a row for each node, adapter, direction or pair, a column a night."""

from __future__ import annotations

from typing import Final

import numpy as np

from a2aperf.chart import Axis, Chart, Figure, Heat
from a2aperf.labels import count_text, size_text
from a2aperf.nodes.history import NodeHistory, What

_MOST_NAMES: Final = 20
_MOST_DATES: Final = 8
_BULK: Final = 0.99
"""Share of the values that have colours of their own."""
_LEAST: Final = 5.0  # per cent; smaller differences are pale


def figure(found: NodeHistory) -> Figure:
    """The largest message size of each part: how long each took beside the others."""
    largest: dict[str, What] = {}
    for what in found.series:  # smallest first
        largest[what.part] = what
    charts = tuple(_chart(found, what) for what in largest.values())
    notes = [
        f"{count_text(found.launches, 'launch', 'launches')}; of a day with several the median"
    ]
    if any(np.isnan(found.series[what]).any() for what in largest.values()):
        notes.append("hatched: not known")
    left_out = len({what.message_size for what in found.series}) - 1
    other = (f"{count_text(left_out, 'smaller message size')} not shown",) if left_out > 0 else ()
    return Figure("nights", f"Each {found.per} over the nights", charts, tuple(notes), other)


def _chart(found: NodeHistory, what: What) -> Chart:
    values = 100 * np.expm1(found.series[what].T)
    known = np.abs(values[np.isfinite(values)])
    top = max(_LEAST, float(np.quantile(known, _BULK)) if known.size else 0.0)
    days = np.arange(len(found.days), dtype=float)
    step = -(-len(found.days) // _MOST_DATES)
    dates = [(float(i), str(np.datetime64(found.days[i], "D"))) for i in days[::step].astype(int)]
    return Chart(
        title=f"{what.part}, {size_text(what.message_size)}",
        x=Axis("Night (UTC)", ticks=tuple(dates), upright=True, limits=(-0.5, len(days) - 0.5)),
        y=Axis(found.per.capitalize(), ticks=_names(found)),
        heat=Heat(
            values,
            days,
            np.arange(len(found.nodes), dtype=float),
            f"% more time than the other {found.per}s",
            top,
            -top,
            dark_is_high=True,
            hover=f"{found.per} {{y}}, night {{x}}: {{z}} %",
        ),
    )


def _names(found: NodeHistory) -> tuple[tuple[float, str], ...]:
    """All; where there is no room for them those that moved or are slow."""
    told = {*(one.node for one in found.moved), *(one.node for one in found.slow)}
    is_few = len(found.nodes) <= _MOST_NAMES
    shown = [(float(i), name) for i, name in enumerate(found.nodes) if is_few or name in told]
    return tuple(shown[:_MOST_NAMES]) or ((0.0, found.nodes[0]),)
