# SPDX-License-Identifier: BSD-3-Clause
"""Steps against message size: where the protocol changes.

A step is a change between two neighbouring sizes that launches repeat: their spread, taken from
how far neighbouring launches (of the same or the next rank count) differ in that change, must not
explain it at any of the sizes. A single launch must show it against its own roughness, and stay
on the new level.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import laws, scaling
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, listed, spanned
from a2aperf.protocol_changes import PROTOCOL_CHANGES
from a2aperf.results import Results

Floats = NDArray[np.float64]

_FALL: Final = 0.05
_ERROR: Final = 0.05  # of all neighbouring sizes together
_OWN_ERROR: Final = 0.025  # of all sizes at which launches differ more than elsewhere
_NOISY: Final = 1.5  # times the usual spread: launches differ more there than elsewhere
_FEWEST: Final = 4  # differences from which a spread is known


@dataclass(frozen=True)
class _Step:
    series: str
    ranks: int
    below: int  # B
    above: int  # B
    change: float  # of the bandwidth when it falls, of the time when that falls
    rates: tuple[float, float]  # Gbit/s per rank, as the file's own table counts them
    ops: int


@dataclass(frozen=True)
class _Line:
    """The launches of one series at one scale: log times [launches, sizes], B ascending.

    NaN where a launch lacks a size.
    """

    series: str
    ranks: int
    sizes: Floats
    times: Floats
    rates: Floats  # Gbit/s [sizes], median of the launches
    ops: int  # of a size, all launches


def find(found: Results) -> list[Finding]:
    """Neighbouring sizes between which the bandwidth, or the time itself, falls by 5 % or more."""
    rate = _rate_column(found)
    lines = _lines(found, rate)
    grouped: dict[tuple[str, int, int, bool], list[_Step]] = {}
    for step in _of_lines(lines):
        key = (step.series, step.below, step.above, step.change < 0)
        grouped.setdefault(key, []).append(step)
    known = thresholds(found)
    scales = {line.series: sum(x.series == line.series for x in lines) for line in lines}
    return [_told(steps, scales[key[0]], rate, known) for key, steps in grouped.items()]


def _of_lines(lines: list[_Line]) -> list[_Step]:
    """The steps of all lines; lines of a series follow each other, with ascending scales."""
    judged = []
    for _, of_series in itertools.groupby(lines, lambda line: line.series):
        several = list(of_series)
        for index, line in enumerate(several):
            alike = _alike(several[max(0, index - 1) : index], line, several[index + 1 : index + 2])
            judged.append((line, alike))
    tests = max(1, sum(max(0, len(line.sizes) - 1) for line in lines))
    noisy = max(2, sum(_noisy(line, alike) for line, alike in judged))
    return [step for line, alike in judged for step in _steps(line, alike, tests, noisy)]


def _rate_column(found: Results) -> str:
    """The rate to cite: the one that the 2019 layout prints for its own tables, else per rank."""
    column = scaling.judged_by(found.points)
    return column if column == "gbps_compat" else "gbps_rank"


def _lines(found: Results, rate: str) -> list[_Line]:
    points = found.points.assign(series=series.named(found))
    lines = []
    keys = ["series", "ranks", "nodes", "ppn"]
    for (name, ranks, _, _), rows in points.groupby(keys, dropna=False, sort=True):
        table = rows.pivot_table(index="launch", columns="message_size", values="time_p50")
        if table.shape[1] < 2:
            continue
        rates = rows.groupby("message_size")[rate].median()
        lines.append(
            _Line(
                str(name),
                int(str(ranks)),
                table.columns.to_numpy(dtype=np.float64),
                np.log(table.to_numpy(dtype=np.float64)),
                rates.reindex(table.columns).to_numpy(dtype=np.float64),
                int(rows["ops"].sum() / table.shape[1]),
            )
        )
    return lines


def _alike(before: list[_Line], line: _Line, after: list[_Line]) -> Floats:
    """How far neighbouring launches differ in their changes from size to size, as one's spread.

    Launches of the same scale, and the nearest ones of the next scales: where the shape of the
    curve changes with scale that counts as spread, too.
    """
    rows = [_measured(x, -1) for x in before]
    rows += [_measured(line, launch) for launch in range(len(line.times))]
    rows += [_measured(x, 0) for x in after]
    differences = []
    for (sizes, one), (others, other) in itertools.pairwise(rows):
        common = np.intersect1d(sizes, others)
        a, b = one[np.isin(sizes, common)], other[np.isin(others, common)]
        differences.append((np.diff(a) - np.diff(b)) / np.sqrt(2))
    return np.concatenate(differences) if differences else np.empty(0)


def _measured(line: _Line, launch: int) -> tuple[Floats, Floats]:
    """The sizes that a launch has, and its log times there."""
    known = ~np.isnan(line.times[launch])
    return line.sizes[known], line.times[launch][known]


def _noisy(line: _Line, alike: Floats) -> int:
    """Neighbouring sizes whose change differs far more between the launches than most do."""
    if len(line.times) < 2 or len(alike) < _FEWEST:
        return 0
    changes = np.diff(line.times, axis=1).T
    spreads = [float(known.std(ddof=1)) for x in changes if len(known := x[~np.isnan(x)]) > 1]
    return int((np.array(spreads) > _NOISY * _spread(alike)).sum())


def _spread(differences: Floats) -> float:
    return laws.NORMAL_OF_MAD * float(np.median(np.abs(differences)))


def _steps(line: _Line, alike: Floats, tests: int, noisy: int) -> list[_Step]:
    """Falls of the bandwidth (negative), or of the time although messages grow (positive)."""
    growth = np.diff(np.log(line.sizes))
    found = []
    for pair, change in enumerate(np.diff(line.times, axis=1).T):
        change = change[~np.isnan(change)]  # of the launches that have both sizes
        if len(change) < min(2, len(line.times)):
            continue
        middle = np.median(change)
        falls, quicker = np.expm1(growth[pair] - middle), -np.expm1(middle)
        told = float(falls if falls <= -_FALL else quicker if quicker >= _FALL else 0.0)
        if not told:
            continue
        size = change - growth[pair] if told < 0 else -change
        if _sure(line, pair, size, told < 0, alike, tests, noisy):
            ends = int(line.sizes[pair]), int(line.sizes[pair + 1])
            rates = float(line.rates[pair]), float(line.rates[pair + 1])
            found.append(_Step(line.series, line.ranks, *ends, told, rates, 2 * line.ops))
    return found


def _sure(
    line: _Line, pair: int, size: Floats, up: bool, alike: Floats, tests: int, noisy: int
) -> bool:
    """Whether a change is beyond chance: `size` in each launch, `up` where time grows by it.

    Noise may be larger at these sizes than at most others. Then only their own launches tell how
    large, and the error is shared among all sizes that are so `noisy`: two at least, for one noisy
    size makes both changes beside it so.
    """
    launches = len(size)
    if len(alike) >= _FEWEST:
        limit = _limit(len(alike), tests) * _spread(alike)
        if launches > 1:
            own = float(size.std(ddof=1))
            limit = max(limit, float(laws.t_isf(_OWN_ERROR / noisy, launches - 1)) * own)
        enough = float(np.median(size)) > limit / np.sqrt(launches)
    else:
        rough = _roughness(line, pair)
        if rough is None:
            return False
        bend, spread, count = rough
        enough = (bend if up else -bend) > _limit(count, tests) * spread
    if launches > 1:
        return bool(enough and (size > _FALL / 2).all())
    return bool(enough and _stays(line, pair))


def _limit(count: int, tests: int) -> float:
    """Quantile of Student's t for so many absolute deviations; both kinds of change are tested."""
    freedom = laws.mad_freedom(count)
    return float(laws.t_isf(_ERROR / (2 * tests), freedom))


