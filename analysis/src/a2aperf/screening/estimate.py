# SPDX-License-Identifier: BSD-3-Clause
"""Effects of settings by least squares, from the launches of a design.

With a pair's launches y⁺ and y⁻ in one block, least squares with block effects has two independent
parts: half the difference (y⁺ − y⁻)/2 has the main effects and neither block nor interactions of
two settings; half the sum has the block and those interactions. What the differences leave over,
and how the default launches differ, is the pure spread; sums that differ by more show that
settings interact. They count towards the spread where they do not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws, power
from a2aperf.errors import InputError
from a2aperf.labels import list_text
from a2aperf.screening.design import ALONE, DEFAULTS, Design, runs_for

Floats = NDArray[np.float64]
Levels = NDArray[np.float64]

CALLED: Final = 0.04
"""Error of all settings in all bands together."""
INTERACTING: Final = 0.005
"""Error of all pairs of settings in all bands together; and of each of the other signs of them."""
_FEWEST_PURE: Final = 4
"""Degrees of freedom without those of sums, as every whole design has."""
DOMINANT: Final = 0.25
"""A change of speed that hides what others do."""


@dataclass(frozen=True)
class Effect:
    """What one setting does in one band: the change of log speed, made against not made.

    `low` and `high` hold for all settings and bands together (95 %); `p` is Holm's, of the same
    family.
    """

    setting: int
    band: int
    change: float
    low: float
    high: float
    p: float

    @property
    def is_called(self) -> bool:
        """Whether chance is excluded."""
        return self.p <= CALLED


@dataclass(frozen=True)
class Interaction:
    """Two settings that do together what neither does alone, in one band: log speed.

    `others` are pairs of settings that explain it as well.
    """

    settings: tuple[int, int]
    band: int
    change: float
    others: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Estimate:
    """Everything that a screening tells; `spread` [bands] is the pure one of a launch, log time."""

    effects: list[Effect]
    interactions: list[Interaction]
    unresolved: list[int]
    """Bands in which settings interact and no two of them explain it."""
    spread: Floats
    freedom: list[int]
    pairs: int
    """Pairs of launches that count."""
    settings: int
    pure: int
    """Degrees of freedom of what differences and default launches alone tell of the spread."""

    def together(self, band: int) -> float:
        """The change of speed, where two settings are both set only, that is told in 90 %.

        Both are found then, or told to interact. NaN where nobody can say. The factor is simulated
        (docs/screening.md): what two do together widens the spread as long as it is not told, the
        more the fewer degrees of freedom there are without it.
        """
        if self.settings < 2 or self.pure < _FEWEST_PURE:
            return math.nan
        freedom = self.freedom[band]
        tail = CALLED / 2 / (self.settings * len(self.freedom))
        critical = float(laws.t_isf(tail, freedom))
        alone = power.detectable(self.spread[band], self.pairs / 2, freedom, critical)
        return math.expm1(math.log1p(alone) * (2 + 10 / self.pure))

    def called(self) -> list[Effect]:
        """The effects beyond chance, largest first."""
        found = [one for one in self.effects if one.is_called]
        return sorted(found, key=lambda one: -abs(one.change))

    def dominant(self) -> list[int]:
        """Settings that change the speed by so much that others are hidden beside it."""
        large = [one for one in self.called() if abs(one.change) >= math.log1p(DOMINANT)]
        return list(dict.fromkeys(one.setting for one in large))


@dataclass(frozen=True)
class _Parts:
    """The independent parts: each value has half the variance of a launch."""

    levels: Levels  # [pairs, settings], of the run that is +
    differences: Floats  # [pairs, bands]
    sums: Floats  # [blocks, bands], of the two pairs of a block, against each other
    contrast: Levels  # [blocks, settings · settings], of the products of levels likewise
    defaults: Floats  # [default launches, bands]


def estimate(y: Floats, design: Design, names: Sequence[str] = ()) -> Estimate:
    """The effects on `y` [launches, bands], the log of speed; NaN where a launch has none.

    Pairs that are not whole do not count. InputError where what is left cannot tell settings apart;
    `names` are those of the settings.
    """
    parts = _parts(y, design)
    _require_apart(parts.levels, names)
    bands = y.shape[1]
    changes, left = _fitted(parts.levels, parts.differences)
    pure = len(parts.levels) - design.settings, max(len(parts.defaults) - 1, 0)
    if not sum(pure):
        raise InputError("no launch is left to tell how far launches differ by themselves")
    squares = 2 * left + _about_mean(parts.defaults)
    found = [
        _band(parts, band, squares[band], sum(pure), design.settings, bands)
        for band in range(bands)
    ]
    spread = np.array([one.spread for one in found])
    freedom = [one.freedom for one in found]
    deviation = spread / math.sqrt(len(parts.levels) / 2)
    return Estimate(
        _judged(changes, deviation, freedom),
        [x for one in found for x in one.interactions],
        [band for band, one in enumerate(found) if one.is_unresolved],
        spread,
        freedom,
        len(parts.levels),
        design.settings,
        sum(pure),
    )


def smallest(settings: int, bands: int, spread: float) -> float:
    """The smallest change of speed that a screening finds in 90 %, where launches differ so."""
    runs = runs_for(settings)
    # What differences leave over, what sums differ by, and the default launches about their mean.
    freedom = runs - settings + runs // 2 + DEFAULTS - 1
    tail = CALLED / 2 / (settings * bands)
    return power.detectable(spread, runs / 2, freedom, float(laws.t_isf(tail, freedom)))


@dataclass(frozen=True)
class _Band:
    spread: float
    freedom: int
    interactions: list[Interaction]
    is_unresolved: bool


def _parts(y: Floats, design: Design) -> _Parts:
    whole = ~np.isnan(y).any(axis=1)
    levels, differences, sums, products = [], [], [], []
    for block in np.unique(design.block):
        inside = whole & (design.block == block)
        means, crossed = [], []
        for pair in np.unique(design.pair[inside & (design.pair != ALONE)]):
            first, *mirrored = np.flatnonzero(inside & (design.pair == pair))
            if not mirrored:
                continue
            x = design.levels[first].astype(float)
            levels.append(x)
            differences.append((y[first] - y[mirrored[0]]) / 2)
            means.append((y[first] + y[mirrored[0]]) / 2)
            crossed.append(np.outer(x, x).ravel())
        if len(means) == 2:
            sums.append((means[0] - means[1]) / math.sqrt(2))
            products.append((crossed[0] - crossed[1]) / math.sqrt(2))
    empty = np.empty((0, y.shape[1]))
    return _Parts(
        np.array(levels).reshape(-1, design.settings),
        np.array(differences).reshape(-1, y.shape[1]),
        np.array(sums) if sums else empty,
        np.array(products).reshape(len(products), design.settings**2),
        y[whole & (design.pair == ALONE)],
    )


def _require_apart(levels: Levels, names: Sequence[str]) -> None:
    count = levels.shape[1]
    rank = int(np.linalg.matrix_rank(levels)) if len(levels) else 0
    if rank == count:
        return
    alike = [
        f"{names[i]} and {names[j]}" if names else f"{i} and {j}"
        for i, j in itertools.combinations(range(count), 2)
        if len(levels) and abs(float(levels[:, i] @ levels[:, j])) == len(levels)
    ]
    which = f"; {list_text(alike, 3)} always went together" if alike else ""
    raise InputError(
        f"{len(levels)} whole pairs of launches cannot tell {count} settings apart{which}: "
        "launch the missing ones"
    )


def _fitted(levels: Levels, values: Floats) -> tuple[Floats, Floats]:
    """Changes [settings, bands], of made against not made, and squares left over [bands]."""
    slopes = np.linalg.lstsq(levels, values, rcond=None)[0]
    return np.asarray(2 * slopes), np.asarray(((values - levels @ slopes) ** 2).sum(axis=0))


def _about_mean(values: Floats) -> Floats:
    if len(values) < 2:
        return np.zeros(values.shape[1])
    return np.asarray(((values - values.mean(axis=0)) ** 2).sum(axis=0))


def _band(
    parts: _Parts, band: int, squares: float, freedom: int, settings: int, bands: int
) -> _Band:
    """The spread of a launch in one band, and what its sums show beyond it."""
    sums, contrast = parts.sums[:, band], parts.contrast
    found: list[Interaction] = []
    while len(found) < _MOST_INTERACTIONS:
        one = _largest(sums, contrast, squares, freedom, settings, bands, band)
        if one is None:
            break
        found.append(one)
        sums, contrast = _without(sums, contrast, one.settings, settings)
    left = 2 * float((sums**2).sum())
    count = len(sums) - len(found)
    ratio = (left / count) / (squares / freedom) if count > 0 and squares > 0 else 0.0
    chance = 1 - float(laws.f_cdf(ratio, max(count, 1), freedom))
    is_unresolved = chance <= INTERACTING / bands
    if count > 0 and not is_unresolved:
        squares, freedom = squares + left, freedom + count
    return _Band(math.sqrt(squares / freedom), freedom, found, is_unresolved)


_MOST_INTERACTIONS: Final = 2


def _largest(
    sums: Floats,
    contrast: Levels,
    squares: float,
    freedom: int,
    settings: int,
    bands: int,
    band: int,
) -> Interaction | None:
    """The two settings that best explain how the sums differ, if chance does not."""
    pairs = list(itertools.combinations(range(settings), 2))
    if len(sums) < 3 or not pairs:
        return None
    columns = contrast[:, [i * settings + j for i, j in pairs]]
    weight = (columns**2).sum(axis=0)
    usable = weight > 1e-9
    slopes = np.divide(columns.T @ sums, weight, out=np.zeros(len(pairs)), where=usable)
    explained = slopes**2 * weight
    left = 2 * np.maximum((sums**2).sum() - explained, 0.0) + squares
    count = len(sums) - 1 + freedom
    with np.errstate(divide="ignore"):
        t = np.sqrt(2 * explained / (left / count))
    critical = float(laws.t_isf(INTERACTING / 2 / (len(pairs) * bands), count))
    best = int(np.argmax(t))
    if not t[best] > critical:
        return None
    as_well = np.flatnonzero(left <= left[best] * (1 + _AS_WELL / count))
    others = tuple(pairs[k] for k in as_well if k != best)
    return Interaction(pairs[best], band, float(2 * slopes[best]), others)


_AS_WELL: Final = 4.0
"""Of the squares' mean: two explanations that differ by less are not told apart."""


