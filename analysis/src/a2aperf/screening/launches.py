# SPDX-License-Identifier: BSD-3-Clause
"""From results files to what a screening estimates: speed by launch and band of message sizes.

Which settings a launch had is what its ranks recorded, never what was planned: a launch in which
something else was in force than its row says does not count, and that is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from a2aperf import clusters, grouping, sides
from a2aperf.errors import InputError
from a2aperf.explain import steps
from a2aperf.gating import bands as known
from a2aperf.labels import count_text, list_text, size_text
from a2aperf.launch import Launch
from a2aperf.oversubscription import in_launches
from a2aperf.results import Results
from a2aperf.screening.design import ALONE
from a2aperf.screening.plan import LABEL, Plan

Floats = NDArray[np.float64]

_MOST_BANDS: Final = 3
_USUAL: Final = 0.8
"""Cells that fewer launches have are left out; a launch that lacks one of the rest is no use."""


@dataclass(frozen=True)
class Measured:
    """`y` [launches of the plan, bands]: log speed, NaN where a launch does not count."""

    y: Floats
    bands: tuple[str, ...]
    cells: int
    notes: tuple[str, ...]
    """What does not count and why, and what is to be known beside the result."""


def measure(found: Results, plan: Plan) -> Measured:
    """What the launches of a plan measured; InputError where there are none of it."""
    notes: list[str] = []
    judged = found.to_judge()
    notes += judged.unjudged
    rows = _rows(found, judged, plan, notes)
    used = judged.select(judged.points["launch"].isin(list(rows)))
    clusters.require_one(used)
    cells, table = _table(used, notes)
    table = _one_start(used, table, notes)
    whole = table.notna().all(axis=1)
    for launch in table.index[~whole]:
        notes.append(f"{_name(used, launch)}: lacks points that most launches have; does not count")
    table = table[whole]
    used = used.select(used.points["launch"].isin(list(table.index)))
    if table.empty:
        raise InputError("no launch of the plan has points to judge")
    defaults = [str(launch) for launch in table.index if _is_default(plan, rows, launch)]
    number = _bands(used, cells, defaults)
    y = np.full((plan.design.launches, number.max() + 1), np.nan)
    for launch, times in table.iterrows():
        values = np.log(times.to_numpy(dtype=np.float64))
        y[rows[str(launch)]] = [-values[number == band].mean() for band in range(y.shape[1])]
    notes += _missing(y, plan)
    notes += _beside(used, plan)
    return Measured(y, _texts(cells, number), len(cells), tuple(notes))


def _is_default(plan: Plan, rows: Mapping[str, int], launch: Any) -> bool:
    return bool(plan.design.pair[rows[str(launch)]] == ALONE)


def _name(found: Results, launch: Any) -> str:
    one = found.launches[str(launch)]
    return f"{one.id} ({one.labels[LABEL]})"


# Which launch is which --------------------------------------------------------------------------


def _rows(found: Results, judged: Results, plan: Plan, notes: list[str]) -> dict[str, int]:
    """The place in the plan of each launch that counts."""
    places = {plan.label(i): i for i in range(plan.design.launches)}
    labelled = {
        key: places[one.labels[LABEL]]
        for key, one in found.launches.items()
        if one.labels.get(LABEL) in places
    }
    if not labelled:
        raise InputError(
            f"no file is of this plan: expected launches with --label {LABEL}={plan.label(0)} "
            "and so on"
        )
    if others := len(found.launches) - len(labelled):
        said = count_text(others, "launch", "launches")
        notes.append(f"{said} of no plan or another one left out")
    usable: dict[int, str] = {}
    for key in sorted(labelled, key=lambda key: _started(judged, key)):
        one, row = found.launches[key], labelled[key]
        if key not in judged.launches or one.end_state != "finished":
            notes.append(f"{one.id} ({one.labels[LABEL]}): did not finish; does not count")
            continue
        wrong = _not_in_force(one, plan, row)
        if wrong:
            notes.append(f"{one.id} ({one.labels[LABEL]}): {list_text(wrong, 3)}; does not count")
            continue
        if row in usable:
            before = found.launches[usable[row]].id
            notes.append(f"{before}: launched anew as {one.id}, which counts")
        usable[row] = key
    _require_force(usable, notes)
    return {key: row for row, key in usable.items()}


def _require_force(usable: Mapping[int, str], notes: Sequence[str]) -> None:
    if not usable:
        raise InputError(f"no launch of the plan counts: {list_text(notes, 2)}")


def _started(found: Results, key: str) -> float:
    times = found.points.loc[found.points["launch"] == key, "started"].astype("Float64")
    first = times.min()
    return -1.0 if pd.isna(first) else float(first)


def _not_in_force(launch: Launch, plan: Plan, row: int) -> list[str]:
    """Settings that were not as the row has them, by what the ranks recorded."""
    planned = plan.environment(row)
    wrong = []
    for name in dict.fromkeys((*plan.fixed, *plan.names)):
        here = None if name in launch.tuned else launch.environment.get(name)
        wanted = planned.get(name)
        if here != wanted:
            wrong.append(f"{name} was {_words(here)} and should have been {_words(wanted)}")
    return wrong


def _words(value: str | None) -> str:
    return "not set" if value is None else f"'{value}'"


def _missing(y: Floats, plan: Plan) -> list[str]:
    lost = np.flatnonzero(np.isnan(y).any(axis=1))
    if not len(lost):
        return []
    names = [plan.label(int(i)) for i in lost]
    pairs = {int(plan.design.pair[i]) for i in lost} - {ALONE}
    dropped = f"; with them {count_text(len(pairs), 'pair')} of launches" if pairs else ""
    said = f"{len(lost)} of {plan.design.launches} launches are missing: {list_text(names, 8)}"
    early = "If they are still to come, wait: an early look is one more chance of error"
    return [f"{said}{dropped}. {early}"]


def _beside(used: Results, plan: Plan) -> list[str]:
    """What else differs between the launches, and whether cores were oversubscribed."""
    mine = {LABEL, *plan.names, *plan.fixed}
    others = [name for name in grouping.differing_names(used.launches) if name not in mine]
    others += [x for x in grouping.differing_starts(used, used.points) if x != "sync"]
    told = [f"{name} differs between the launches, too" for name in others]
    return [*in_launches(used.launches.values()), *told]


# What they measured -----------------------------------------------------------------------------


def _table(used: Results, notes: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells, and the time of each [launches, cells] in ns; NaN where a launch lacks it."""
    names = [name for name in dict.fromkeys((*sides.SHAPE, *sides.CELL, *used.choices))
             if name in used.points]  # fmt: skip
    points = used.points.assign(time=used.judged.time(used.points).astype("float64"))
    grouped = points.groupby(names, dropna=False, sort=True)
    points = points.assign(cell=grouped.ngroup())
    cells = points.drop_duplicates("cell").set_index("cell")[names].sort_index()
    table = points.pivot_table(index="launch", columns="cell", values="time", aggfunc="mean")
    share = table.notna().mean()
    rare = [cell for cell in table.columns if share[cell] < _USUAL]
    if rare:
        sizes = sorted({int(size) for size in cells.loc[rare, "message_size"]})
        said = list_text([size_text(size) for size in sizes], 6)
        notes.append(
            f"{count_text(len(rare), 'point')} left out, which not all launches measured: {said}"
        )
    if len(rare) == len(table.columns):
        raise InputError("the launches have no points in common")
    kept = [cell for cell in table.columns if cell not in rare]
    return cells.loc[kept].reset_index(drop=True), table[kept]


