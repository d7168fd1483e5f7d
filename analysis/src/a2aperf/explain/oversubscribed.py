# SPDX-License-Identifier: BSD-3-Clause
"""Launches with more ranks than cores: times there are also those of waiting for a core."""

from __future__ import annotations

from a2aperf.explain.finding import Finder, Finding, listed
from a2aperf.oversubscription import crowded
from a2aperf.results import Results


def finder(*roles: str) -> Finder:
    """The row of a workload whose points have these roles."""
    meaning = (
        "Ranks wait for a core: times show the scheduler, too, and no rank, node or pair is judged."
    )
    title = "More ranks than cores"
    return Finder("oversubscribed", title, meaning, find, roles, comes_first=True)


def find(found: Results) -> list[Finding]:
    """One finding per way in which launches are oversubscribed."""
    return [
        Finding("oversubscribed", words, listed(names), len(names), "launches", len(names))
        for words, names in crowded(found.launches).items()
    ]


def without(found: Results) -> Results:
    """The points of the launches in which every rank has a core to itself, as far as is known."""
    names = [name for of_words in crowded(found.launches).values() for name in of_words]
    return found.select(~found.points["launch"].isin(names)) if names else found
