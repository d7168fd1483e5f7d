# SPDX-License-Identifier: BSD-3-Clause
"""Another setting of the same launches moves more, and large messages that move one way only.

Points of a launch are measured one after the other, and a machine may change in between. So each
launch must show it, its intervals apart and by a tenth; what is told is what these launches saw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, listed, percent, spanned
from a2aperf.labels import count_text, size_text
from a2aperf.results import Results

_AXES: Final = (
    "mode", "schedule", "window",
    grouping.CHUNK, grouping.ENDPOINTS, grouping.QUEUES, grouping.THREADS, grouping.POLLING,
)  # fmt: skip
"""What a launch can have several of: points that are compared differ in one of them."""
_CELL: Final = ("ranks", "message_size", "engine", "post", "traffic", "traffic_digest")
"""What they have in common beside the others."""
_OPTIONS: Final = {grouping.POLLING: "poll"}
_DEFAULT: Final = "tagged"
_LEAST: Final = 1.1
"""Times as fast: less is what a machine does by itself from point to point."""
_ONE_WAY: Final = ("tagged", "msg")
"""Sent as messages: a provider may hold a large one back until its peer's has come."""
_LARGE: Final = 1 << 18
"""B from which on the link alone decides, and not the cost of a message."""
_HALF: Final = (0.45, 0.55)
_NEARLY_HALF: Final = (0.45, 0.66)
"""Of a link that another mode fills: while two ranks wait for one direction, others send."""
_FILLED: Final = (0.86, 1.01)
_ONE_DIRECTION: Final = ("incast", "outcast")
"""Traffic of which no two ranks send to each other: one direction at a time costs it nothing."""
_HALF_OF_LINK: Final = (0.43, 0.505)
"""Framing takes up to an eighth of a link's half."""
_FLAT: Final = 0.05


def find(found: Results) -> list[Finding]:
    """For each pair of settings where one is faster, and for each series at half of its link."""
    points = found.points.assign(series=series.named(found))
    axes = [name for name in _AXES if name in points]
    asked = points.assign(window=grouping.asked_windows(points))
    if grouping.QUEUES in asked:  # one endpoint has one queue, whatever is asked for
        several = asked[grouping.ENDPOINTS] > 1
        asked[grouping.QUEUES] = asked[grouping.QUEUES].where(several)
    return [
        *(one for axis in axes for one in _pairs(asked, axis, axes)),
        *_halves(points[_are_uniform(points)]),
    ]


def _are_uniform(points: pd.DataFrame) -> pd.Series[bool]:
    """Those whose nodes all have as much to send, and each both ways; older files have no other."""
    if "traffic" not in points:
        return pd.Series(True, index=points.index)
    return points["traffic"].fillna("uniform").isin(("uniform", ""))


def _pairs(points: pd.DataFrame, axis: str, axes: Sequence[str]) -> list[Finding]:
    """Where another value than the usual one is faster, at what else is the same."""
    values = list(dict.fromkeys(points[axis].dropna()))
    if len(values) < 2:
        return []
    usual = _DEFAULT if _DEFAULT in values else values[0]
    of_usual = points[points[axis] == usual]
    shared = [*(name for name in _CELL if name in points), *(name for name in axes if name != axis)]
    findings = []
    for value in values:
        if value == usual:
            continue
        is_alone = axis == grouping.ENDPOINTS and 1 in (value, usual)
        cell = [name for name in shared if not (is_alone and name == grouping.QUEUES)]
        beside = points[points[axis] == value].merge(
            of_usual, on=["launch", *cell], suffixes=("", "_usual")
        )
        for queues, rows in _by_queues(beside) if is_alone else [("", beside)]:
            findings += _of_pair(rows, axis, (value, usual), cell, queues)
    return findings


