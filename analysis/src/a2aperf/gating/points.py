# SPDX-License-Identifier: BSD-3-Clause
"""Points compared with limits: of several launches of the last job their median."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np

from a2aperf import filters, grouping, jobs, metrics
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.explain import series
from a2aperf.gating.checks import Check, State, unknown, worst
from a2aperf.gating.limits_file import KINDS, Kind, Limit, percent
from a2aperf.labels import count_text, list_text, size_text
from a2aperf.results import Results

_LINE: Final = ["series", "ranks", "nodes", "ppn"]
_ABOVE: Final = "is above the link rate, so one of both is wrong"
_PERCENTILES: Final = {"max_p90_us": 0.9, "max_p99_us": 0.99, "max_p99_over_p50": 0.99}


def of_last_jobs(found: Results) -> tuple[Results, list[str]]:
    """Of each scale and setting the launches of the last job that has it, and what is left out.

    A median over all nights of a folder would hide for long that the last ones are bad. Points
    that no launch came to stay with those of their file.
    """
    points = found.points
    job = points["launch"].map(jobs.of_launches(found))
    begun = points["started"].astype("Float64").fillna(-1)
    line = [points["role"], series.named(found), *(points[name] for name in _LINE[1:])]
    newest = begun.groupby(line, dropna=False).transform("max")
    last = job.where(begun == newest).groupby(line, dropna=False).transform("first")
    is_last = ((job == last) | (newest < 0)).fillna(False).astype(bool)  # all that has no times
    is_pending = points["launch"].isna()
    earlier = set(points["file"][~is_last & ~is_pending]) - set(points["file"][is_last])
    is_last |= is_pending & ~points["file"].isin(earlier)
    bare = is_last & _is_bare_before(found)
    is_last &= ~bare
    if is_last.all():
        return found, []
    notes = []
    if (~is_last & ~bare).any():
        left = count_text(points["launch"][~is_last & ~bare].nunique(), "launch", "launches")
        told = "limits are for the last job of each scale and setting"
        notes.append(f"note: {told}; {left} before it are left out")
    if bare.any():
        names = list_text([str(found.files[name]) for name in points["file"][bare].unique()], 3)
        notes.append(f"note: {names}: measured nothing, and later jobs have the scale; left out")
    return found.select(is_last), notes


def _is_bare_before(found: Results) -> pd.Series[bool]:
    """Points of files that measured nothing, of scales that a later job has.

    Such a file is dated by when its last launch began.
    """
    points = found.points
    scale = [points["role"], *(points[name] for name in _LINE[1:])]
    begun = points["started"].astype("Float64").fillna(-1)
    newest = begun.groupby(scale, dropna=False).transform("max")
    is_bare = points["launch"].isna().groupby(points["file"]).transform("all")
    dates = {str(name): _date(found, str(name)) for name in points["file"][is_bare].unique()}
    when = points["file"].map(dates).astype("Float64").fillna(math.inf)
    return (is_bare & (newest > when)).astype(bool)


def _date(found: Results, file: str) -> float:
    """When the last launch of a file began, ns since 1970; NaN where that cannot be told."""
    path = found.files[file]
    launches = [one for one in found.launches.values() if one.path == path]
    texts = [str(one.attributes.get("started", "")) for one in launches]
    texts = texts or [str(found.attributes[file].get("created", ""))]
    try:
        return max(datetime.fromisoformat(text).timestamp() for text in texts) * 1e9
    except ValueError:
        return math.nan


def check(found: Results, limits: Sequence[Limit]) -> list[Check]:
    """A check for each limit, at the worst of the points that it names; one for what has none."""
    return [one for limit in limits for one in _check(found, limit)]


def best_efficiency(found: Results, least: float) -> list[Check]:
    """A check for each scale and setting: the size with the highest efficiency must reach it."""
    rows = _medians(found, "min_efficiency")
    limit = Limit("min_efficiency", np.nan, least)
    checks = []
    for _, mine in rows.groupby(_LINE, dropna=False, sort=True):
        known = mine[mine["value"].notna()]
        absurd = mine[mine["why"].str.endswith(_ABOVE)]
        if len(absurd) or known.empty:
            checks.append(_judged(mine if absurd.empty else absurd, limit))
        else:
            best = known.loc[[known["value"].idxmax()]]
            checks.append(_judged(best, limit, ", the best size"))
    return checks


def _check(found: Results, limit: Limit) -> list[Check]:
    what = KINDS[limit.kind].what
    try:
        chosen = filters.where(found, limit.chosen, asked=limit.source)
    except InputError as error:
        why = str(error).removeprefix(f"{limit.source} ")  # which the check has as its place
        return [unknown(what, "; ".join([why, *found.unjudged]), limit.source)]
    return [_judged(_medians(chosen, limit.kind), limit), *_absent(chosen, limit)]


def _absent(chosen: Results, limit: Limit) -> list[Check]:
    """What the limit names and no point has; a size must be there at each scale."""
    scales = [*chosen.points.groupby(_LINE[1:], dropna=False, sort=True)]
    told = []
    for name in limit.named:
        parts = scales if name.startswith("message_size=") else [((), chosen.points)]
        lacking = [points for _, points in parts if not _has(chosen, points, name)]
        if not lacking:
            continue
        first: Any = lacking[0].iloc[0]
        all_lack = len(lacking) == len(parts)
        at = "" if all_lack else f" at {grouping.scale_text(first['ranks'], first['nodes'])}"
        told.append(f"no point has {name}{at}")
    return [unknown(KINDS[limit.kind].what, one, limit.source) for one in told]


def _has(chosen: Results, points: pd.DataFrame, name: str) -> bool:
    part = chosen.select(pd.Series(chosen.points.index.isin(points.index)))
    try:
        return not filters.where(part, (name,)).points.empty
    except InputError:
        return False


def _medians(found: Results, kind: str) -> pd.DataFrame:
    """One row a point of a setting: `value` (NaN where not known), `why` not, `launches`, `ops`."""
    points = found.points.assign(series=series.named(found))
    points["value"] = _values(points, kind)
    points["why"] = _lacking(found, points, kind)
    points.loc[points["why"] != "", "value"] = np.nan
    groups = points.groupby([*_LINE, "message_size"], dropna=False, sort=True)
    rows = groups.agg(
        value=("value", lambda x: x.median(skipna=False)),
        why=("why", "max"),
        launches=("launch", "nunique"),
        ops=("ops", "sum"),
        attempts=("attempts", "sum"),
        invalid=("invalid", "sum"),
    ).reset_index()
    if kind == "max_invalid":  # of all launches together
        attempts = rows["attempts"].astype(float)
        rows["value"] = (rows["invalid"].astype(float) / attempts).where(attempts > 0)
    return rows


def _values(points: pd.DataFrame, kind: str) -> pd.Series[Any]:
    if kind == "max_invalid":
        made = points["invalid"].astype("Float64") / points["attempts"].astype("Float64")
    elif kind == "max_p99_over_p50":
        made = points["time_p99"] / points["time_p50"]
    elif kind.endswith("_us"):
        made = points[f"time_{kind[4:7]}"] / 1000
    else:
        made = points[kind.removeprefix("min_")]
    return made.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)  # type: ignore[return-value]


def _lacking(found: Results, points: pd.DataFrame, kind: str) -> list[str]:
    """Why a point's figure is not known or not carried; empty: it is."""
    told = []
    q = _PERCENTILES.get(kind)
    rows = zip(points["file"], points["ops"], points["nodes"], points["value"], strict=True)
    for file, ops, nodes, value in rows:
        rule = found.attributes[file].get("percentile_rule", "rank")
        if q and pd.notna(ops) and metrics.percentile_is_maximum(int(ops), q, rule):
            told.append(f"p{round(100 * q)} of {count_text(int(ops), 'op')} is their maximum")
        elif kind == "min_efficiency" and value > 1:
            told.append(f"{percent(value)} {_ABOVE}")
        elif np.isfinite(value):
            told.append("")
        elif kind.startswith("min_") and pd.notna(nodes) and nodes == 1:
            told.append("on one node nothing leaves it")
        elif kind == "min_efficiency":
            told.append("the link rate or the nodes are unknown")
        else:
            told.append("the files do not say")
    return told


