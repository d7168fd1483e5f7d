# SPDX-License-Identifier: BSD-3-Clause
"""What one launch says of each of its nodes: how long it takes, beside the median node.

As the logarithm of a factor on the time: a night that is slow for all is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import copies
from a2aperf.launch import Launch

Floats = NDArray[np.float64]

FEWEST_NODES: Final = 4
"""With fewer it may as well be the others."""
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


def line(part: str, size: int, effects: Floats) -> Line:
    """A line of these logarithms [N]."""
    return Line(part, size, [round(float(x), _DIGITS) for x in effects])


def night(launch: Launch, started: Any, lines: list[Line]) -> Iterator[Night]:
    """The launch, or none where nothing tells nodes apart, or when it was."""
    if not lines or not isinstance(started, (int, np.integer)) or started <= 0:
        return
    facts = {
        name: list(values)
        for name, values in launch.node_facts.items()
        if name not in _PASSING and any(values)
    }
    known = copies.identity(launch.attributes, launch.nodes) or launch.id
    yield Night(repr((known, launch.segment)), int(started), launch.nodes, facts, lines)
