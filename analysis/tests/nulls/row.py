# SPDX-License-Identifier: BSD-3-Clause
"""A row of the table of nulls: a made-up truth, and what the analysis may say about it."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final

import numpy as np
from scipy import stats


class Outcome(Enum):
    """What a claim came to in one study."""

    CALLED = "called"
    SILENT = "silent"
    ABSTAINED = "abstained"


Study = Callable[[np.random.Generator], Mapping[str, Outcome]]
"""One study: draws data of the row's truth, returns the outcome of each claim looked at."""

SLACK: Final = 1.3
"""Upper 95 % bound of a rate of false alarms ÷ the rate: 6.5 % for 5 %."""


@dataclass(frozen=True)
class Row:
    """A truth, how a study of it is drawn, and the rates that its claims must keep.

    `false` are claims that are wrong there: the highest rate at which they may be called.
    `true` are claims that are right there: the lowest rate at which they must be called.
    """

    name: str
    study: Study
    false: Mapping[str, float] = field(default_factory=dict)
    true: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_null(self) -> bool:
        """Whether nothing that is looked for is there."""
        return not self.true


@dataclass(frozen=True)
class Rate:
    """How often a claim was called, and how often there was too little to judge by."""

    row: str
    claim: str
    studies: int
    called: int
    abstained: int
    at_most: float | None
    at_least: float | None

    @property
    def share(self) -> float:
        """Of the studies in which it was called."""
        return self.called / self.studies

    @property
    def bounds(self) -> tuple[float, float]:
        """95 % interval of the share (Clopper and Pearson)."""
        ends = stats.binomtest(self.called, self.studies).proportion_ci()
        return float(ends.low), float(ends.high)

    @property
    def holds(self) -> bool:
        """False alarms: the upper bound lies within the slack. Power: the share is reached."""
        if self.at_most is not None:
            return self.bounds[1] <= max(SLACK * self.at_most, self.at_most + 0.005)
        return self.at_least is None or self.share >= self.at_least

    @property
    def contradicts(self) -> bool:
        """So many false alarms, or so few hits, as the rate would hardly give (1 in 1000)."""
        if self.at_most is not None:
            return bool(stats.binom.sf(self.called - 1, self.studies, self.at_most) < 1e-3)
        least = self.at_least or 0.0
        return bool(stats.binom.cdf(self.called, self.studies, least) < 1e-3)

    def is_settled(self, left: int) -> bool:
        """Whether so many more studies cannot change what all of them say of `contradicts`."""
        at_end = replace(self, studies=self.studies + left)
        return at_end.contradicts == replace(at_end, called=self.called + left).contradicts


def rates(row: Row, studies: int, first: int = 0) -> list[Rate]:
    """The rates of a row's claims in so many seeded studies, from study number `first` on."""
    *_, found = _so_far(row, range(first, first + studies))
    return found


def contradicted(row: Row, studies: int) -> list[Rate]:
    """Those that so many studies contradict; no more are drawn once that is settled."""
    found: list[Rate] = []
    for number, found in enumerate(_so_far(row, range(studies)), 1):
        if all(rate.is_settled(studies - number) for rate in found):
            break
    return [rate for rate in found if replace(rate, studies=studies).contradicts]


def _so_far(row: Row, numbers: range) -> Iterator[list[Rate]]:
    """The rates after each of the studies of these numbers."""
    of_row = zlib.crc32(row.name.encode())
    seen: dict[str, Counter[Outcome]] = {claim: Counter() for claim in {**row.false, **row.true}}
    for studies, number in enumerate(numbers, 1):
        outcome = row.study(np.random.default_rng((of_row, number)))
        for claim, counts in seen.items():
            counts[outcome[claim]] += 1
        yield [
            Rate(
                row.name,
                claim,
                studies,
                counts[Outcome.CALLED],
                counts[Outcome.ABSTAINED],
                row.false.get(claim),
                row.true.get(claim),
            )
            for claim, counts in seen.items()
        ]