def _by_queues(beside: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Several endpoints beside one, by the queues of the several where there are both kinds."""
    names = [name for name in (grouping.QUEUES, f"{grouping.QUEUES}_usual") if name in beside]
    if not names:
        return [("", beside)]
    kinds = beside[names].bfill(axis=1).iloc[:, 0]  # the one has none
    if kinds.nunique() < 2:
        return [("", beside)]
    return [(str(kind), rows) for kind, rows in beside.groupby(kinds, sort=False)]


def _of_pair(
    beside: pd.DataFrame, axis: str, both: tuple[Any, Any], cell: list[str], queues: str
) -> list[Finding]:
    """Of points with a value and points with the usual one, if some are faster in all launches."""
    if beside.empty:
        return []
    times = beside["time_p50_usual"] / beside["time_p50"]
    apart = beside["time_p50_high"] < beside["time_p50_low_usual"]
    beside = beside.assign(times=times, sure=apart & (times >= _LEAST))
    by_cell = beside.groupby(cell, dropna=False)
    cells = by_cell.agg(times=("times", "min"), sure=("sure", "all"), ops=("ops", "sum"))
    faster = cells[cells["sure"]].reset_index()
    if faster.empty:
        return []
    half = _half(beside, *map(str, both)) if axis == "mode" else ""
    launches = beside["launch"].nunique()
    return [_told(axis, both, faster, (len(cells), launches), half, queues)]


def _words(axis: str, value: Any, queues: str = "") -> str:
    """`queues` of several endpoints, where there are both kinds."""
    if axis == "window":
        return f"window {grouping.window_text(value)}"
    if axis == grouping.CHUNK:
        return f"chunk {size_text(value)}" if value else "whole messages"
    if axis == grouping.ENDPOINTS:
        endpoints = count_text(int(value), "endpoint")
        return f"{endpoints} with {_words(grouping.QUEUES, queues)}" if queues else endpoints
    if axis == grouping.QUEUES:
        return "one queue" if value == "one" else "a queue each"
    if axis == grouping.THREADS:
        return "one thread" if value == "one" else "a thread for each endpoint"
    return f"poll {value}" if axis == grouping.POLLING else str(value)


def _option(axis: str, value: Any) -> str:
    """As `a2aperf` takes it."""
    if axis == "window":
        return "all" if value == 0 else f"{-value}B" if value < 0 else str(value)
    return "whole" if axis == grouping.CHUNK and value == 0 else str(value)


def _of_traffic(cell: Mapping[Any, Any]) -> str:
    name = cell.get("traffic", "uniform")
    return "" if pd.isna(name) or name == "uniform" else f" of {name}"


def _half(beside: pd.DataFrame, mode: str, usual: str) -> str:
    """What it looks like if between nodes the usual mode moved about half of all large messages.

    Half of the other mode, or nearly half of a known link that the other fills. In each launch;
    empty where what goes one way alone was as much slower, or nothing of the kind is seen.
    """
    between = beside[(beside["message_size"] >= _LARGE) & (beside["nodes"].fillna(1) > 1)]
    large = between[_are_uniform(between)]
    if usual not in _ONE_WAY or large.empty or not large["sure"].all():
        return ""
    if "traffic" in between and between["sure"][between["traffic"].isin(_ONE_DIRECTION)].any():
        return ""
    shares = 1 / large["times"]
    if shares.between(*_HALF).all():
        return (
            f"; of large messages {usual} moved half as much, as where a provider sends in one "
            "direction at a time (half duplex)"
        )
    if mode in _ONE_WAY or not (shares.between(*_NEARLY_HALF).all() and _is_flat(shares)):
        return ""
    if not _shares_of_link(large).between(*_FILLED).all():
        return ""
    return (
        f"; of large messages {usual} moved {percent(float(shares.median()))} of what {mode} did, "
        "which fills the link: a provider that sends some in one direction at a time (half duplex) "
        "looks like that, and so does work that holds up the link; --traffic incast --sync clock, "
        "where no two ranks send to each other, tells which"
    )


def _is_flat(shares: pd.Series[float]) -> bool:
    return float(shares.max()) <= float(shares.min()) * (1 + _FLAT)


def _shares_of_link(points: pd.DataFrame) -> pd.Series[float]:
    """What left a node, of what its adapters carry; NaN where that is not known."""
    rails = points["rails"].astype("Float64").fillna(1)
    return (points["gbps_node_net"] / (points["link_rate_gbps"] * rails)).astype(float)


def _told(
    axis: str,
    both: tuple[Any, Any],
    faster: pd.DataFrame,
    measured: tuple[int, int],
    half: str,
    queues: str,
) -> Finding:
    """Of a value and the usual one; `measured` with both: so many cells, in so many launches.

    `half`: what it looks like beside.
    """
    best: Any = series.most(faster, faster["times"])
    cells, launches = measured
    value, usual = (_words(axis, one, queues if one != 1 else "") for one in both)
    most = f", most at {best['message_size']} B" if len(faster) > 1 else ""
    is_many = value.endswith("s") or (axis == grouping.ENDPOINTS and both[0] != 1)
    were = "were" if is_many else "was"  # "2 endpoints", "whole messages"
    text = f"{value} {were} {spanned(list(faster['times']))} times as fast as {usual}{most}{half}"
    places = {(one["message_size"], _of_traffic(one)) for one in faster.to_dict("records")}
    sizes = listed(f"{size} B{traffic}" for size, traffic in sorted(places))
    asked = ",".join(_option(axis, one) for one in reversed(both))
    asked += f" and --{grouping.QUEUES} {queues}" if queues else ""
    return Finding(
        "faster",
        f"{text}; a study with --compare=--{_OPTIONS.get(axis, axis)}={asked} tells how sure "
        "that is",
        f"{listed(sorted(set(faster['ranks'])))} ranks, {len(faster)} of "
        f"{count_text(cells, 'point')} in {count_text(launches, 'launch', 'launches')}: {sizes}",
        int(faster["ops"].sum()),
        weight=float(best["times"]),
        numbers={
            "axis": axis,
            "value": value,
            "against": usual,
            "times": float(best["times"]),
            "message_size": int(best["message_size"]),
            "half_duplex": int(bool(half)),
            **({grouping.QUEUES: queues} if queues else {}),
        },
    )


def _halves(points: pd.DataFrame) -> list[Finding]:
    """Large messages at half of a known link, where no other mode was measured beside them."""
    points = points.assign(share=_shares_of_link(points))
    known = points[points["share"].notna() & (points["message_size"] >= _LARGE)]
    findings = []
    for name, rows in known.groupby("series", dropna=False):
        alone = points.loc[points["launch"].isin(rows["launch"]), "mode"].nunique() == 1
        by_size = rows.groupby("message_size")["share"].median()
        if alone and set(rows["mode"]) <= set(_ONE_WAY) and _is_flat_half(list(by_size)):
            findings.append(_suspected(str(name), rows, by_size))
    return findings


def _is_flat_half(shares: Sequence[float]) -> bool:
    of_link = pd.Series(shares)
    return len(of_link) > 1 and bool(of_link.between(*_HALF_OF_LINK).all()) and _is_flat(of_link)


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
