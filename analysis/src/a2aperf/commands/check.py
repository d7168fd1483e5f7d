# SPDX-License-Identifier: BSD-3-Clause
"""`a2a check`: whether a file can be trusted."""

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from a2aperf import check as checks
from a2aperf import terminal
from a2aperf.commands.options import Files
from a2aperf.errors import InputError
from a2aperf.visible import visible

EXAMPLES = """\
a2a check run.h5
a2a check archive/*.h5 && echo all sound
"""


def run(files: Files) -> None:
    """Test files: readable to the last sample, of the schema, plausible.

    Figures are computed again from the samples of their point. Errors and warnings are printed
    one a line; the exit status is 2 if any file has an error.
    """
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
