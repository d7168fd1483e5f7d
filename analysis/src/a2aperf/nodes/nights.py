# SPDX-License-Identifier: BSD-3-Clause
"""What the launches of a file say of their nodes: each workload knows how.

A file of which every byte is as it was written is asked no more than they look at: a folder may
hold thousands. Of any other one all is read, for damage.
"""

from __future__ import annotations

from pathlib import Path

from a2aperf import loading, reading, trailer, workloads
from a2aperf.nodes import asked
from a2aperf.nodes.night import Night, Per


def of_file(path: Path, per: Per = "node") -> list[Night]:
    """The launches of a file that tell these apart; InputError where it cannot be read."""
    return with_damage(path, per)[0]


def with_damage(path: Path, per: Per) -> tuple[list[Night], tuple[str, ...]]:
    """The same, and what of the file is not as it was written."""
    if reading.trailer_of(path) is not trailer.Trailer.RIGHT:
        found = loading.load([path])
        return [night for one in workloads.ALL for night in one.nodes(found, per)], found.damaged
    with reading.held(path):
        found = loading.load([path], question=asked.summary)
        return [night for one in workloads.ALL for night in one.nodes(found, per)], ()
