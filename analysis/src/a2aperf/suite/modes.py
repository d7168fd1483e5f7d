# SPDX-License-Identifier: BSD-3-Clause
"""From which size on a transfer mode is ahead of another, over one interconnect.

By the rule of the interconnects (`ranking`), as a family of its own: each two modes over each
interconnect are a pair, and 5 % is the error of all claims on modes together. Modes of one launch
are exchanged within it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf import sides
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.results import Results
from a2aperf.suite import ranking as ranks
from a2aperf.suite.duels import Duel, stretches_of
from a2aperf.suite.ranking import Against, Cell, Paired, Ranking

MODE: Final = "mode"


@dataclass(frozen=True)
class Modes:
    """What is decided of modes, by interconnect; how many pairs there are, and what limits it."""

    duels: Sequence[tuple[str, Duel]]
    pairs: int
    notes: tuple[str, ...] = ()

    def of(self, role: str) -> list[tuple[str, Duel]]:
        """Those of a role."""
        return [one for one in self.duels if one[1].role == role]


def modes(ranking: Ranking) -> Modes:
    """Of all interconnects over which more than one mode was measured."""
    known: dict[tuple[str, str, str], list[Paired]] = {}
    for name, role in itertools.product(ranking.names, ranking.places):
        if MODE not in ranking.places[role]:
            continue
        for first, second, made in _paired(ranking, name, role):
            known.setdefault((name, first, second), []).append(made)
    duels: list[tuple[str, Duel]] = []
    undecidable = 0
    for (name, first, second), paired in known.items():
        undecidable += not any(ranks.can_decide(one, len(known)) for one in paired)
        against = ranks.of_two(paired, len(known))
        duels += [(name, duel) for duel in _duels(name, first, second, against)]
    notes = []
    if known:
        notes.append(
            "modes are compared within each interconnect: 5 % error for all claims on modes "
            f"together ({count_text(len(known), 'pair')})"
        )
    if undecidable:
        notes.append(
            f"modes: of {undecidable} of {count_text(len(known), 'pair')} there are too few "
            "launches to decide anything"
        )
    return Modes(duels, len(known), tuple(notes))


def _paired(ranking: Ranking, name: str, role: str) -> Iterator[tuple[str, str, Paired]]:
    """Each two modes of a role over an interconnect that can be compared."""
    mine = ranks.timed(ranking.used, role)
    own = mine.select(ranks.interconnect(mine) == name)
    places = [one for one in ranking.places[role] if one != MODE]
    there = sorted(str(mode) for mode in own.points[MODE].dropna().unique())
    for first, second in itertools.combinations(there, 2):
        chosen: Results = own.select(own.points[MODE].isin([first, second]))
        try:
            pairing = sides.pair(chosen, chosen.points[MODE] == second, [MODE])
        except InputError:  # no cell has both
            continue
        made = ranks.paired_of(chosen, pairing, role, places)
        if isinstance(made, Paired):
            yield first, second, made


def _duels(name: str, first: str, second: str, against: dict[Cell, Against]) -> Iterator[Duel]:
    """`against` is of the second against the first."""

    def place(cell: Cell) -> tuple[str, tuple[str, ...]]:
        return cell.role, tuple(map(str, cell.others))

    ordered = sorted(against, key=lambda cell: (place(cell), cell.size))
    for _, group in itertools.groupby(ordered, key=place):
        cells = list(group)
        stretches = tuple(stretches_of([(cell, against[cell]) for cell in cells], second, first))
        if stretches:
            setting = ", ".join(filter(None, (f"over {name}", cells[0].setting)))
            yield Duel(cells[0].role, setting, stretches)
