# SPDX-License-Identifier: BSD-3-Clause
"""`a2a explain`: what stands out in the results."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Annotated, Any

import typer

from a2aperf import filters, loading, tables, terminal
from a2aperf.commands.options import Files, Mixed, Where
from a2aperf.explain.finders import FINDERS, ROLES, grouped, require_kinds
from a2aperf.explain.finding import Finder, Finding
from a2aperf.explain.findings import COLUMNS, Findings

EXAMPLES = """\
a2a explain run.h5
a2a explain *.h5 --where ppn=2 --kind scale --kind steps
a2a explain run.h5 --all --json
a2a explain pairs.h5                     the weak links of a matrix of pairs
"""
_SHOWN = 5

_KINDS = [finder.kind for finder in FINDERS]


def run(
    files: Files,
    kind: Annotated[
        list[str], typer.Option(help=f"Only this kind; several may be given: {', '.join(_KINDS)}.")
    ] = [],  # noqa: B006
    where: Where = [],  # noqa: B006
    mixed: Mixed = False,
    everything: Annotated[
        bool, typer.Option("--all", help=f"All findings, not the first {_SHOWN} of each kind.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, all findings.")] = False,
) -> None:
    """Point out what stands out: modes, tails, timers, protocol steps, stragglers and more.

    Every finding cites its numbers and n. What chance alone would explain is left out, and so is
    what too few launches or ops cannot show; docs/statistics.md says how that is decided. In
    oversubscribed launches no rank, node or pair is judged.
    """
    require_kinds(kind)
    asked = filters.where(loading.load(files), where)
    found = asked.to_explain(ROLES)
    if len(found.points) < asked.points["role"].isin(ROLES).sum():
        for launch in asked.launches.values():
            if launch.unfinished:
                terminal.tell(f"a2a: launch {launch.id} did not finish ({launch.unfinished})")
    findings = Findings.of(found, kind, mixed)
    if as_json:
        terminal.say_text(json.dumps([_plain(one) for one in findings], indent=1))
        return
    sections = [
        _section(finder, mine, len(mine) if everything else _SHOWN)
        for finder, mine in grouped(findings)
    ]
    terminal.say_parted(sections or [["nothing stands out"]])


def _section(finder: Finder, findings: Sequence[Finding], most: int) -> list[str]:
    lines = [terminal.Bold(finder.title), *wrap(finder.meaning, 100)]
    for one in findings[:most]:
        text = f"{one.where}: {one.text} [n = {one.sample}]"
        # A number and its unit stay on one line.
        kept = re.sub(
            r"(?<=\d) (?=[µm]s|B\b|%|ranks|ops|rows|points)|(?<=n) (?==)|(?<==) ", "\u00a0", text
        )
        wrapped = wrap(kept, 100, initial_indent="  • ", subsequent_indent="    ")
        lines += [line.replace("\u00a0", " ") for line in wrapped]
    if len(findings) > most:
        lines.append(f"    and {len(findings) - most} more of this kind (--all)")
    return lines


def _plain(one: Finding) -> dict[str, Any]:
    """JSON-ready; what is not a number there is null."""
    numbers = {name: tables.plain(value) for name, value in one.numbers.items()}
    return {**{name: getattr(one, name) for name in COLUMNS}, "numbers": numbers}