def _without(
    sums: Floats, contrast: Levels, pair: tuple[int, int], settings: int
) -> tuple[Floats, Levels]:
    """What is left when one interaction is taken out."""
    x = contrast[:, pair[0] * settings + pair[1]]
    x = x / np.linalg.norm(x)
    return sums - x * (x @ sums), contrast - np.outer(x, x @ contrast)


def _judged(changes: Floats, deviation: Floats, freedom: Sequence[int]) -> list[Effect]:
    """Effects with Holm's p over all of them, in the order of settings and bands."""
    size = changes.size
    each = np.zeros_like(changes)
    for band, degrees in enumerate(freedom):
        if deviation[band] > 0:
            each[:, band] = 2 * laws.t_sf(np.abs(changes[:, band]) / deviation[band], degrees)
    order = np.argsort(each, axis=None, kind="stable")
    steps = each.ravel()[order] * np.arange(size, 0, -1)
    holm = np.empty(size)
    holm[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    reach = [
        deviation[band] * float(laws.t_isf(CALLED / 2 / size, degrees))
        for band, degrees in enumerate(freedom)
    ]
    p = holm.reshape(changes.shape)
    return [
        Effect(setting, band, float(x), float(x - reach[band]), float(x + reach[band]),
               float(p[setting, band]))
        for (setting, band), x in np.ndenumerate(changes)
    ]  # fmt: skip
