# SPDX-License-Identifier: BSD-3-Clause
"""Points compared with what their shape can reach at most: a line for each factor, and the sum.

A factor that is known and not exceeded is a bound and no verdict: what is judged is their least.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import percent
from a2aperf.gating import ceiling
from a2aperf.gating.ceiling import Factor, Shape
from a2aperf.gating.checks import Check, State
from a2aperf.gating.given import Given
from a2aperf.labels import count_text, list_text, size_text
from a2aperf.results import Results

_LINE: Final = ["series", "ranks", "nodes", "ppn"]
_SURE: Final = 1.02
"""Share from which a factor is wrong: what is measured has an error, too."""


def check(found: Results, given: Given) -> list[Check]:
    """For each scale and setting, at the message size that comes closest to the ceiling."""
    points = found.points.assign(series=series.named(found))
    alone = points["nodes"] == 1
    points["reached"] = points["gbps_rank"].where(alone, points["gbps_node_net"])
    checks = []
    for _, mine in points.groupby(_LINE, dropna=False, sort=True):
        checks += _of_scale(found, mine, given)
    return checks


def _of_scale(found: Results, points: pd.DataFrame, given: Given) -> list[Check]:
    medians = points.groupby("message_size")["reached"].median().astype("Float64")
    first: Any = points.iloc[0]
    scale = grouping.scale_text(first["ranks"], first["nodes"])
    known = medians.dropna()
    if known.empty:
        at = ", ".join(filter(None, [scale, str(first["series"])]))
        return [Check("expected", at, State.UNKNOWN, why="no rate is known")]
    best: Any = known.idxmax()
    size = int(best)
    rows = points[points["message_size"] == size]
    at = ", ".join(filter(None, [scale, size_text(size), str(first["series"])]))
    launches = int(rows["launch"].nunique())
    n = f"{count_text(launches, 'launch', 'launches')}, {count_text(int(rows['ops'].sum()), 'op')}"
    reached = float(known[size])
    shape = _shape(found, rows)
    factors = ceiling.factors(shape, given)
    checks = [_factor(one, reached, at, n, launches) for one in factors]
    return [*checks, _sum(factors, shape, reached, given, (at, n, launches))]


def _shape(found: Results, rows: pd.DataFrame) -> Shape:
    first: Any = rows.iloc[0]
    return Shape(
        str(first["provider"]),
        int(first["ranks"]),
        int(first["nodes"]),
        int(first["ppn"]),
        _least(rows["rails"]),
        _least(rows["link_rate_gbps"]),
        [found.launches[key] for key in rows["launch"].dropna().unique()],
    )


def _least(values: pd.Series[Any]) -> float:
    """NaN where one is unknown."""
    return float(values.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan).min())


def _factor(one: Factor, reached: float, at: str, n: str, launches: int) -> Check:
    if math.isnan(one.gbps):
        return Check(one.name, at, State.UNKNOWN, n=n, launches=launches, why=one.source)
    if math.isinf(one.gbps):
        return Check(
            one.name, at, State.OK, n=n, launches=launches, why=one.source, is_judged=False
        )
    share = reached / one.gbps
    shown = (percent(share), f"at most {one.gbps:.4g} Gbit/s")
    figures: dict[str, float | int | None] = {"ceiling_gbps": one.gbps, "gbps": reached}
    is_wrong = share > _SURE
    state = State.UNKNOWN if is_wrong else State.OK
    why = f"{one.source}: more than there can be, so this is wrong" if is_wrong else one.source
    return Check(one.name, at, state, share, 1.0, shown, n, launches, why, figures, is_wrong)


def _sum(
    factors: list[Factor], shape: Shape, reached: float, given: Given, of: tuple[str, str, int]
) -> Check:
    """The share of the least of all factors, where each is known."""
    at, n, launches = of
    lacking = [one.name for one in factors if math.isnan(one.gbps)]
    if lacking:
        why = f"the ceiling is not known without {list_text(lacking)}"
        return Check("expected", at, State.UNKNOWN, n=n, launches=launches, why=why)
    least = min(factors, key=lambda one: one.gbps)
    share = reached / least.gbps
    state = State.OK if share >= given.least else State.CRITICAL
    whose = "a rank" if shape.nodes == 1 else "a node"
    why = f"{reached:.4g} of at most {least.gbps:.4g} Gbit/s {whose}, one way, by the {least.name}"
    if shape.nodes > 1 and shape.ppn > 1:
        leaves = (shape.ranks - shape.ppn) / (shape.ranks - 1)
        why += f"; {percent(leaves)} of what each of {shape.ppn} ranks sends leaves the node"
    if share > _SURE:
        state = State.UNKNOWN
        why = f"{why}: more than there can be, so one of the factors is wrong"
    shown = (percent(share), f"at least {percent(given.least)}")
    figures: dict[str, float | int | None] = {"ceiling_gbps": least.gbps, "gbps": reached}
    return Check("expected", at, state, share, given.least, shown, n, launches, why, figures)
