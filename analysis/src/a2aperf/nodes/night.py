# SPDX-License-Identifier: BSD-3-Clause
"""What one launch says of each of its nodes: how long it takes, beside the other nodes.

Or of their adapters, of the two directions of each node, or of each pair of nodes.

As the logarithm of a factor on the time: a night that is slow for all is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from a2aperf import copies, others
from a2aperf.launch import Launch

Floats = NDArray[np.float64]
Per = Literal["node", "adapter", "direction", "pair"]
"""What is compared."""

DAY_NS: Final = 86_400 * 10**9
FEWEST_NODES: Final = 4
"""With fewer it may as well be the others."""
PASSING: Final = (
    "boot_id", "cpu_frequency", "memory_total", "cores_of_ranks", "irqbalance", "nic_lid",
)  # fmt: skip
"""Facts of a node that say nothing of what it is made of."""
_DIGITS: Final = 6
_WAYS: Final = (" out", " in")


@dataclass(frozen=True)
class Line:
    """Of one part and message size: the logarithms [N] of the factor on the time; NaN unknown.

    Of pairs [N · (N − 1)]: of each source in order those to the other nodes.
    """

    part: str
    message_size: int
    effects: list[float]


@dataclass(frozen=True)
class Night:
    """One launch: `started` is in ns since 1970, `facts` by name are those of each node [N].

    `nodes` are what is compared, and may be adapters or directions; `of_pairs`: it is their pairs.
    """

    identity: str
    """What no two launches share; a copy of the file has the same, and a merged one."""
    started: int
    nodes: list[str]
    facts: dict[str, list[str]]
    lines: list[Line]
    of_pairs: bool = False

    @property
    def compared(self) -> list[str]:
        """The names of what the lines have effects of."""
        if not self.of_pairs:
            return self.nodes
        return [f"{a} → {b}" for a in self.nodes for b in self.nodes if a != b]

    def facts_of(self, name: str) -> dict[str, str]:
        """What is recorded of one of `compared`; of a pair that of both nodes."""
        at = self.compared.index(name)
        if not self.of_pairs:
            return {fact: values[at] for fact, values in self.facts.items()}
        source, other = divmod(at, len(self.nodes) - 1)
        ends = (source, other + (other >= source))
        return {
            f"{fact} of {self.nodes[end]}": values[end]
            for end in ends
            for fact, values in self.facts.items()
        }

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
        of_pairs = bool(said["of_pairs"])
        count = len(nodes) * (len(nodes) - 1) if of_pairs else len(nodes)
        if any(len(one) != len(nodes) for one in facts.values()):
            raise ValueError("not a fact for each node")
        if any(len(one.effects) != count for one in lines):
            raise ValueError("not a value for each of what is compared")
        return cls(str(said["identity"]), int(said["started"]), nodes, facts, lines, of_pairs)


def line(part: str, size: int, effects: Floats) -> Line:
    """A line of these logarithms [N]."""
    return Line(part, size, [round(float(x), _DIGITS) for x in effects])


@dataclass(frozen=True)
class Parted:
    """What a launch compares where it is not its nodes: `node` of each, and the place of a rank.

    `names` have an order, by which `of_rank` [R] counts.
    """

    names: list[str]
    node: list[int]
    of_rank: NDArray[np.int64]


def directions(nodes: Sequence[str]) -> Parted:
    """What each node sends, and what each receives."""
    names = [f"{node}{way}" for way in _WAYS for node in nodes]
    return Parted(names, [*range(len(nodes))] * 2, np.empty(0, np.int64))


def adapters(launch: Launch) -> Parted | None:
    """Those that ranks used, with the node in the name.

    None where one is not recorded, or a rank used several.
    """
    known = launch.rank_facts.get("nic", [])
    if not known or not all(known) or len(known) != len(launch.node_of_rank):
        return None
    if any("," in nic for nic in known):
        return None
    each = [(int(node), nic) for node, nic in zip(launch.node_of_rank, known, strict=True)]
    kinds = sorted(set(each))
    names = [f"{launch.nodes[node]} {nic}" for node, nic in kinds]
    of_rank = np.array([kinds.index(one) for one in each], np.int64)
    return Parted(names, [node for node, _ in kinds], of_rank)


def by_place(values: Floats, place: NDArray[np.integer[Any]], count: int) -> Floats:
    """The median of the ranks' values [R] at each place, beside the other places; NaN unknown."""
    known = [values[(place == one) & np.isfinite(values)] for one in range(count)]
    return others.beside(np.array([np.median(own) if own.size else np.nan for own in known]))


def night(
    launch: Launch,
    started: Any,
    lines: list[Line],
    parted: Parted | None = None,
    of_pairs: bool = False,
) -> Iterator[Night]:
    """The launch, or none where nothing tells its parts apart, or when it was."""
    if not lines or not isinstance(started, (int, np.integer)) or started <= 0:
        return
    facts = {
        name: list(values)
        for name, values in launch.shown_facts.items()
        if name not in PASSING and any(values)
    }
    nodes = launch.nodes
    if parted:
        facts = {name: _of_parts(name, facts, parted) for name in facts}
        nodes = parted.names
    yield Night(copies.key(launch), int(started), nodes, facts, lines, of_pairs)


def _of_parts(name: str, facts: dict[str, list[str]], parted: Parted) -> list[str]:
    """A fact of each part. What is recorded of an adapter is that of the node's first rank."""
    first = facts.get("nic", [])
    return [
        ""
        if name.startswith("nic")
        and first
        and not part.partition("/")[0].endswith((f" {first[node]}", *_WAYS))
        else facts[name][node]
        for part, node in zip(parted.names, parted.node, strict=True)
    ]
