# SPDX-License-Identifier: BSD-3-Clause
"""What stood still for a while: each workload looks for it in its own samples."""

from __future__ import annotations

from collections.abc import Callable

from a2aperf.explain.finding import Finder, Finding
from a2aperf.results import Results

KIND = "held-up"


def finder(find: Callable[[Results], list[Finding]], *roles: str) -> Finder:
    """The row of a workload whose points have these roles."""
    meaning = "Something stopped an end or the way between for a while, and the rates count it."
    return Finder(KIND, "What was held up", meaning, find, roles)
