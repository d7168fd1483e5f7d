# SPDX-License-Identifier: BSD-3-Clause
"""Is one side faster, by how much, and how sure is that? The unit is the launch, not the op."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, decision, differences, intervals, jobs, labels, remarks, sides
from a2aperf.decision import LEVEL
from a2aperf.deferred import pandas as pd
from a2aperf.differences import Differences
from a2aperf.errors import InputError
from a2aperf.launch import ignored_words
from a2aperf.results import Results
from a2aperf.schema import Column
from a2aperf.sides import Pairing
from a2aperf.traits import Judged

Floats = NDArray[np.float64]

MARGIN: Final = 0.02
SEED: Final = 20190417
CHANGES: Final = (0.02, 0.05, 0.10)
_OP_DRAWS: Final = 200


class Verdict(StrEnum):
    """What can be said of one cell."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no difference"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """A candidate compared with a baseline.

    `cells` has one row per cell: the columns that tell cells apart, then `launches_baseline`,
    `launches_candidate`, `jobs_baseline`, `jobs_candidate`, where days are compared `days_baseline`
    and `days_candidate`, `time_baseline`, `time_candidate` (ns,
    geometric mean of the units' medians), `ratio` (speed of the candidate ÷ speed of the baseline:
    above 1 is faster) with `ratio_low`, `ratio_high`, `p` (family-wise), `spread` (relative, of a
    unit), `detectable` (minimum detectable effect, relative, 90 % power), `equality_margin`
    (smallest margin in which that cell alone can be found equal), `rate_baseline`,
    `rate_candidate` (`judged.rate`), `verdict`, `launches_needed` (units a side for a change of
    the margin; NA: not needed or more than can be said).

    The unit is the launch, or where no job has both sides the job or its day (`sides.Pairing`).
    `needed` are the units a side for changes of CHANGES at every cell (None: too many to be said),
    `margins` the smallest margin that can be shown for one cell and for all of them, each
    corrected; NaN where none can.
    """

    baseline: str
    candidate: str
    margin: float
    cells: pd.DataFrame
    differences: Differences
    unit: str
    blocks: int
    arrangements: int
    needed: dict[float, int | None]
    margins: tuple[float, float]
    reason: str | None  # why there is no verdict at all
    notes: list[str]
    doubts: list[str]  # what the launches know of why they differ
    judged: Judged = field(default_factory=Judged)
    level: float = LEVEL
    """The error of all cells together, and of each interval."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    """What the files say of their columns."""
    launches: tuple[int, int] = (0, 0)
    """Of baseline and candidate in all, of which a cell may have fewer."""
    oversubscribed: Sequence[str] = ()
    """Of the doubts those that are said first: no figure of such launches is read without."""

    @property
    def status(self) -> int:
        """Exit status for scripts: 3 if any cell is slower, else 4 if any is undecided, else 0."""
        return status([self])


def roles(by: Iterable[str]) -> tuple[str, ...]:
    """Of the points that a comparison by these names looks at."""
    return ("measure", "baseline") if {"engine", "role"} & set(by) else ("measure",)


def status(made: Iterable[Comparison], lacks_files: bool = False) -> int:
    """Exit status of several comparisons: as of one. What a lacking file says is undecided."""
    verdicts = {verdict for one in made for verdict in one.cells["verdict"]}
    if Verdict.SLOWER in verdicts:
        return 3
    return 4 if lacks_files or Verdict.UNDECIDED in verdicts else 0


def table(made: Iterable[Comparison]) -> pd.DataFrame:
    """The cells of all, a row each, with `baseline` and `candidate` in words."""
    return pd.concat(
        [one.cells.assign(baseline=one.baseline, candidate=one.candidate) for one in made],
        ignore_index=True,
    )


def by_setting(
    found: Results,
    names: Sequence[str],
    baseline: str | None = None,
    margin: float = MARGIN,
    error: float = LEVEL,
) -> list[Comparison]:
    """Every level of the settings (all combinations of several) against the baseline level.

    The baseline is the ordinary level (`sides.ordinary`) unless it is named. `error`: of all claims
    of a comparison together, and of each of its intervals.
    """
    level = sides.levels(found, names)
    known = list(dict.fromkeys(level))
    if len(known) < 2:
        asked = " ".join(f"--by {name}" for name in names)
        words = f"{asked}: every point has {known[0]}; a comparison needs two values"
        raise InputError("; ".join([words, *found.unjudged]))
    chosen = sides.ordinary(found, level)
    if baseline is not None:
        chosen = _named(baseline, known, names)
    others = [name for name in known if name != chosen]
    return [
        _one(found, level, chosen, other, names, None, (margin, error), len(others))
        for other in others
    ]


def main_effects(
    found: Results, names: Sequence[str], margin: float = MARGIN, error: float = LEVEL
) -> dict[str, list[Comparison]]:
    """Per setting, its levels against the ordinary one while the other settings are held."""
    effects = {}
    for name in names:
        rest = [other for other in names if other != name]
        level = sides.levels(found, [name])
        chosen = sides.ordinary(found, level)
        others = [value for value in dict.fromkeys(level) if value != chosen]
        hold = sides.levels(found, rest) if rest else None
        effects[name] = [
            _one(found, level, chosen, other, [name], hold, (margin, error), len(others), held=rest)
            for other in others
        ]
    return effects


def _why_empty(found: Results, left: Sequence[str]) -> str:
    """What there is instead of two sides: points in the files `left` alone."""
    others = [name for name in found.files if name not in left]
    said = labels.list_text(others, 3) if others else "the other side"
    return f"{said} has no complete point of the workload of {left[0]} among those chosen"


def against(
    found: Results, files: Sequence[str], margin: float = MARGIN, error: float = LEVEL
) -> Comparison:
    """All other files against `files` (names as in `Results.files`), the baseline."""
    candidate = ~found.points["file"].isin(list(files))
    names = [sorted(set(found.points.loc[mask, "file"])) for mask in (~candidate, candidate)]
    if not all(names):
        raise InputError(f"nothing to compare: {_why_empty(found, names[0] or names[1])}")
    titles = [side[0] if len(side) == 1 else f"{side[0]} +{len(side) - 1}" for side in names]
    pairing = sides.pair(found, candidate)
    return _Judge(found, pairing, (margin, error), 1, ()).comparison(titles[0], titles[1])


def _one(
    found: Results,
    level: pd.Series[str],
    baseline: str,
    candidate: str,
    names: Sequence[str],
    hold: pd.Series[str] | None,
    limits: tuple[float, float],
    family: int,
    held: Sequence[str] = (),
) -> Comparison:
    mask = level.isin([baseline, candidate])
    chosen = found.select(mask)
    held_level = None if hold is None else hold[mask]
    pairing = sides.pair(chosen, (level == candidate)[mask], names, held_level, held)
    return _Judge(chosen, pairing, limits, family, (*names, *held)).comparison(baseline, candidate)


def _named(value: str, known: Sequence[str], names: Sequence[str]) -> str:
    """The level that the user means: `0`, `NAME=0`, or `A=1, B=0`."""
    for level in known:
        if value == level or (len(names) == 1 and f"{names[0]}={value}" == level):
            return level
    raise InputError(f"--baseline: unknown value '{value}': expected one of {', '.join(known)}")


class _Judge:
    """One candidate against one baseline; `family` candidates share the error level.

    `limits` are the margin of equality and the error level.
    """

    def __init__(
        self,
        found: Results,
        pairing: Pairing,
        limits: tuple[float, float],
        family: int,
        asked: Sequence[str],
    ) -> None:
        self.found, self.pairing, self.asked = found, pairing, asked
        self.margin, self.level = limits
        self.reason = remarks.no_verdict(pairing)
        self.steps = pairing.steps
        rng = np.random.default_rng(SEED)
        bound = math.log1p(self.margin)
        self.judged = found.judged
        speed = -np.log(self.judged.time(pairing.points).to_numpy(dtype=np.float64))
        self.y = self._per_unit(speed)
        self.known = ~np.isnan(self.pairing.per_launch(speed))
        self.side, self.block = pairing.side, pairing.block
        if pairing.between_jobs:
            more = jobs.excess(self.pairing.per_launch(speed), self.steps, ~self.side)
            self.side = jobs.of_units(self.side, self.steps)
            begun = jobs.of_units(pairing.begun, self.steps)
            kinds = jobs.of_units(np.arange(len(pairing.units)), self.steps)
            kind = list(pairing.units["kind"].iloc[kinds])
            self.block = blocks.within(kind, [""] * len(kind), self.side)
            self.made = decision.between_jobs(
                self.y, self.side, begun, self.block, bound, rng, family, more, self.level
            )
        else:
            noise = self._op_noise(rng)
            self.made = decision.exchanged(
                self.y, self.side, self.block, bound, rng, noise, family, self.level
            )

    def _per_unit(self, values: Floats) -> Floats:
        """Values of the points as [units, cells]; NaN where a unit lacks the cell."""
        of_launches = self.pairing.per_launch(values)
        return jobs.medians(of_launches, self.steps)

    def _op_noise(self, rng: np.random.Generator) -> Floats:
        """Log medians of block-resampled ops minus the log median, [draws, launches, cells]."""
        points = self.pairing.points
        noise = np.zeros((_OP_DRAWS, *self.y.shape))
        drawn: dict[tuple[str, int], Floats] = {}
        has_ops = points["has_raw"] & self.judged.has_ops
        wanted = points.loc[has_ops, ["file", "point", "unit", "cell"]]
        for file, point, unit, cell in wanted.itertuples(index=False):
            key = (str(file), int(point))
            if key not in drawn:
                times = self.found.op_times(*key)
                drawn[key] = np.log(intervals.resampled_medians(times, _OP_DRAWS, rng))
            noise[:, unit, cell] = drawn[key] - drawn[key].mean()
        return noise

    def comparison(self, baseline: str, candidate: str) -> Comparison:
        """The verdicts, with what they rest on."""
        units = self.pairing.units
        launches = [list(units.loc[units["candidate"] == own, "launch"]) for own in (False, True)]
        cells = self._cells()
        return Comparison(
            baseline,
            candidate,
            self.margin,
            cells,
            differences.between(self.found, launches[0], launches[1], self.asked),
            self.pairing.compared,
            len(np.unique(self.block)),
            self.made.arrangements,
            {change: self._most(change) for change in CHANGES},
            (_worst(self.made.equality_margin(1)), _worst(self._margins_of_all())),
            self.reason,
            [
                *remarks.notes(self.pairing, self.made, self.reason),
                *remarks.intervals_and_test(cells, self.made),
                *remarks.injected(self.pairing, self.asked),
                *ignored_words(
                    (self.found.launches[x] for x in dict.fromkeys(chain(*launches))), self.asked
                ),
                *filter(None, [self.judged.rest_on(self.pairing.points)]),
                *self.found.unjudged,
            ],
            remarks.doubts(self.found, *launches),
            self.judged,
            self.level,
            self.found.columns,
            (len(launches[0]), len(launches[1])),
            remarks.oversubscribed(self.found, *launches),
        )

    def _most(self, change: float) -> int | None:
        """The most units a side that a cell needs; None where that is more than can be said."""
        needed = np.array(self.made.needed(change), dtype=object)[self.made.freedom >= 1]
        return max(needed, default=None) if None not in needed else None

    def _margins_of_all(self) -> list[float]:
        return self.made.equality_margin(self.made.tests)

    def _cells(self) -> pd.DataFrame:
        cells, made = self.pairing.cells.copy(), self.made
        with np.errstate(divide="ignore"):  # messages of 0 B have the rate 0
            rate = np.log(self.pairing.points[self.judged.rate].to_numpy(dtype=np.float64))
        log_rate = self._per_unit(rate) + made.drawn - self.y
        named = {"jobs": self.pairing.units["job"]}
        if self.pairing.compared == "day":
            named["days"] = self.pairing.units["day"]
        for name, own in (("baseline", False), ("candidate", True)):
            mine = self.known & (self.pairing.side == own)[:, None]
            cells[f"launches_{name}"] = mine.sum(axis=0)
            for unit, of in named.items():
                cells[f"{unit}_{name}"] = [of[launches].nunique() for launches in mine.T]
            cells[f"time_{name}"] = np.exp(-jobs.mean_of_known(made.drawn[self.side == own]))
            cells[f"rate_{name}"] = np.exp(jobs.mean_of_known(log_rate[self.side == own]))
        cells["ratio"] = np.exp(made.effect)
        sure = self.reason is None
        cells["ratio_low"] = np.exp(made.low) if sure else np.nan
        cells["ratio_high"] = np.exp(made.high) if sure else np.nan
        cells["p"] = made.p if sure else np.nan
        cells["spread"] = np.where(made.freedom >= 1, np.expm1(made.spread), np.nan)
        cells["detectable"] = made.detectable() if sure else np.nan
        cells["equality_margin"] = made.equality_margin(1) if sure else np.nan
        cells["verdict"] = [self._verdict(cell) for cell in range(len(cells))]
        cells["launches_needed"] = self._needed(cells)
        return cells

    def _verdict(self, cell: int) -> Verdict:
        if self.reason is not None or not self.made.decides:
            return Verdict.UNDECIDED
        if self.made.equal[cell] <= self.level:
            return Verdict.SAME
        if self.made.p[cell] <= self.level:
            return Verdict.FASTER if self.made.effect[cell] > 0 else Verdict.SLOWER
        return Verdict.UNDECIDED

    def _needed(self, cells: pd.DataFrame) -> pd.Series[int]:
        """Units a side for the undecided cells, more than there are; NA where not to be said."""
        unit = labels.plural_of(self.pairing.compared)
        have = np.minimum(cells[f"{unit}_baseline"], cells[f"{unit}_candidate"])
        needed = [
            pd.NA if verdict != Verdict.UNDECIDED or k is None else max(k, own + 1)
            for verdict, k, own in zip(
                cells["verdict"], self.made.needed(self.margin), have, strict=True
            )
        ]
        return pd.Series(needed, index=cells.index, dtype="Int64")


def _worst(margins: list[float]) -> float:
    known = [margin for margin in margins if margin == margin]
    return max(known) if known else math.nan
