# SPDX-License-Identifier: BSD-3-Clause
"""What the results point out by themselves: one finder per file, one row per finder here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf.errors import InputError
from a2aperf.explain import (
    apart,
    arrivals,
    behind,
    cost,
    descheduled,
    drift,
    link,
    modes,
    oversubscribed,
    samples,
    scale,
    steps,
    stragglers,
    tails,
    timer,
)
from a2aperf.explain.finding import Finding
from a2aperf.results import Results
from a2aperf.workloads.pairs import weak

__all__ = ["FINDERS", "ROLES", "Finder", "Finding", "explain", "grouped", "require_kinds"]


@dataclass(frozen=True)
class Finder:
    """A kind of finding: its name, what it means, how it is found."""

    kind: str
    title: str
    meaning: str
    find: Callable[[Results], list[Finding]]
    roles: tuple[str, ...] = ("measure",)
    """Of the points that it looks at."""
    blames: bool = False
    """Says which rank, node or pair is slow: nobody is, where the launch is oversubscribed."""


FINDERS: Final = (
    Finder("oversubscribed", "More ranks than cores", "Ranks wait for a core: times show the "
           "scheduler, too, and no rank, node or pair is judged.", oversubscribed.find,
           ("measure", "sentinel", "pair")),
    Finder("scale", "Bandwidth lost with scale", "Rate of a node (of a rank where "
           "nodes are unknown) as ranks grow; the knee is where a tenth of the best is gone.",
           scale.find),
    Finder("modes", "More than one mode", "Ops fall into groups; the median is that "
           "of one group only, and may jump to another group from run to run.", modes.find),
    Finder("timer", "A delay of fixed length", "Slow ops are late by about the same time whatever "
           "their size and scale: look for a timer, not for the network.", timer.find),
    Finder("tails", "Long tails", "The median hides slow ops; the sustained rate counts them.",
           tails.find),
    Finder("steps", "Steps against message size", "Another protocol takes over between two sizes.",
           steps.find),
    Finder("cost", "What a message costs", "Message-rate-bound below the crossing, "
           "bandwidth-bound above it.", cost.find),
    Finder("stragglers", "Ranks that finish last significantly more often than expected", "Equal "
           "ranks would each be last in one of R ops; reported where it costs time.",
           stragglers.find, blames=True),
    Finder("apart", "A rank that finishes apart from the others", "Who receives slowly "
           "is late; who sends slowly makes all others late.", apart.find, blames=True),
    Finder("behind", "The rank behind the slow ops", "It pauses now and then: the others wait for "
           "it, or it is late alone; the median hides both.", behind.find, blames=True),
    Finder("descheduled", "Ranks that shared their core", "Something else ran on a rank's CPU "
           "while it was timed.", descheduled.find),
    Finder("link", "Above the link rate", "More than the link can carry: the figure needs an "
           "explanation before it is used.", link.find),
    Finder("weak", "Weak links", "Compared with all other pairs; a pair's time is modelled as a "
           "part of its source, one of its destination and one of its own.", weak.find,
           ("pair",), blames=True),
    Finder("slow-pair", "The message that slow ops wait for", "Of equal pairs with the same "
           "distance each would be last in one of R ops.", arrivals.find, blames=True),
    Finder("drift", "Drift within a launch", "The same point measured first and last differs.",
           drift.find, ("measure", "sentinel")),
    Finder("samples", "Insufficient samples", "Claims for which there are too few ops.",
           samples.find),
)  # fmt: skip


ROLES: Final = tuple(dict.fromkeys(role for finder in FINDERS for role in finder.roles))
"""Of all points that any finder looks at."""


def require_kinds(kinds: Iterable[str], asked: str = "--kind ") -> None:
    """Raise InputError where a name is not that of a kind; `asked` is what stands before it."""
    known = [finder.kind for finder in FINDERS]
    for kind in kinds:
        if kind not in known:
            raise InputError(f"{asked}{kind}: expected one of {', '.join(known)}")


def explain(found: Results, kinds: tuple[str, ...] = ()) -> list[Finding]:
    """All findings (of the kinds named, or all) in the order of FINDERS, the heaviest first.

    `found` are complete points; each finder looks at those of its roles.
    """
    chosen = [finder for finder in FINDERS if not kinds or finder.kind in kinds]
    by_roles = {roles: found.measured(roles) for roles in {finder.roles for finder in chosen}}
    alone = {roles: oversubscribed.without(of) for roles, of in by_roles.items()}
    findings = []
    for finder in chosen:
        looked_at = (alone if finder.blames else by_roles)[finder.roles]
        if not looked_at.points.empty:
            findings += sorted(finder.find(looked_at), key=lambda one: -one.weight)
    return findings


def grouped(findings: Sequence[Finding]) -> list[tuple[Finder, list[Finding]]]:
    """The kinds that have findings, in the order of FINDERS, each with its own."""
    groups = [(x, [one for one in findings if one.kind == x.kind]) for x in FINDERS]
    return [(finder, mine) for finder, mine in groups if mine]
