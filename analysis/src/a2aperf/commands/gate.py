# SPDX-License-Identifier: BSD-3-Clause
"""`a2a gate`: whether a cluster is as good as it should be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from a2aperf import filters, output, terminal
from a2aperf.commands.options import AgainstParser, Where
from a2aperf.errors import InputError
from a2aperf.gating import formats, given, limits_file
from a2aperf.gating.checks import State
from a2aperf.gating.gate import Gate, Request, gate
from a2aperf.percent import share

EXAMPLES = """\
a2a gate tonight/ --against spring                        a baseline of five jobs or more
a2a gate tonight/ --min-efficiency 80%                    no baseline at all
a2a gate pairs.h5                                         the weak links of 'a2aperf pairs'
a2a gate tonight/ --expect link,taper=2:1,leaf=16         is this bandwidth normal?
a2a gate tonight/ --against spring --limits limits.toml   both
a2a gate results/ --job 4711 --against spring             what jobs/check.sbatch does
a2a gate tonight/ --against spring --prometheus /var/lib/node_exporter/a2a.prom
"""
PARSER = AgainstParser


def run(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE|FOLDER", help="Results of the launches to be checked."),
    ],
    against: Annotated[
        list[Path],
        typer.Option(metavar="FILE…", help="Files, folders or the name of the baseline."),
    ] = [],  # noqa: B006
    min_efficiency: Annotated[
        str,
        typer.Option(metavar="SHARE", help="Share of the link that the best size must reach: 80%."),
    ] = "",
    expect: Annotated[
        str,
        typer.Option(
            metavar="link[,NAME=VALUE…]",
            help="Compare with what such a shape can reach at most. Where the files do not say: "
            "rate, mtu, headers, pcie, taper, leaf, memory, copies; and least=80%.",
        ),
    ] = "",
    limits: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Limits of your own: a TOML file.")
    ] = None,
    loss: Annotated[
        str,
        typer.Option(metavar="SHARE", help="Loss of speed that matters, against the baseline."),
    ] = "10%",
    job: Annotated[
        str,
        typer.Option(
            metavar="ID",
            help="Check what this job left in the folder: its launches, its nodes, their history.",
        ),
    ] = "",
    where: Where = [],  # noqa: B006
    candidates: Annotated[
        bool,
        typer.Option(
            "--candidates", help="Print only the nodes to drain: a line each, with the reason."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, all figures.")] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit's XML (.xml).")
    ] = None,
    prometheus: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write for the textfile collector (.prom)."),
    ] = None,
) -> None:
    """Say in one line whether a cluster is as good as it should be.

    First comes the sum, then a line for each check: what, where, measured, the limit or bound, n.
    Limits need one launch; without --job those of a folder are for the last job of each scale and
    setting. A baseline needs five jobs or more, and several launches to be compared with it: then a
    loss beyond what jobs of the baseline differ by is told (5 % error for all bands of sizes
    together, and 1 % for single sizes), and ok means that a loss of --loss is excluded. Files of
    'a2aperf pairs' have their weak links as checks, for which alone nothing need be asked.

    --expect link computes a ceiling from the link's rate, the framing at its MTU, PCIe lanes and
    speed, rails, ranks a node, memory inside a node, and the taper that is given. Each factor has
    a line with the measured share of it and its source, and no verdict of its own (bound); one that
    is not known, or exceeded, makes the sum unknown. What is judged is the share of the least.

    With --job the folder's files are those of one job of jobs/check.sbatch or its like, and what
    its preflight found is checked, too; so are launches that are missing, nodes that differ from
    most, and nodes that all files of the folder show to have got slower.

    Exit status, as monitoring systems understand it: 0 ok, 1 warning, 2 critical, 3 unknown.
    Unknown is whatever is undecided, missing or damaged; it is never ok. A command line or a
    limits file that makes no sense is 3, too: one line on stderr that begins with 'a2a:', and
    nothing is on stdout.
    """
    if job and (len(files) > 1 or not files[0].is_dir()):
        raise InputError(f"--job {job}: expected the one folder of its results")
    if junit:
        output.require_suffix(junit, (".xml",), "JUnit's format", "--junit")
    if prometheus:
        output.require_suffix(prometheus, (".prom",), "Prometheus' format", "--prometheus")
    filters.require(where)
    read = limits_file.read(limits) if limits else []
    least = share("--min-efficiency", min_efficiency, "80%") if min_efficiency else None
    asked = Request(
        files,
        against or None,
        where,
        least,
        read,
        share("--loss", loss, "10%"),
        job,
        given.read(expect),
        candidates,
    )
    made = gate(asked)
    if junit:
        output.replace(junit, formats.as_junit(made))
    if prometheus:
        output.replace(prometheus, formats.as_prometheus(made))
    is_seen = _say(made, as_json, candidates)
    raise typer.Exit(int(made.state if is_seen or made.state else State.UNKNOWN))


def _say(made: Gate, as_json: bool, candidates: bool) -> bool:
    """Print; false where it is lost. A reader that has seen enough changes no exit status."""
    if sys.stdout is None:  # closed by whoever started the command
        return False
    try:
        if candidates:
            if made.candidates:
                terminal.say_text(formats.as_candidates(made))
        elif as_json:
            terminal.say_text(formats.as_json(made))
        else:
            terminal.say(*formats.lines(made, sys.stdout.isatty()))
    except terminal.LostOutputError as error:
        terminal.tell(f"a2a: {error}")
        return False
    return True