def _one_start(used: Results, table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """The launches whose ops start as most do: the others' times are of something else."""
    starts = pd.Series({x: used.launches[str(x)].setting("sync") or "" for x in table.index})
    usual = starts.mode().iloc[0]
    others = list(starts.index[starts != usual])
    if others:
        said = count_text(len(others), "launch", "launches")
        notes.append(
            f"{said} began ops by another rule than {usual}, as most did, and do not count: "
            "give all the same --sync"
        )
    return table.drop(index=others)


def _bands(used: Results, cells: pd.DataFrame, defaults: Sequence[str]) -> NDArray[np.intp]:
    """The band of each cell: sizes between the largest steps that the default launches show.

    Where they show fewer than two, the provider's known ones fill in.
    """
    sizes = cells["message_size"].to_numpy(dtype=np.int64)
    alone = used.select(used.points["launch"].isin(list(defaults)))
    shown = steps.find(alone) if len(defaults) > 1 else []
    shown = sorted(shown, key=lambda one: -one.weight)
    edges = [int(one.numbers["above"]) for one in shown]
    for provider in dict.fromkeys(map(str, cells["provider"])) if "provider" in cells else ():
        edges += known.edges(provider)
    chosen: list[int] = []
    for edge in edges:
        parts = np.searchsorted(sorted([*chosen, edge]), sizes, side="right")
        if len(np.unique(parts)) == len(chosen) + 2 <= _MOST_BANDS:
            chosen.append(edge)
    return np.searchsorted(sorted(chosen), sizes, side="right")


def _texts(cells: pd.DataFrame, number: NDArray[np.intp]) -> tuple[str, ...]:
    texts = []
    for band in range(int(number.max()) + 1):
        sizes = cells.loc[number == band, "message_size"]
        ends = dict.fromkeys((size_text(sizes.min()), size_text(sizes.max())))
        texts.append(" to ".join(ends))
    return tuple(texts)
