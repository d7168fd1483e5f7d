# SPDX-License-Identifier: BSD-3-Clause
"""`a2a suite`: several interconnects side by side, launched or judged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from a2aperf import baselines, filters, output, style, terminal
from a2aperf.commands.options import Hostfile, Program, Seed, Site, Where, words_of
from a2aperf.errors import STATUS_BAD_INPUT, InputError
from a2aperf.labels import count_text, list_text
from a2aperf.studies import driver, interconnects, scripts, suited
from a2aperf.studies.interconnects import Interconnect
from a2aperf.suite import figure, outcome

EXAMPLES = """\
a2a suite -n 2 --quick                            what this machine offers: five minutes of launches
a2a suite -n 4 --across shm,tcp@lo,net@lo         three interconnects, eight launches of each
a2a suite -n 2 --hostfile hosts --across tcp@eth0=1GigE,tcp@ib0=IPoIB,verbs@mlx4_0=IB
a2a suite results/                                what came out
a2a suite results/ --plot interconnects.pdf
"""
_FIGURES: Final = (".png", ".svg", ".pdf")


def run(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE|FOLDER]… | -n RANKS … [-- OPTION…]",
            help="Results of launches, to judge them; with -n options for a2aperf.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    ranks: Annotated[
        int | None, typer.Option("-n", "--ranks", min=2, help="Launch with so many ranks.")
    ] = None,
    across: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Interconnects: provider, interface and label, as in "
            "tcp@eth0=1GigE,tcp@ib0=IPoIB,shm. Default: what 'a2aperf providers' finds here.",
        ),
    ] = "",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Few sizes, as few launches as can decide, none begun after five minutes.",
        ),
    ] = False,
    chosen: Annotated[
        str, typer.Option("--workloads", metavar="LIST", help="Some of them only.")
    ] = "",
    launches: Annotated[
        int | None,
        typer.Option(min=1, max=999, help="Launches of each workload over each interconnect (8)."),
    ] = None,
    sizes: Annotated[
        str, typer.Option(metavar="LIST", help="Message sizes, of all workloads.")
    ] = "",
    hostfile: Hostfile = None,
    seed: Seed = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the study (results).")
    ] = None,
    program: Program = None,
    site: Site = "",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the outcome: .png, .svg or .pdf.")
    ] = None,
    where: Where = [],  # noqa: B006
    as_json: Annotated[bool, typer.Option("--json", help="JSON, all figures.")] = False,
) -> None:
    """Compare interconnects side by side: the same workloads over each, and what follows.

    With -n: launches round trips, streams, all-to-alls and open loops over each interconnect, every
    launch a process of its own, in an order by chance within blocks of two rounds, in a folder that
    `a2a status` reads. ^C ends the running launch and keeps what is complete; the same command goes
    on.

    With files, and at the end of the launches: the place of each interconnect at each size, with an
    error of 5 % for all claims together; from which size on one is ahead of another; what each
    costs in CPU time, context switches, interrupts for a gigabyte; what contradicts itself; and
    what follows for each range of sizes. What is not decided is not ranked.

    Exit status: 0 if everything was measured or judged; 1 if launches are missing; 2 for bad input;
    128 and the signal's number if stopped.
    """
    launching = {"--across": across, "--quick": quick, "--workloads": chosen,
                 "--launches": launches, "--sizes": sizes, "--hostfile": hostfile, "--seed": seed,
                 "--results": results, "--program": program, "--site": site}  # fmt: skip
    judging = {"--plot": plot, "--where": where, "--json": as_json}
    if ranks is None:
        if not words:
            raise InputError("give files to judge, or -n RANKS to launch")
        _refuse("files", launching)
        _judge([Path(word) for word in words], where, plot, as_json)
        return
    _refuse("-n", judging)
    if words and not words[0].startswith("-"):
        raise InputError(f"{words[0]} with -n: files are judged, or launches made")
    folder = results or Path("results")
    found = scripts.find()
    wanted = _across(across, folder, program or found.program(), _hosts(hostfile) < 2)
    asked = suited.Request(
        wanted,
        suited.chosen(chosen),
        launches or suited.launches_for(len(wanted), quick),
        1 if seed is None else seed,
        sizes,
        quick,
        words,
    )
    options = {"--ranks": ranks, "--hostfile": hostfile, "--seed": asked.seed, "--results": folder,
               "--site": site}  # fmt: skip
    ready = suited.prepare(asked, folder)
    total = asked.launches * len(wanted) * len(asked.workloads)
    terminal.tell(
        f"a2a: {count_text(total, 'launch', 'launches')}: {list_text(asked.workloads)} over "
        f"{list_text([one.spelled for one in wanted], 12)}, {asked.launches} of each"
    )
    told = ["--suite", "--rows", str(ready.rows), *words_of(options)]
    told += ["--quick"] if quick else []
    status = driver.run(found, [*told, "--", *words], program)
    if status == STATUS_BAD_INPUT:
        ready.undo()
    raise typer.Exit(status)


def _refuse(given: str, others: Mapping[str, object]) -> None:
    """InputError where an option is given that belongs to another use of the command."""
    wrong = [name for name, value in others.items() if value not in (None, "", False, [])]
    if wrong:
        raise InputError(f"{list_text(wrong)} with {given}: choose one (see 'a2a suite --help')")


def _hosts(file: Path | None) -> int:
    """How many there are; what is wrong with the file is the script's to say."""
    try:
        text = file.read_text(errors="replace") if file else ""
    except OSError:
        return 1
    return len({line.split()[0] for line in text.splitlines() if line.partition("#")[0].strip()})


def _across(text: str, folder: Path, program: Path | None, is_one_node: bool) -> list[Interconnect]:
    """As asked for, else those of the plan that is there, else what the node offers."""
    if text:
        return interconnects.named(text)
    known = suited.before(folder)
    if known is not None:
        return known
    if program is None:
        raise InputError("a2aperf is not found: --program names it, or --across the interconnects")
    return interconnects.here(program, is_one_node)


def _judge(files: list[Path], where: list[str], plot: Path | None, as_json: bool) -> None:
    if plot:
        output.require_suffix(plot, _FIGURES, "a figure", "--plot")
    found = filters.where(baselines.load(files, baselines.files_of(files)), where)
    made = outcome.judge(found)
    if plot:
        from a2aperf import drawing  # matplotlib takes a while, and most uses draw nothing

        page = drawing.draw(figure.figure(made), style.PAGE_WIDTH)
        drawing.write(page, plot)
    if as_json:
        terminal.say_text(outcome.as_json(made))
    else:
        terminal.say(*outcome.lines(made))
