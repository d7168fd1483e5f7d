# SPDX-License-Identifier: BSD-3-Clause
"""What the results point out by themselves: the finders of all workloads, each for its points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from a2aperf import workloads
from a2aperf.errors import InputError
from a2aperf.explain import oversubscribed
from a2aperf.explain.finding import Finder, Finding
from a2aperf.results import Results

_ROWS: Final = tuple(finder for workload in workloads.ALL for finder in workload.finders)
FINDERS: Final = tuple({row.kind: row for row in _ROWS}.values())
"""One of each kind, in the order in which findings are told."""
ROLES: Final = tuple(dict.fromkeys(role for finder in _ROWS for role in finder.roles))
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
    chosen = [row for row in _ROWS if not kinds or row.kind in kinds]
    by_roles = {roles: found.measured(roles) for roles in {finder.roles for finder in chosen}}
    alone = {roles: oversubscribed.without(of) for roles, of in by_roles.items()}
    findings: dict[str, list[Finding]] = {finder.kind: [] for finder in FINDERS}
    for finder in chosen:
        looked_at = (alone if finder.blames else by_roles)[finder.roles]
        if not looked_at.points.empty:
            findings[finder.kind] += finder.find(looked_at)
    ordered = [sorted(mine, key=lambda one: -one.weight) for mine in findings.values()]
    return [finding for mine in ordered for finding in mine]


def grouped(findings: Sequence[Finding]) -> list[tuple[Finder, list[Finding]]]:
    """The kinds that have findings, in the order of FINDERS, each with its own."""
    groups = [(x, [one for one in findings if one.kind == x.kind]) for x in FINDERS]
    return [(finder, mine) for finder, mine in groups if mine]