def _judged(rows: pd.DataFrame, limit: Limit, remark: str = "") -> Check:
    """One check: the worst point, how many are beyond the limit and how many are not known."""
    kind = KINDS[limit.kind]
    states = [_state(value, limit, kind) for value in rows["value"]]
    state = worst(states)
    mine = rows[[one == state for one in states]]
    values = mine["value"]
    position = 0
    if state != State.UNKNOWN:
        position = int(np.argmin(values) if kind.is_least else np.argmax(values))
    row: Any = mine.iloc[position]
    bound = limit.warning if state == State.WARNING else limit.critical
    if np.isnan(bound):
        bound = limit.warning
    if state == State.OK and not np.isnan(limit.warning):
        bound = limit.warning
    words = f"{'at least' if kind.is_least else 'at most'} {kind.write(bound)}"
    scale = grouping.scale_text(row["ranks"], row["nodes"])
    size = size_text(row["message_size"]) + remark
    at = ", ".join(filter(None, [scale, size, str(row["series"])]))
    shown = ("" if np.isnan(row["value"]) else kind.write(row["value"]), words)
    launches = int(row["launches"])
    ops = 0 if pd.isna(row["ops"]) else int(row["ops"])
    n = f"{count_text(launches, 'launch', 'launches')}, {count_text(ops, 'op')}"
    why = _why(row, state, states, shown[0], words)
    value = float(row["value"])
    figures: dict[str, float | int | None] = {
        "points": len(rows), "critical_limit": limit.critical, "warning_limit": limit.warning,
    }  # fmt: skip
    return Check(kind.what, at, state, value, bound, shown, n, launches, why, figures)


def _state(value: float, limit: Limit, kind: Kind) -> State:
    if np.isnan(value):
        return State.UNKNOWN
    for level, state in ((limit.critical, State.CRITICAL), (limit.warning, State.WARNING)):
        if not np.isnan(level) and (value < level if kind.is_least else value > level):
            return state
    return State.OK


def _why(row: Any, state: State, states: list[State], measured: str, words: str) -> str:
    total = count_text(len(states), "point")
    if state == State.UNKNOWN:
        told = str(row["why"]) or "the files do not say"
    else:
        told = "" if state == State.OK else f"{measured}, expected {words}"
    if len(states) > 1:
        same = "the worst of" if state == State.OK else f"{states.count(state)} of"
        told = f"{told}; {same} {total}".removeprefix("; ")
    missing = states.count(State.UNKNOWN)
    if missing and state != State.UNKNOWN:
        told = f"{told}; {missing} of {total} not known".removeprefix("; ")
    return told
