# SPDX-License-Identifier: BSD-3-Clause
"""One name for a node that is called `node003` here and `node003.cluster` there.

A node's name is what its system calls it, which may have the domain since the last installation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from a2aperf.nodes.night import Night


def short(host: str) -> str:
    """Without its domain."""
    return host.partition(".")[0]


def as_known(host: str, known: Collection[str]) -> str:
    """The name that `known` has of it, which may be the short one; itself where it has none."""
    return short(host) if host not in known and short(host) in known else host


def without_domains(found: Sequence[Night]) -> list[Night]:
    """Short names, of each domain that some node is called with and without.

    Not of a domain whose short names another one has, too, or a launch beside its long ones: these
    are other nodes.
    """
    of_launches = {frozenset(map(_host, one.nodes)) for one in found}
    hosts = frozenset[str]().union(*of_launches)
    domains: dict[str, set[str]] = {}
    for host in hosts:
        name, dot, domain = host.partition(".")
        if dot:
            domains.setdefault(domain, set()).add(name)
    dropped = {
        domain
        for domain, names in domains.items()
        if names & hosts
        and not any(names & others for other, others in domains.items() if other != domain)
        and not any(
            name in launch and f"{name}.{domain}" in launch
            for launch in of_launches
            for name in names
        )
    }
    if not dropped:
        return list(found)
    return [replace(one, nodes=[_named(node, dropped) for node in one.nodes]) for one in found]


def _host(node: str) -> str:
    """Of a node, or of a part of one: `node003 hfi1_0`, `node003 out`."""
    return node.partition(" ")[0]


def _named(node: str, dropped: Collection[str]) -> str:
    host, space, part = node.partition(" ")
    name, _, domain = host.partition(".")
    return f"{name}{space}{part}" if domain in dropped else node
