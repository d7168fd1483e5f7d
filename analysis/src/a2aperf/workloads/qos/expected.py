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
_ALONE: Final = 0.15
"""Of all that is carried: by less no share of a single interval is off, whose spread is unknown."""


@dataclass(frozen=True)
class Expected:
    """Shares of all that is carried, one a path, and what says so."""

    shares: tuple[float, ...]
    source: str
    lanes: tuple[int, ...] = ()
    """Of each path, where lanes are known."""


def of(
    launch: Launch, classes: Sequence[str], limits: Sequence[float], rate: float
) -> Expected | None:
    """Of paths of these classes that carry `rate` together, and alone at most `limits`, in B/s."""
    if rate <= 0:
        return None
    tables = of_launch(launch)
    if tables.says_shares:
        levels = [_LEVEL.fullmatch(one) for one in classes]
        lanes = [tables.lane(int(one[1])) if one else None for one in levels]
        known = [lane for lane in lanes if lane is not None]
        if len(known) == len(lanes):
            paths = [filling.Path(lane, limit) for lane, limit in zip(known, limits, strict=True)]
            got = filling.by_tables(paths, tables, rate)
            return _expected(got, "SL2VL and VLArb", tuple(known))
    if said := _by_shaper(launch, classes, limits, rate):
        return said
    weights = _weights(launch.labels.get(WEIGHTS, ""))
    if not weights or not set(classes) <= set(weights):
        return None
    names = sorted(weights)
    paths = [
        filling.Path(names.index(one), limit) for one, limit in zip(classes, limits, strict=True)
    ]
    by_number = {names.index(name): weight for name, weight in weights.items() if weight > 0}
    return _expected(filling.by_weights(paths, by_number, rate), "the label weights", ())


def _by_shaper(
    launch: Launch, classes: Sequence[str], limits: Sequence[float], rate: float
) -> Expected | None:
    """By what `tc` says of the device; other providers pass it by."""
    if not _BY_SOCKETS.search(str(launch.attributes.get("provider", ""))):
        return None
    found = shaper.of_text("\n".join(launch.attachments.values()))
    got = found.shares(classes, limits, rate)
    return _expected(got, found.name, ()) if got else None


def _expected(got: Sequence[float], source: str, lanes: tuple[int, ...]) -> Expected | None:
    total = sum(got)
    return Expected(tuple(one / total for one in got), source, lanes) if total > 0 else None


def of_launch(launch: Launch) -> Arbitration:
    """What a launch records of its port, or a text that is attached to it says."""
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


def off(came: Floats, said: Sequence[float]) -> list[int]:
    """Paths whose share of `came` [X, n] is not what was said, by enough to matter.

    By more than chance leaves to any of them in one of twenty experiments.
    """
    paths, n = came.shape
    whole = came.sum(axis=0)
    apart = came.sum(axis=1) / whole.sum() - said
    if n == 1:
        return [int(path) for path in np.flatnonzero(np.abs(apart) > _ALONE)]
    matters = _MATTERS if n >= shares.LEAST else AGREES
    found = []
    for path in np.flatnonzero(np.abs(apart) > matters):
        low, high = shares.reach(came[path], whole, _ERROR / paths)
        if not -high <= apart[path] <= low:
            found.append(int(path))
    return found
