# SPDX-License-Identifier: BSD-3-Clause
"""Two sides of a comparison: which points belong to which, and which cells they share.

A cell is what both sides must have alike to be compared: ranks, nodes, message size, mode and so
on; also every variable and label that differs between launches of one side, and how ops start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, draws, grouping, jobs, labels, results
from a2aperf.blocks import Blocks, Sides
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results

SHAPE: Final = ("ranks", "nodes", "ppn", "message_size")
CELL: Final = (*dict.fromkeys((*SHAPE, *grouping.CHOICES)), "sync")
_NOT_COMPARABLE: Final = ("ranks", "nodes", "message_size")
_UNIT: Final = ["launch", "candidate", "ranks"]  # an imported launch may have several ranks
_LONG: Final = 10.0
"""Median gaps between launches: after a longer one those that follow have other conditions."""
_LEAST_GAP_NS: Final = 60e9
_NOT_SET: Final = " not set"
_UNKNOWN: Final = " unknown"
"""Of what has not seen whether a variable was set, as a text that was imported."""


@dataclass(frozen=True)
class Pairing:
    """Points of two sides brought together: one row per point, sorted by time.

    `points` has the columns of `Results.points`, `candidate` (bool) and `cell` (number of the row
    of `cells`); `cells` has the columns that tell cells apart. `units` has one row per launch and
    side, in time order; its index is the column `unit` of `points`; `job` is what `jobs` says,
    `day` that on which the job began (UTC), empty where a job has no time.
    """

    points: pd.DataFrame
    cells: pd.DataFrame
    units: pd.DataFrame
    disjoint: tuple[str, ...]  # cell columns in which the sides have no value in common
    between_jobs: bool  # no job has both sides
    left_out: tuple[str, ...]  # points and launches that are not compared, and why

    @property
    def side(self) -> Sides:
        """True for units of the candidate, [units]."""
        return np.asarray(self.units["candidate"], dtype=np.bool_)

    @property
    def begun(self) -> NDArray[np.float64]:
        """When each unit did, ns since 1970; negative where its file does not know, [units]."""
        return np.asarray(self.units["time"], dtype=np.float64)

    @property
    def block(self) -> Blocks:
        """A/B block of each unit, [units]."""
        followed = list(zip(self.units["job"], self.units["stretch"], strict=True))
        return blocks.within(list(self.units["kind"]), followed, self.side)

    @property
    def compared(self) -> str:
        """What is compared: `launch`; where no job has both sides `job`, or `day`.

        Jobs of a day are more alike than jobs of different days, so a day counts once where the
        baseline has enough of them.
        """
        if not self.between_jobs:
            return "launch"
        days = self.units.groupby("candidate")["day"].unique()
        known = all("" not in of_side for of_side in days)
        jobs_of_day = self.units.groupby(["candidate", "day"])["job"].nunique()
        many = len(days[False]) >= jobs.FEWEST and jobs_of_day.max() > 1
        return "day" if known and many else "job"

    @property
    def steps(self) -> jobs.Steps:
        """How launches make up what is compared (`jobs.Steps`), of one kind and side."""
        rows, found = self.units, []
        for name in {"launch": (), "job": ("job",), "day": ("job", "day")}[self.compared]:
            number = rows.groupby(["kind", name, "candidate"], sort=False, dropna=False).ngroup()
            found.append(np.asarray(number, dtype=np.intp))
            rows = rows[~number.duplicated()]
        return found

    def per_launch(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the points as [units, cells], their mean; NaN where a launch lacks the cell."""
        where = self.points["unit"].to_numpy(), self.points["cell"].to_numpy()
        total, count = (np.zeros((len(self.units), len(self.cells))) for _ in "tc")
        np.add.at(total, where, values)
        np.add.at(count, where, 1)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / count)


