# SPDX-License-Identifier: BSD-3-Clause
"""Which interconnect is ahead of which, cell by cell; the launch is the unit.

Each two are compared by the rules of `compare`: launches exchange sides within their blocks, and
the largest |t| over all sizes of all workloads is the measure (`decision`), so that the error of
5 % is of all claims on a pair together; the pairs share it (Bonferroni). Nothing is ranked by a
mean alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import blocks, decision, grouping, laws, remarks, schema, sides, workloads
from a2aperf.decision import LEVEL
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text, list_text, natural
from a2aperf.results import Results
from a2aperf.sides import Pairing
from a2aperf.suite.rounds import decides, pairs_of, rounds_for
from a2aperf.traits import Judged

Floats = NDArray[np.float64]

LABEL: Final = "interconnect"
"""Of a launch: over which one it went."""
MARGIN: Final = 0.02
"""Within which two are told to be no different."""
SEED: Final = 20111101
AHEAD, BEHIND, SAME, OPEN = 1, -1, 0, None
_CONFIDENCE: Final = 0.975
_FARTHEST: Final = 100
"""Times its lower end, that an interval may reach which is shown: a wider one tells nothing."""


@dataclass(frozen=True)
class Cell:
    """A place of the comparison: a role at a size, and what else tells points of it apart."""

    role: str
    size: int
    others: tuple[tuple[str, Any], ...] = ()

    @property
    def setting(self) -> str:
        """What else tells points of it apart, in words; empty where nothing does."""
        return ", ".join(f"{name} {worded(name, value)}" for name, value in self.others)


def worded(name: str, value: Any) -> str:
    """A value of `others`, as it is given on the command line."""
    if value is None:
        return "-"
    return grouping.window_text(value) if name == "window" else str(value)


@dataclass(frozen=True)
class Against:
    """One interconnect against another in a cell."""

    verdict: int | None
    """AHEAD, BEHIND, SAME, or OPEN."""
    ratio: float
    """Its speed ÷ that of the other."""
    low: float
    high: float


@dataclass(frozen=True)
class Standing:
    """One interconnect in a cell, over its launches: geometric means, 95 % intervals."""

    launches: int
    time: float
    """ns, of what the workload repeats."""
    rate: float
    rate_low: float
    rate_high: float
    against: dict[str, Against] = field(default_factory=dict)

    @property
    def is_interval_told(self) -> bool:
        """Whether it is known, and not so wide that it tells nothing."""
        return self.rate_high <= _FARTHEST * self.rate_low

    def count(self, verdict: int | None) -> int:
        """How many others it has that verdict against."""
        return sum(one.verdict == verdict for one in self.against.values())


@dataclass(frozen=True)
class Ranking:
    """All cells; `notes` say what limits it."""

    names: tuple[str, ...]
    standings: dict[Cell, dict[str, Standing]]
    judged: dict[str, Judged]
    """By what the points of each role are compared."""
    notes: tuple[str, ...]
    used: Results
    places: dict[str, list[str]]
    """Columns that tell cells of each role apart, beside the size."""

    def cells(self, role: str) -> list[Cell]:
        """Of one role, by size."""
        mine = [cell for cell in self.standings if cell.role == role]
        return sorted(mine, key=lambda cell: (tuple(map(str, cell.others)), cell.size))

    def place(self, cell: Cell, name: str) -> tuple[int, int]:
        """The best and the worst place that it can have."""
        here = self.standings[cell]
        mine = here[name]
        return 1 + mine.count(BEHIND), len(here) - mine.count(AHEAD)

    def is_open(self, cell: Cell, name: str) -> bool:
        """Whether it is undecided against another one; what is no different is decided."""
        here = self.standings[cell]
        decided = sum(one.verdict is not OPEN for one in here[name].against.values())
        return decided < len(here) - 1


def rank(found: Results) -> Ranking:
    """The ranking of all launches that say over which interconnect they went."""
    used, notes = _of_suite(found)
    names = tuple(sorted({one.labels[LABEL] for one in used.launches.values()}, key=natural))
    roles = _roles(used)
    places = {role: _places(used, role) for role in roles}
    standings: dict[Cell, dict[str, Standing]] = {}
    for role in roles:
        standings |= _standings(used, role, names, places[role])
    told: list[str] = list(notes)
    for first, second in itertools.combinations(names, 2):
        told += _compare(used, (first, second), places, standings, pairs_of(len(names)))
    told += _beside(used, names, roles)
    judged = {role: _judged(used, role) for role in roles}
    return Ranking(names, standings, judged, tuple(dict.fromkeys(told)), used, places)


def _of_suite(found: Results) -> tuple[Results, list[str]]:
    named = {key for key, one in found.launches.items() if one.labels.get(LABEL)}
    here = found.points["launch"].isin(list(named)) & (found.points["state"] == "complete")
    used = found.select(here)
    count = len({one.labels[LABEL] for one in used.launches.values()})
    if count < 2:
        raise InputError(
            f"{count_text(count, 'interconnect')} in these files: expected launches with "
            f"--label {LABEL}=NAME of two or more, as 'a2a suite' makes them"
        )
    notes = []
    if others := len(found.launches) - len(named):
        left = count_text(others, "launch", "launches")
        notes.append(f"{left} without the label {LABEL} left out")
    return used, notes


def _roles(used: Results) -> list[str]:
    """Whose points are held against each other; of all-to-alls those that are measured."""
    roles = [str(role) for role in used.points["role"].unique()]
    apart = set(schema.OF_ALL_TO_ALLS) - {"measure"}
    return [role for role in roles if role not in apart and used.traits(role).judged]


def interconnect(used: Results) -> pd.Series[str]:
    """Over which one each point went; empty where nobody says it."""
    of = {key: one.labels.get(LABEL, "") for key, one in used.launches.items()}
    return used.points["launch"].map(of).fillna("")


def timed(used: Results, role: str) -> Results:
    """Points of a role that have a time."""
    mine = used.select(used.points["role"] == role)
    times = mine.judged.time(mine.points)
    return mine.select((times.notna() & (times > 0)).astype(bool))


def _places(used: Results, role: str) -> list[str]:
    """Columns that tell cells of a role apart, beside the size and the interconnect."""
    mine = used.select(used.points["role"] == role)
    names = dict.fromkeys((*sides.SHAPE, *grouping.CHOICES, *mine.choices))
    without = {"message_size", "provider", "engine", "sync"}
    return [name for name in names if name not in without and name in mine.points
            and mine.points[name].nunique(dropna=False) > 1]  # fmt: skip


def _cell(role: str, row: dict[Any, Any], places: Sequence[str]) -> Cell:
    values = ((name, None if pd.isna(row[name]) else row[name]) for name in places)
    return Cell(role, int(row["message_size"]), tuple(values))


def _standings(
    used: Results, role: str, names: Sequence[str], places: Sequence[str]
) -> dict[Cell, dict[str, Standing]]:
    """Of each cell, without the comparisons; an interconnect that lacks it is not there."""
    mine = timed(used, role)
    points = mine.points.assign(
        own=interconnect(mine),
        own_time=mine.judged.time(mine.points).astype("float64"),
        own_rate=mine.points[mine.judged.rate].astype("float64"),
    )
    made: dict[Cell, dict[str, Standing]] = {}
    for _, rows in points.groupby(["message_size", *places], dropna=False, sort=True):
        cell = _cell(role, rows.iloc[0].to_dict(), places)
        here = {}
        for name in names:
            one = rows[rows["own"] == name]
            if one.empty:
                continue
            of_launches = one.groupby("launch")[["own_time", "own_rate"]].mean()
            rate = _mean(of_launches["own_rate"].to_numpy(dtype=np.float64))
            time = _mean(of_launches["own_time"].to_numpy(dtype=np.float64))[0]
            here[name] = Standing(len(of_launches), time, *rate)
        made[cell] = here
    return made


def _mean(values: Floats) -> tuple[float, float, float]:
    """Geometric mean over launches with its 95 % interval; NaN where one launch tells nothing."""
    if not len(values) or (values <= 0).any() or np.isnan(values).any():
        return (0.0 if len(values) and not values.any() else math.nan), math.nan, math.nan
    logs = np.log(values)
    middle = float(logs.mean())
    if len(values) < 2:
        return math.exp(middle), math.nan, math.nan
    half = float(laws.t_ppf(_CONFIDENCE, len(values) - 1)) * logs.std(ddof=1) / len(values) ** 0.5
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def cell_of(row: dict[Any, Any], ranking: Ranking) -> Cell | None:
    """The cell of a point; None where it is in no comparison."""
    role = str(row["role"])
    if role not in ranking.places:
        return None
    cell = _cell(role, row, ranking.places[role])
    return cell if cell in ranking.standings else None


# Two of them --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Paired:
    """Launches of two interconnects in one role: `y` [launches, cells], log speed."""

    cells: list[Cell]
    y: Floats
    side: NDArray[np.bool_]
    """[launches], True for the second of the two."""
    block: NDArray[np.intp]


def _compare(
    used: Results,
    two: tuple[str, str],
    places: dict[str, list[str]],
    standings: dict[Cell, dict[str, Standing]],
    pairs: int,
) -> Iterator[str]:
    """Puts what is decided of two into the standings; says what cannot be."""
    paired = []
    for role in places:
        try:
            made = _pair(used, role, two, places[role])
        except InputError as error:
            yield f"{two[0]} and {two[1]}: {error}"
            continue
        if isinstance(made, str):
            yield f"{two[0]} and {two[1]}: {made}"
        else:
            paired.append(made)
    for one in paired:
        if not can_decide(one, pairs):
            fewest, count = min(one.side.sum(), (~one.side).sum()), _names_of(pairs)
            key = workloads.of_role(one.cells[0].role).key
            yield (
                f"{key}: from {count_text(int(fewest), 'launch', 'launches')} over "
                f"each of {count_text(count, 'interconnect')} nothing can be decided: it takes "
                f"{rounds_for(count)}"
            )
    for cell, against in of_two(paired, pairs).items():
        here = standings[cell]
        turned = None if against.verdict is None else -against.verdict
        here[two[1]].against[two[0]] = against
        here[two[0]].against[two[1]] = Against(
            turned, 1 / against.ratio, 1 / against.high, 1 / against.low
        )


def can_decide(one: Paired, pairs: int) -> bool:
    """Whether there are launches enough for one cell of it to be decided, among so many pairs."""
    return decides(blocks.count(one.side, one.block), pairs)


def of_two(paired: Sequence[Paired], pairs: int) -> dict[Cell, Against]:
    """The second of two against the first in all roles together, one of so many pairs."""
    if not paired:
        return {}
    y, side, block = _stacked(paired)
    rng = np.random.default_rng(SEED)
    result = decision.exchanged(y, side, block, math.log1p(MARGIN), rng, family=pairs)
    able = [can_decide(one, pairs) for one in paired for _ in one.cells]
    made = {}
    for number, cell in enumerate(cell for one in paired for cell in one.cells):
        ratio, low, high = (
            float(np.exp(values[number])) for values in (result.effect, result.low, result.high)
        )
        told = _verdict(result, number) if able[number] else OPEN
        made[cell] = Against(told, ratio, low, high)
    return made


def _names_of(pairs: int) -> int:
    return round((1 + math.sqrt(1 + 8 * pairs)) / 2)


def _verdict(result: decision.Decision, number: int) -> int | None:
    """Of the second against the first."""
    if result.equal[number] <= LEVEL:
        return SAME
    if result.p[number] <= LEVEL:
        return AHEAD if result.effect[number] > 0 else BEHIND
    return OPEN


def _pair(used: Results, role: str, two: tuple[str, str], places: Sequence[str]) -> Paired | str:
    """Launches of both in a role; or why they are not held against each other."""
    mine = timed(used, role)
    own = interconnect(mine)
    chosen = mine.select(own.isin(two))
    pairing = sides.pair(chosen, interconnect(chosen) == two[1], [LABEL])
    return paired_of(chosen, pairing, role, places)


def paired_of(chosen: Results, pairing: Pairing, role: str, places: Sequence[str]) -> Paired | str:
    """Two sides in the cells of a role; or why they are not compared."""
    reason = remarks.no_verdict(pairing)
    if reason is not None or pairing.between_jobs:
        return reason or "launched in different jobs"
    points = pairing.points
    keys = [_cell(role, row, places) for row in points.to_dict("records")]
    cells = list(dict.fromkeys(keys))
    number = {cell: place for place, cell in enumerate(cells)}
    points = points.assign(cell=[number[key] for key in keys])
    speed = -np.log(chosen.judged.time(points).to_numpy(dtype=np.float64))
    total, count = (np.zeros((len(pairing.units), len(cells))) for _ in "tc")
    where = points["unit"].to_numpy(), points["cell"].to_numpy()
    np.add.at(total, where, speed)
    np.add.at(count, where, 1)
    with np.errstate(invalid="ignore"):
        y = total / count
    return Paired(cells, y, pairing.side, pairing.block)


def _stacked(paired: Sequence[Paired]) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]:
    """All roles in one matrix: a launch has the cells of its workload, and no block is shared."""
    launches, width = sum(len(one.y) for one in paired), sum(len(one.cells) for one in paired)
    y = np.full((launches, width), np.nan)
    row = column = offset = 0
    block = np.zeros(launches, dtype=np.intp)
    for one in paired:
        height, wide = one.y.shape
        y[row : row + height, column : column + wide] = one.y
        block[row : row + height] = one.block + offset
        row, column, offset = row + height, column + wide, offset + int(one.block.max()) + 1
    side = np.concatenate([one.side for one in paired])
    return y, side, block


# What is to be known beside it --------------------------------------------------------------------


def _beside(used: Results, names: Sequence[str], roles: Sequence[str]) -> Iterator[str]:
    of: dict[str, set[tuple[str, str]]] = {name: set() for name in names}
    for row in used.points[["launch", "provider"]].drop_duplicates().itertuples(index=False):
        launch = used.launches[str(row.launch)]
        nic = sorted(set(filter(None, launch.node_facts.get("nic", []))))
        of[launch.labels[LABEL]].add((str(row.provider), list_text(nic, 3) if nic else ""))
    for name, ways in of.items():
        if len({provider for provider, _ in ways}) > 1:
            yield (
                f"{name}: its launches went over different providers "
                f"({list_text(sorted(provider for provider, _ in ways))})"
            )
    # Of ops it is known how often is too often, of other samples not.
    of_ops = [role for role in roles if _judged(used, role).has_ops]
    counted = used.select(used.points["role"].isin(of_ops or roles))
    yield from remarks.doubts(counted, list(counted.launches))


def _judged(used: Results, role: str) -> Judged:
    return used.traits(role).judged or Judged()
