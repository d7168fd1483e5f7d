# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth per rank that is lost as ranks are added, and where the knee is."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from a2a.explain import series
from a2a.explain.finding import Finding, percent
from a2a.results import Results

_LOST: Final = 0.10


@dataclass(frozen=True)
class _Loss:
    size: int
    rates: list[tuple[int, float]]  # (ranks, Gbit/s)
    knee: tuple[int, int] | None  # between these rank counts a tenth is gone

    @property
    def share(self) -> float:
        """Share of the smallest scale's rate that is gone at the largest."""
        return 1 - self.rates[-1][1] / self.rates[0][1]


def find(found: Results) -> list[Finding]:
    """Per series, the loss from fewest to most ranks: at its largest size, and the worst."""
    findings = []
    rate = series.rate_column(found)
    for name, line in series.curves(found).groupby("series", sort=False):
        by_size = [
            _loss(size, line[line["message_size"] == size], rate)
            for size in sorted(set(line["message_size"]))
        ]
        losses = [loss for loss in by_size if loss]
        lost = [loss for loss in losses if loss.share >= _LOST]
        if not lost:
            continue
        told = [lost[-1]]
        worst = max(lost, key=lambda loss: loss.share)
        if worst is not told[0]:
            told.append(worst)
        ops = int(line["ops"].sum())
        findings += [_told(loss, len(lost), len(losses), rate, str(name), ops) for loss in told]
    return findings


def _loss(size: int, rows: pd.DataFrame, rate: str) -> _Loss | None:
    ordered = rows.dropna(subset=[rate]).sort_values("ranks")
    pairs: list[tuple[int, float]] = [
        (int(r), float(g)) for r, g in zip(ordered["ranks"], ordered[rate], strict=True)
    ]
    if len({ranks for ranks, _ in pairs}) < 2:
        return None
    best, knee = pairs[0][1], None
    for (before, _), (ranks, gbps) in itertools.pairwise(pairs):
        if gbps < (1 - _LOST) * best and knee is None:
            knee = (before, ranks)
        best = max(best, gbps)
    return _Loss(size, pairs, knee)


def _told(loss: _Loss, lost: int, sizes: int, rate: str, name: str, ops: int) -> Finding:
    (few, first), (many, last) = loss.rates[0], loss.rates[-1]
    knee: Any = loss.knee
    values = dict(loss.rates)
    text = (
        f"{loss.size} B: {rate} falls from {first:.2f} at {few} ranks to {last:.2f} at {many} "
        f"(-{percent(loss.share)})"
    )
    if knee:
        ends = [f"{ranks} ({values[ranks]:.2f})" for ranks in knee]
        text += f"; knee between {ends[0]} and {ends[1]}"
    return Finding(
        "scale",
        f"{text}; {lost} of {sizes} sizes lose a tenth or more",
        ", ".join(filter(None, [f"{len(loss.rates)} rank counts", name])),
        ops,
        weight=loss.share,
        numbers={
            "message_size": loss.size,
            "first": first,
            "last": last,
            "knee_from": knee[0] if knee else 0,
            "knee_to": knee[1] if knee else 0,
        },
    )