def levels(found: Results, names: Sequence[str]) -> pd.Series[str]:
    """The value that each point has of the settings, by `, `.

    `NAME=VALUE`, or `NAME not set`; `NAME unknown` where the result was imported, or did not
    require a variable that others did.
    """
    columns = []
    for name in names:
        is_known = found.points["has_raw"] & grouping.is_known_unset(found, name)
        absent = np.where(is_known, _NOT_SET, _UNKNOWN)
        column = results.ALIASES.get(name, name)
        if column in _NOT_COMPARABLE:
            raise InputError(
                f"--by {name}: sides are compared at the same {column}; "
                "'a2a plot scaling' and 'a2a plot sizes' show what it does"
            )
        values = zip(grouping.asked_values(found, name), absent, strict=True)
        columns.append([_named(name, value, without) for value, without in values])
    joined = [", ".join(texts) for texts in zip(*columns, strict=True)]
    return pd.Series(joined, index=found.points.index, dtype="object", name="level")


def _named(name: str, value: Any, without: str) -> str:
    if pd.isna(value) or value == "":
        return f"{name}{without}"
    if name == "window":
        return f"{name}={grouping.window_text(value)}"
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


def ordinary(found: Results, level: pd.Series[str]) -> str:
    """The level that stands for the ordinary.

    MPI's, else the first of a study's plan, else one not set, else the earliest.
    """
    first = {f"{name}={value}" for name, value in found.compared.items()}
    candidates = list(dict.fromkeys(level))
    ordinary = [x for x in candidates if set(found.points.loc[level == x, "role"]) == {"baseline"}]
    ordinary += [x for x in candidates if all(p in first for p in x.split(", "))]
    ordinary += [
        x for x in candidates if all(p.endswith((_NOT_SET, _UNKNOWN)) for p in x.split(", "))
    ]
    if ordinary:
        return ordinary[0]
    times = _timed(found.points).assign(level=level)
    return str(times.sort_values("time", kind="stable")["level"].iloc[0])


def _timed(points: pd.DataFrame) -> pd.DataFrame:
    """Adds `time` (ns since 1970; order of the files where a file does not know)."""
    return points.assign(time=points["started"].fillna(-1).astype("int64"))


def pair(
    found: Results,
    candidate: pd.Series[bool],
    by: Sequence[str] = (),
    hold: pd.Series[str] | None = None,
    held: Sequence[str] = (),
) -> Pairing:
    """Brings the candidate's and the other points together, cell by cell.

    `by` are the settings that are compared: they do not tell cells apart. Columns in which the
    sides have no value in common do not either (they are what differs), if one side has only one
    value. Launches of different `hold` [points], the values of the settings `held`, are never
    exchanged. Where jobs have both sides, launches of the others are left out: a difference
    between jobs would be taken for one between sides. Raises InputError where no cell is on both
    sides, or where a cell would be ambiguous.
    """
    points = found.points.assign(candidate=candidate.to_numpy(dtype=bool))
    points["hold"] = "" if hold is None else hold.to_numpy(dtype=object)
    points["sync"] = _of_launch(found, "sync")
    points[draws.MATRIX] = draws.words(found, found.points)
    settings = _settings(found, points, (*by, *held))
    both = _with_shapes([points[points["candidate"]], points[~points["candidate"]]])
    matrix = [draws.MATRIX] if (points[draws.MATRIX] != "").any() else []
    keys = [*_keys(by, (*found.choices, *matrix)), *settings]
    disjoint = _disjoint(both, keys)
    common = [key for key in keys if key not in disjoint]
    # The side with more values of a disjoint column tells the cells apart by it.
    by_candidate = {key for key, (a, b) in disjoint.items() if len(a) >= len(b)}
    own = [common + [key for key in disjoint if (key in by_candidate) == first] for first in (1, 0)]
    cells = _cells(both, own, common)
    if cells.empty:
        raise InputError(f"nothing to compare: {_no_common(points)}")
    numbered = cells.reset_index(names="cell")
    placed = [
        side.merge(numbered[["cell", *keys]], on=keys) for side, keys in zip(both, own, strict=True)
    ]
    rows = pd.concat(placed, ignore_index=True)
    units = _units(rows, found)
    mixed = units.groupby(["kind", "job"], dropna=False)["candidate"].transform("nunique") == 2
    left_out = _without_partner(both, rows, common)
    if mixed.any() and not mixed.all():
        lone = units[~mixed]
        left_out += (
            f"{labels.count_text(lone['launch'].nunique(), 'launch', 'launches')} of "
            f"{labels.list_text(sorted(set(lone['job'])), 3)}, which had one side only",
        )
        units = units[mixed].reset_index(drop=True)
    numbered = units[_UNIT].reset_index(names="unit")
    rows, cells = _renumbered(rows.merge(numbered, on=_UNIT, how="inner"), cells)
    return Pairing(rows, cells, units, tuple(disjoint), not mixed.any(), left_out)


