# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes Slurm would give out now, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf.errors import InputError
from a2aperf.studies import slurm
from a2aperf.studies.study import Check

_FREE: Final = ("idle", "mixed")
_BUSY: Final = ("allocated", "completing", "planned", "reserved", "blocked")
"""Somebody has it, or will get it next."""
_FLAGS: Final = "*~#!%$@^+-"


@dataclass(frozen=True)
class Offer:
    """Free nodes by the partition to ask for them, those that are closed, and those in use."""

    free: dict[str, list[str]]
    closed: list[Check]
    busy: list[str]

    def first(self, count: int) -> Offer:
        """So many of the free nodes, and no others."""
        if count > (have := sum(map(len, self.free.values()))):
            raise InputError(f"-N {count}: {have} nodes are free")
        chosen: dict[str, list[str]] = {}
        for partition, names in self.free.items():
            some = names[: count - sum(map(len, chosen.values()))]
            if some:
                chosen[partition] = some
        return Offer(chosen, [], [])


@dataclass(frozen=True)
class _Row:
    """A line of sinfo: a node is listed once in each of its partitions."""

    node: str
    partition: str
    default: bool
    up: bool
    state: str
    why: str


def offered(partition: str, names: Sequence[str] | None) -> Offer:
    """What is offered of a partition, of the nodes of these names, or of all; busy ones aside.

    InputError for a partition or a node that Slurm does not know.
    """
    rows = _rows()
    known = {row.partition for row in rows}
    wanted = [x for x in partition.split(",") if x]
    for one in wanted:
        if one not in known:
            raise InputError(f"unknown partition '{one}': expected one of {_list(known)}")
    inside = [row for row in rows if not wanted or row.partition in wanted]
    if names is not None:
        _require_known(names, partition, rows, inside)
        inside = [row for row in inside if row.node in names]
    # The default partition, and one that is up, first: that is where a node is asked for.
    inside.sort(key=lambda row: (not row.up, not row.default))
    free: dict[str, list[str]] = {}
    closed, busy = [], []
    for row in {row.node: row for row in reversed(inside)}.values():
        state = row.state.rstrip(_FLAGS)
        responds = "*" not in row.state
        if not row.up:
            closed.append(Check(row.node, "state", "bad", f"partition {row.partition} is not up"))
        elif state in _FREE and responds:
            free.setdefault(row.partition, []).append(row.node)
        elif state in _BUSY and responds:
            busy.append(row.node)
        else:
            told = state if responds or state == "down" else f"{state}, and does not respond"
            told += f": {row.why}" if row.why != "none" else ""
            closed.append(Check(row.node, "state", "bad", told))
    order = sorted(free, key=lambda name: not any(r.default for r in rows if r.partition == name))
    return Offer(
        {name: sorted(free[name]) for name in order},
        sorted(closed, key=lambda check: check.node),
        sorted(busy),
    )


def _rows() -> list[_Row]:
    words = ["sinfo", "--noheader", "--all", "--Node", "--format", "%N|%P|%a|%T|%E"]
    done = slurm.run(words)
    if done.returncode:
        raise InputError(f"sinfo: {slurm.last_line(done)}")
    fields = [x.split("|", 4) for x in done.stdout.splitlines()]
    return [
        _Row(node, partition.rstrip("*"), partition.endswith("*"), up == "up", state, why)
        for node, partition, up, state, why in (x for x in fields if len(x) == 5)
    ]


def _require_known(
    names: Sequence[str], partition: str, rows: Sequence[_Row], inside: Sequence[_Row]
) -> None:
    every = {row.node for row in rows}
    here = {row.node for row in inside}
    for name in names:
        if name not in every:
            raise InputError(f"unknown node '{name}': 'sinfo -N' lists them")
        if name not in here:
            raise InputError(f"node {name} is not in partition {partition}")


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))
