# SPDX-License-Identifier: BSD-3-Clause
"""`a2a check`: whether a file can be trusted."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from a2aperf import check as checks
from a2aperf import repair as repairing
from a2aperf import terminal
from a2aperf.commands.options import Files, Force
from a2aperf.errors import InputError
from a2aperf.visible import visible

EXAMPLES = """\
a2a check run.h5
a2a check archive/*.h5 && echo all sound
a2a check --repair run.h5 -o sound.h5
"""


def run(
    files: Files,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Write what is sound of one damaged file to another one."),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="With --repair: file to write.")
    ] = None,
    force: Force = False,
) -> None:
    """Test files: as they were written, readable to the last sample, of the schema, plausible.

    Checksums are compared, and figures are computed again from the samples of their point. Errors
    and warnings are printed one a line; the exit status is 2 if any file has an error.

    With --repair the points that are sound go to a new file, in which the others are not measured;
    what was lost is printed, and the new file is tested. The damaged one stays as it is.
    """
    if repair:
        if output is None or len(files) != 1:
            raise InputError("--repair takes one file, and -o NEW for what is sound of it")
        _repair(files[0], output, force)
        files = [output]
    elif output is not None:
        raise InputError("-o goes with --repair; 'a2a check' itself writes nothing")
    broken = False
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("reading")

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        for path in files:
            progress.update(task, description=escape(visible(path.name)), completed=0)
            try:
                findings = checks.check(path, advance)
            except InputError as error:
                terminal.tell(f"a2a: {error}")
                broken = True
                continue
            for finding in findings:
                kind = "error" if finding.error else "warning"
                terminal.say(f"{path}: {kind}: {finding.text}")
            if not findings:
                terminal.say(f"{path}: sound")
            broken |= any(finding.error for finding in findings)
    if broken:
        raise typer.Exit(2)


def _repair(path: Path, output: Path, force: bool) -> None:
    outcome = repairing.repair(path, output, force, lambda done, total: None)
    for what in outcome.mended:
        terminal.say(f"{path}: mended: {what}")
    for what in outcome.lost:
        terminal.say(f"{path}: lost: {what}")
    if not outcome.lost:
        terminal.say(f"{path}: nothing is lost")
