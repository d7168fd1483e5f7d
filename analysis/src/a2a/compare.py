# SPDX-License-Identifier: BSD-3-Clause
"""Is one side faster, by how much, and how sure is that? The unit is the launch, not the op."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from a2a import blocks, bootstrap, differences, intervals, maxt, power, sides
from a2a.differences import Differences
from a2a.errors import InputError
from a2a.results import Results
from a2a.sides import Pairing

Floats = NDArray[np.float64]

LEVEL: Final = 0.05
MARGIN: Final = 0.02
SEED: Final = 20190417
_OP_DRAWS: Final = 200
# Correlation of side with time from which it is said: between launches, and within each.
_LEANING: Final = 0.3
_ALWAYS: Final = 0.9


class Verdict(StrEnum):
    """What can be said of one cell."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no difference"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """A candidate held against a baseline.

    `cells` has one row per cell: the columns that tell cells apart, then `launches_baseline`,
    `launches_candidate`, `time_baseline`, `time_candidate` (ns, geometric mean of the launches'
    medians), `ratio` (speed of the candidate ÷ speed of the baseline) with `ratio_low`,
    `ratio_high`, `p` (family-wise), `spread` (relative, of a launch), `detectable` (relative
    change), `launches_needed` (a side; NA: not needed or more than can be said), `rate_baseline`,
    `rate_candidate` (Gbit/s, the column `rate`), `verdict`.
    """

    baseline: str
    candidate: str
    margin: float
    rate: str
    cells: pd.DataFrame
    differences: Differences
    blocks: int
    arrangements: int
    notes: list[str]

    @property
    def status(self) -> int:
        """Exit status for scripts: 3 if any cell is slower, else 4 if any is undecided, else 0."""
        verdicts = set(self.cells["verdict"])
        return 3 if Verdict.SLOWER in verdicts else 4 if Verdict.UNDECIDED in verdicts else 0


def by_setting(
    found: Results, names: Sequence[str], baseline: str | None = None, margin: float = MARGIN
) -> list[Comparison]:
    """Every level of the settings (all combinations of several) against the baseline level.

    The baseline is the ordinary level (`sides.ordinary`) unless it is named.
    """
    level = sides.levels(found, names)
    known = list(dict.fromkeys(level))
    if len(known) < 2:
        asked = " ".join(f"--by {name}" for name in names)
        raise InputError(f"{asked}: every point has {known[0]}; a comparison needs two values")
    chosen = sides.ordinary(found, level)
    if baseline is not None:
        chosen = _named(baseline, known, names)
    others = [name for name in known if name != chosen]
    return [_one(found, level, chosen, other, names, None, margin, len(others)) for other in others]


def main_effects(
    found: Results, names: Sequence[str], margin: float = MARGIN
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
            _one(found, level, chosen, other, [name], hold, margin, len(others), held=rest)
            for other in others
        ]
    return effects


def against(found: Results, files: Sequence[str], margin: float = MARGIN) -> Comparison:
    """All other files against `files` (names as in `Results.files`), the baseline."""
    candidate = ~found.points["file"].isin(list(files))
    names = [sorted(set(found.points.loc[mask, "file"])) for mask in (~candidate, candidate)]
    if not all(names):
        raise InputError("nothing to compare: one of the sides has no complete point")
    titles = [side[0] if len(side) == 1 else f"{side[0]} +{len(side) - 1}" for side in names]
    pairing = sides.pair(found, candidate)
    return _Judge(found, pairing, margin, 1, ()).comparison(titles[0], titles[1])


def _one(
    found: Results,
    level: pd.Series[str],
    baseline: str,
    candidate: str,
    names: Sequence[str],
    hold: pd.Series[str] | None,
    margin: float,
    family: int,
    held: Sequence[str] = (),
) -> Comparison:
    mask = level.isin([baseline, candidate])
    pairing = sides.pair(
        found.select(mask), (level == candidate)[mask], names, None if hold is None else hold[mask]
    )
    return _Judge(found, pairing, margin, family, (*names, *held)).comparison(baseline, candidate)


def _named(value: str, known: Sequence[str], names: Sequence[str]) -> str:
    """The level that the user means: `0`, `NAME=0`, or `A=1, B=0`."""
    for level in known:
        if value == level or (len(names) == 1 and f"{names[0]}={value}" == level):
            return level
    raise InputError(f"--baseline {value}: no such value; there is {', '.join(known)}")


