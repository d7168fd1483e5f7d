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
from numpy.typing import NDArray

from a2aperf import clusters, grouping, sides
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.explain import steps
from a2aperf.gating import bands as known
from a2aperf.labels import count_text, list_text, size_text
from a2aperf.oversubscription import in_launches, oversubscription
from a2aperf.results import Results
from a2aperf.screening import force
from a2aperf.screening.design import ALONE
from a2aperf.screening.force import Rows
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
    ends: tuple[tuple[int, int], ...] = ()
    """Of each band, the smallest and the largest message size."""


@dataclass(frozen=True)
class Taken:
    """Launches of a plan that count: `times` [launches, cells] in ns, and the `row` of each."""

    rows: Mapping[str, int]
    used: Results
    cells: pd.DataFrame
    times: pd.DataFrame


def take(
    found: Results, wanted: Rows, names: Sequence[str], own: Sequence[str], notes: list[str]
) -> Taken:
    """The launches of a plan's rows that count, with the points that they have in common.

    `names` are variables that a row sets or leaves not set; launches that carry the labels `own`
    are no strangers. InputError where there are none; `notes` get what does not count, and why.
    """
    judged = found.to_judge()
    notes += judged.unjudged
    rows = force.rows(found, judged, wanted, names, own, notes)
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
    return Taken({str(x): rows[str(x)] for x in table.index}, used, cells, table)


def measure(found: Results, plan: Plan, others: Sequence[str] = ()) -> Measured:
    """What the launches of a plan measured; InputError where there are none of it.

    `others` are labels of launches that belong to the screening, and not to its design.
    """
    notes: list[str] = []
    wanted = {plan.label(i): plan.environment(i) for i in range(plan.design.launches)}
    taken = take(found, wanted, [*plan.fixed, *plan.names], others, notes)
    rows, cells = taken.rows, taken.cells
    defaults = [launch for launch in rows if _is_default(plan, rows, launch)]
    number = _bands(taken.used, cells, defaults)
    y = np.full((plan.design.launches, number.max() + 1), np.nan)
    for launch, times in taken.times.iterrows():
        values = np.log(times.to_numpy(dtype=np.float64))
        y[rows[str(launch)]] = [-values[number == band].mean() for band in range(y.shape[1])]
    notes += _missing(y, plan)
    notes += beside(taken.used, [*plan.names, *plan.fixed])
    ends = _ends(cells, number)
    return Measured(y, tuple(map(_text, ends)), len(cells), tuple(notes), ends)


def _is_default(plan: Plan, rows: Mapping[str, int], launch: Any) -> bool:
    return bool(plan.design.pair[rows[str(launch)]] == ALONE)


def _name(found: Results, launch: Any) -> str:
    one = found.launches[str(launch)]
    return f"{one.id} ({one.labels[LABEL]})"


def _missing(y: Floats, plan: Plan) -> list[str]:
    lost = np.flatnonzero(np.isnan(y).any(axis=1))
    if not len(lost):
        return []
    names = [plan.label(int(i)) for i in lost]
    pairs = {int(plan.design.pair[i]) for i in lost} - {ALONE}
    dropped = f"; with them {count_text(len(pairs), 'pair')} of launches" if pairs else ""
    return [missing(len(lost), plan.design.launches, f": {list_text(names, 8)}{dropped}")]


def missing(lost: int, planned: int, more: str = "", what: str = "") -> str:
    """How many launches of `what` are not there, `more` of it, and what to do."""
    said = f"{lost} of {count_text(planned, 'launch')}{what} {'is' if lost == 1 else 'are'} missing"
    early = "If more are still to come, wait: an early look is one more chance of error"
    return f"{said}{more}. {early}"


def beside(used: Results, names: Sequence[str]) -> list[str]:
    """What differs between the launches other than these, and whether cores were oversubscribed.

    Where it differs just as one of the settings `names` does, that one is named.
    """
    mine = {LABEL, *names}
    others = [name for name in grouping.differing_names(used.launches) if name not in mine]
    others += [x for x in grouping.differing_starts(used, used.points) if x != "sync"]
    told = [f"{name} differs between the launches, too{_just_as(used, name, names)}"
            for name in others]  # fmt: skip
    return [*_oversubscribed(used, names), *told]


def _oversubscribed(used: Results, names: Sequence[str]) -> list[str]:
    told = in_launches(used.launches)
    crowded = [bool(oversubscription(one)) for one in used.launches.values()]
    if all(crowded) or not any(crowded):
        return told
    first = crowded.index(True)
    for name, values in _levels(used, names).items():
        if _divides(values, crowded):
            there = f"{name} not set" if values[first] is None else f"{name}={values[first]}"
            told.append(
                f"the oversubscribed launches are those with {there}: what it does is not told "
                "from what oversubscription does"
            )
    return told


def _just_as(used: Results, other: str, names: Sequence[str]) -> str:
    """Which settings divide the launches as `other` does; empty: none."""
    values = [one.setting(other) for one in used.launches.values()]
    same = [name for name, levels in _levels(used, names).items() if _divides(levels, values)]
    return f", just as {list_text(same, 3)}: their effects are not told apart" if same else ""


def _levels(used: Results, names: Sequence[str]) -> dict[str, list[str | None]]:
    """The value of each setting in each launch, of those that differ."""
    made = {
        name: [None if name in x.tuned else x.environment.get(name) for x in used.launches.values()]
        for name in dict.fromkeys(names)
    }
    return {name: values for name, values in made.items() if len(set(values)) > 1}


def _divides(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether launches that have the same of one are just those that have the same of the other."""
    together = len(set(zip(one, other, strict=True)))
    return len(set(one)) == len(set(other)) == together


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


def _ends(cells: pd.DataFrame, number: NDArray[np.intp]) -> tuple[tuple[int, int], ...]:
    sizes = [cells.loc[number == band, "message_size"] for band in range(int(number.max()) + 1)]
    return tuple((int(of.min()), int(of.max())) for of in sizes)


def _text(ends: tuple[int, int]) -> str:
    return " to ".join(dict.fromkeys(map(size_text, ends)))
