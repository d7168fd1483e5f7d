# SPDX-License-Identifier: BSD-3-Clause
"""`a2a run`: a comparison or a screening of settings without Slurm."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from a2aperf import terminal
from a2aperf.commands.options import Hostfile, Program, Seed, Site, words_of
from a2aperf.errors import STATUS_BAD_INPUT, InputError
from a2aperf.labels import hours_text, list_text
from a2aperf.screening import catalogue, planned
from a2aperf.screening.costing import Cost
from a2aperf.studies import driver, screened, scripts, submission
from a2aperf.studies.scripts import Scripts

EXAMPLES = """\
a2a run -n 4 --compare FI_SHM_DISABLE_CMA=0,1 -- --provider shm
a2a run -n 4 --compare=--window=1,all --sizes 1KiB..64KiB*4 -- --provider tcp --ops 50
a2a run -n 16 --hostfile hosts --compare FI_OFI_RXM_BUFFER_SIZE=16384,131072 --results rxm
a2a run -n 2 --compare FI_SHM_DISABLE_CMA=0,1 --until-decided -- --provider shm
a2a run -n 2 --screen shm --sizes 1KiB..64KiB*4       which of all known settings matters?
"""


def run(
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=2, help="Number of ranks.")],
    compare: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=V1,V2",
            help="Setting to compare: a variable, or an option of a2aperf with its dashes. "
            "Several are combined, each with each.",
        ),
    ] = [],  # noqa: B006
    until_decided: Annotated[
        bool,
        typer.Option(
            "--until-decided",
            help="Look at 8, 16 and 32 launches of each value, and make no more than it takes.",
        ),
    ] = False,
    screen: Annotated[
        str,
        typer.Option(
            metavar="PROVIDER|FILE",
            help="Instead of --compare: try all known settings of a provider, or those of a plan "
            "that 'a2a screen -o' wrote (.json).",
        ),
    ] = "",
    no_confirm: Annotated[
        bool,
        typer.Option("--no-confirm", help="With --screen: do not confirm what it leaves."),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="M", help="With --screen: no more time than that."),
    ] = None,
    node_hours: Annotated[
        float | None,
        typer.Option(
            "--node-hours", min=0.001, metavar="H", help="With --screen: no more than that."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="With --screen: show design, cost and the smallest effect found."
        ),
    ] = False,
    passed: Annotated[
        list[str],
        typer.Argument(
            metavar="[-- OPTION…]", help="Options of a2aperf alltoall.", show_default=False
        ),
    ] = [],  # noqa: B006
    launches: Annotated[
        int | None, typer.Option(min=2, max=999, help="Launches of each value (8).")
    ] = None,
    hostfile: Hostfile = None,
    sizes: Annotated[str, typer.Option(metavar="LIST", help="Message sizes.")] = "",
    seed: Seed = None,
    results: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of the study.", show_default=True)
    ] = Path("results"),
    program: Program = None,
    site: Site = "",
) -> None:
    """Compare settings on this machine, or on hosts of a file, without Slurm; or screen them.

    Launches with each value in turn (A B B A …), as the job scripts do, in a folder that `a2a
    status` reads, and ends with what `a2a compare` says, a picture and a report. Every rank must
    really have a variable's value before it is measured.

    ^C ends the running launch and keeps what is complete; the same command goes on. A launch that
    fails is told with its reason, and the others are made.

    With --until-decided it ends at 8 or 16 launches of each value if every cell is decided there,
    a difference or none, else at 32. The error of each look is planned beforehand, 0.5, 1.5 and
    3 %, so that all together have 5 %, and intervals are at that level.

    With --screen each launch has about half of the settings. Where one of them dominates it is
    fixed at its better value, and the rest screened again, as far as there is time. Then further
    values of settings that matter are tried, one at a time, and likewise settings that could not be
    set beside another one of the rounds. What is left is launched anew, beside
    launches with none of it, and it ends with what `a2a screen` says: which settings matter, which
    line is recommended and what it gains, what is not beyond chance.

    With --minutes or --node-hours a design that takes longer, with the confirmation of one setting,
    is refused with what would fit, and no launch is begun that does not fit any more.

    Exit status: that of `a2a compare` (3 slower, 4 undecided, else 0); 1 if launches are missing; 2
    for bad input; 128 and the signal's number if stopped.
    """
    of_screening = {"--no-confirm": no_confirm, "--minutes": minutes, "--node-hours": node_hours,
                    "--dry-run": dry_run}  # fmt: skip
    _require(compare, screen, launches, until_decided, of_screening)
    options = {
        "--ranks": ranks,
        "--launches": launches,
        "--hostfile": hostfile,
        "--sizes": sizes,
        "--seed": seed,
        "--results": results,
        "--site": site,
    }
    words = words_of(options)
    if not screen:
        terminal.tell(*(f"a2a: {one}" for one in catalogue.slips(compare)))
        words += ["--until-decided"] if until_decided else []
        words = [*compare, *words, *(["--", *passed] if passed else [])]
        raise typer.Exit(driver.run(scripts.find(), words, program))
    nodes = _hosts(hostfile)
    found = scripts.find()
    ready = screened.prepare(
        screen, results, seed, found.catalogues(site), program or found.program()
    )
    terminal.tell(*(f"a2a: {one}" for one in ready.told))
    hours = minutes * nodes / 60 if minutes is not None else node_hours
    if hours is not None or dry_run:
        taken = ready.passed([*(["--sizes", sizes] if sizes else []), *passed])
        try:
            cost = _cost(found, taken, ranks, nodes, program, not no_confirm)
            if hours is not None:
                cost.require(len(ready.plan.factors), hours * 3600 / nodes)
        except InputError:
            ready.undo()
            raise
    if dry_run:
        ready.undo()
        kept = [f"the plan that is in {results} already:"] if ready.is_kept else []
        terminal.say(*kept, *planned.lines(ready.plan, planned.SPREAD, cost))
        return
    words += ["--no-confirm"] if no_confirm else []
    words += ["--budget", hours_text(hours)] if hours is not None else []
    words = ["--rows", str(ready.rows), *words, "--", *ready.passed(passed)]
    status = driver.run(found, words, program)
    if status == STATUS_BAD_INPUT:
        ready.undo()
    raise typer.Exit(status)


def _require(
    compare: Sequence[str],
    screen: str,
    launches: int | None,
    until_decided: bool,
    of_screening: Mapping[str, object],
) -> None:
    """InputError where options do not go together."""
    if bool(compare) == bool(screen):
        raise InputError("give --compare KEY=V1,V2 or --screen PROVIDER, one of them")
    if screen and launches is not None:
        raise InputError("--launches: the plan of a screening says how many there are")
    if until_decided and (screen or launches is not None):
        raise InputError("--until-decided: with --compare, and without --launches")
    given = [name for name, value in of_screening.items() if value]
    if given and not screen:
        said = "only a screening is confirmed" if given == ["--no-confirm"] else "with --screen"
        raise InputError(f"{list_text(given)}: {said}")
    if {"--minutes", "--node-hours"} <= {*given}:
        raise InputError("--minutes or --node-hours: choose one")
    for setting in compare:
        if "=" not in setting:
            raise InputError(
                f"--compare {setting}: expected a variable or an option of a2aperf with two or "
                "more values, such as PSM2_RCVTHREAD=0,1 or --window=1,all"
            )


def _hosts(hostfile: Path | None) -> int:
    """How many hosts a file lists; the script says what is wrong in it."""
    if hostfile is None:
        return 1
    if not hostfile.is_file():
        raise InputError(f"--hostfile {hostfile}: no such file that can be read")
    lines = hostfile.read_text(encoding="utf-8", errors="replace").splitlines()
    return max(1, len({line.split()[0] for line in lines if line.partition("#")[0].strip()}))


def _cost(
    found: Scripts, words: Sequence[str], ranks: int, nodes: int, program: Path | None,
    confirms: bool,
) -> Cost:  # fmt: skip
    """InputError where the program is not there, or refuses."""
    if program is not None:
        os.environ["A2APERF"] = str(program)
    seconds = submission.launch_seconds(found, words, ranks, max(1, ranks // nodes))
    if seconds is None:
        raise InputError("a2aperf is not found: --program names it")
    return Cost(seconds, nodes, confirms)
