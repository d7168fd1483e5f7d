# SPDX-License-Identifier: BSD-3-Clause
"""What of an op's time its traffic alone asks for: an imbalance is not a loss of the network."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from a2aperf.explain import series
from a2aperf.explain.finding import Finding, percent, spanned, us
from a2aperf.results import Results
from a2aperf.workloads.alltoall import matrices

CELL = ("launch", "mode", "schedule", "window", "message_size", "ranks", "engine", "post")
"""What the uniform point beside another one has in common with it."""


def of_equal_ranks(
    find: Callable[[Results], list[Finding]],
) -> Callable[[Results], list[Finding]]:
    """The same of uniform traffic alone: a rank that has more to do is rightly later."""

    def of_uniform(found: Results) -> list[Finding]:
        if matrices.TRAFFIC not in found.points:
            return find(found)
        equal = found.select(found.points[matrices.TRAFFIC] == matrices.UNIFORM)
        return [] if equal.points.empty else find(equal)

    return of_uniform


def beside_uniform(points: pd.DataFrame) -> pd.Series[float]:
    """What the busiest rank moved in a second, over what each moved in the uniform traffic.

    In that of the same launch and cell; NaN where it was not measured.
    """
    uniform = points[points[matrices.TRAFFIC] == matrices.UNIFORM]
    times = uniform.groupby(list(CELL), dropna=False)["time_p50"].median()
    cells = pd.MultiIndex.from_frame(points[list(CELL)])
    beside = pd.Series(times.reindex(cells).to_numpy(float), index=points.index)
    return points["imbalance"].astype(float) * beside / points["time_p50"].astype(float)


def find(found: Results) -> list[Finding]:
    """For each traffic of a launch what it asks, and what of that was reached."""
    points = found.points
    if not {matrices.TRAFFIC, "imbalance", "bound_share"} <= set(points):
        return []
    points = points.assign(series=series.named(found), beside=beside_uniform(points))
    uneven = points[(points[matrices.TRAFFIC] != matrices.UNIFORM) & points["imbalance"].notna()]
    findings = []
    for (_, name), rows in uneven.groupby(["launch", "series"], dropna=False):
        bounded = rows[rows["bound_share"].notna()]
        beside = rows[rows["beside"].notna()]
        if len(bounded):
            findings.append(_bounded(str(name), bounded))
        elif len(beside):
            findings.append(_beside(str(name), beside))
    return findings


def _who(row: pd.Series) -> str:
    return matrices.Busiest(str(row["busiest"]), int(row["busiest_index"])).words


def _bounded(name: str, rows: pd.DataFrame) -> Finding:
    worst = series.most(rows, -rows["bound_share"].astype(float))
    best = series.most(rows, rows["bound_share"].astype(float))
    lost = float(worst["time_p50"] - worst["bound"])
    text = (
        f"{best[matrices.TRAFFIC]}: {_who(best)} more than any other; that alone takes "
        f"{us(float(best['bound']))} at {best['message_size']} B on these links, and "
        f"{percent(float(best['bound_share']))} of it was reached"
    )
    if len(rows) > 1:
        text += (
            f"; least at {worst['message_size']} B, {percent(float(worst['bound_share']))}, where "
            f"{us(lost)} of {us(float(worst['time_p50']))} are not the traffic's"
        )
    return Finding(
        "traffic",
        text,
        series.place(best),
        int(rows["ops"].sum()),
        weight=1 - float(best["bound_share"]),
        numbers={
            "series": name,
            "largest_share": float(best["bound_share"]),
            "least_share": float(worst["bound_share"]),
            "bound": float(best["bound"]),
        },
    )


def _beside(name: str, rows: pd.DataFrame) -> Finding:
    first = rows.iloc[0]
    shares = [float(share) for share in rows["beside"]]
    return Finding(
        "traffic",
        f"{first[matrices.TRAFFIC]}: {_who(first)} {first['imbalance']:.3g} times the mean; at its "
        f"busiest rank {spanned([100 * share for share in shares])} % of what each rank moves in "
        "the uniform traffic beside it",
        series.place(first),
        int(rows["ops"].sum()),
        weight=1 - min(shares),
        numbers={"series": name, "imbalance": float(first["imbalance"]), "least": min(shares)},
    )