class _Judge:
    """One candidate against one baseline; `family` candidates share the error level."""

    def __init__(
        self, found: Results, pairing: Pairing, margin: float, family: int, asked: Sequence[str]
    ) -> None:
        self.found, self.pairing, self.margin, self.family = found, pairing, margin, family
        self.asked = asked
        rng = np.random.default_rng(SEED)
        self.side, self.block = pairing.side, pairing.block
        self.y = self._per_unit(-np.log(pairing.points["time_p50"].to_numpy(dtype=np.float64)))
        self.tested = maxt.max_t(self.y, self.side, self.block, rng)
        noise = self._op_noise(rng)
        self.low, self.high = bootstrap.effect_intervals(self.y, self.side, self.block, noise, rng)

    def _per_unit(self, values: Floats) -> Floats:
        """Values of the points as [units, cells]; NaN where a launch lacks the cell."""
        points = self.pairing.points
        where = points["unit"].to_numpy(), points["cell"].to_numpy()
        total, count = (np.zeros((len(self.pairing.units), len(self.pairing.cells))) for _ in "tc")
        np.add.at(total, where, values)
        np.add.at(count, where, 1)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / count)

    def _op_noise(self, rng: np.random.Generator) -> Floats:
        """Log medians of block-resampled ops minus the log median, [draws, units, cells]."""
        points = self.pairing.points
        noise = np.zeros((_OP_DRAWS, *self.y.shape))
        drawn: dict[tuple[str, int], Floats] = {}
        wanted = points.loc[points["has_raw"], ["file", "point", "unit", "cell"]]
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
        launches = [list(units.loc[self.side == own, "launch"]) for own in (False, True)]
        rate = self._rate_column()
        return Comparison(
            baseline,
            candidate,
            self.margin,
            rate,
            self._cells(rate),
            differences.between(self.found, launches[0], launches[1], self.asked),
            len(np.unique(self.block)),
            self.tested.arrangements,
            self._notes(),
        )

    def _rate_column(self) -> str:
        """The rate per node if every point has one, else per rank."""
        for name in ("gbps_node_net", "gbps_node_total"):
            if np.isfinite(self.pairing.points[name].to_numpy(dtype=np.float64)).all():
                return name
        return "gbps_rank"

    def _cells(self, rate: str) -> pd.DataFrame:
        cells, tested = self.pairing.cells.copy(), self.tested
        log_rate = self._per_unit(np.log(self.pairing.points[rate].to_numpy(dtype=np.float64)))
        for name, own in (("baseline", False), ("candidate", True)):
            mine = self.side == own
            cells[f"launches_{name}"] = (~np.isnan(self.y[mine])).sum(axis=0)
            cells[f"time_{name}"] = np.exp(-np.nanmean(self.y[mine], axis=0))
            cells[f"rate_{name}"] = np.exp(np.nanmean(log_rate[mine], axis=0))
        cells["ratio"] = np.exp(tested.effect)
        cells["ratio_low"], cells["ratio_high"] = np.exp(self.low), np.exp(self.high)
        known = tested.freedom >= 1
        cells["p"] = np.where(known, np.minimum(1.0, tested.p * self.family), np.nan)
        cells["spread"] = np.where(known, np.expm1(tested.spread), np.nan)
        cells["detectable"] = self._detectable()
        cells["verdict"] = [self._verdict(i, cells["p"].iloc[i]) for i in range(len(cells))]
        cells["launches_needed"] = self._needed(cells)
        return cells

    def _verdict(self, cell: int, p: float) -> Verdict:
        bound = math.log1p(self.margin)
        if -bound <= self.low[cell] and self.high[cell] <= bound:
            return Verdict.SAME
        if p <= LEVEL:
            return Verdict.FASTER if self.tested.effect[cell] > 0 else Verdict.SLOWER
        return Verdict.UNDECIDED

    def _detectable(self) -> list[float]:
        t = self.tested
        if t.arrangements < 2 * self.family / LEVEL:
            return [math.nan] * len(t.effect)
        return [
            power.detectable(*numbers, t.critical)
            for numbers in zip(t.spread, t.information, t.freedom, strict=True)
        ]

    def _needed(self, cells: pd.DataFrame) -> pd.Series[int]:
        """Launches a side for the undecided cells, more than there are; NA where not to be said."""
        t, needed = self.tested, []
        tests = int((t.freedom >= 1).sum()) * self.family
        for i, verdict in enumerate(cells["verdict"]):
            have = min(cells["launches_baseline"].iloc[i], cells["launches_candidate"].iloc[i])
            k = None
            if verdict == Verdict.UNDECIDED:
                tail = power.tail(t.critical, t.freedom[i], tests)
                k = power.launches_needed(t.spread[i], t.freedom[i], tail, self.margin)
            needed.append(pd.NA if k is None else max(k, have + 1))
        return pd.Series(needed, index=cells.index, dtype="Int64")

    def _notes(self) -> list[str]:
        """What a reader must know about how the launches were made."""
        notes = []
        notes += self._order()
        fewest = min(int((self.side == own).sum()) for own in (False, True))
        if self.tested.arrangements < 2 / LEVEL:
            notes.append(
                f"with {fewest} launch{'es' * (fewest > 1)} on one side no difference can be "
                f"significant: at least {power.FEWEST} a side, 8 are usual"
            )
        for column in self.pairing.disjoint:
            notes.append(f"{column}: {self._values(column)}")
        for name, own in (("baseline", False), ("candidate", True)):
            mine = self.pairing.points[self.pairing.points["candidate"] == own]
            if mine["assumed"].any():
                notes.append(
                    f"nodes and ranks per node of the {name} are unknown in "
                    f"{mine.loc[mine['assumed'], 'cell'].nunique()} of {mine['cell'].nunique()} "
                    "cells: held against every shape with as many ranks"
                )
        if not self.pairing.points["has_raw"].all():
            notes.append("some points are summaries without raw samples")
        return notes

    def _order(self) -> list[str]:
        """Whether one side ran later, so that a drift would look like an effect."""
        units = self.pairing.units
        lean = blocks.lean(self.side, self.block)
        later = "candidate" if lean > 0 else "baseline"
        if len(units) < 4 or not (units["time"] >= 0).all():
            return []
        if units["launch"].duplicated().any():
            if abs(lean) < _ALWAYS:
                return []
            what, instead = f"in every launch the {later} was measured later", "--order shuffled"
        elif abs(lean) < _LEANING:
            return []
        else:
            what, instead = f"not interleaved: the {later} ran later", "run A B B A …"
        return [f"{what}, so a change over time would look like an effect; {instead}"]

    def _values(self, column: str) -> str:
        points = self.pairing.points
        texts = []
        for name, own in (("baseline", False), ("candidate", True)):
            values = points.loc[points["candidate"] == own, column].astype("string")
            known = sorted({value or "unknown" for value in values.fillna("unknown")})
            texts.append(f"{', '.join(known)} ({name})")
        return " against ".join(texts)
