# SPDX-License-Identifier: BSD-3-Clause
"""What a job of the job scripts says beside its results: its launches, its nodes, its history."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from a2aperf import baselines
from a2aperf.errors import InputError
from a2aperf.gating.checks import Check, State, unknown
from a2aperf.labels import count_text, list_text
from a2aperf.nodes import clusters, history, kept, moves, names
from a2aperf.studies.study import Check as Row
from a2aperf.studies.study import Fate, read, unlike

_STATES: Final = {"bad": State.CRITICAL, "warn": State.WARNING}
_LEFT_OUT: Final = "use"
"""The preflight's check of a node that was left out, for a reason that another one may tell."""
_NAMED: Final = 6  # nodes on a line


@dataclass(frozen=True)
class Facts:
    """Files of its launches, checks, nodes to drain with the reason of each, and notes.

    `nodes`: as Slurm calls those that the preflight looked at.
    """

    files: list[Path] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    candidates: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    nodes: frozenset[str] = frozenset()

    def add_candidates(self, slow: Mapping[str, str]) -> None:
        """Nodes that measurements show to be slow, by Slurm's name of each where that is known."""
        for node, reason in slow.items():
            self.candidates.setdefault(names.as_known(node, self.nodes), reason)


def facts(folder: Path, number: str) -> Facts:
    """Of the job of this id in a study's folder; InputError where there is none."""
    jobs = {job.id: job for job in read(folder)}
    if number not in jobs:
        there = (
            f": expected one of {list_text(list(jobs), 6)}" if jobs else ", nor of any other job"
        )
        raise InputError(f"--job {number}: {folder} has no plan of it{there}")
    job = jobs[number]
    good = job.of(Fate.GOOD)
    checks = [
        unknown("launches", f"launch {launch.number}: {launch.why}")
        for launch in job.launches
        if launch.fate is not Fate.GOOD
    ]
    checks += of_nodes(job.checks)
    candidates = {
        one.node: f"{one.check}: {one.text}"
        for one in reversed(_own(job.checks))
        if one.verdict == "bad"
    }
    nodes = frozenset(one.node for one in job.checks)
    found = Facts([launch.file for launch in good], checks, candidates, nodes=nodes)
    _of_history(folder, found, {launch.file for launch in job.launches})
    return found


def of_nodes(rows: Sequence[Row]) -> list[Check]:
    """What the preflight and the comparison of its nodes found, each kind of trouble once."""
    if not rows:
        return [unknown("nodes", "there is no preflight of the job")]
    groups: dict[tuple[str, str], list[Row]] = {}
    for one in [*_own(rows), *unlike(rows)]:
        if one.verdict != "ok":
            groups.setdefault((one.verdict, one.check), []).append(one)
    if not groups:
        total = count_text(len({one.node for one in rows}), "node")
        return [Check("nodes", total, State.OK, n=total, why="all are fit, and of one kind")]
    return [_of_group(groups[key]) for key in sorted(groups)]


def _own(rows: Iterable[Row]) -> list[Row]:
    """Without what only repeats that a node was left out."""
    every = list(rows)
    bad = {one.node for one in every if one.verdict == "bad" and one.check != _LEFT_OUT}
    return [one for one in every if one.check != _LEFT_OUT or one.node not in bad]


def _of_group(rows: Sequence[Row]) -> Check:
    first = rows[0]
    names = [one.node for one in rows]
    same = len({one.text for one in rows}) == 1
    why = f"{first.check}: {first.text}" + ("" if same else f" ({first.node}; others likewise)")
    n = count_text(len(names), "node")
    return Check("nodes", list_text(names, _NAMED), _STATES[first.verdict], n=n, why=why)


def _of_history(folder: Path, found: Facts, own: Collection[Path]) -> None:
    """Adds what all launches of the folder say of the nodes over the nights.

    A node may have got slower in those that cannot be read. The job's `own` have checks already.
    """
    files = baselines.files_of([folder], with_copies=True) if _has_files(folder) else []
    nights, refused = kept.read(files)
    found.checks.extend(unknown("history", why) for file, why in refused.items() if file not in own)
    made = history.of_nights(nights) if nights else None
    if made is None or len(made.days) < moves.LEAST:
        have = count_text(len(made.days) if made else 0, "night")
        found.notes.append(
            f"note: {have} in {folder}; from {moves.LEAST} on its nodes are compared over time"
        )
        return
    try:
        clusters.require_one(nights)
    except InputError as error:
        found.checks.append(unknown("history", str(error)))
        return
    slow = made.candidates()
    nodes = count_text(len(made.nodes), "node")
    n = count_text(len(made.days), "night")
    found.add_candidates(slow)
    if not slow:
        why = "none got slower than the others"
        found.checks.append(Check("history", nodes, State.OK, n=n, why=why))
    for node, reason in slow.items():
        found.checks.append(Check("history", node, State.WARNING, n=n, why=reason))


def _has_files(folder: Path) -> bool:
    return any(folder.glob("**/*.h5"))
