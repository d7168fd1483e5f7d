# SPDX-License-Identifier: BSD-3-Clause
"""Which sender, receiver, pair, block of pairs or step is slow in a matrix of times.

The logarithm of a pair's time is overall + sender + receiver + residual, fitted by median polish
(Tukey, Exploratory Data Analysis, 1977, ch. 11): medians follow the bulk of the pairs and leave
what is odd in the residual. Everything here is a function of arrays; pairs that were not measured
are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Kind = Literal["sender", "receiver", "pair", "block", "step", "node"]

ERROR: Final = 0.01
"""Chance that clean noise names anything of one kind in one matrix."""
LEAST: Final[dict[Kind, float]] = {
    "sender": 1.1,
    "receiver": 1.1,
    "pair": 1.25,
    "block": 1.1,
    "step": 1.25,
    "node": 1.25,
}
"""Factors on the time below which nothing is worth a finding, however sure it is."""
LEAST_OF_FEW: Final = 1.5
"""For a pair among fewer than _SMALL: what is ordinary there is hardly known."""
LEAST_OF_ENDS: Final = 1.25
"""For a sender or receiver among fewer than _FEW, likewise."""
FEWEST_ENDS: Final = 4
"""Senders or receivers: of three it may as well be the other two."""
FEWEST: Final = 3
"""Pairs of a row or column without which nothing is said of its rank."""
_MAD: Final = 1.482602218505602  # makes it the standard deviation of normal noise
_FREE: Final = 5
"""Pairs beyond the effects of their ranks without which nothing is said of a pair."""
_SMALL: Final = 40
_FEW: Final = 8
_SWEEPS: Final = 50
_STILL: Final = 1e-7


@dataclass(frozen=True)
class Fit:
    """log(time) [source, destination] taken apart; `sender` and `receiver` have median 0."""

    overall: float
    sender: Floats
    receiver: Floats
    residual: Floats
    sent: Ints
    """Pairs behind each sender; below FEWEST its effect is NaN. `received` likewise."""
    received: Ints
    spread: float
    """Robust standard deviation of the residuals."""

    @property
    def expected(self) -> Floats:
        """log(time) of every pair by what its sender and receiver do with the others.

        NaN where no sender, or no receiver, has FEWEST pairs.
        """
        if np.isnan(self.sender).all() or np.isnan(self.receiver).all():
            return np.full((len(self.sender), len(self.receiver)), np.nan)
        sender, receiver = np.nan_to_num(self.sender), np.nan_to_num(self.receiver)
        return np.asarray(self.overall + sender[:, None] + receiver[None, :])


@dataclass(frozen=True)
class Weak:
    """One thing that is slower than its like: `factor` on the time, beyond `limit`.

    `source` and `destination` are indices (of ranks, nodes or, for a block, of groups; a step has
    its distance as source); −1 where there is none. `spread` is the robust standard deviation, as
    a logarithm, of what it is compared with; `n` the pairs that it rests on.
    """

    kind: Kind
    source: int
    destination: int
    factor: float
    limit: float
    spread: float
    n: int


def fit(times: Floats) -> Fit:
    """Median polish of log(times) [R, R]; times in any unit, NaN where there is none."""
    residual = np.log(np.where(times > 0, times, np.nan))
    sent, received = np.isfinite(residual).sum(axis=1), np.isfinite(residual).sum(axis=0)
    sender, receiver, overall = np.zeros(len(sent)), np.zeros(len(received)), 0.0
    for _ in range(_SWEEPS):
        rows = medians(residual, axis=1, blank=0.0)
        residual -= rows[:, None]
        columns = medians(residual, axis=0, blank=0.0)
        residual -= columns[None, :]
        sender, receiver = sender + rows, receiver + columns
        if max(np.abs(rows).max(initial=0), np.abs(columns).max(initial=0)) < _STILL:
            break
    for effect, pairs in ((sender, sent), (receiver, received)):
        sure = pairs >= FEWEST
        middle = _median(effect[sure if sure.any() else pairs > 0])
        overall += middle
        effect -= middle
        effect[~sure] = np.nan
    known = residual[np.isfinite(residual)]
    free = _free(known.size, sent, received)
    # As many residuals as were fitted are 0 by construction and say nothing of the spread.
    sizes = np.sort(np.abs(known))[known.size - free :] if free >= FEWEST else np.array([np.nan])
    spread = _MAD * np.median(sizes)
    return Fit(overall, sender, receiver, residual, sent, received, float(spread))


def medians(values: Floats, axis: int, blank: float = np.nan) -> Floats:
    """Medians along an axis of what is known; `blank` where nothing is."""
    ordered = np.sort(values, axis=axis)  # NaN last; numpy's own is slow with small matrices
    count = np.expand_dims((~np.isnan(values)).sum(axis=axis), axis)
    low, high = (
        np.take_along_axis(ordered, np.maximum(place, 0) // 2, axis).squeeze(axis)
        for place in (count - 1, count)
    )
    return np.where(np.isfinite(values).any(axis=axis), (low + high) / 2, blank)


def middle(values: Floats, is_rate: bool) -> float:
    """The median pair (nearest rank of the times, as in the program's table); NaN without any.

    Of an even number it is the faster of the middle two.
    """
    known = np.sort(values[np.isfinite(values)], axis=None)
    if not known.size:
        return float("nan")
    return float(known[known.size // 2 if is_rate else (known.size - 1) // 2])


def _median(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else 0.0


def _spread(values: Floats) -> float:
    """Standard deviation by the median absolute deviation; NaN for fewer than three values."""
    known = values[np.isfinite(values)]
    if known.size < FEWEST:
        return float("nan")
    return _MAD * float(np.median(np.abs(known - np.median(known))))


def _beyond(tests: int, degrees: float) -> float:
    """Quantile that none of so many values of a robustly scaled sample passes, but for ERROR."""
    return float(laws.t_isf(ERROR / max(tests, 1), laws.mad_freedom(degrees)))


def _tail(residual: Floats, normal: float) -> float:
    """Limit for the largest residual if the slow tail is a power of the time, not a normal one.

    The logarithm of such a time falls off exponentially; the rate is taken between the upper
    quarter and the upper fortieth of what the limit passes as ordinary, until that stays the same.
    """
    limit = normal
    for _ in range(_SWEEPS):
        ordinary = residual[residual <= limit]
        if ordinary.size < _SMALL:
            return limit
        upper, top = np.quantile(ordinary, [0.75, 0.975])
        rate = (top - upper) / np.log(0.25 / 0.025)
        wider = float(top + rate * np.log(0.025 * residual.size / ERROR))
        if wider <= limit:
            return limit
        limit = wider
    return limit


def weak(
    times: Floats,
    groups: Ints | None = None,
    resolution: float = 0.0,
    has_steps: bool = False,
) -> list[Weak]:
    """What is slow in a matrix of times [R, R], the slowest first.

    `groups` [R] are the switches, −1 unknown; `resolution`, in the unit of the times, is what two
    of them must differ by at least (clocks that disagree look like slow senders); `has_steps`:
    rank r + d mod R got its message from r in step d, and all pairs of a step at the same time.
    """
    found = fit(times)
    if not np.isfinite(found.residual).any():
        return []
    hits: list[Weak] = []
    hits += _ends("sender", found.sender, found.sent, found.spread)
    hits += _ends("receiver", found.receiver, found.received, found.spread)
    residual = found.residual.copy()
    if has_steps:
        hits += _steps(residual, found)
    if groups is not None:
        hits += _blocks(residual, found, groups)
    hits += _pairs(residual, found)
    typical = float(np.exp(found.overall))
    clear = [one for one in hits if (one.factor - 1) * typical > resolution]
    return sorted(clear, key=lambda one: -one.factor)


def is_judged(times: Floats) -> bool:
    """Whether there are pairs enough to tell a sender, a receiver or a pair from the others."""
    found = fit(times)
    ends = max(int(np.isfinite(of).sum()) for of in (found.sender, found.receiver))
    return ends >= FEWEST_ENDS or _free(int(found.sent.sum()), found.sent, found.received) >= _FREE


def _free(pairs: int, sent: Ints, received: Ints) -> int:
    """Pairs beyond those that the effects of senders and receivers take."""
    return pairs - int((sent > 0).sum()) - int((received > 0).sum()) + 1


def outlying(logs: Floats) -> list[Weak]:
    """Nodes whose logarithm of the time, by themselves, is far above that of the others."""
    return _ends("node", logs - _median(logs), np.isfinite(logs).astype(np.int64), 0.0)


def _ends(kind: Kind, effect: Floats, n: Ints, residual: float) -> list[Weak]:
    """Senders, receivers or nodes far above the others.

    `effect` are logarithms of the time with median 0, NaN where unknown, `n` the values behind
    each; `residual` is the spread of a single one of these, 0 or NaN where it is not known.
    """
    known = np.isfinite(effect)
    count = int(known.sum())
    if count < FEWEST_ENDS:
        return []
    own = _spread(effect)
    hits = []
    for rank in np.flatnonzero(known):
        # a median of n values is known to 1.25 spreads over the root of n
        error = 1.2533 * residual / np.sqrt(n[rank]) if np.isfinite(residual) else 0.0
        scale = max(own, error)
        least = LEAST[kind] if count >= _FEW else max(LEAST[kind], LEAST_OF_ENDS)
        limit = max(_beyond(count, count) * scale, float(np.log(least)))
        if effect[rank] > limit:
            at = (-1, int(rank)) if kind == "receiver" else (int(rank), -1)
            factor = float(np.exp(effect[rank]))
            hits.append(Weak(kind, *at, factor, float(np.exp(limit)), scale, int(n[rank])))
    return hits


def _groups_of_cells(
    kind: Kind, cells: list[tuple[int, int, NDArray[np.bool_]]], residual: Floats, found: Fit
) -> list[Weak]:
    """Sets of cells whose median residual stands out; they are then taken out of the residual."""
    medians = [(a, b, mask, float(np.median(residual[mask]))) for a, b, mask in cells]
    own = _spread(np.array([median for *_, median in medians]))
    hits = []
    for a, b, mask, median in medians:
        n = int(mask.sum())
        error = 1.2533 * found.spread / np.sqrt(n) if np.isfinite(found.spread) else np.inf
        scale = max(error, own if np.isfinite(own) else 0.0)
        limit = max(_beyond(len(cells), len(cells)) * scale, float(np.log(LEAST[kind])))
        if median > limit:
            factor = float(np.exp(median))
            hits.append(Weak(kind, a, b, factor, float(np.exp(limit)), scale, n))
            residual[mask] -= median
    return hits


def _steps(residual: Floats, found: Fit) -> list[Weak]:
    ranks = len(residual)
    row, column = np.indices(residual.shape)
    distance = (column - row) % ranks
    known = np.isfinite(residual)
    masks = [(d, -1, known & (distance == d)) for d in range(1, ranks)]
    cells = [one for one in masks if one[2].sum() >= max(FEWEST, ranks // 2)]
    return _groups_of_cells("step", cells, residual, found) if len(cells) >= 4 else []


def _blocks(residual: Floats, found: Fit, groups: Ints) -> list[Weak]:
    """From one switch to another; with fewer than three switches it may as well be the others."""
    names = [int(group) for group in np.unique(groups) if group >= 0]
    known = np.isfinite(residual)
    cells = []
    for a in names:
        for b in names:
            mask = known & np.outer(groups == a, groups == b)
            if mask.sum() >= 4:
                cells.append((a, b, mask))
    return _groups_of_cells("block", cells, residual, found) if len(names) >= 3 else []


def _pairs(residual: Floats, found: Fit) -> list[Weak]:
    known = np.isfinite(residual)
    count = int(known.sum())
    free = _free(count, found.sent, found.received)
    if free < _FREE or not np.isfinite(found.spread):
        return []
    normal = _beyond(count, free) * found.spread
    least = LEAST["pair"] if count >= _SMALL else LEAST_OF_FEW
    limit = max(_tail(residual[known], normal), float(np.log(least)))
    hits = []
    for source, destination in np.argwhere(known & (np.nan_to_num(residual) > limit)):
        factor = float(np.exp(residual[source, destination]))
        at = int(source), int(destination)
        hits.append(Weak("pair", *at, factor, float(np.exp(limit)), found.spread, count))
    return hits
