# SPDX-License-Identifier: BSD-3-Clause
"""Another mode of the same launches moves more, and large messages that move in one direction only.

Points of a launch are measured one after the other, and a machine may change in between. So each
launch must show it, its intervals apart and by a tenth; what is told is what these launches saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from a2aperf.explain import series
from a2aperf.explain.finding import Finding, listed, percent, spanned
from a2aperf.labels import count_text
from a2aperf.results import Results

_CELL: Final = ["ranks", "schedule", "window", "message_size", "engine", "post"]
"""What points of two modes have in common."""
_DEFAULT: Final = "tagged"
_LEAST: Final = 1.1
"""Times as fast: less is what a machine does by itself from point to point."""
_ONE_WAY: Final = ("tagged", "msg")
"""Sent as messages: a provider may hold a large one back until its peer's has come."""
_LARGE: Final = 1 << 18
"""B from which on the link alone decides, and not the cost of a message."""
_HALF: Final = (0.45, 0.55)
_HALF_OF_LINK: Final = (0.43, 0.505)
"""Framing takes up to an eighth of a link's half."""
_FLAT: Final = 0.05


def find(found: Results) -> list[Finding]:
    """For each pair of modes where one is faster, and for each series at half of its link."""
    points = found.points.assign(series=series.named(found))
    return [*_pairs(points), *_halves(points)]


def _pairs(points: pd.DataFrame) -> list[Finding]:
    modes = list(dict.fromkeys(points["mode"]))
    usual = _DEFAULT if _DEFAULT in modes else modes[0]
    of_usual = points[points["mode"] == usual]
    findings = []
    for mode in modes:
        if mode == usual:
            continue
        keys = ["launch", *_CELL]
        beside = points[points["mode"] == mode].merge(of_usual, on=keys, suffixes=("", "_usual"))
        if beside.empty:
            continue
        beside["times"] = beside["time_p50_usual"] / beside["time_p50"]
        apart = beside["time_p50_high"] < beside["time_p50_low_usual"]
        beside["sure"] = apart & (beside["times"] >= _LEAST)
        by_cell = beside.groupby(_CELL, dropna=False)
        cells = by_cell.agg(times=("times", "min"), sure=("sure", "all"), ops=("ops", "sum"))
        faster = cells[cells["sure"]].reset_index()
        if len(faster):
            launches = beside["launch"].nunique()
            findings.append(
                _told(mode, usual, faster, len(cells), launches, _is_half(beside, usual))
            )
    return findings


def _is_half(beside: pd.DataFrame, usual: str) -> bool:
    """Whether between nodes the usual mode moved half at every large size, in every launch."""
    between = beside[(beside["message_size"] >= _LARGE) & (beside["nodes"].fillna(1) > 1)]
    if usual not in _ONE_WAY or between.empty:
        return False
    return bool(between["sure"].all() and (1 / between["times"]).between(*_HALF).all())


def _told(
    mode: str, usual: str, faster: pd.DataFrame, cells: int, launches: int, is_half: bool
) -> Finding:
    best: Any = series.most(faster, faster["times"])
    most = f", most at {best['message_size']} B" if len(faster) > 1 else ""
    text = f"{mode} was {spanned(list(faster['times']))} times as fast as {usual}{most}"
    if is_half:
        text += (
            f"; of large messages {usual} moved half as much, as where a provider sends in one "
            "direction at a time (half duplex)"
        )
    sizes = listed(f"{size} B" for size in sorted(set(faster["message_size"])))
    return Finding(
        "faster",
        f"{text}; a study with --compare=--mode={usual},{mode} tells how sure that is",
        f"{listed(sorted(set(faster['ranks'])))} ranks, {len(faster)} of "
        f"{count_text(cells, 'point')} in {count_text(launches, 'launch', 'launches')}: {sizes}",
        int(faster["ops"].sum()),
        weight=float(best["times"]),
        numbers={
            "mode": mode,
            "against": usual,
            "times": float(best["times"]),
            "message_size": int(best["message_size"]),
            "half_duplex": int(is_half),
        },
    )


def _halves(points: pd.DataFrame) -> list[Finding]:
    """Large messages at half of a known link, where no other mode was measured beside them."""
    rails = points["rails"].astype("Float64").fillna(1)
    share = points["gbps_node_net"] / (points["link_rate_gbps"] * rails)
    points = points.assign(share=share.astype(float))
    known = points[points["share"].notna() & (points["message_size"] >= _LARGE)]
    findings = []
    for name, rows in known.groupby("series", dropna=False):
        alone = points.loc[points["launch"].isin(rows["launch"]), "mode"].nunique() == 1
        by_size = rows.groupby("message_size")["share"].median()
        if alone and set(rows["mode"]) <= set(_ONE_WAY) and _is_flat_half(list(by_size)):
            findings.append(_suspected(str(name), rows, by_size))
    return findings


def _is_flat_half(shares: Sequence[float]) -> bool:
    low, high = min(shares), max(shares)
    within = _HALF_OF_LINK[0] <= low and high <= _HALF_OF_LINK[1]
    return len(shares) > 1 and within and high <= low * (1 + _FLAT)


def _suspected(name: str, rows: pd.DataFrame, shares: pd.Series[float]) -> Finding:
    mode = str(rows["mode"].iloc[0])
    other = "write-imm"
    return Finding(
        "faster",
        f"{percent(float(np.median(shares)))} of the link at every size from "
        f"{int(shares.index.min())} B on: one direction at a time (half duplex) looks like that, "
        f"and so does a path that two nodes share; --mode {mode},{other} tells which",
        listed([f"{rows['ranks'].iloc[0]} ranks", *([name] if name else [])]),
        int(rows["ops"].sum()),
        numbers={"share": float(np.median(shares)), "series": name},
    )
