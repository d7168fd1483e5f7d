# SPDX-License-Identifier: BSD-3-Clause
"""Two sides of a comparison: which points belong to which, and which cells they share.

A cell is what both sides must have alike to be compared: ranks, nodes, message size, mode and so
on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from a2a import blocks, results
from a2a.blocks import Blocks, Sides
from a2a.errors import InputError
from a2a.results import Results

SHAPE: Final = ("ranks", "nodes", "ppn", "message_size")
CELL: Final = (*SHAPE, "engine", "provider", "mode", "schedule", "window", "post")
_NOT_COMPARABLE: Final = ("ranks", "nodes", "message_size")
_UNIT: Final = ["launch", "candidate", "ranks"]  # an imported launch may have several ranks
_NOT_SET: Final = " not set"


@dataclass(frozen=True)
class Pairing:
    """Points of two sides brought together: one row per point, sorted by time.

    `points` has the columns of `Results.points`, `candidate` (bool) and `cell` (number of the row
    of `cells`); `cells` has the columns that tell cells apart. `units` has one row per launch and
    side, in time order; its index is the column `unit` of `points`.
    """

    points: pd.DataFrame
    cells: pd.DataFrame
    units: pd.DataFrame
    disjoint: tuple[str, ...]  # cell columns in which the sides have no value in common

    @property
    def side(self) -> Sides:
        """True for units of the candidate, [units]."""
        return np.asarray(self.units["candidate"], dtype=np.bool_)

    @property
    def block(self) -> Blocks:
        """A/B block of each unit, [units]."""
        return blocks.within(list(self.units["kind"]), list(self.units["allocation"]), self.side)


def levels(found: Results, names: Sequence[str]) -> pd.Series[str]:
    """The value that each point has of the settings: `NAME=VALUE`, or `NAME not set`, by `, `."""
    columns = []
    for name in names:
        column = results.ALIASES.get(name, name)
        if column in _NOT_COMPARABLE:
            raise InputError(
                f"--by {name}: sides are compared at the same {column}; "
                "'a2a plot scaling' and 'a2a plot sizes' show what it does"
            )
        columns.append([_named(name, value) for value in found.values(name)])
    joined = [", ".join(texts) for texts in zip(*columns, strict=True)]
    return pd.Series(joined, index=found.points.index, dtype="object", name="level")


def _named(name: str, value: Any) -> str:
    if pd.isna(value) or value == "":
        return f"{name}{_NOT_SET}"
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


def ordinary(found: Results, level: pd.Series[str]) -> str:
    """The level that stands for the ordinary: MPI's, else the one not set, else the earliest."""
    candidates = list(dict.fromkeys(level))
    ordinary = [x for x in candidates if set(found.points.loc[level == x, "role"]) == {"baseline"}]
    ordinary += [x for x in candidates if all(p.endswith(_NOT_SET) for p in x.split(", "))]
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
) -> Pairing:
    """Brings the candidate's and the other points together, cell by cell.

    `by` are the settings that are compared: they do not tell cells apart. Columns in which the
    sides have no value in common do not either (they are what differs), if one side has only one
    value. Launches of different `hold` [points] are never exchanged. Raises InputError where no
    cell is on both sides, or where a cell would be ambiguous.
    """
    points = found.points.assign(candidate=candidate.to_numpy(dtype=bool))
    points["hold"] = "" if hold is None else hold.to_numpy(dtype=object)
    both = _with_shapes([points[points["candidate"]], points[~points["candidate"]]])
    keys = _keys(by)
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
    numbered = units[_UNIT].reset_index(names="unit")
    rows = rows.merge(numbered, on=_UNIT, how="left")
    return Pairing(rows, cells, units, tuple(disjoint))


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


def _keys(by: Sequence[str]) -> list[str]:
    """Columns that tell cells apart when `by` is compared."""
    named = {results.ALIASES.get(name, name) for name in by}
    if named & {"ppn", "ranks_per_node"}:
        named |= {"ppn", "nodes"}
    return [key for key in CELL if key not in named]


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
    units["allocation"] = [_allocation(found, launch) for launch in units["launch"]]
    return units


def _allocation(found: Results, launch: str) -> tuple[str, ...]:
    """What makes launches neighbours: the Slurm job, else the same nodes."""
    facts = found.launches[launch]
    job = str(facts.attributes.get("slurm_job_id", ""))
    return ("job", job) if job else ("nodes", *facts.nodes)


def _no_common(points: pd.DataFrame) -> str:
    texts = []
    for is_candidate, name in ((True, "the one side"), (False, "the other")):
        mine = points[points["candidate"] == is_candidate]
        ranks = ", ".join(str(r) for r in sorted(set(mine["ranks"])))
        sizes = sorted(set(mine["message_size"]))
        texts.append(f"{name} has {ranks} ranks at {sizes[0]} to {sizes[-1]} B")
    return "; ".join(texts)
