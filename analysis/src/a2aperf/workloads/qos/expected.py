# SPDX-License-Identifier: BSD-3-Clause
"""What arbitration says of the shares of paths: by a port's tables, by `tc`, or by weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import arbitration, filling, shaper, shares
from a2aperf.arbitration import Arbitration
from a2aperf.labels import list_text
from a2aperf.launch import Launch

Floats = NDArray[np.float64]

WEIGHTS: Final = "weights"
"""A label of a launch: `best-effort:1,bulk:2`, the weights of classes."""
_BY_SOCKETS: Final = re.compile(r"^(tcp|net|sockets|udp)\b")
_LEVEL: Final = re.compile(r"sl(\d{1,2})")
_WEIGHT: Final = re.compile(r"\s*([^\s:,]+)\s*:\s*(\d+(?:\.\d+)?)\s*")
AGREES: Final = 0.03
"""Of all that is carried: by less a share is what was said, where it has no interval."""
_ERROR: Final = 0.035
"""Of all paths of an experiment together: with noise of the worst memory chance has up to 0.05."""
_MATTERS: Final = 0.01
"""Of all that is carried: by less no share is off, however sure the difference is."""
_OF_EQUAL: Final = 1 / 8
"""Of an equal share: the same, where paths are so many that this is less."""
_ALONE: Final = 0.15
"""Of all that is carried: by less no share of a single interval is off, whose spread is unknown."""


@dataclass(frozen=True)
class Expected:
    """Shares of all that is carried, one a path, and what says so."""

    shares: tuple[float, ...]
    source: str
    lanes: tuple[int, ...] = ()
    """Of each path, where lanes are known."""


@dataclass(frozen=True)
class _Paths:
    """That carry `rate` together, and alone at most `limits`, in B/s."""

    classes: Sequence[str]
    limits: Sequence[float]
    rate: float

    def by_tables(self, tables: Arbitration) -> Expected | None:
        """By those of a port."""
        levels = [_LEVEL.fullmatch(one) for one in self.classes]
        lanes = [tables.lane(int(one[1])) if one else None for one in levels]
        known = [lane for lane in lanes if lane is not None]
        if not tables.says_shares or len(known) < len(lanes):
            return None
        got = filling.by_tables(self._of_lanes(known), tables, self.rate)
        return _expected(got, "SL2VL and VLArb", tuple(known))

    def by_shaper(self, launch: Launch, text: str) -> Expected | None:
        """By what `tc` says of the device; other providers pass it by."""
        if not _BY_SOCKETS.search(str(launch.attributes.get("provider", ""))):
            return None
        found = shaper.of_text(text)
        got = found.shares(self.classes, self.limits, self.rate)
        return _expected(got, found.name, ()) if got else None

    def by_label(self, launch: Launch) -> Expected | None:
        """By the weights that it gives."""
        weights = _weights(launch.labels.get(WEIGHTS, ""))
        if not weights or not set(self.classes) <= set(weights):
            return None
        names = sorted(weights)
        paths = self._of_lanes([names.index(one) for one in self.classes])
        by_number = {names.index(name): weight for name, weight in weights.items() if weight > 0}
        got = filling.by_weights(paths, by_number, self.rate)
        return _expected(got, "the label weights", ())

    def _of_lanes(self, lanes: Sequence[int]) -> list[filling.Path]:
        return [filling.Path(lane, limit) for lane, limit in zip(lanes, self.limits, strict=True)]


def of(
    launch: Launch, classes: Sequence[str], limits: Sequence[float], rate: float, read: str = ""
) -> Expected | None:
    """Of paths of these classes that carry `rate` together, and alone at most `limits`, in B/s.

    `read`: what the launch itself read of their port. What was given stands above it.
    """
    if rate <= 0:
        return None
    paths, given = _Paths(classes, limits, rate), of_launch(launch)
    return (
        paths.by_tables(given)
        or paths.by_shaper(launch, "\n".join(launch.attachments.values()))
        or paths.by_label(launch)
        or paths.by_tables(given.over(arbitration.of_text(read)))
        or paths.by_shaper(launch, read)
    )


def _expected(got: Sequence[float], source: str, lanes: tuple[int, ...]) -> Expected | None:
    total = sum(got)
    return Expected(tuple(one / total for one in got), source, lanes) if total > 0 else None


def of_launch(launch: Launch) -> Arbitration:
    """What was imported of a port, or a text that is attached to the launch says."""
    found = arbitration.of_settings(launch.attributes)
    for text in launch.attachments.values():
        if found.says_shares:
            break
        found = found.over(arbitration.of_text(text))
    return found


def trouble(launch: Launch, classes: Sequence[str]) -> str:
    """Why the label says nothing of these classes; empty where there is none, or it does."""
    text = launch.labels.get(WEIGHTS, "")
    if not text:
        return ""
    weights = _weights(text)
    if not weights:
        return f"the label weights '{text}' is no list of CLASS:WEIGHT, as best-effort:1,bulk:2"
    missing = [one or "none" for one in dict.fromkeys(classes) if one not in weights]
    if missing:
        return f"the label weights '{text}' has none for class {list_text(missing)}"
    return "" if any(weights.values()) else f"the label weights '{text}' has none above 0"


def _weights(text: str) -> dict[str, float]:
    """By class; nothing where the text is no list of weights."""
    found = [_WEIGHT.fullmatch(one) for one in text.split(",")]
    if not text or not all(found):
        return {}
    return {one[1]: float(one[2]) for one in found if one}


def least_apart(paths: int) -> float:
    """Of all that is carried: what a share may be off at least."""
    return min(_MATTERS, _OF_EQUAL / paths)


def off(came: Floats, said: Sequence[float]) -> list[int]:
    """Paths whose share of `came` [X, n] is not what was said, by enough to matter.

    By more than chance leaves to any of them in one of twenty experiments.
    """
    paths, n = came.shape
    whole = came.sum(axis=0)
    apart = came.sum(axis=1) / whole.sum() - said
    if n == 1:
        return [int(path) for path in np.flatnonzero(np.abs(apart) > _ALONE)]
    matters = least_apart(paths) if n >= shares.LEAST else AGREES
    found = []
    for path in np.flatnonzero(np.abs(apart) > matters):
        low, high = shares.reach(came[path], whole, _ERROR / paths)
        if not -high <= apart[path] <= low:
            found.append(int(path))
    return found
