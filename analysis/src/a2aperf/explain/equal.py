# SPDX-License-Identifier: BSD-3-Clause
"""Equal ranks: how often chance singles one of them out, where ops depend on those before.

A rank that is late in one op is likely to be late in the next: something takes its core, or its
path is busy, for a while. So ops are cut into blocks long enough to forget each other, and within
a block the ranks change their names as a whole: the distribution of a rank's count over all such
changes is exact, and needs no drawing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import deferred, laws

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

fft: Any = deferred.Module("scipy.fft")

FEWEST_RUNS: Final = 20
"""Times that all ops together must hold a run that chance does not give; else nobody is told."""
_PER_BLOCK: Final = 3  # such runs that fit into a block
_BY_CHANCE: Final = 0.05  # that some rank of a point has a run as long
FEWEST: Final = 4.0
"""Effective ops of a point, below which ops depend too much to tell anybody from his equals."""
_BLOCK: Final = 5.0  # correlation times
_LITTLE: Final = 0.05  # autocorrelation that is none
_ONE_SIDED: Final = 1.645  # normal deviate of 5 % on one side
_TAIL: Final = 4.0  # median absolute deviations: what is beyond counts as this


def correlation_time(ends: Sequence[NDArray[np.int64]]) -> float:
    """Ops that count as one, from the lateness of every rank; ends [ops, R] of each point, ns.

    (1 + ρ)/(1 − ρ) of the lag-1 autocorrelation, or the sum of all lags up to the first that is
    not positive: the larger. A rank that is always late depends on nothing.
    """
    sums: Floats = np.zeros(0)
    power, shortest = 0.0, min(len(x) for x in ends)
    for one in ends:
        late = lateness(one)
        products = _lagged_products(late, max(1, shortest // 3))
        sums = products if not sums.size else sums + products
        power += float((late * late).sum())
    if power <= 0 or shortest < 4:
        return 1.0
    lag = np.arange(1, len(sums) + 1)
    raw = sums / power * shortest / (shortest - lag)
    first = float(raw[0])
    first = min(0.999, first + (1 + 3 * max(0.0, first)) / shortest)  # Kendall's correction
    if first < _LITTLE:
        return 1.0
    by_first = (1 + first) / (1 - first)
    lags_used = raw + by_first / shortest
    stop = np.flatnonzero(lags_used <= 0)
    summed = 1 + 2 * float(lags_used[: stop[0] if stop.size else None].sum())
    return max(1.0, by_first, summed)


def _lagged_products(late: Floats, lags: int) -> Floats:
    """Sum of late[i + k] · late[i] over ops and ranks, k = 1 to `lags` (Wiener–Khinchin)."""
    length = fft.next_fast_len(len(late) + lags, real=True)
    power = np.abs(fft.rfft(late, length, axis=0)) ** 2
    return np.asarray(fft.irfft(power.sum(axis=1), length)[1 : lags + 1])


def longest_run(who: Ints, ranks: int) -> int:
    """Ops of the longest run of one rank that independent ops with its share hardly have; else 1.

    A few long runs hardly move an autocorrelation, yet each counts as one op.
    """
    ops = len(who)
    if not ops:
        return 1
    starts = np.concatenate([[0], np.flatnonzero(np.diff(who)) + 1])
    lengths = np.diff(np.append(starts, ops))
    share = np.bincount(who, minlength=ranks) / ops
    own = share[who[starts]]
    unlikely = ranks * ops * (1 - own) * own**lengths < _BY_CHANCE
    return int(lengths[unlikely & (own < 1)].max(initial=1))


def time_of_runs(run: int) -> float:
    """Correlation time whose blocks hold so long a run several times."""
    return 1.0 if run <= 1 else _PER_BLOCK * run / _BLOCK


def lateness(ends: NDArray[np.int64]) -> Floats:
    """Lateness of every rank against the others, without what it is always late by [ops, R]."""
    late = (ends - np.median(ends, axis=1, keepdims=True)).astype(np.float64)
    late -= np.median(late, axis=0)
    scale = float(np.median(np.abs(late)))
    late = np.clip(late, -_TAIL * scale, _TAIL * scale) if scale > 0 else late
    return np.asarray(late - late.mean(axis=0))


def blocks(ops: int, time: float) -> Ints:
    """The block of each op [ops]."""
    length = 1 if time <= 1 else min(ops, math.ceil(_BLOCK * time))
    number = max(1, ops // length)
    return np.asarray(np.arange(ops) * number // max(1, ops), dtype=np.int64)


def counted(who: Ints, block: Ints, ranks: int) -> Ints:
    """How often each rank was it in each block [block, rank]."""
    counts = np.zeros((int(block.max()) + 1 if block.size else 0, ranks), dtype=np.int64)
    np.add.at(counts, (block, who), 1)
    return counts


def chance(counts: Ints, times: int) -> float:
    """Chance that any of R equal ranks is it so often in all blocks [block, rank] together.

    An upper bound (Bonferroni over the ranks).
    """
    return float(chances(counts, np.array([times]))[0])


def chances(counts: Ints, times: Ints) -> Floats:
    """The same for several numbers of times, with one look at the blocks."""
    ranks = counts.shape[1]
    if not (counts.sum(axis=1) > 1).any():  # independent ops
        beyond = laws.binomial_sf(times - 1, int(counts.sum()), 1 / ranks)
    else:
        at_least = np.append(np.cumsum(_of_counts(counts)[::-1])[::-1], 0.0)
        beyond = at_least[np.minimum(times, len(at_least) - 1)]
    return np.asarray(np.clip(ranks * beyond, 0.0, 1.0))


def of_sum(chances: Floats) -> Floats:
    """Distribution of the sum over all blocks, of the distribution of each [block, value].

    Two and two blocks are convolved, so that hundreds of thousands of ops take a second: the
    error is that of the Fourier transform, about 1e-15 of the whole.
    """
    while len(chances) > 1:
        if len(chances) % 2:
            nothing = np.eye(1, chances.shape[1])
            chances = np.concatenate([chances, nothing])
        width = 2 * chances.shape[1] - 1
        length = fft.next_fast_len(width, real=True)
        spectra = fft.rfft(chances, length, axis=1)
        chances = fft.irfft(spectra[::2] * spectra[1::2], length, axis=1)[:, :width]
    return np.asarray(chances[0])


def _of_counts(counts: Ints) -> Floats:
    """The same where each block gives the count of any of its ranks [block, rank]."""
    number, ranks = counts.shape
    chances = np.zeros((number, int(counts.max()) + 1))
    np.add.at(chances, (np.arange(number)[:, None], counts), 1 / ranks)
    return of_sum(chances)


def limit_of_share(who: NDArray[np.intp], ranks: int) -> float | None:
    """Share of ops that no rank passes in 95 % of launches of equal ranks and independent ops.

    By who was it in each op [ops]. Of ops that depend on each other the binomial limit is too low:
    None where the same rank is it twice running more often than independent ops make it so.
    """
    share = np.bincount(who, minlength=ranks) / who.size
    turns, same = who.size - 1, float(share @ share)
    if turns >= 1 and same < 1:
        seen = int((who[1:] == who[:-1]).sum())
        if seen - turns * same > _ONE_SIDED * math.sqrt(turns * same * (1 - same)):
            return None
    return float(laws.binomial_ppf(1 - 0.05 / ranks, who.size, 1 / ranks)) / who.size
