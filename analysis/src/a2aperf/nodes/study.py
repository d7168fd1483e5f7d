# SPDX-License-Identifier: BSD-3-Clause
"""Each node over all launches of a study: in how many its ranks were late or early, and by how far.

Between launches ranks are shuffled over the nodes: what stays with a node is its own, what stays
with a rank moves on. Launches of one random seed have the ranks at the same places, and so have
all that shuffle none: they count as one, and a study of too few such placements names nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import labels
from a2aperf.explain import series
from a2aperf.nodes import exchange, seen
from a2aperf.nodes.seen import SIDES, Cell, Seen, Side
from a2aperf.results import Results

Floats = NDArray[np.float64]

ERROR: Final = 0.05
"""That any of equal nodes is named on either side."""
_MATTERS: Final = 0.02
"""Of the median op time: what a node must be late by, where it is."""


@dataclass(frozen=True)
class Amount:
    """By how much, ns, and as a `share` of the op time: medians over `launches`.

    `low` and `high` are their quartiles; `error` is what the clocks err by at most.
    """

    launches: int
    ns: float
    low: float
    high: float
    share: float
    error: float


@dataclass(frozen=True)
class Node:
    """One node: in how many of its launches it was far out by itself, and one side in full.

    That is the one on which it `stands_out`, else that of late ones: `expected` is how often the
    others were, on average, `p` over all nodes and both sides; what is told of `over_all` launches,
    and of `in_these` in which it was far out (None: fewer than two), is of ranks and a message
    size.
    """

    name: str
    placements: int
    launches: int
    times: dict[Side, int]
    side: Side
    stands_out: bool
    expected: float
    p: float
    cell: Cell
    over_all: Amount
    in_these: Amount | None

    @property
    def matters(self) -> bool:
        """By more than a little of the op, and than the clocks err by."""
        told = [one for one in (self.over_all, self.in_these) if one]
        return any(one.share >= _MATTERS and one.ns > one.error for one in told)


@dataclass(frozen=True)
class Study:
    """All nodes, who stands out first; `notes` say what was taken together and what left out.

    `needed` is the number of placements below which nobody can be named.
    """

    nodes: list[Node]
    launches: int
    placements: int
    needed: int
    sync: str
    notes: list[str] = field(default_factory=list)
    confounded: list[tuple[str, Side, int, int]] = field(default_factory=list)
    """Of too few placements: who would stand out if each launch were one, how often of how many."""


def judge(found: Results) -> Study | None:
    """Of complete points whose ranks all have the same to do; None where no launch tells."""
    every, left_out = seen.of_launches(found)
    if not every:
        return None
    syncs = Counter(one.sync for one in every)
    sync = max(syncs, key=lambda one: (syncs[one], one == "clock"))
    if other := len(every) - syncs[sync]:
        left_out[f"with ops that start otherwise than by {sync}"] += other
    taken = [one for one in every if one.sync == sync]
    notes = [
        f"left out: {labels.count_text(n, 'launch', 'launches')} {why}"
        for why, n in sorted(left_out.items())
    ]
    if pooled := _pooled(found, {one.launch for one in taken}):
        notes.append(f"taken together: launches of {pooled} settings")
    made = over(taken)
    return replace(made, notes=[*notes, *made.notes])


def over(taken: Sequence[Seen]) -> Study:
    """Of launches that start their ops alike."""
    names = sorted({name for one in taken for name in one.place}, key=labels.natural)
    needed = exchange.least_blocks(min(len(one.place) for one in taken), len(SIDES), ERROR)
    placements = len({one.places for one in taken})
    called, p = exchange.named(_tables(taken, names, lambda one: one.places), ERROR)
    usual = _usual(taken)
    is_short = placements < needed and not called
    confounded = list(_confounded(taken, names, usual)) if is_short else []
    notes = []
    if 2 * len(called) >= len(names):
        notes.append("nobody is named: half of the nodes differ from the others")
        called = []
    sides = {names[at]: SIDES[side] for side, at in called}
    nodes = [
        _node([one for one in taken if name in one.place], name, sides.get(name), usual, of)
        for name, of in zip(names, p.T, strict=True)
    ]
    nodes.sort(key=lambda one: (not one.stands_out, one.p))
    return Study(nodes, len(taken), placements, needed, taken[0].sync, notes, confounded)


def _pooled(found: Results, launches: set[str]) -> int:
    """Number of settings of these launches; 0 where they have one in common."""
    named = series.named(found)[found.points["launch"].isin(launches)]
    of_launch = {tuple(sorted(set(own))) for _, own in named.groupby(found.points["launch"])}
    return len(of_launch) if len(of_launch) > 1 else 0


def _tables(taken: Sequence[Seen], names: Sequence[str], key: Callable[[Seen], Any]) -> Floats:
    """Scores [sides, blocks, nodes]: launches with the same key are one, their mean.

    NaN where a node takes no part.
    """
    column = {name: at for at, name in enumerate(names)}
    rows: dict[Any, list[Floats]] = defaultdict(list)
    for one in taken:
        row = np.full((len(SIDES), len(names)), np.nan)
        for of_side, side in zip(row, SIDES, strict=True):
            of_side[[column[name] for name in one.place]] = one.scores[side]
        rows[key(one)].append(row.ravel())
    blocks = np.array([_mean(of) for of in rows.values()])
    return np.ascontiguousarray(blocks.reshape(len(rows), len(SIDES), -1).swapaxes(0, 1))


def _mean(rows: Sequence[Floats]) -> Floats:
    """NaN where all are."""
    known = np.isfinite(rows)
    sums = np.where(known, rows, 0.0).sum(axis=0)
    counts = known.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(1, counts), np.nan)


def _confounded(
    taken: Sequence[Seen], names: Sequence[str], usual: Cell
) -> Iterator[tuple[str, Side, int, int]]:
    """Who would be named if each launch had placed its ranks anew."""
    called, p = exchange.named(_tables(taken, names, lambda one: one.launch), ERROR)
    for side, at in called:
        its = [one for one in taken if names[at] in one.place]
        one = _node(its, names[at], SIDES[side], usual, p.T[at])
        if one.stands_out:
            yield one.name, one.side, one.times[one.side], one.launches


def _usual(taken: Sequence[Seen]) -> Cell:
    """Of the sizes that most launches have the largest."""
    counts = Counter(cell for one in taken for cell in one.cells)
    return max(counts, key=lambda cell: (counts[cell], cell))


def _node(its: Sequence[Seen], name: str, called: Side | None, usual: Cell, p: Floats) -> Node:
    """At the size that was fixed beforehand, or where it does not matter there the middle one.

    Never at the size at which it is most: of many sizes that would be chance.
    """
    cells = [_middle(its, name, called or SIDES[0])]
    if any(usual in one.cells for one in its):
        cells.insert(0, usual)
    made = [_at(its, name, called, cell, p) for cell in cells]
    return next((one for one in made if one.stands_out), made[0])


def _at(its: Sequence[Seen], name: str, called: Side | None, cell: Cell, p: Floats) -> Node:
    """The node as it is at one size."""
    side = called or SIDES[0]
    made = Node(
        name,
        len({one.places for one in its}),
        len(its),
        {one: sum(_hits(its, name, one)) for one in SIDES},
        side,
        called is not None,
        sum(_share_of_others(one, name, side) for one in its),
        float(p[SIDES.index(side)]),
        cell,
        *_amounts(its, name, side, cell),
    )
    return replace(made, stands_out=made.stands_out and made.matters)


def _share_of_others(launch: Seen, name: str, side: Side) -> float:
    """How many of the other nodes of a launch were far out."""
    return float(np.delete(launch.far[side], launch.place[name]).mean())


def _hits(its: Sequence[Seen], name: str, side: Side) -> list[bool]:
    return [bool(one.far[side][one.place[name]]) for one in its]


def _middle(its: Sequence[Seen], name: str, side: Side) -> Cell:
    """Of the sizes that most of its launches have the one in the middle by its share of the op."""
    counts = Counter(cell for one in its for cell in one.cells)
    often = sorted(cell for cell, count in counts.items() if 2 * count >= max(counts.values()))

    def share(cell: Cell) -> float:
        return max(one.share for one in _amounts(its, name, side, cell) if one)

    return sorted(often, key=share)[(len(often) - 1) // 2]


def _amounts(
    its: Sequence[Seen], name: str, side: Side, cell: Cell
) -> tuple[Amount, Amount | None]:
    """Over all launches that have the cell, and over those in which the node was far out."""
    there = [one for one in its if cell in one.cells]
    out = [one for one in there if one.far[side][one.place[name]]]
    in_these = _amount(out, name, side, cell) if len(out) > 1 else None
    return _amount(there, name, side, cell), in_these


def _amount(its: Sequence[Seen], name: str, side: Side, cell: Cell) -> Amount:
    """Of several points of one launch the median."""
    values = []
    for of in its:
        of_points = [(float(getattr(one, f"{side}_ns")[of.place[name]]), typical, error)
                     for one, typical, error in of.cells[cell]]  # fmt: skip
        own = [(ns, ns / typical, error) for ns, typical, error in of_points]
        values.append(own[0] if len(own) == 1 else tuple(np.median(own, axis=0)))
    ns, shares, errors = np.array(values).T
    low, high = np.quantile(ns, (0.25, 0.75), method="inverted_cdf")
    return Amount(
        len(ns),
        float(np.median(ns)),
        float(low),
        float(high),
        float(np.median(shares)),
        float(np.nanmax(errors, initial=0.0)),
    )
