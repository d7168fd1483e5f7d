# SPDX-License-Identifier: BSD-3-Clause
"""What the launches of a file say of their nodes: each workload knows how."""

from __future__ import annotations

from pathlib import Path

from a2aperf import loading, workloads
from a2aperf.nodes.night import Night, Per


def of_file(path: Path, per: Per = "node") -> list[Night]:
    """The launches of a file that tell these apart; InputError where it cannot be read."""
    return with_damage(path, per)[0]


def with_damage(path: Path, per: Per) -> tuple[list[Night], tuple[str, ...]]:
    """The same, and what of the file is not as it was written."""
    found = loading.load([path])
    return [night for one in workloads.ALL for night in one.nodes(found, per)], found.damaged
