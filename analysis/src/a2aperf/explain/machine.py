# SPDX-License-Identifier: BSD-3-Clause
"""What the machine did to a launch, whatever was measured: findings that all workloads share."""

from __future__ import annotations

from a2aperf.explain import descheduled, oversubscribed, start
from a2aperf.explain.finding import Finder


def finders(*roles: str) -> tuple[Finder, ...]:
    """The rows of a workload whose points have these roles."""
    return oversubscribed.finder(*roles), descheduled.finder(*roles), start.finder(*roles)