def _of_launch(found: Results, name: str) -> pd.Series[str]:
    values = {key: launch.setting(name) or "" for key, launch in found.launches.items()}
    return found.points["launch"].map(values).astype("object")


def _settings(found: Results, points: pd.DataFrame, asked: Sequence[str]) -> list[str]:
    """Adds settings of launches that differ within a side to `points`; returns their columns.

    What has one value on each side is no setting of its own here: it differs with the sides.
    """
    added = []
    names = grouping.differing_starts(found, points) + grouping.differing_names(found.launches)
    for name in names:
        values = _of_launch(found, name)
        if (
            name in asked
            or name in points
            or values.groupby(points["candidate"]).nunique().max() < 2
        ):
            continue
        points[name] = values
        added.append(name)
    return added


def _without_partner(
    both: list[pd.DataFrame], rows: pd.DataFrame, keys: list[str]
) -> tuple[str, ...]:
    """What of each side has nothing on the other to be compared with, in words."""
    told = []
    for side, other, name in zip(both, reversed(both), ("candidate", "baseline"), strict=True):
        placed = rows[rows["candidate"] == (name == "candidate")]
        seen = pd.MultiIndex.from_frame(placed[["file", "point"]].drop_duplicates())
        alone = side[~pd.MultiIndex.from_frame(side[["file", "point"]]).isin(seen)]
        if alone.empty:
            continue
        count = len(alone[["file", "point"]].drop_duplicates())
        told.append(
            f"{labels.count_text(count, 'point')} of the {name} without a counterpart"
            f"{_lacking(alone, other, keys)}"
        )
    return tuple(told)


def _lacking(alone: pd.DataFrame, other: pd.DataFrame, keys: list[str]) -> str:
    """The first column in which the other side lacks the values of these points."""
    for key in keys:
        values, there = (set(x[key].astype("string").fillna("")) for x in (alone, other))
        if not values & there:
            words = [value or "not recorded" for value in sorted(values)]
            return f" ({key} {labels.list_text(words, 4)})"
    return ""


