# SPDX-License-Identifier: BSD-3-Clause
"""Parts that the measurement itself holds against each other: a check for each that is weak."""

from __future__ import annotations

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


def check(found: Results, loss: float) -> tuple[list[Check], dict[str, str], list[str]]:
    """Checks of all points that have such parts, the nodes that are weak, with the reason; notes.

    `loss`: the share of its rate that a part may lack before it is critical.
    """
    checks: list[Check] = []
    nodes: dict[str, str] = {}
    notes: list[str] = []
    for finder in FINDERS:
        if not finder.is_gated:
            continue
        points, told = _of_last_jobs(found.measured(finder.roles), finder)
        notes += told
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
    return checks, nodes, notes


def _of_last_jobs(found: Results, finder: Finder) -> tuple[Results, list[str]]:
    """Of jobs of a setting that share a node the last one, and what is left out.

    What was weak in an earlier night may have been mended since, and a night has the nodes that
    are fit: whatever later job has one of them says how they are now.
    """
    points = found.points
    if points.empty:
        return found, []
    setting = series.named(found)
    job = points["launch"].map(jobs.of_launches(found))
    begun = points["started"].astype("Float64").fillna(-1)
    ends = begun.groupby([setting, job], sort=False).max()
    seen: dict[str, set[str]] = {}  # by setting the nodes of later jobs
    kept: set[tuple[str, str]] = set()
    for key, when in ends.sort_values(ascending=False, kind="stable").items():
        name, one = cast(tuple[str, str], key)
        launches = points["launch"][(setting == name) & (job == one)].unique()
        nodes = {node for launch in launches for node in found.launches[str(launch)].nodes}
        later = seen.setdefault(name, set())
        if when < 0 or not nodes & later:
            kept.add((name, one))
        later |= nodes
    is_last = pd.Series([pair in kept for pair in zip(setting, job, strict=True)], points.index)
    if is_last.all():
        return found, []
    left = count_text(points["launch"][~is_last].nunique(), "launch", "launches")
    told = f"{_name(finder)} are those of the last job of the nodes; {left} before it left out"
    return found.select(is_last), [f"note: {told}"]


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
