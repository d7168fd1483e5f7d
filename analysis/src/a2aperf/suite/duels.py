# SPDX-License-Identifier: BSD-3-Clause
"""Where one interconnect is ahead of another, and where they cross; where undecided: nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from a2aperf.labels import size_text
from a2aperf.suite.ranking import AHEAD, BEHIND, OPEN, SAME, Against, Cell, Ranking


@dataclass(frozen=True)
class Stretch:
    """Neighbouring sizes with one verdict of `ahead` over `behind` (or that they are the same)."""

    ahead: str
    behind: str
    verdict: int
    sizes: tuple[int, ...]
    is_first: bool
    """It begins with the smallest size."""
    is_last: bool
    ratios: tuple[float, float]
    """Least and largest ratio of speeds."""

    @property
    def where(self) -> str:
        """In words."""
        low, high = size_text(self.sizes[0]), size_text(self.sizes[-1])
        if self.is_first and self.is_last:
            return "at every size"
        if len(self.sizes) == 1:
            return f"at {low}"
        if self.is_last:
            return f"from {low} on"
        return f"up to {high}" if self.is_first else f"from {low} to {high}"

    def __str__(self) -> str:
        if self.verdict == SAME:
            return f"{self.ahead} and {self.behind} no different {self.where}"
        least, most = (100 * (ratio - 1) for ratio in self.ratios)
        span = f"{least:.0f} %" if round(least) == round(most) else f"{least:.0f} to {most:.0f} %"
        return f"{self.ahead} ahead of {self.behind} {self.where} (by {span})"


@dataclass(frozen=True)
class Duel:
    """Two interconnects in one role: stretches in the order of sizes."""

    role: str
    setting: str
    stretches: tuple[Stretch, ...]

    @property
    def crossings(self) -> list[tuple[int, int]]:
        """Between which sizes the one that is ahead changes, as far as that is decided."""
        decided = [one for one in self.stretches if one.verdict != SAME]
        return [(before.sizes[-1], after.sizes[0]) for before, after in
                itertools.pairwise(decided) if before.ahead != after.ahead]  # fmt: skip

    def __str__(self) -> str:
        told = [str(one) for one in self.stretches]
        told += [f"they cross between {size_text(low)} and {size_text(high)}"
                 for low, high in self.crossings]  # fmt: skip
        return f"{self.setting}{self.setting and ': '}{'; '.join(told)}"


def duels(ranking: Ranking, role: str) -> Iterator[Duel]:
    """Those of which anything is decided."""
    cells = ranking.cells(role)
    for _, group in itertools.groupby(cells, key=lambda cell: cell.others):
        mine = list(group)
        for first, second in itertools.combinations(ranking.names, 2):
            every = [(cell, _against(ranking, cell, first, second)) for cell in mine]
            stretches = tuple(stretches_of(every, first, second))
            if stretches:
                yield Duel(role, mine[0].setting, stretches)


def stretches_of(
    every: Sequence[tuple[Cell, Against | None]], first: str, second: str
) -> Iterator[Stretch]:
    """Of the first against the second, by size.

    A size that one of them lacks parts them, as one does that is not decided.
    """
    for verdict, run in itertools.groupby(every, key=lambda one: one[1] and one[1].verdict):
        if verdict is OPEN:
            continue
        here = [(cell, against) for cell, against in run if against is not None]
        ratios = [one.ratio if verdict != BEHIND else 1 / one.ratio for _, one in here]
        names = (second, first) if verdict == BEHIND else (first, second)
        yield Stretch(
            *names,
            SAME if verdict == SAME else AHEAD,
            tuple(cell.size for cell, _ in here),
            here[0][0] is every[0][0],
            here[-1][0] is every[-1][0],
            (min(ratios), max(ratios)),
        )


def _against(ranking: Ranking, cell: Cell, first: str, second: str) -> Against | None:
    standing = ranking.standings[cell].get(first)
    return standing.against.get(second) if standing else None
