# SPDX-License-Identifier: BSD-3-Clause
"""What arbitration by weights gives each path of a link: a water-filling model.

Who wants less than its part gets what it wants, and the rest is divided among the others by their
weights. The high table of an InfiniBand port goes before the low one, up to its limit: limit ×
4096 bytes may pass before a packet of the low table, 255 is no limit and 0 one packet (InfiniBand
Architecture Specification, volume 1, section 7.6.9). Lanes divide a table by the sums of their
weights, the paths of a lane divide it evenly. A lane in neither table carries nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf import arbitration
from a2aperf.arbitration import UNLIMITED, Arbitration

_LIMIT_UNIT: Final = 4096
PACKET: Final = 4096
"""Bytes of a packet where nobody says how large they are: InfiniBand's largest."""


def water_fill(amount: float, weights: Sequence[float], wants: Sequence[float]) -> list[float]:
    """What each gets of an amount: by weight, nobody more than it wants."""
    got = [0.0] * len(weights)
    open_ = [
        i for i, (weight, want) in enumerate(zip(weights, wants, strict=True)) if weight > 0 < want
    ]
    left = amount
    while open_ and left > 0:
        level = left / sum(weights[i] for i in open_)
        full = [i for i in open_ if wants[i] <= level * weights[i]]
        if not full:
            for i in open_:
                got[i] = level * weights[i]
            break
        for i in full:
            got[i] = wants[i]
            left -= wants[i]
        open_ = [i for i in open_ if i not in full]
    return got


@dataclass(frozen=True)
class Path:
    """Its lane, or class, and the most that it carries alone."""

    lane: int
    limit: float = math.inf


def by_weights(
    paths: Sequence[Path], weights: Mapping[int, float], amount: float = 1.0
) -> list[float]:
    """What each path gets where lanes have weights, and one of no weight carries nothing."""
    wants = _wants(paths)
    lanes = [lane for lane in wants if lane in weights]
    got = water_fill(amount, [weights[x] for x in lanes], [wants[x] for x in lanes])
    return _divided(paths, dict(zip(lanes, got, strict=True)))


def by_tables(
    paths: Sequence[Path], of: Arbitration, amount: float = 1.0, packet: int = PACKET
) -> list[float]:
    """What each path gets of a port; its tables are known (`Arbitration.says_shares`)."""
    wants = _wants(paths)
    high, low = (arbitration.sums(one or ()) for one in (of.high, of.low))
    first = _served(high, wants, math.inf)
    rest = {lane: want for lane, want in wants.items() if lane in low}
    for_high = _before_low(of, packet, amount, sum(first.values()), sum(rest.values()))
    got = _served(high, wants, for_high)
    left = {lane: want - got.get(lane, 0.0) for lane, want in rest.items()}
    more = _served(low, left, amount - sum(got.values()))
    both = {lane: got.get(lane, 0.0) + more.get(lane, 0.0) for lane in wants}
    # What the low table does not take of its part, as the high one serves its lanes, too.
    open_ = {lane: max(0.0, want - both[lane]) for lane, want in wants.items()}
    last = _served(high, open_, max(0.0, amount - sum(both.values())))
    return _divided(paths, {lane: of_lane + last.get(lane, 0.0) for lane, of_lane in both.items()})


def _before_low(of: Arbitration, packet: int, amount: float, high: float, low: float) -> float:
    """How much the high table may pass, by what both want."""
    if high <= 0:
        return 0.0
    limit = UNLIMITED if of.limit is None else of.limit
    if limit >= UNLIMITED:
        return amount
    parts = float(limit * _LIMIT_UNIT or packet), float(packet)
    return water_fill(amount, parts, (high, low))[0]


def _served(
    table: Mapping[int, float], wants: Mapping[int, float], amount: float
) -> dict[int, float]:
    lanes = [lane for lane in wants if lane in table]
    wanted = [wants[lane] for lane in lanes]
    if math.isinf(amount):
        return dict(zip(lanes, wanted, strict=True))
    return dict(zip(lanes, water_fill(amount, [table[x] for x in lanes], wanted), strict=True))


def _wants(paths: Sequence[Path]) -> dict[int, float]:
    """What the paths of each lane want together."""
    wants: dict[int, float] = {}
    for path in paths:
        wants[path.lane] = wants.get(path.lane, 0.0) + path.limit
    return wants


def _divided(paths: Sequence[Path], lanes: Mapping[int, float]) -> list[float]:
    got = [0.0] * len(paths)
    for lane, amount in lanes.items():
        mine = [i for i, path in enumerate(paths) if path.lane == lane]
        parts = water_fill(amount, [1.0] * len(mine), [paths[i].limit for i in mine])
        for i, part in zip(mine, parts, strict=True):
            got[i] = part
    return got
