# SPDX-License-Identifier: BSD-3-Clause
"""Interconnects as a figure: how fast each is, how sure its place is, what it costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from a2aperf import curves, labels
from a2aperf.chart import Axis, Chart, Curve, Figure
from a2aperf.labels import number_text, range_text
from a2aperf.suite.outcome import Outcome, Part
from a2aperf.suite.ranking import Cell

READS = (
    "Hollow: against another one nothing is decided; filled: against each it is ahead, behind or "
    "no different. Bars are 95\u00a0% intervals of launches."
)
"""How to read the figure."""


def figure(made: Outcome) -> Figure:
    """For each workload its rates, and the CPU time of a gigabyte where that is known."""
    charts: list[Chart] = []
    left_out: tuple[str, ...] = ()
    for part in made.parts:
        cells = made.ranking.cells(part.role)
        first = [cell for cell in cells if cell.others == cells[0].others and cell.size > 0]
        if len(first) < len(cells):
            left_out += (
                f"{part.title}: {len(cells) - len(first)} of {len(cells)} cells not shown"
                + (f"; shown is {cells[0].setting}" if cells[0].setting else ""),
            )
        if not first:
            continue
        charts.append(_rates(made, part, first))
        cost = _costs(made, part, first)
        charts += [cost] if cost.curves else []
    launches = [one.launches for here in made.ranking.standings.values() for one in here.values()]
    notes = [
        f"n\u00a0=\u00a0{range_text(launches)} launches of each",
        "hollow: undecided against another one",
        "bars: 95\u00a0% interval of launches; of costs the least and the most",
    ]
    return Figure("interconnects", "Interconnects side by side", tuple(charts), tuple(notes),
                  left_out)  # fmt: skip


def _axis(cells: Sequence[Cell]) -> Axis:
    return Axis("Message size", log=True, unit="B",
                ticks=labels.size_ticks([float(cell.size) for cell in cells]))  # fmt: skip


def _rates(made: Outcome, part: Part, cells: Sequence[Cell]) -> Chart:
    drawn: list[Curve] = []
    for look, name in enumerate(made.ranking.names):
        here = [(cell, one) for cell in cells if (one := made.ranking.standings[cell].get(name))]
        if not here:
            continue
        x = np.array([float(cell.size) for cell, _ in here])
        rate = np.array([one.rate for _, one in here])
        is_told = np.array([one.is_interval_told for _, one in here])
        low = np.where(is_told, [one.rate_low for _, one in here], np.nan)
        high = np.where(is_told, [one.rate_high for _, one in here], np.nan)
        places = [made.ranking.place(cell, name) for cell, _ in here]
        told = tuple(f"place {range_text(place)}, {one.launches} launches"
                     for place, (_, one) in zip(places, here, strict=True))  # fmt: skip
        drawn.append(Curve(name, x, rate, low, high, look=look, hover=told))
        open_ = np.array([made.ranking.is_open(cell, name) for cell, _ in here])
        if open_.any():
            drawn.append(Curve(name, x[open_], rate[open_], look=look, form="hollow", listed=False))
    judged = made.ranking.judged[part.role]
    return Chart(part.title, _axis(cells), Axis(judged.label, log=True, unit=curves.RATE),
                 curves=tuple(drawn), legend="Interconnect")  # fmt: skip


def _costs(made: Outcome, part: Part, cells: Sequence[Cell]) -> Chart:
    drawn = []
    for look, name in enumerate(made.ranking.names):
        known = [(cell, cost) for cell in cells
                 if (cost := made.costs.get(cell, {}).get(name, {}).get("cpu"))
                 and cost.least > 0]  # fmt: skip
        if not known:
            continue
        x = np.array([float(cell.size) for cell, _ in known])
        y, low, high = (
            np.array([getattr(cost, field) for _, cost in known])
            for field in ("middle", "least", "most")
        )
        told = tuple(f"{number_text(cost.middle, 2)} CPU s/GB, {cost.launches} launches"
                     for _, cost in known)  # fmt: skip
        drawn.append(Curve(name, x, y, low, high, look=look, hover=told))
    return Chart(part.title, _axis(cells), Axis("CPU time in s for a GB", log=True),
                 subtitle="cost", curves=tuple(drawn), legend="Interconnect")  # fmt: skip
