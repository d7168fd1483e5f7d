# SPDX-License-Identifier: BSD-3-Clause
"""Samples insufficient, or too often invalid, for what one would like to claim from them."""

from __future__ import annotations

from typing import Final

import numpy as np

from a2aperf import metrics
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, percent, spanned
from a2aperf.labels import count_text
from a2aperf.maxima import are_maxima
from a2aperf.results import Results

_INVALID: Final = 0.1


def find(found: Results) -> list[Finding]:
    """Percentiles that equal the maximum, intervals that do not exist, ops thrown away."""
    points = found.points
    return [*_percentiles(points, found), *_intervals(points), *_invalid(points, found)]


def _percentiles(points: pd.DataFrame, found: Results) -> list[Finding]:
    findings = []
    for name, q in (("p90", 0.9), ("p99", 0.99)):
        is_maximum = are_maxima(found, points, q)
        count = sum(is_maximum)
        if count:
            ops = points.loc[is_maximum, "ops"]
            findings.append(
                Finding(
                    "samples",
                    f"{name} is the largest sample in {count} of "
                    f"{count_text(len(points), 'point')} (n = {spanned(list(ops), 'd')}): "
                    "read it as max",
                    "all points" if count == len(points) else "points with few ops",
                    int(ops.sum()),
                    weight=count / len(points),
                    numbers={"points": count},
                )
            )
    return findings


def _intervals(points: pd.DataFrame) -> list[Finding]:
    findings = []
    for name, q, needed in (("median", 0.5, 6), ("p99", 0.99, 368)):
        short = [
            bool(pd.notna(n)) and metrics.interval_indices(int(n), q) is None
            for n in points["ops"]  # an imported text may not tell them
        ]
        if any(short):
            ops = points.loc[short, "ops"]
            findings.append(
                Finding(
                    "samples",
                    f"no 95 % interval of the {name} exists in {sum(short)} of "
                    f"{count_text(len(points), 'point')} (n = {spanned(list(ops), 'd')}; "
                    f"{needed} ops are needed)",
                    "all points" if all(short) else "points with few ops",
                    int(ops.sum()),
                    weight=sum(short) / len(points) / 2,
                    numbers={"points": sum(short)},
                )
            )
    return findings


def _invalid(points: pd.DataFrame, found: Results) -> list[Finding]:
    tried = points[points["attempts"].fillna(0) > 0]
    share = tried["invalid"] / tried["attempts"]
    bad = tried[share > _INVALID]
    if bad.empty:
        return []
    return [
        Finding(
            "samples",
            f"in {len(bad)} of {count_text(len(points), 'point')} more than {percent(_INVALID)} of "
            f"the ops began late and are left out (up to {percent(float(share.max()))}"
            f"{_latest(bad, found)}): "
            "ranks do not start together, a barrier start may tell more",
            "points with invalid ops",
            int(bad["attempts"].sum()),
            weight=float(share.max()),
            numbers={"points": len(bad), "largest_share": float(share.max())},
        )
    ]


def _latest(bad: pd.DataFrame, found: Results) -> str:
    """The rank that was the last to begin in most of the ops left out, of the worst point."""
    row = bad.iloc[int((bad["invalid"] / bad["attempts"]).to_numpy().argmax())]
    if not row["has_raw"]:
        return ""
    raw = found.raw(str(row["file"]), int(row["point"]))
    who = raw.begin[~raw.valid].argmax(axis=1)
    counts = np.bincount(who, minlength=raw.begin.shape[1])
    rank = int(counts.argmax())
    facts = found.launches[str(row["launch"])]
    host = facts.host_of(rank)
    return f"; there rank {rank} ({host}) began last in {int(counts[rank])} of {len(who)} of them"
