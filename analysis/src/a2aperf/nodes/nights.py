# SPDX-License-Identifier: BSD-3-Clause
"""What the launches of a file say of their nodes: each workload knows how."""

from __future__ import annotations

from pathlib import Path

from a2aperf import loading, workloads
from a2aperf.nodes.night import Night, Per


def of_file(path: Path, per: Per = "node") -> list[Night]:
    """The launches of a file that tell these apart; InputError where it cannot be read."""
    found = loading.load([path])
    return [night for one in workloads.ALL for night in one.nodes(found, per)]
