# SPDX-License-Identifier: BSD-3-Clause
"""`a2a compare`: settings or groups of files side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from a2aperf import baselines, clusters, compare, filters, tables, terminal, verdicts
from a2aperf.commands.options import AgainstParser, Error, Files, Mixed, Where
from a2aperf.compare import Comparison
from a2aperf.compared import Compared
from a2aperf.errors import InputError
from a2aperf.percent import share
from a2aperf.studies import look
from a2aperf.studies.look import Look

EXAMPLES = """\
a2a compare *.h5 --by PSM2_RCVTHREAD
a2a compare *.h5 --by PSM2_RCVTHREAD --by ppn            every combination
a2a compare run.h5 --by engine                           against MPI's own alltoall
a2a compare today-*.h5 --against before-*.h5 --margin 1%
a2a compare *.h5 --by schedule --baseline shift --json
"""


PARSER = AgainstParser


def run(
    files: Files,
    by: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="Setting that differs: a variable, a label, provider, schedule, version…",
        ),
    ] = [],  # noqa: B006
    against: Annotated[
        list[Path],
        typer.Option(metavar="FILE…", help="Files, folders or the name of the baseline."),
    ] = [],  # noqa: B006
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE", help="Value with which the others are compared.", show_default=False
        ),
    ] = None,
    margin: Annotated[str, typer.Option(help="A difference within this does not matter.")] = "2%",
    error: Error = "",
    where: Where = [],  # noqa: B006
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated, all figures.")] = False,
    mixed: Mixed = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, all figures.")] = False,
) -> None:
    """Compare a setting's values, or two groups of files.

    The launch is the unit: make several of each side, in turn (A B B A …), in one job; 8 a side are
    usual. Sides measured in different jobs get a verdict only from 5 jobs of the baseline on.
    Ratios are speeds (above 1: faster than the baseline) with their 95 % interval; p is family-wise
    over all sizes together. --error sets another level for verdicts and intervals: who looks more
    than once at a growing comparison shares 5 % out over the looks, as `a2a run --until-decided`
    does. Without --baseline it is MPI, the value that is not set, or the one
    measured first.

    Exit status: 3 if any cell is slower, else 4 if any is undecided or a file of a folder was left
    out because it cannot be used, else 0.
    """
    if bool(by) == bool(against):
        raise InputError("give either --by NAME or --against FILE… to name the two sides")
    if csv and as_json:
        raise InputError("give --csv or --json, not both")
    if against and baseline is not None:
        raise InputError("--baseline needs --by; with --against the files are the baseline")
    within = share("--margin", margin, "2%")
    given = share("--error", error, "5%") if error else None
    paths = [*files, *against]
    files, against = baselines.files_of(files), baselines.files_of(against)
    planned = look.of_files(files) if by else Look()
    level = planned.error if given is None else given
    found = baselines.load_studies(paths, [*files, *against])
    found = filters.where(found, where).to_judge(compare.roles(by))
    names = [name for name, path in found.files.items() if path in against]
    if against:
        clusters.require_one_a_side(found, found.points["file"].isin(names), mixed)
        made, effects = [compare.against(found, names, within, level)], {}
    else:
        made = [*Compared.of(found, by, baseline, within, mixed, level).parts]
        effects = compare.main_effects(found, by, within, level) if len(by) > 1 else {}
    if csv:
        terminal.say_text(tables.as_csv(compare.table(made)))
    elif as_json:
        terminal.say_text(json.dumps([_plain(one) for one in made], indent=1))
    else:
        blocks = [verdicts.lines(one) for one in made]
        if effects:
            title = "Each setting by itself, the others fixed:"
            blocks.append([title, *verdicts.effects(effects)])
        if planned.said and given is None:
            blocks.append([planned.said])
        terminal.say_parted(blocks)
    raise typer.Exit(compare.status(made, bool(found.left_out)))


def _plain(one: Comparison) -> dict[str, Any]:
    """JSON-ready; what does not exist is null."""
    return {
        "baseline": one.baseline,
        "candidate": one.candidate,
        "margin": one.margin,
        "error": one.level,
        "rate": one.judged.rate,
        "unit": one.unit,
        "blocks": one.blocks,
        "arrangements": one.arrangements,
        "status": one.status,
        "needed": {f"{change:g}": count for change, count in one.needed.items()},
        "equality_margins": [*map(tables.plain, one.margins)],
        "no_verdict": one.reason,
        "notes": one.notes,
        "doubts": one.doubts,
        "differences": {
            x.name: {"baseline": x.baseline, "candidate": x.candidate}
            for x in one.differences.between
        },
        "changes_with_every_launch": one.differences.every_launch,
        "cells": tables.records(one.cells),
    }
