# SPDX-License-Identifier: BSD-3-Clause
"""Parts that the measurement itself holds against each other: a check for each that is weak."""

from __future__ import annotations

from a2aperf.explain.finders import FINDERS
from a2aperf.explain.finding import Finder, Finding, percent
from a2aperf.gating.checks import Check, State, unknown
from a2aperf.labels import count_text
from a2aperf.oversubscription import in_launches, oversubscription
from a2aperf.results import Results


def check(found: Results, loss: float) -> tuple[list[Check], dict[str, str]]:
    """Checks of all points that have such parts, and the nodes that are weak, with the reason.

    `loss`: the share of its rate that a part may lack before it is critical.
    """
    checks: list[Check] = []
    nodes: dict[str, str] = {}
    for finder in FINDERS:
        if not finder.is_gated:
            continue
        points = found.measured(finder.roles)
        crowded = [key for key, one in points.launches.items() if oversubscription(one)]
        if crowded:
            words = in_launches(points.launches)[0]
            checks.append(unknown(_name(finder), f"{words}: nobody is to blame"))
            points = points.select(~points.points["launch"].isin(crowded))
        if points.points.empty:
            continue
        findings = finder.find(points)
        checks += [
            unknown(_name(finder), one.text) if one.abstains else _weak(finder, one, loss)
            for one in findings
        ]
        for one in findings:
            for node in one.nodes:
                nodes.setdefault(node, one.text)
        if not findings:
            n = count_text(len(points.launches), "launch", "launches")
            checks.append(Check(_name(finder), "", State.OK, n=n, why="nothing stands out"))
    return checks, nodes


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