def _renumbered(rows: pd.DataFrame, cells: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Without the cells that no longer have both sides."""
    both = rows.groupby("cell")["candidate"].nunique()
    kept = sorted(both.index[both == 2])
    if len(kept) == len(cells):
        return rows, cells
    rows = rows[rows["cell"].isin(kept)]
    number = {cell: place for place, cell in enumerate(kept)}
    return rows.assign(cell=rows["cell"].map(number)), cells.loc[kept].reset_index(drop=True)


def _with_shapes(both: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Points of unknown nodes stand for every shape of the other side at their ranks.

    A shape that their own side knows is left to the points that have it. Adds `assumed`.
    """
    shape = ["ranks", "nodes", "ppn"]
    known = [side.loc[side["nodes"].notna(), shape].drop_duplicates() for side in both]
    filled = []
    for side, own, other in zip(both, known, reversed(known), strict=True):
        merged = other.merge(own, how="left", indicator=True)
        shapes = merged.loc[merged["_merge"] == "left_only", shape]
        unknown = side["nodes"].isna()
        assumed = side[unknown].drop(columns=shape[1:]).merge(shapes, on="ranks")
        parts = [side.assign(assumed=False), assumed.assign(assumed=True)]
        filled.append(pd.concat([part for part in parts if len(part)], ignore_index=True))
    return filled


def _keys(by: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Columns that tell cells apart when `by` is compared."""
    named = {results.ALIASES.get(name, name) for name in by}
    if named & {"ppn", "ranks_per_node"}:
        named |= {"ppn", "nodes"}
    if named & {"window", grouping.WINDOW_BYTES}:
        named |= {"window", grouping.WINDOW_BYTES}
    return [key for key in dict.fromkeys((*CELL, *choices)) if key not in named]


def _cells(both: list[pd.DataFrame], own: list[list[str]], common: list[str]) -> pd.DataFrame:
    """Cells that both sides have, small shapes first."""
    cells = both[0][own[0]].drop_duplicates().merge(both[1][own[1]].drop_duplicates(), on=common)
    shape = [key for key in SHAPE if key in cells]
    return cells.sort_values(shape, kind="stable", ignore_index=True)


def _disjoint(both: list[pd.DataFrame], keys: list[str]) -> dict[str, list[list[str]]]:
    """Columns without a common value, with the values of the candidate and of the baseline."""
    found = {}
    for key in keys:
        values = [sorted(set(side[key].astype("string").fillna(""))) for side in both]
        if set(values[0]) & set(values[1]):
            continue
        if key in ("ranks", "message_size") or min(map(len, values)) > 1:
            have, other = (", ".join(v or "unknown" for v in side[:6]) for side in values)
            raise InputError(
                f"nothing to compare: {key} is {have} on one side, {other} on the other; "
                "choose with --where"
            )
        found[key] = values
    return found


def _units(rows: pd.DataFrame, found: Results) -> pd.DataFrame:
    """One row per launch and side, in time order, with what makes them neighbours."""
    times = _timed(rows)
    units = times.groupby(_UNIT, sort=False).agg(time=("time", "mean"), hold=("hold", "first"))
    units = units.reset_index().sort_values("time", kind="stable", ignore_index=True)
    both = units.groupby("launch")["candidate"].nunique() == 2
    # Sides of one launch are exchanged with each other only.
    units["kind"] = [
        (ranks, hold, launch if both[launch] else "")
        for ranks, hold, launch in zip(units["ranks"], units["hold"], units["launch"], strict=True)
    ]
    job = jobs.of_launches(found)
    units["job"] = [job[launch] for launch in units["launch"]]
    begun = units.groupby("job", sort=False)["time"].transform("min")
    day = pd.to_datetime(begun, unit="ns").dt.strftime("%Y-%m-%d")
    units["day"] = day.where(begun >= 0, "")
    units["stretch"] = units.groupby("job", sort=False)["time"].transform(_stretches)
    return units


def _stretches(times: pd.Series[float]) -> pd.Series[Any]:
    """Number of the stretch of launches that followed one another, from their ascending times, ns.

    What failed and was made again much later had other neighbours than those of its block.
    """
    gaps = times.diff().fillna(0)
    long = max(_LONG * float(gaps[gaps > 0].median()), _LEAST_GAP_NS) if (gaps > 0).any() else 0
    return (gaps > long).cumsum() if long else gaps.astype(int)


def _no_common(points: pd.DataFrame) -> str:
    texts = []
    for is_candidate, name in ((True, "the one side"), (False, "the other")):
        mine = points[points["candidate"] == is_candidate]
        ranks = ", ".join(str(r) for r in sorted(set(mine["ranks"])))
        sizes = sorted(set(mine["message_size"]))
        texts.append(f"{name} has {ranks} ranks at {sizes[0]} to {sizes[-1]} B")
    return "; ".join(texts)
