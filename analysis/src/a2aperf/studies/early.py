# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a study that ended before they had a plan: a module that could not be loaded, say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2aperf import regular
from a2aperf.errors import InputError

_COLUMNS: Final = ("kind", "ended", "status", "reason")


@dataclass(frozen=True)
class EarlyEnd:
    """What `ended-<job>.tsv` says; the facts that are missing are empty."""

    id: str
    kind: str
    facts: dict[str, str]

    @property
    def told(self) -> str:
        """`ended before it had a plan: module load mpi failed (exit status 1)`."""
        why = f": {self.facts['reason']}" if self.facts["reason"] else ""
        status = f" (exit status {self.facts['status']})" if self.facts["status"] else ""
        return f"ended before it had a plan{why}{status}"


def read(folder: Path) -> list[EarlyEnd]:
    """Of all such jobs of the folder, in the order of their ids; a full disk may cut one short."""
    found = [_read(path) for path in folder.glob("ended-*.tsv")]
    return sorted(found, key=lambda one: (len(one.id), one.id))


def _read(path: Path) -> EarlyEnd:
    try:
        lines = regular.read_bytes(path).decode("utf-8", "replace").split("\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    cells = lines[1].split("\t", len(_COLUMNS) - 1) if len(lines) > 1 else []
    facts = dict(zip(_COLUMNS, [*cells, *[""] * len(_COLUMNS)], strict=False))
    return EarlyEnd(path.stem.removeprefix("ended-"), facts.pop("kind") or "job", facts)
