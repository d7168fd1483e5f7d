# SPDX-License-Identifier: BSD-3-Clause
"""Which launch is which row of a plan, and whether that row was really in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text, list_text
from a2aperf.launch import Launch, ignored_words
from a2aperf.results import Results
from a2aperf.screening.plan import LABEL

Rows = Mapping[str, Mapping[str, str]]
"""By label the variables that are set, in the order of the plan."""


def rows(
    found: Results,
    judged: Results,
    wanted: Rows,
    names: Sequence[str],
    own: Sequence[str],
    notes: list[str],
) -> dict[str, int]:
    """The place in the plan of each launch that counts; `names` and `own` as in `launches.take`."""
    places = {label: place for place, label in enumerate(wanted)}
    labelled = {
        key: places[one.labels[LABEL]]
        for key, one in found.launches.items()
        if one.labels.get(LABEL) in places
    }
    if not labelled:
        raise InputError(
            f"no file is of this plan: expected launches with --label {LABEL}={next(iter(wanted))} "
            "and so on"
        )
    strange = [x for x in found.launches.values() if x.labels.get(LABEL) not in {*places, *own}]
    if strange:
        said = count_text(len(strange), "launch", "launches")
        notes.append(f"{said} of no plan or another one left out")
    planned = list(wanted.values())
    usable: dict[int, str] = {}
    for key in sorted(labelled, key=lambda key: _started(judged, key)):
        one, row = found.launches[key], labelled[key]
        if key not in judged.launches or one.end_state != "finished":
            notes.append(f"{one.id} ({one.labels[LABEL]}): did not finish; does not count")
            continue
        wrong = _not_in_force(one, planned[row], names)
        if wrong:
            notes.append(f"{one.id} ({one.labels[LABEL]}): {list_text(wrong, 3)}; does not count")
            continue
        if row in usable:
            before = found.launches[usable[row]].id
            notes.append(f"{before}: launched anew as {one.id}, which counts")
        usable[row] = key
    if not usable:
        raise InputError(f"no launch of the plan counts: {list_text(notes, 2)}")
    notes += ignored_words((judged.launches[key] for key in usable.values()), names)
    return {key: row for row, key in usable.items()}


def _started(found: Results, key: str) -> float:
    times = found.points.loc[found.points["launch"] == key, "started"].astype("Float64")
    first = times.min()
    return -1.0 if pd.isna(first) else float(first)


def _not_in_force(launch: Launch, planned: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Settings that were not as the row has them, by what the ranks recorded."""
    wrong = []
    for name in dict.fromkeys(names):
        here = None if name in launch.tuned else launch.environment.get(name)
        wanted = planned.get(name)
        if here != wanted:
            wrong.append(f"{name} was {_words(here)} and should have been {_words(wanted)}")
    return wrong


def _words(value: str | None) -> str:
    return "not set" if value is None else f"'{value}'"
