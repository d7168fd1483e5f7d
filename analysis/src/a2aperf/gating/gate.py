# SPDX-License-Identifier: BSD-3-Clause
"""All checks of a gate: what could be read, limits, and the comparison with a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from a2aperf import baselines, clusters, filters, loading
from a2aperf.errors import InputError
from a2aperf.gating import baseline, expect, job, points, weak
from a2aperf.gating.checks import Check, State, in_sum, unknown, worst
from a2aperf.gating.given import Given
from a2aperf.gating.limits_file import Limit
from a2aperf.labels import count_text, list_text
from a2aperf.oversubscription import in_launches, oversubscription
from a2aperf.results import Results


@dataclass(frozen=True)
class Request:
    """What is to be checked; `against` None: with no baseline.

    With the id of a job the files are those of its launches, in the one folder that is named.
    """

    files: Sequence[Path]
    against: Sequence[Path] | None = None
    where: Sequence[str] = ()
    min_efficiency: float | None = None
    limits: Sequence[Limit] = ()
    loss: float = 0.1
    job: str = ""
    expect: Given | None = None
    candidates: bool = False
    """Only nodes to drain are wanted, whatever else is in the files."""

    @property
    def limits_points(self) -> bool:
        """Whether points are to be judged by what needs no baseline."""
        return self.min_efficiency is not None or bool(self.limits) or self.expect is not None

    @property
    def judges(self) -> bool:
        """Whether points are to be judged, beside what measurements hold against each other."""
        return self.limits_points or self.against is not None


ASK: Final = (
    "give --against FILE…, --min-efficiency SHARE, --expect link, --limits FILE or --job ID"
)

_ALONE: Final = "note: one launch: nothing is compared with a baseline, which takes several"


@dataclass(frozen=True)
class Gate:
    """The checks, what else to know, when the last point began (ns since 1970; −1: unknown).

    `candidates`: nodes to drain, each with the reason. `is_measured`: whether a launch is good.
    """

    checks: list[Check]
    notes: list[str]
    measured: int
    candidates: dict[str, str] = field(default_factory=dict)
    is_measured: bool = True

    @property
    def state(self) -> State:
        """The exit status."""
        return worst((check.state for check in self.checks), self.is_measured)

    @property
    def sum(self) -> str:
        """In one line, which says so where one launch has nothing but its limits checked."""
        alone = "; one launch: only limits are checked" * (_ALONE in self.notes)
        return in_sum(self.checks, self.is_measured) + alone


@dataclass(frozen=True)
class _Loaded:
    """All points, those of launches that can be judged, and the files that could be read.

    `notes` on what is left out of those that can be judged.
    """

    everything: Results | None = None
    found: Results | None = None
    sound: Sequence[Path] = ()
    notes: Sequence[str] = ()


def gate(asked: Request) -> Gate:
    """Everything that was asked for; what cannot be checked is a check that is unknown.

    InputError where nothing is, and the files have no check of their own.
    """
    of_job = job.facts(asked.files[0], asked.job) if asked.job else job.Facts()
    checks, notes, candidates = of_job.checks, of_job.notes, of_job.candidates
    given = of_job.files if asked.job else asked.files
    if asked.job and not given:
        checks.append(unknown("files", "no launch is good"))
        return Gate(checks, notes, -1, candidates, is_measured=False)
    is_asked = asked.judges or bool(asked.job)
    of_last = not asked.job and asked.against is None
    loaded = _load(given, asked.where, "files", checks, is_asked, of_last)
    measured = -1
    if loaded.everything is not None:
        made, slow, told = weak.check(loaded.everything, asked.loss)
        notes += told
        if not is_asked and not (made and (asked.candidates or weak.is_all(loaded.everything))):
            raise InputError(ASK)
        checks += made
        of_job.add_candidates(slow)
    own = loaded.found
    if not is_asked:
        measured = _last_begun(loaded.everything)
    elif own is not None:
        measured = _last_begun(own)
        notes += [f"note: {one}" for one in own.unjudged]
        checks += _limited(own, asked, notes, loaded.notes)
        if asked.against is not None:
            checks += _against(asked, loaded.sound, notes)
    return Gate(checks, notes, measured, candidates)


def _last_begun(found: Results | None) -> int:
    """When the last point that says it began, ns since 1970; -1 where none does."""
    known = found.points["started"].dropna() if found is not None else ()
    return int(max(known, default=-1))


def _limited(own: Results, asked: Request, notes: list[str], of_last: Sequence[str]) -> list[Check]:
    """What needs no baseline, of the last job unless it is said which; `of_last` says so."""
    if not asked.limits_points:
        return []
    notes += of_last
    if not asked.job and asked.against is not None:
        own, told = points.of_last_jobs(own)
        notes += told
    if asked.against is None and own.points["launch"].nunique() == 1:
        notes.append(_ALONE)
    checks = []
    if asked.min_efficiency is not None:
        checks += points.best_efficiency(own, asked.min_efficiency)
    checks += points.check(own, asked.limits)
    if asked.expect is not None:
        checks += expect.check(own, asked.expect)
    return checks


def _against(asked: Request, files: Sequence[Path], notes: list[str]) -> list[Check]:
    """The comparison; also what cannot be read of the baseline."""
    checks: list[Check] = []
    both = {path.resolve() for path in files}
    given, lost = _expanded(asked.against or (), "baseline")
    twice = [path for path in given if path.resolve() in both]
    if twice:
        said = list_text([str(path) for path in twice], 3)
        return [unknown("baseline", f"{said}: on both sides; a baseline is of other jobs")]
    base = _load(given, asked.where, "baseline", checks) if not lost else _Loaded()
    if base.found is None:
        return lost or checks
    try:
        found = filters.where(loading.load([*files, *base.sound]), asked.where).to_judge()
    except InputError as error:
        return [*checks, unknown("baseline", str(error))]
    crowded = _oversubscribed(found)
    found = found.select(~found.points["launch"].isin(crowded))
    names = [name for name, path in found.files.items() if path in base.sound]
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
    given: Sequence[Path],
    where: Sequence[str],
    what: str,
    checks: list[Check],
    judges: bool = True,
    of_last: bool = False,
) -> _Loaded:
    """What is in the files; each that cannot be read is a check.

    `judges`: points are to be judged, so that it is one, too, where they cannot be; with
    `of_last` those of the last job alone.
    """
    paths, lost = _expanded(given, what)
    checks += lost
    loaded = _loaded(paths, what, checks)
    if loaded is None:
        return _Loaded()
    sound = [*loaded.files.values()]
    everything, notes = None, list[str]()
    try:
        everything = filters.where(loaded, where)
        last = everything
        if of_last and judges:
            last, notes = points.of_last_jobs(everything)
        _tell_missing(last, what, checks)
        if not judges:
            return _Loaded(everything, None, sound)
        found = last.to_judge()
        clusters.require_one(found)
    except InputError as error:
        checks.append(unknown(what, str(error).replace("; --mixed takes them together", "")))
        return _Loaded(everything, None, sound)
    crowded = _oversubscribed(found)
    if crowded:
        words = list_text(in_launches(found.launches), 3)
        checks.append(unknown(what, f"{words}; left out: such times are those of the cores"))
        found = found.select(~found.points["launch"].isin(crowded))
    return _Loaded(everything, None if found.points.empty else found, sound, notes)


def _loaded(paths: Sequence[Path], what: str, checks: list[Check]) -> Results | None:
    """What can be read; each of the other files is a check, and whatever of these is damaged."""
    if not paths:
        return None
    try:
        found = loading.load(paths, paths)
    except loading.NothingLeftError as error:
        checks += [unknown(what, why) for why in error.left_out]
    except InputError as error:  # together they cannot be
        checks.append(unknown(what, str(error)))
    else:
        checks += [unknown(what, why) for why in (*found.left_out, *found.damaged)]
        return found
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
    broken = [
        f"{key} did not finish ({one.unfinished})"
        for key, one in found.launches.items()
        if one.unfinished
    ]
    if broken:
        checks.append(unknown("launches", list_text(broken, 3)))
