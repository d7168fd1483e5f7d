# SPDX-License-Identifier: BSD-3-Clause
"""What a file says of each of its nodes: how long it takes, beside the median node.

Of a matrix of pairs that is the sender's and the receiver's part in the model of `pairs.model`; of
an all-to-all whose ops started by a common clock, when a node's ranks have ended, in the median of
the ops. Both are logarithms of a factor on the time, so a night that is slow for all is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import loading
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.workloads.pairs import links, model

Floats = NDArray[np.float64]

FEWEST_NODES: Final = 4
"""With fewer it may as well be the others."""
PARTS: Final = ("sends", "receives", "ends its ops")
_PASSING: Final = ("boot_id", "cpu_frequency", "memory_total", "cores_of_ranks", "irqbalance")
"""Facts of a node that say nothing of what it is made of."""
_DIGITS: Final = 6


@dataclass(frozen=True)
class Line:
    """Of one part and message size: the logarithms [N] of the factor on the time; NaN unknown."""

    part: str
    message_size: int
    effects: list[float]


@dataclass(frozen=True)
class Night:
    """One launch: `started` is in ns since 1970, `facts` by name are those of each node [N]."""

    identity: str
    """What no two launches share; a copy of the file has the same."""
    started: int
    nodes: list[str]
    facts: dict[str, list[str]]
    lines: list[Line]

    def plain(self) -> dict[str, Any]:
        """As JSON has it: a fact that all nodes share is one text."""
        shared = {name: values[0] for name, values in self.facts.items() if len(set(values)) == 1}
        lines = [
            {**asdict(line), "effects": [None if x != x else x for x in line.effects]}
            for line in self.lines
        ]
        return {**asdict(self), "facts": {**self.facts, **shared}, "lines": lines}

    @classmethod
    def of_plain(cls, said: dict[str, Any]) -> Night:
        """What `plain` gave; ValueError, KeyError or TypeError where it is none."""
        nodes = [str(node) for node in said["nodes"]]
        facts = {
            str(name): [values] * len(nodes) if isinstance(values, str) else list(values)
            for name, values in said["facts"].items()
        }
        lines = [
            Line(
                str(line["part"]),
                int(line["message_size"]),
                [float("nan") if x is None else float(x) for x in line["effects"]],
            )
            for line in said["lines"]
        ]
        if any(len(one) != len(nodes) for one in (*facts.values(), *(x.effects for x in lines))):
            raise ValueError("not a value for each node")
        return cls(str(said["identity"]), int(said["started"]), nodes, facts, lines)


def of_file(path: Path) -> list[Night]:
    """The launches of a file that tell nodes apart; InputError where it cannot be read."""
    found = loading.load([path])
    return [*_of_pairs(found), *_of_all_to_alls(found)]


def _of_pairs(found: Results) -> Iterator[Night]:
    for file in links.files(found):
        of = links.read(found, file)
        if len(set(of.node)) < FEWEST_NODES:
            continue
        lines = []
        for index, size in enumerate(of.pairs.message_size):
            fit = model.fit(of.view(index, "node").times)
            if np.isfinite(fit.residual).any():
                lines.append(_line(PARTS[0], int(size), fit.sender))
                lines.append(_line(PARTS[1], int(size), fit.receiver))
        started = found.points.loc[found.points["launch"] == of.launch.id, "started"].min()
        yield from _night(of.launch, started, lines)


def _of_all_to_alls(found: Results) -> Iterator[Night]:
    points = found.measured().points
    points = points[points["has_raw"] & (points["engine"] == "a2aperf")]
    for launch, rows in points.groupby("launch"):
        facts = found.launches[str(launch)]
        if facts.attributes.get("sync") != "clock" or len(set(facts.node_of_rank)) < FEWEST_NODES:
            continue
        by_size: dict[int, list[Floats]] = {}
        for file, point, size in rows[["file", "point", "message_size"]].itertuples(index=False):
            raw = found.raw(str(file), int(point))
            ends = np.median(raw.end[raw.valid], axis=0)
            by_size.setdefault(int(size), []).append(_by_node(ends, facts))
        # Points of one size differ by their settings: the median of them.
        lines = [
            _line(PARTS[2], size, np.median(np.array(effects), axis=0))
            for size, effects in by_size.items()
        ]
        yield from _night(facts, rows["started"].min(), lines)


def _by_node(ends: Floats, facts: Launch) -> Floats:
    """The median end of each node's ranks, as a logarithm beside the median node."""
    nodes = [ends[facts.node_of_rank == node] for node in range(len(facts.nodes))]
    logs = np.log([np.median(own) if own.size else np.nan for own in nodes])
    return np.asarray(logs - np.nanmedian(logs))


def _line(part: str, size: int, effects: Floats) -> Line:
    return Line(part, size, [round(float(x), _DIGITS) for x in effects])


def _night(launch: Launch, started: Any, lines: list[Line]) -> Iterator[Night]:
    """None where nothing tells nodes apart, or when it was."""
    if not lines or not isinstance(started, (int, np.integer)) or started <= 0:
        return
    facts = {
        name: list(values)
        for name, values in launch.node_facts.items()
        if name not in _PASSING and any(values)
    }
    origin, said = launch.attributes["time_origin"], launch.attributes["command_line"]
    yield Night(f"{origin} {launch.segment} {said}", int(started), launch.nodes, facts, lines)
