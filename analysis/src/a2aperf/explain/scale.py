# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth that is lost as ranks are added, beyond what sharing a link takes; and the knee."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from a2aperf import laws, scaling
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, percent
from a2aperf.results import Results

_LOST: Final = 0.10
_LOST_UNSEEN: Final = 0.15
"""The same where no scale has two launches, so that nobody knows how far launches differ."""
_ERROR: Final = 0.05


@dataclass(frozen=True)
class _Loss:
    size: int
    rates: list[tuple[int, float]]  # (ranks, Gbit/s), median of the launches
    excused: float  # least share that a perfect network may leave
    sure: float  # the share lost must exceed this
    knee: tuple[int, int] | None  # between these rank counts a tenth is gone
    ops: int

    @property
    def share(self) -> float:
        """Share of the smallest scale's rate that is gone at the largest."""
        return 1 - self.rates[-1][1] / self.rates[0][1]

    @property
    def beyond(self) -> float:
        """Share that is gone of what a perfect network could keep."""
        return 1 - (1 - self.share) / self.excused


def find(found: Results) -> list[Finding]:
    """Per series, the loss from fewest to most ranks: at its largest size, and the worst."""
    points = found.points.assign(series=series.named(found))
    if points["ranks"].nunique() < 2:
        return []
    lines = points.groupby("series", sort=True)
    findings = []
    for name, line in lines:
        rate = scaling.judged_by(line)
        parts = line.dropna(subset=[rate]).groupby("message_size", sort=True)
        losses = [
            loss
            for size, rows in parts
            if (loss := _loss(int(str(size)), rows, rate, len(parts) * len(lines)))
        ]
        lost = [loss for loss in losses if loss.beyond >= loss.sure]
        if not lost:
            continue
        worst = max(lost, key=lambda loss: loss.beyond)
        told = [lost[-1]] if worst is lost[-1] else [lost[-1], worst]
        findings += [_told(loss, len(lost), len(losses), rate, str(name)) for loss in told]
    return findings


def _loss(size: int, rows: pd.DataFrame, rate: str, tests: int) -> _Loss | None:
    by_scale = [
        (int(str(ranks)), np.log(of[rate].to_numpy(dtype=np.float64)))
        for ranks, of in rows.groupby("ranks", sort=True)
    ]
    if len(by_scale) < 2:
        return None
    rates = [(ranks, float(np.exp(np.median(logs)))) for ranks, logs in by_scale]
    few = by_scale[0][0]
    best, knee = rates[0], None
    for (before, _), (ranks, gbps) in itertools.pairwise(rates):
        kept = scaling.excused(rate, few, ranks) / scaling.excused(rate, few, best[0])
        if gbps < (1 - _LOST) * best[1] * kept and knee is None:
            knee = (before, ranks)
        best = max(best, (ranks, gbps), key=lambda one: one[1])
    return _Loss(
        size,
        rates,
        scaling.excused(rate, few, rates[-1][0]),
        _sure([logs for _, logs in by_scale], tests),
        knee,
        int(rows["ops"].sum()),
    )


def _sure(logs: list[Any], tests: int) -> float:
    """The share that must be lost: a tenth, or what launches that differ as here can make it."""
    freedom = sum(len(one) for one in logs) - len(logs)
    if not freedom:
        return _LOST_UNSEEN
    spread = sum(float(((one - one.mean()) ** 2).sum()) for one in logs) / freedom
    first, last = logs[0], logs[-1]
    error, level = math.sqrt(spread * (1 / len(first) + 1 / len(last))), _ERROR / tests
    by_chance = float(laws.t_isf(level, freedom)) * error
    if min(len(first), len(last)) == 1:  # nobody knows how far launches of that scale differ
        return max(_LOST_UNSEEN, 1 - math.exp(-by_chance))
    if _differ_in_spread(first, last):
        by_chance = max(by_chance, _welch(first, last, level))
    return max(_LOST, 1 - math.exp(-by_chance))


def _welch(first: Any, last: Any, level: float) -> float:
    """By how much two means differ at this level if their launches spread differently (Welch)."""
    parts = [float(one.var(ddof=1)) / len(one) for one in (first, last)]
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(one) - 1) for part, one in zip(parts, (first, last), strict=True)
    )
    return float(laws.t_isf(level, freedom)) * math.sqrt(sum(parts))


def _differ_in_spread(first: Any, last: Any) -> bool:
    """By the F test, at 10 % on either side: better to doubt than to call noise a loss."""
    variances = first.var(ddof=1), last.var(ddof=1)
    if not min(variances):
        return bool(max(variances))
    at = laws.f_cdf(variances[0] / variances[1], len(first) - 1, len(last) - 1)
    return not 0.1 <= float(at) <= 0.9


def _told(loss: _Loss, lost: int, sizes: int, rate: str, name: str) -> Finding:
    (few, first), (many, last) = loss.rates[0], loss.rates[-1]
    values = dict(loss.rates)
    text = (
        f"{loss.size} B: {rate} falls from {first:.2f} at {few} ranks to {last:.2f} at {many} "
        f"(-{percent(loss.share)})"
    )
    if loss.excused < 1:
        text += (
            f", where ranks that share a node's link could lose {percent(1 - loss.excused)} at "
            "most (nodes are not recorded)"
        )
    if loss.knee:
        ends = [f"{ranks} ({values[ranks]:.2f})" for ranks in loss.knee]
        text += f"; knee between {ends[0]} and {ends[1]}"
    return Finding(
        "scale",
        f"{text}; told of {lost} of {sizes} sizes",
        ", ".join(filter(None, [f"{len(loss.rates)} rank counts", name])),
        loss.ops,
        weight=loss.share,
        numbers={
            "message_size": loss.size,
            "first": first,
            "last": last,
            "knee_from": loss.knee[0] if loss.knee else 0,
            "knee_to": loss.knee[1] if loss.knee else 0,
        },
    )
