# SPDX-License-Identifier: BSD-3-Clause
"""Nodes over months: which got slower or faster since when, which are slow.

A night is a day (UTC): launches of one day have their weather in common and count once. The steps
are those of `moves`; a node that is far from the others in its last nights, without a move to
slower that says so already, is told by how far nodes differ. What is said of nodes holds of
whatever is compared: adapters, directions, pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws
from a2aperf.nodes import changes, moves
from a2aperf.nodes.changes import Changes
from a2aperf.nodes.moves import Move
from a2aperf.nodes.night import DAY_NS, FEWEST_NODES, Night, Per

Floats = NDArray[np.float64]

_TOGETHER: Final = 2  # nights by which the moves of a node may differ and still be one
LATELY: Final = 30
"""Nights at the most that say whether a node is slow."""
_ERROR: Final = 0.01  # that equal nodes have one that is called slow
_WORTH: Final = 1.1  # factor below which that is not told
_STAYS: Final = 0.5  # of a move, that the last nights must still have of it


class What(NamedTuple):
    """A series of a node: what it does, and the size of the messages."""

    part: str
    message_size: int


@dataclass(frozen=True)
class Moved:
    """A node that went to another level: all that moved with it, the farthest first.

    `first` is the day (since 1970) of the first night there; `stays` says whether its last nights
    have at least half of it still; `behind` is the part in which they are slower than the other
    nodes', empty where they are not; `facts` are those of the node that changed with it:
    name, before, after.
    """

    node: str
    first: int
    moves: list[tuple[What, Move]]
    stays: bool
    behind: str = ""
    facts: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def is_slower(self) -> bool:
        """Rather than faster: by its largest move."""
        return self.moves[0][1].factor > 1

    @property
    def is_slow(self) -> bool:
        """Whether it got slower, still is, and is slower than the others: one may catch up."""
        return self.is_slower and self.stays and bool(self.behind)


@dataclass(frozen=True)
class Slow:
    """A node that is slower than the others in its last nights, and not for a move.

    `factor` is on the time; `nights` are all that are known of it since it moved.
    """

    node: str
    what: What
    factor: float
    nights: int


@dataclass(frozen=True)
class Searched:
    """How many nodes had enough nights, and the factor from which a move can be told."""

    what: What
    nodes: int
    least: float


@dataclass(frozen=True)
class NodeHistory:
    """`days` since 1970, in order; `nodes` by name; `launches`: how many; `per`: what nodes are.

    `series` are logarithms [days, nodes] of the factor on the time, the smallest messages first.
    """

    days: list[int]
    nodes: list[str]
    launches: int
    moved: list[Moved]
    slow: list[Slow]
    searched: list[Searched]
    series: dict[What, Floats]
    per: Per = "node"
    changed: Changes | None = None
    """What was recorded to change; of nodes alone."""

    def candidates(self) -> dict[str, str]:
        """Nodes to drain, each with the reason: slower and still so, or slow.

        One that was not measured in the last nights is none: it may have been drained.
        """
        lately = self._lately()
        return {node: why for node, why in self._reasons().items() if node in lately}

    def gone(self) -> list[str]:
        """Nodes that would be candidates, had they been measured in the last nights."""
        lately = self._lately()
        return [node for node in self._reasons() if node not in lately]

    def _lately(self) -> set[str]:
        """The nodes of the last nights."""
        last = [table[-moves.RECENT :] for table in self.series.values()]
        there = np.isfinite(np.concatenate(last)) if last else np.zeros((0, len(self.nodes)), bool)
        return {node for at, node in enumerate(self.nodes) if there[:, at].any()}

    def _reasons(self) -> dict[str, str]:
        reasons: dict[str, str] = {}
        if self.per != "node":
            return reasons
        for one in self.moved:
            if one.is_slow:
                day = np.datetime64(one.first, "D")
                reasons[one.node] = f"{one.behind} slower since {day}"
        for two in self.slow:
            reasons.setdefault(two.node, f"{two.what.part} slower than the other nodes")
        return reasons


def of_nights(found: Sequence[Night], per: Per = "node") -> NodeHistory:
    """Of launches in order of time, which have these compared."""
    days = sorted({night.started // DAY_NS for night in found})
    alike = {tuple(night.nodes): night for night in found}  # pairs are many, and mostly the same
    nodes = sorted({name for night in alike.values() for name in night.compared})
    tables = _tables(found, days, nodes)
    sizes = {what.message_size for what in tables}
    told: list[tuple[str, What, Move]] = []
    searched = []
    for size in sorted(sizes):
        parts = [what for what in tables if what.message_size == size]
        every = np.concatenate([tables[what] for what in parts], axis=1)
        out = moves.moves(every, moves.ERROR / len(sizes))
        for move in out.moves:
            part, node = divmod(move.series, len(nodes))
            told.append((nodes[node], parts[part], move))
        for what in parts:
            enough = (np.isfinite(tables[what]).sum(axis=0) >= moves.LEAST).sum()
            searched.append(Searched(what, int(enough), out.least))
    least = {one.what: one.least for one in searched}
    joined = [
        _with_facts(replace(one, behind=_behind(one, tables, nodes, least)), found)
        for one in _joined(told, days)
    ]
    names = {one.node for one in joined if one.is_slow}
    last = {(node, what): move.first for node, what, move in told}  # the latest: told in order
    slow = [one for one in _slow(tables, nodes, last) if one.node not in names]
    changed = changes.of_nights(found) if per == "node" else None
    return NodeHistory(days, nodes, len(found), joined, slow, searched, tables, per, changed)


def _tables(
    found: Sequence[Night], days: Sequence[int], nodes: Sequence[str]
) -> dict[What, Floats]:
    """Logarithms [days, nodes] of every series: the median of a day's launches."""
    column = {node: at for at, node in enumerate(nodes)}
    places: dict[tuple[str, ...], NDArray[np.intp]] = {}
    rows: dict[What, dict[int, list[Floats]]] = {}
    for night in found:
        key = tuple(night.nodes)
        if key not in places:
            places[key] = np.array([column[node] for node in night.compared], dtype=np.intp)
        at = places[key]
        for line in night.lines:
            row = np.full(len(nodes), np.nan)
            row[at] = line.effects
            what = What(line.part, line.message_size)
            rows.setdefault(what, {}).setdefault(night.started // DAY_NS, []).append(row)
    tables = {}
    for what in sorted(rows, key=lambda one: one.message_size):
        table = np.full((len(days), len(nodes)), np.nan)
        for place, day in enumerate(days):
            if launches := rows[what].get(day):
                table[place] = launches[0] if len(launches) == 1 else _medians(launches)
        tables[what] = table
    return tables


def _medians(rows: Sequence[Floats]) -> Floats:
    """Of each column of many short ones, without what is NaN; NaN where nothing is left."""
    ordered = np.sort(rows, axis=0)  # NaN last
    last = np.maximum((~np.isnan(ordered)).sum(axis=0) - 1, 0)
    low, high = (np.take_along_axis(ordered, x[None], 0)[0] for x in (last // 2, (last + 1) // 2))
    return np.asarray((low + high) / 2)


def _joined(told: Sequence[tuple[str, What, Move]], days: Sequence[int]) -> Iterator[Moved]:
    """Moves of a node to the same side within some nights are one, in order of time."""
    groups: list[tuple[str, list[tuple[What, Move]]]] = []
    for node, what, move in sorted(told, key=lambda one: (one[0], one[2].first)):
        for other, of in groups:
            near = abs(of[0][1].first - move.first) <= _TOGETHER
            if other == node and near and (of[0][1].factor > 1) == (move.factor > 1):
                of.append((what, move))
                break
        else:
            groups.append((node, [(what, move)]))
    for node, of in sorted(groups, key=lambda one: one[1][0][1].first):
        of.sort(key=lambda one: -abs(np.log(one[1].factor)))
        largest = of[0][1]
        stays = np.log(largest.now) / np.log(largest.factor) >= _STAYS
        yield Moved(node, days[largest.first], of, bool(stays))


def _behind(
    one: Moved, tables: dict[What, Floats], nodes: Sequence[str], least: dict[What, float]
) -> str:
    """The part in which the last nights of a node are slower than those of the median node.

    A move is seen beside the node's own nights before: one that was faster than the others and is
    like them now got slower, too. Half of what can be told counts, as of a move that stays.
    """
    at = nodes.index(one.node)
    for what, _ in one.moves:
        levels = np.array([_now(line) for line in tables[what].T])
        limit = max(np.log(moves.WORTH), _STAYS * np.log(least[what]))
        if levels[at] - np.nanmedian(levels) >= limit:
            return what.part
    return ""


def _now(line: Floats) -> float:
    """The median of the last nights that are known; NaN of none."""
    known = line[np.isfinite(line)][-moves.RECENT :]
    return float(np.median(known)) if known.size else np.nan


def _with_facts(one: Moved, found: Sequence[Night]) -> Moved:
    """What was recorded of the node in the night before is held against that of the first one.

    A fact that only one of them has is no change: another program may have recorded it.
    """
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for night in found:
        if one.node in night.compared:
            facts = night.facts_of(one.node)
            if night.started // DAY_NS < one.first:
                before = facts
            elif not after:
                after = facts
    changed = [
        (name, before[name], after[name])
        for name in sorted({*before} & {*after})
        if before[name] != after[name]
    ]
    return replace(one, facts=changed)


def _slow(
    tables: dict[What, Floats], nodes: Sequence[str], last: dict[tuple[str, What], int]
) -> Iterator[Slow]:
    """Of each node its farthest series, from its last move on."""
    worst: dict[str, Slow] = {}
    for what, table in tables.items():
        since = [last.get((node, what), 0) for node in nodes]
        lines = [table[first:, at] for at, first in enumerate(since)]
        counts = [np.isfinite(line).sum() for line in lines]
        fewest = [moves.RECENT if first else moves.LEAST for first in since]
        lately = np.array([_of_last(*one) for one in zip(lines, fewest, strict=True)])
        for at in _apart(lately, _ERROR / len(tables)):
            middle = np.nanmedian(lately)
            factor = float(np.exp(lately[at] - middle))
            one = Slow(nodes[at], what, factor, int(counts[at]))
            known = worst.get(one.node)
            if known is None or one.factor > known.factor:
                worst[one.node] = one
    return iter(sorted(worst.values(), key=lambda one: -one.factor))


def _apart(levels: Floats, error: float) -> list[int]:
    """Nodes whose level is far above that of the others, by their robust spread."""
    known = np.flatnonzero(np.isfinite(levels))
    if known.size < FEWEST_NODES:
        return []
    off = levels[known] - np.median(levels[known])
    scale = float(np.median(np.abs(off))) / float(laws.normal_ppf(0.75))
    beyond = float(laws.t_isf(error / known.size, laws.mad_freedom(known.size)))
    limit = max(beyond * scale, float(np.log(_WORTH)))
    return [int(at) for at in known[off > limit]]


def _of_last(line: Floats, fewest: int) -> float:
    """The mean of the last nights that are known, without a fifth at each end; NaN of too few."""
    known = np.sort(line[np.isfinite(line)][-LATELY:])
    cut = known.size // 5
    return float(known[cut : known.size - cut].mean()) if known.size >= fewest else np.nan
