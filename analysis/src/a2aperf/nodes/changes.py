# SPDX-License-Identifier: BSD-3-Clause
"""What was recorded to change over the nights: facts of nodes, and which nodes there are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd
from a2aperf.nodes.night import DAY_NS, Night

_HELD: Final = 3
"""Days that a fact must have held for its change to be told: others come and go by themselves."""
_BY_CHANCE: Final = 0.001
"""That any of the nodes is absent for so long by the allocations alone."""


@dataclass(frozen=True)
class Change:
    """A fact of these nodes: what had held, and what does since this day (since 1970).

    What does has held for three days, too, or is what was recorded last.
    """

    day: int
    fact: str
    before: str
    after: str
    nodes: list[str]


@dataclass(frozen=True)
class Changes:
    """`came` and `left`: the first and the last day of nodes that were not there all the time."""

    facts: list[Change]
    came: Mapping[str, int]
    left: Mapping[str, int]


def of_nights(found: Sequence[Night]) -> Changes:
    """Of launches in order of time, which compare nodes."""
    if not found:
        return Changes([], {}, {})
    days = np.array([night.started // DAY_NS for night in found], np.int64)
    nodes = sorted({node for night in found for node in night.nodes})
    at = {node: place for place, node in enumerate(nodes)}
    places = [np.array([at[node] for node in night.nodes], np.intp) for night in found]
    names = sorted({name for night in found for name in night.facts})
    told: dict[tuple[int, str, str, str], list[str]] = {}
    for name in names:
        values = [night.facts.get(name) for night in found]
        if len(set().union(*(of for of in values if of)) - {""}) < 2:
            continue
        for node, day, before, after in _changed(values, places, days, len(nodes)):
            told.setdefault((day, name, before, after), []).append(nodes[node])
    nights, night_of = np.unique(days, return_inverse=True)
    there = np.zeros((len(nights), len(nodes)), bool)
    for night, place in zip(night_of, places, strict=True):
        there[night, place] = True
    came, left = _span(there, [int(day) for day in nights])
    return Changes(
        [Change(*key, told[key]) for key in sorted(told)],
        {nodes[node]: day for node, day in came.items()},
        {nodes[node]: day for node, day in left.items()},
    )


def _changed(
    values: Sequence[Sequence[str] | None],
    places: Sequence[NDArray[np.intp]],
    days: NDArray[np.int64],
    nodes: int,
) -> Iterator[tuple[int, int, str, str]]:
    """Node, day, before and after of each change of one fact, of launches in order of time."""
    flat = [text for of in values if of is not None for text in of]
    codes, texts = pd.factorize(np.array(flat, dtype=object))
    codes = np.where(np.array([bool(text) for text in texts])[codes], codes, -1)
    table = np.full((len(values), nodes), -1)
    begin = 0
    for launch, of in enumerate(values):
        if of is not None:
            table[launch, places[launch]] = codes[begin : begin + len(of)]
            begin += len(of)
    known = table >= 0
    most = np.where(known, table, -1).max(axis=0)
    least = np.where(known, table, len(texts)).min(axis=0)
    for node in np.flatnonzero(most > least):
        of_node = [
            (int(table[one, node]), int(days[one])) for one in np.flatnonzero(known[:, node])
        ]
        runs = [(code, [day for _, day in run]) for code, run in groupby(of_node, itemgetter(0))]
        settled = -1
        for place, (code, its_days) in enumerate(runs):
            has_held = len(set(its_days)) >= _HELD
            is_told = has_held or place == len(runs) - 1
            if is_told and settled not in (-1, code):
                yield int(node), its_days[0], str(texts[settled]), str(texts[code])
            settled = code if has_held else settled


def _span(there: NDArray[np.bool_], days: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """The first day of each node that came, and the last one of each that left; there [D, N].

    Were the n days of a node any of all D, they would all be among the first m with a chance of
    C(m, n) / C(D, n) (hypergeometric): where that is small for all nodes together it is no chance.
    It is one where each night draws its nodes anew; who measures a part of them for a week decides.
    """
    came, left = {}, {}
    count, nodes = there.shape
    limit = math.log(_BY_CHANCE / (2 * nodes))
    for node in range(nodes):
        own = np.flatnonzero(there[:, node])
        first, last = int(own[0]), int(own[-1])
        if _chance(own.size, count - first, count) < limit:
            came[node] = days[first]
        if _chance(own.size, last + 1, count) < limit:
            left[node] = days[last]
    return came, left


def _chance(n: int, m: int, of: int) -> float:
    """The logarithm of C(m, n) / C(of, n)."""
    ways = math.lgamma(m + 1) - math.lgamma(m - n + 1)
    return ways - math.lgamma(of + 1) + math.lgamma(of - n + 1)