def _roughness(line: _Line, pair: int) -> tuple[float, float, int] | None:
    """How far the time bends up there, and its usual bend, of a single launch; None: too short."""
    growth = np.diff(np.log(line.sizes))
    slope = np.diff(line.times[0]) / growth
    if not 1 <= pair < len(slope) - 1:
        return None
    bends = growth[1:-1] * (slope[1:-1] - (slope[:-2] + slope[2:]) / 2)
    at = pair - 1
    others = np.delete(bends, np.arange(max(0, at - 1), min(len(bends), at + 2)))
    if len(others) < _FEWEST:
        return None
    return float(bends[at]), laws.NORMAL_OF_MAD * float(np.median(np.abs(others))), len(others)


def _stays(line: _Line, pair: int) -> bool:
    """Whether two sizes on either side are on different levels: one outlier is no step."""
    if not 1 <= pair < len(line.sizes) - 2:
        return False
    log_rate = np.log(line.sizes) - line.times[0]
    quick = line.times[0][pair + 1] < line.times[0][pair]
    level = line.times[0] if quick else log_rate
    before, after = level[pair - 1 : pair + 1], level[pair + 1 : pair + 3]
    return bool(before.min() - after.max() >= -np.log1p(-_FALL) - 1e-12)


def _told(steps: list[_Step], scales: int, rate: str, thresholds: list[tuple[str, int]]) -> Finding:
    first = steps[0]
    changes = [abs(100 * step.change) for step in steps]
    ranks = listed((step.ranks for step in steps), 12)
    if first.change < 0:
        cited = [f"{s.rates[0]:.4g} to {s.rates[1]:.4g} at {s.ranks} ranks" for s in steps]
        what = f"{rate} falls by {spanned(changes)} % ({listed(cited, 3)})"
    else:
        what = f"the time falls by {spanned(changes)} % although messages grow"
    matching = [
        f"{name} ({size} B)" for name, size in thresholds if first.below <= size <= first.above
    ]
    known = (
        "; known there: " + ", ".join(matching) if matching else "; no known threshold lies there"
    )
    if not thresholds:
        known = "; the provider is not recorded, so no threshold is known"
    return Finding(
        "steps",
        f"between {first.below} and {first.above} B {what}, in {len(steps)} of {scales} rank "
        f"counts{known}",
        ", ".join(filter(None, [f"ranks {ranks}", first.series])),
        sum(step.ops for step in steps),
        weight=max(changes) * len(steps) / scales,
        numbers={
            "below": first.below,
            "above": first.above,
            "largest_change_percent": max(changes),
            "ranks": ranks,
        },
    )


def thresholds(found: Results) -> list[tuple[str, int]]:
    """Known thresholds (B) of the providers at hand, where a variable may have moved them."""
    names = set(found.points["provider"])
    settings: dict[str, str] = {}
    for launch in found.launches.values():
        settings |= launch.environment
    if any(name.startswith("PSM2_") for name in settings):
        names.add("psm2")
    known = []
    for part, rows in PROTOCOL_CHANGES.items():
        if any(part in name for name in names):
            for what, variable, default in rows:
                moved = settings.get(variable, "")
                known.append((f"{part} {what}", int(moved) if moved.isdecimal() else default))
    return known
