# SPDX-License-Identifier: BSD-3-Clause
"""Parts that the measurement itself holds against each other: a check for each that is weak."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from a2aperf import jobs
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finders import FINDERS
from a2aperf.explain.finding import Finder, Finding, percent
from a2aperf.gating.checks import Check, State, unknown
from a2aperf.labels import count_text
from a2aperf.oversubscription import in_launches, oversubscription
from a2aperf.results import Results


@dataclass(frozen=True)
class _Night:
    """What one job measured of a setting in one file, and what stands out in it."""

    setting: str
    job: str
    begun: float  # when the job's last point did, ns since 1970; negative: not known
    launches: frozenset[str]
    nodes: frozenset[str]
    findings: tuple[Finding, ...]
    is_crowded: bool

    @property
    def is_judged(self) -> bool:
        """Whether it says of its nodes how they are."""
        return not self.is_crowded and not any(one.abstains for one in self.findings)

    def is_over(self, nodes: frozenset[str], nights: Iterable[_Night]) -> bool:
        """Whether a later job says how these of its nodes are now."""
        return any(
            one.setting == self.setting
            and one.job != self.job
            and 0 <= self.begun < one.begun
            and one.is_judged
            and nodes <= one.nodes
            for one in nights
        )

    def standing(self, nights: Iterable[_Night]) -> list[Finding]:
        """What it found of nodes, or pairs of them, that no later job has measured."""
        return [
            one
            for one in self.findings
            if not self.is_over(frozenset(one.about) or self.nodes, nights)
        ]


def check(found: Results, loss: float) -> tuple[list[Check], dict[str, str], list[str]]:
    """Checks of all points that have such parts, the nodes that are weak, with the reason; notes.

    `loss`: the share of its rate that a part may lack before it is critical.
    """
    checks: list[Check] = []
    nodes: dict[str, str] = {}
    notes: list[str] = []
    for finder in FINDERS:
        measured = found.measured(finder.roles) if finder.is_gated else None
        if measured is None or measured.points.empty:
            continue
        made, findings, left = _of_finder(measured, finder, loss)
        checks += made
        for one in findings:
            for node in one.nodes:
                nodes.setdefault(node, one.text)
        if left:
            notes.append(f"note: {_name(finder)}: {left}")
    return checks, nodes, notes


def _of_finder(
    found: Results, finder: Finder, loss: float
) -> tuple[list[Check], list[Finding], str]:
    """Checks, what stands out, and words for what is left out.

    Each job is judged by itself. What was weak in one may have been mended since: a later job that
    could be judged and has all of the nodes says how they are now. Whatever no such job has stands.
    """
    nights = _nights(found, finder)
    current = [one for one in nights if not one.is_over(one.nodes, nights)]
    findings = [one for night in nights for one in night.standing(nights)]
    left = _left_out(nights, current)
    checks = []
    crowded = frozenset[str]().union(*(one.launches for one in current if one.is_crowded))
    if crowded:
        launches = frozenset[str]().union(*(one.launches for one in current))
        words = in_launches({key: found.launches[key] for key in sorted(launches)})[0]
        checks.append(unknown(_name(finder), f"{words}: nobody is to blame"))
    checks += [
        unknown(_name(finder), one.text) if one.abstains else _weak(finder, one, loss)
        for one in findings
    ]
    sound = frozenset[str]().union(*(one.launches for one in current if one.is_judged))
    if sound and not findings:
        n = count_text(len(sound), "launch", "launches")
        checks.append(Check(_name(finder), "", State.OK, n=n, why="nothing stands out"))
    if left and checks:
        checks[0] = replace(checks[0], why=f"{checks[0].why}; {left}")
    return checks, findings, left


def _nights(found: Results, finder: Finder) -> list[_Night]:
    """The latest first."""
    points = found.points
    setting, job = series.named(found), points["launch"].map(jobs.of_launches(found))
    begun = points["started"].astype("Float64").fillna(-1)
    ends = begun.groupby([setting, job], sort=False).transform("max")
    crowded = {key for key, one in found.launches.items() if oversubscription(one)}
    nights = []
    for key, rows in points.groupby([setting, job, points["file"]], sort=False):
        name, own, _ = cast(tuple[str, str, str], key)
        launches = frozenset(map(str, rows["launch"].unique()))
        alone = rows.index[~rows["launch"].isin(crowded)]
        is_mine = pd.Series(points.index.isin(alone), points.index)
        findings = tuple(finder.find(found.select(is_mine))) if len(alone) else ()
        nodes = frozenset(node for launch in launches for node in found.launches[launch].nodes)
        when = float(ends[rows.index[0]])
        is_crowded = len(alone) < len(rows)
        nights.append(_Night(name, own, when, launches, nodes, findings, is_crowded))
    return sorted(nights, key=lambda one: -one.begun)


def _left_out(nights: Sequence[_Night], current: Sequence[_Night]) -> str:
    """Words for the launches of which something is not told; empty: none."""
    some = [
        one for one in nights if one not in current or len(one.standing(nights)) < len(one.findings)
    ]
    launches = frozenset[str]().union(*(one.launches for one in some))
    if not launches:
        return ""
    count = count_text(len(launches), "earlier launch", "earlier launches")
    return f"{count} left out as far as a later job has the same nodes"


def is_all(found: Results) -> bool:
    """Whether all points are of those that `check` looks at."""
    roles = {role for finder in FINDERS if finder.is_gated for role in finder.roles}
    return set(found.points["role"]) <= roles


def _name(finder: Finder) -> str:
    return finder.title.lower()


def _weak(finder: Finder, one: Finding, loss: float) -> Check:
    share, limit = (float(one.numbers[name]) for name in ("share", "limit"))
    state = State.CRITICAL if share <= 1 - loss else State.WARNING
    shown = (percent(share), f"at least {percent(limit)}")
    return Check(_name(finder), one.where, state, share, limit, shown, one.sample, 1, one.text)
