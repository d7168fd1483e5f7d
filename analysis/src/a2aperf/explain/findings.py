# SPDX-License-Identifier: BSD-3-Clause
"""Findings for a notebook: a sequence, a table, the words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from a2aperf import clusters
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finders import ROLES, explain, grouped, require_kinds
from a2aperf.explain.finding import Finding
from a2aperf.labels import count_text
from a2aperf.results import Results

COLUMNS = ("kind", "where", "text", "n", "unit", "numbers")


class Findings(Sequence[Finding]):
    """What stands out, in the order in which `a2a explain` tells it."""

    def __init__(self, found: Sequence[Finding]) -> None:
        self._found = tuple(found)

    @classmethod
    def of(cls, results: Results, kinds: Sequence[str] = (), mixed: bool = False) -> Findings:
        """Look for all kinds or those named; InputError where there is no such kind or point."""
        require_kinds(kinds, "findings: ")
        found = results.to_explain(ROLES)
        clusters.require_one(found, mixed)
        return cls(explain(found, tuple(kinds)))

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Findings: ...
    def __getitem__(self, index: int | slice) -> Finding | Findings:
        if isinstance(index, slice):
            return Findings(self._found[index])
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    @property
    def frame(self) -> pd.DataFrame:
        """One row a finding: `kind`, `where`, `text`, `n`, counted in `unit`, and `numbers`."""
        rows = [[getattr(one, name) for name in COLUMNS] for one in self]
        return pd.DataFrame(rows, columns=pd.Index(COLUMNS))

    def __str__(self) -> str:
        """A line per finding."""
        lines = [f"{one.where}: {one.text} [n = {one.sample}]" for one in self]
        return "\n".join(lines) or "nothing stands out"

    def __repr__(self) -> str:
        counts = [f"{finder.kind} {len(mine)}" for finder, mine in grouped(self)]
        said = f": {', '.join(counts)}" if counts else ""
        return f"<{count_text(len(self), 'finding')}{said}>"
