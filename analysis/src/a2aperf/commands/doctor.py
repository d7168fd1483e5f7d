# SPDX-License-Identifier: BSD-3-Clause
"""`a2a doctor`: which nodes are fit to measure."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Annotated

import typer

from a2aperf import terminal
from a2aperf.errors import InputError
from a2aperf.studies import health, scripts, study
from a2aperf.studies.study import Check
from a2aperf.tables import aligned

EXAMPLES = """\
a2a doctor                           every node that is free now
a2a doctor -N 20 --provider psm2 --ppn 2
a2a doctor --nodelist node[001-020]
a2a doctor --local                   this machine
"""


def run(
    nodes: Annotated[
        int | None,
        typer.Option("-N", "--nodes", min=1, help="Number of nodes. Default: all that are free."),
    ] = None,
    nodelist: Annotated[str, typer.Option(help="These nodes, in Slurm's notation.")] = "",
    local: Annotated[bool, typer.Option("--local", help="This machine, without Slurm.")] = False,
    provider: Annotated[str, typer.Option(help="libfabric provider that must be usable.")] = "",
    ppn: Annotated[int, typer.Option(min=1, help="Ranks per node.")] = 1,
    site: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Site profile: a name in jobs/sites, or a file (A2APERF_SITE)."
        ),
    ] = "",
    partition: Annotated[str, typer.Option("-p", "--partition", help="Slurm's partition.")] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Also show the checks that passed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, every check.")] = False,
) -> None:
    """Check whether nodes are fit to measure: under a minute, and nothing is measured.

    Runs jobs/preflight.sh on each node: the program and the provider, contexts, memlock, IPoIB,
    hugepages, governor, clock source, NIC locality, ports, PCIe lanes and speed, leftovers in
    /dev/shm, other load; and which node has another processor, kernel or firmware, or other ports
    or links, than most. 'bad' would make a launch fail or its figures wrong, 'warn' may.

    Exit status: 1 if a node is bad, else 0.
    """
    if local and (nodes or nodelist or partition):
        raise InputError(
            "--local checks this machine; -N, --nodelist and -p choose nodes of Slurm: "
            "give the one or the others"
        )
    folder = scripts.find()
    site = site or os.environ.get("A2APERF_SITE", "")
    asked = health.Requirements(provider, ppn, site, nodes, nodelist, partition)
    found = health.Found(health.local(folder, asked), []) if local else health.nodes(folder, asked)
    checks = [*found.checks, *study.unlike(found.checks)]
    bad = {check.node for check in checks if check.verdict == "bad"}
    if as_json:
        terminal.say_text(json.dumps([vars(check) for check in checks], indent=1))
    else:
        terminal.say(*_told(checks, everything or local))
    if found.busy:
        terminal.tell(f"a2a: busy, and not looked at: {_names(found.busy)}")
    raise typer.Exit(1 if bad else 0)


def _told(checks: Sequence[Check], everything: bool) -> list[str]:
    """A line per check, nodes that say the same together; then how many are fit."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in checks:
        if everything or one.verdict != "ok":
            groups.setdefault((one.verdict, one.check, one.text), []).append(one.node)
    order = ("bad", "warn", "ok")
    rows = [
        [verdict, _names(names), check, text]
        for (verdict, check, text), names in sorted(
            groups.items(), key=lambda group: (order.index(group[0][0]), group[1][0])
        )
    ]
    lines = aligned([["", "node", "check", ""], *rows], [True] * 4) if rows else []
    every = {one.node for one in checks}
    bad = {one.node for one in checks if one.verdict == "bad"}
    lines.append(f"{len(every) - len(bad)} of {len(every)} nodes are fit to measure")
    return lines


def _names(names: Sequence[str]) -> str:
    """Nodes on one line: `node001, node002 and 18 more`."""
    shown = 3
    if len(names) <= shown:
        return ", ".join(names)
    return f"{', '.join(names[: shown - 1])} and {len(names) - shown + 1} more"
