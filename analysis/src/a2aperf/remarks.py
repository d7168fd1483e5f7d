# SPDX-License-Identifier: BSD-3-Clause
"""What a reader of a comparison must know about how its launches were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from a2aperf import blocks, jobs, labels, preemption, robust, schema
from a2aperf.decision import Decision
from a2aperf.deferred import pandas as pd
from a2aperf.layouts import window
from a2aperf.oversubscription import crowded, yields
from a2aperf.results import Results
from a2aperf.sides import Pairing

# Correlation of side with time from which it is said: between launches, and within each.
_LEANING: Final = 0.3
_ALWAYS: Final = 0.9
_SIDES: Final = (("baseline", False), ("candidate", True))
_INJECTING: Final = {"inject", "asked_inject", "mode"}
"""What decides by itself whether messages are injected."""


def no_verdict(pairing: Pairing) -> str | None:
    """Why nothing may be said, however large the difference; None: it may."""
    points = pairing.points
    starts = [set(points.loc[points["candidate"] == own, "sync"]) - {""} for _, own in _SIDES]
    if all(starts) and not starts[0] & starts[1]:
        words = [" and ".join(sorted(side)) for side in starts]
        return (
            f"ops of the baseline start by {words[0]}, of the candidate by {words[1]}: their times "
            "are counted from different moments, so there is no verdict"
        )
    if not pairing.between_jobs:
        return None
    names = [sorted(set(pairing.units.loc[pairing.side == own, "job"])) for _, own in _SIDES]
    if len(names[0]) >= jobs.FEWEST:
        return None
    lists = [labels.list_text(side, 3) for side in names]
    return (
        f"the sides are different jobs ({lists[0]} against {lists[1]}): how far jobs differ is not "
        f"known from {labels.count_text(len(names[0]), 'job')} of the baseline, so there is no "
        f"verdict; measure both sides in one job, or at least {jobs.FEWEST} jobs of the baseline"
    )


def notes(pairing: Pairing, made: Decision, reason: str | None) -> list[str]:
    """Everything that limits the comparison, one sentence each."""
    told = _order(pairing) + of_few_days(pairing)
    if reason is None and not made.decides:
        fewest = _fewest(pairing)
        told.append(
            f"with {labels.count_text(fewest, pairing.compared)} on one side no difference can be "
            f"significant: at least {made.fewest} a side, 8 are usual"
        )
    told += [f"{column}: {_values(pairing, column)}" for column in pairing.disjoint]
    told += _assumed(pairing)
    told += [f"left out: {what}" for what in pairing.left_out]
    points = pairing.points
    again = int((points.groupby(["unit", "cell"]).size() > 1).sum())
    if again:
        cells = labels.count_text(points["cell"].nunique(), "cell")
        told.append(f"a launch has several points of one cell {again} times in {cells}: their mean")
    if not points["has_raw"].all():
        told.append("some points are summaries without raw samples")
    return told + _unequal(pairing, made) + _outliers(pairing, made)


def intervals_and_test(cells: pd.DataFrame, made: Decision) -> list[str]:
    """Where an interval and a verdict seem to contradict each other, what each rests on.

    `cells` as of a comparison, with their verdicts.
    """
    low, high, verdict = (cells[name] for name in ("ratio_low", "ratio_high", "verdict"))
    shared = "all cells" if made.family == 1 else "all cells and candidates"
    if made.tests > 1:
        why = f"the test's error is shared by {shared}; an interval is of its cell alone"
    else:
        why = "the test exchanges launches between the sides; the interval resamples them"
    told = []
    for mask, seen, said in (
        (((low > 1) | (high < 1)) & (verdict == "undecided"), "excludes", "undecided"),
        (
            (low <= 1) & (high >= 1) & verdict.isin(["faster", "slower"]),
            "includes",
            "a difference",
        ),
    ):
        if mask.any():
            where = "" if len(cells) == 1 else f"in {int(mask.sum())} of {len(cells)} cells "
            told.append(
                f"{where}the interval {seen} 1 and the verdict is {said}: the verdict rests on the "
                f"test; {why}"
            )
    return told


def of_few_days(pairing: Pairing) -> list[str]:
    """Where jobs of a side are of so few days that how far days differ is not in their spread."""
    units = pairing.units
    if pairing.compared != "job" or (units["day"] == "").any():
        return []
    of_side = units.groupby("candidate")
    told = []
    for name, is_candidate in _SIDES:
        mine = of_side.get_group(is_candidate)
        count, days = mine["job"].nunique(), mine["day"].nunique()
        if count > 1 and days < min(count, jobs.FEWEST):
            told.append(
                f"{labels.count_text(count, 'job')} of the {name} are of "
                f"{labels.count_text(days, 'day')}: how far days differ is not in their spread, "
                "and a difference may be the day's"
            )
    return told


def injected(pairing: Pairing, asked: Sequence[str]) -> list[str]:
    """Where a side's messages went by the inject path and the other's did not, unasked."""
    points = pairing.points
    if "inject" not in points or _INJECTING & set(asked):
        return []
    known = points[points["inject"].fillna(schema.UNKNOWN) >= 0]
    told = known.groupby(["cell", "candidate"])["inject"].agg(frozenset)
    ways = told.unstack("candidate")
    ways = ways.reindex(columns=[False, True]).dropna()
    cells = [cell for cell, a, b in ways.itertuples() if a != b]
    if not cells:
        return []
    sizes = sorted(set(pairing.cells.loc[cells, "message_size"]))
    way_out = (
        "; measured with --inject off both go the same way" if "asked_inject" in points else ""
    )
    return [
        f"in {len(cells)} of {labels.count_text(len(pairing.cells), 'cell')} "
        f"({labels.list_text([labels.size_text(size) for size in sizes], 4)}) only one side's "
        f"messages were injected, which may be the difference{way_out}"
    ]


def _fewest(pairing: Pairing) -> int:
    """Units of the cell and side that has fewest."""
    of_unit = pairing.units[pairing.compared].rename("compared")
    rows = pairing.points.join(of_unit, on="unit")
    return int(rows.groupby(["cell", "candidate"])["compared"].nunique().min())


def _order(pairing: Pairing) -> list[str]:
    """Whether one side ran later, so that a drift would look like an effect."""
    units = pairing.units
    block = pairing.block
    if pairing.between_jobs:
        block = np.zeros(len(units), dtype=np.intp)
    lean = blocks.lean(pairing.side, block)
    later = "candidate" if lean > 0 else "baseline"
    if len(units) < 4 or not (units["time"] >= 0).all():
        return []
    if units["launch"].duplicated().any():
        if abs(lean) < _ALWAYS:
            return []
        what, instead = f"in every launch the {later} was measured later", "--order shuffled"
    elif abs(lean) < _LEANING:
        return []
    else:
        what = f"the {later} ran later"
        if blocks.is_in_turn(pairing.side, block):
            what += " on the whole"
        else:
            what = f"not interleaved: {what}"
        instead = "run A B B A …"
    return [f"{what}, so a change over time would look like an effect; {instead}"]


def _values(pairing: Pairing, column: str) -> str:
    texts = []
    for name, own in _SIDES:
        values = pairing.points.loc[pairing.points["candidate"] == own, column]
        if column == "window":
            values = values.map(window, na_action="ignore")
        texts_of = values.astype("string")
        known = sorted({value or "unknown" for value in texts_of.fillna("unknown")})
        texts.append(f"{', '.join(known)} ({name})")
    return " against ".join(texts)


def _assumed(pairing: Pairing) -> list[str]:
    told = []
    for name, own in _SIDES:
        mine = pairing.points[pairing.points["candidate"] == own]
        if mine["assumed"].any():
            told.append(
                f"nodes and ranks per node of the {name} are unknown in "
                f"{mine.loc[mine['assumed'], 'cell'].nunique()} of {mine['cell'].nunique()} "
                "cells: compared with every shape (nodes × ranks per node) of as many ranks"
            )
    return told


def _unequal(pairing: Pairing, made: Decision) -> list[str]:
    """Where a difference is not called because the sides spread so unequally."""
    if not made.withheld.any():
        return []
    unit = labels.plural_of(pairing.compared)
    baseline, candidate = (
        f"{100 * np.expm1(np.median(spread)):.2g} %" for spread in made.of_sides[:, made.withheld]
    )
    where = labels.count_text(len(made.withheld), "cell")
    return [
        f"in {int(made.withheld.sum())} of {where} {unit} of the candidate differ by {candidate}, "
        f"of the baseline by {baseline} (median): exchanging {unit} calls a difference there, as "
        "it does too often with such unequal spreads; Student's t, by the spread of each side, "
        "does not, so no difference is called"
    ]


def _outliers(pairing: Pairing, made: Decision) -> list[str]:
    if not len(made.outliers):
        return []
    of_unit = pairing.units[pairing.compared].to_numpy(dtype=object)
    names = list(dict.fromkeys(jobs.of_units(of_unit, pairing.steps)[made.outliers]))
    unit, cells = labels.plural_of(pairing.compared), len(made.effect)
    named = f"{'outlier' if len(names) == 1 else 'outliers'}: {labels.list_text(names, 6)}"
    if made.moved:
        done = f"drawn in to {robust.REACH:g} robust standard deviations"
        if made.moved < cells:
            done += f" in {made.moved} of {cells} cells"
    else:
        done = "not drawn in"
        side = jobs.of_units(pairing.side, pairing.steps)
        if min(side.sum(), (~side).sum()) < robust.FEWEST:
            done += (
                f", which takes {robust.FEWEST} {unit} a side: with fewer, one such "
                f"{pairing.compared} can hide a change"
            )
    return [f"{named}, far from the other {unit} of the same side; {done}"]


def oversubscribed(found: Results, *sides: Sequence[str]) -> list[str]:
    """Which launches had more ranks than cores, as `doubts` says it."""
    launches = {name: found.launches[name] for side in sides for name in side}
    return [f"{words}{_in_launches(names, sides)}" for words, names in crowded(launches).items()]


def doubts(found: Results, *sides: Sequence[str]) -> list[str]:
    """What the launches of the sides know of why they differ: cores shared or taken away.

    `sides` are the baseline's and the candidate's, or one that has all.
    """
    launches = {name: found.launches[name] for side in sides for name in side}
    told = oversubscribed(found, *sides)
    hit = [name for name in launches if preemption.is_often(found, name)]
    if hit:
        yielding = any(yields(launches[name]) for name in hit)
        words, kind = preemption.words(yielding)
        often = preemption.limit_text(found.judged.has_ops, kind)
        told.append(f"ranks {words}{_in_launches(hit, sides)}, more than {often}")
    return told


def _in_launches(names: Sequence[str], sides: Sequence[Sequence[str]]) -> str:
    """`, in 8 of 16 launches: 8 of 8 of the candidate`; nothing of a single one."""
    total = len({name for side in sides for name in side})
    if total == 1:
        return ""
    text = f", in {len(names)} of {total} launches"
    hit = [len(set(names) & set(side)) for side in sides]
    if len(sides) < 2 or hit == [len(set(side)) for side in sides]:
        return text
    of_sides = [
        f"{count} of {len(set(side))} of the {name}"
        for count, side, (name, _) in zip(hit, sides, _SIDES, strict=True)
    ]
    return f"{text} ({', '.join(of_sides)})"
