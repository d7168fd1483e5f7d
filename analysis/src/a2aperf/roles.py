# SPDX-License-Identifier: BSD-3-Clause
"""The points of some roles, chosen by name."""

from __future__ import annotations

from typing import Final

from a2aperf import workloads
from a2aperf.errors import InputError
from a2aperf.results import Results

KNOWN: Final = tuple(role for workload in workloads.ALL for role in workload.roles)
DEFAULT: Final = "measure,baseline,pipelined"
"""Those that a table of all-to-alls shows."""


def chosen(found: Results, role: str, asked: str = "--role ") -> Results:
    """The points of the roles (with commas between them, or `all`); there is one, or InputError."""
    known = tuple(dict.fromkeys((*KNOWN, *found.points["role"])))
    wanted = known if role == "all" else tuple(role.split(","))
    if not set(wanted) <= set(known):
        raise InputError(f"{asked}{role}: expected one of {', '.join(known)}, all")
    points = found.select(found.points["role"].isin(wanted))
    if points.points.empty:
        found.refuse_others()
        raise InputError(f"no point has role {role}")
    return points
