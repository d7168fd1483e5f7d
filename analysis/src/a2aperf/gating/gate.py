# SPDX-License-Identifier: BSD-3-Clause
"""All checks of a gate: what could be read, limits, and the comparison with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from a2aperf import baselines, clusters, filters, loading
from a2aperf.errors import InputError
from a2aperf.gating import baseline, points
from a2aperf.gating.checks import Check, State, in_sum, unknown, worst
from a2aperf.gating.limits_file import Limit
from a2aperf.labels import count_text, list_text
from a2aperf.oversubscription import in_launches, oversubscription
from a2aperf.results import Results


@dataclass(frozen=True)
class Asked:
    """What is to be checked; `against` None: with no baseline."""

    files: Sequence[Path]
    against: Sequence[Path] | None = None
    where: Sequence[str] = ()
    min_efficiency: float | None = None
    limits: Sequence[Limit] = ()
    loss: float = 0.1


@dataclass(frozen=True)
class Gate:
    """The checks, what else to know, when the last point began (ns since 1970; −1: unknown)."""

    checks: list[Check]
    notes: list[str]
    measured: int

    @property
    def state(self) -> State:
        """The exit status."""
        return worst(check.state for check in self.checks)

    @property
    def sum(self) -> str:
        """In one line."""
        return in_sum(self.checks)


def gate(asked: Asked) -> Gate:
    """Everything that was asked for; what cannot be checked is a check that is unknown."""
    checks: list[Check] = []
    notes: list[str] = []
    own, files = _load(asked.files, asked.where, "files", checks)
    measured = -1
    if own is not None:
        begun = own.points["started"].astype("Float64").max()
        measured = int(begun) if begun == begun and begun is not None else -1
        notes += [f"note: {one}" for one in own.unjudged]
        if asked.min_efficiency is not None:
            checks += points.best_efficiency(own, asked.min_efficiency)
        checks += points.check(own, asked.limits)
        if asked.against is not None:
            checks += _against(asked, files, notes)
    return Gate(checks, notes, measured)


def _against(asked: Asked, files: Sequence[Path], notes: list[str]) -> list[Check]:
    """The comparison; also what cannot be read of the baseline."""
    checks: list[Check] = []
    both = {path.resolve() for path in files}
    given, lost = _expanded(asked.against or (), "baseline")
    twice = [path for path in given if path.resolve() in both]
    if twice:
        said = list_text([str(path) for path in twice], 3)
        return [unknown("baseline", f"{said}: on both sides; a baseline is of other jobs")]
    base, sound = _load(given, asked.where, "baseline", checks) if not lost else (None, [])
    if base is None:
        return lost or checks
    try:
        found = filters.where(loading.load([*files, *sound]), asked.where).to_judge()
    except InputError as error:
        return [*checks, unknown("baseline", str(error))]
    crowded = _oversubscribed(found)
    found = found.select(~found.points["launch"].isin(crowded))
    names = [name for name, path in found.files.items() if path in sound]
    made, told = baseline.check(found, names, asked.loss)
    notes += told
    return [*made, *checks]


def _expanded(given: Iterable[Path], what: str) -> tuple[list[Path], list[Check]]:
    try:
        found = baselines.files_of(given)
    except InputError as error:
        return [], [unknown(what, str(error))]
    return found, [] if found else [unknown(what, "there is no file")]


def _load(
    given: Sequence[Path], where: Sequence[str], what: str, checks: list[Check]
) -> tuple[Results | None, list[Path]]:
    """Complete points of launches that can be judged, and the files that could be read."""
    paths, lost = _expanded(given, what)
    checks += lost
    loaded = _loaded(paths, what, checks)
    if loaded is None:
        return None, []
    sound = [*loaded.files.values()]
    try:
        everything = filters.where(loaded, where)
        _tell_missing(everything, what, checks)
        found = everything.to_judge()
        clusters.require_one(found)
    except InputError as error:
        checks.append(unknown(what, str(error).replace("; --mixed takes them together", "")))
        return None, sound
    crowded = _oversubscribed(found)
    if crowded:
        words = list_text(in_launches([*found.launches.values()]), 3)
        checks.append(unknown(what, f"{words}; left out: such times are those of the cores"))
        found = found.select(~found.points["launch"].isin(crowded))
    return (None if found.points.empty else found), sound


def _loaded(paths: Sequence[Path], what: str, checks: list[Check]) -> Results | None:
    """What can be read; each of the other files is a check."""
    try:
        return loading.load(paths)
    except InputError as error:
        if len(paths) < 2:
            checks += [unknown(what, str(error))] if paths else []
            return None
    sound = []
    for path in paths:
        try:
            loading.load([path])
        except InputError as error:
            checks.append(unknown(what, str(error)))
        else:
            sound.append(path)
    try:
        return loading.load(sound) if sound else None
    except InputError as error:  # together they cannot be
        checks.append(unknown(what, str(error)))
        return None


def _oversubscribed(found: Results) -> list[str]:
    return [key for key, launch in found.launches.items() if oversubscription(launch)]


def _tell_missing(found: Results, what: str, checks: list[Check]) -> None:
    """Points that have no result, and launches that did not finish; a baseline may have some."""
    if what != "files":
        return
    states = found.points["state"]
    lacking = found.points[states != "complete"]
    if len(lacking):
        counts = [f"{count} {state}" for state, count in lacking["state"].value_counts().items()]
        reasons = [text for text in dict.fromkeys(lacking["skip_reason"]) if text]
        why = f" ({reasons[0]})" if reasons else ""
        total = count_text(len(found.points), "point")
        checks.append(
            unknown("points", f"{list_text(counts)} of {total}{why}; --where leaves points out")
        )
    broken = [key for key, one in found.launches.items() if one.end_state != "finished"]
    if broken:
        names = list_text(broken, 3)
        checks.append(unknown("launches", f"{names} did not finish, or still run"))
