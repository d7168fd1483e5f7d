# SPDX-License-Identifier: BSD-3-Clause
"""Slow ops: p90 far above the median, or a mean that a few ops carry above p90."""

from __future__ import annotations

from typing import Final

from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, listed, percent, spanned, us
from a2aperf.results import Results

_FAR: Final = 3.0


def find(found: Results) -> list[Finding]:
    """Rows with p90/p50 > 3, by message size; and how many rows have their mean above p90."""
    points = found.points.assign(series=series.named(found))
    points["far"] = points["time_p90"] / points["time_p50"]
    findings = []
    far = points[points["far"] > _FAR]
    for size in sorted(set(far["message_size"])):
        findings.append(_far(size, far[far["message_size"] == size], points))
    above = points[points["time_mean"] > points["time_p90"]]
    if len(above):
        told = points["time_mean"].notna() & points["time_p90"].notna()
        findings.append(_mean_above(above, int(told.sum())))
    return findings


def _far(size: int, rows: pd.DataFrame, points: pd.DataFrame) -> Finding:
    worst = series.most(rows, rows["far"])
    same = int(((points["message_size"] == size) & points["far"].notna()).sum())
    return Finding(
        "tails",
        f"p90 is {spanned(list(rows['far']))} times p50 in {len(rows)} of {same} rows; most at "
        f"{worst['ranks']} ranks: p50 {us(worst['time_p50'])}, p90 {us(worst['time_p90'])}, "
        f"sustained {worst['gbps_sustained']:.3g} of {worst['gbps_rank']:.3g} Gbit/s per rank",
        f"{size} B; ranks {listed(sorted(set(rows['ranks'])), 12)}",
        int(rows["ops"].sum()),
        weight=float(worst["far"]),
        numbers={"rows": len(rows), "largest_ratio": float(worst["far"])},
    )


def _mean_above(above: pd.DataFrame, total: int) -> Finding:
    excess = above["time_mean"] / above["time_p50"] - 1
    worst = series.most(above, excess)
    return Finding(
        "tails",
        f"the mean lies above p90 in {len(above)} of {total} rows: the slowest tenth of the "
        f"ops makes it so; furthest apart: mean {us(worst['time_mean'])}, "
        f"p50 {us(worst['time_p50'])} (+{percent(float(excess.max()))})",
        f"most at {series.place(worst)}",
        int(above["ops"].sum()),
        numbers={"rows": len(above), "of": total},
    )
