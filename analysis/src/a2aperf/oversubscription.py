# SPDX-License-Identifier: BSD-3-Clause
"""More polling ranks, or threads, than cores: what all figures of such a launch are read with."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from a2aperf.labels import count_text
from a2aperf.launch import Launch

_NUMBER = re.compile("[0-9]{1,5}")
"""Of a CPU, or how many: Linux has at most 8192, and a file may say anything."""


def oversubscription(launch: Launch) -> str:
    """`oversubscribed: 4 ranks on 2 cores`, of several nodes the worst; empty where none is.

    `2 threads each of 3 ranks on 4 cores` where each endpoint of a rank has a thread.

    A node of which the number of cores is not recorded is not judged.
    """
    ranks = np.bincount(launch.node_of_rank, minlength=len(launch.nodes))
    bindings: dict[int, list[str]] = {}
    for cpus, at in zip(launch.rank_facts.get("binding", []), launch.node_of_rank, strict=False):
        bindings.setdefault(int(at), []).append(cpus)
    threads = launch.threads
    crowded = [
        (threads * int(here) / cores, int(here), cores, node)
        for node, here in enumerate(ranks)
        if (cores := _cores(launch, node, bindings.get(node, []))) and threads * here > cores
    ]
    if not crowded:
        return ""
    _, here, cores, node = max(crowded, key=lambda one: (one[0], -one[3]))
    each = f"{count_text(threads, 'thread')} each of " if threads > 1 else ""
    words = f"oversubscribed: {each}{count_text(here, 'rank')} on {count_text(cores, 'core')}"
    if len(launch.nodes) == 1:
        return words
    return f"{words} of {launch.nodes[node]} ({len(crowded)} of {count_text(len(ranks), 'node')})"


def crowded(launches: Mapping[str, Launch]) -> dict[str, list[str]]:
    """The names of the launches that are oversubscribed, by the words for how."""
    told: dict[str, list[str]] = {}
    for name, launch in launches.items():
        if words := oversubscription(launch):
            told.setdefault(words, []).append(name)
    return told


def in_launches(launches: Mapping[str, Launch]) -> list[str]:
    """`oversubscribed: 4 ranks on 2 cores, in 4 of 8 launches`, for each that there is."""
    total = count_text(len(launches), "launch")
    return [
        words if len(launches) == 1 else f"{words}, in {len(names)} of {total}"
        for words, names in crowded(launches).items()
    ]


def yields(launch: Launch) -> bool:
    """Whether its ranks give their core away while they wait (`sched_yield`), in any point."""
    ways = str(launch.attributes.get("poll")).split(",")
    return any(way in ("yield", "block") or way.startswith("throttle=") for way in ways)


def _cores(launch: Launch, node: int, bindings: list[str]) -> int:
    """Cores that the node's ranks, which have these bindings, may run on together; 0: unknown.

    Older files know the CPUs that ranks are bound to (no fewer than their cores), or only those
    that the machine lets anyone use.
    """
    known = _fact(launch, "cores_of_ranks", node)
    if known:
        return known
    bound = [cpus_of(cpus) for cpus in bindings]
    if bound and all(bound):
        return len(set().union(*bound))
    return _fact(launch, "cores_usable", node)


def _fact(launch: Launch, name: str, node: int) -> int:
    values = launch.node_facts.get(name, [])
    text = values[node] if node < len(values) else ""
    return int(text) if _NUMBER.fullmatch(text) else 0


def cpus_of(text: str) -> set[int]:
    """CPUs of a list such as `0-2,5`; nothing where it is no such list."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not _NUMBER.fullmatch(first) or (dash and not _NUMBER.fullmatch(last)):
            return set()
        found |= set(range(int(first), int(last or first) + 1))
    return found
