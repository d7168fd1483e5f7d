# SPDX-License-Identifier: BSD-3-Clause
"""The command `a2a`: its table of commands, and how an error becomes one line and a status."""

import errno
import importlib
import inspect
import os
import signal
import sys
import traceback
from dataclasses import dataclass
from typing import Any

import typer
from typer import _click
from typer._completion_classes import completion_init
from typer.core import TyperGroup

from a2aperf import __version__, terminal, usage
from a2aperf.errors import STATUS_BAD_INPUT, STATUS_LEFT_OUT, InputError

STATUS_INTERRUPTED = 130
_STATUS_UNKNOWN = 3
"""To a monitor, which takes 2 for critical."""


@dataclass(frozen=True)
class CommandRow:
    """One command: `a2aperf.commands.<module>` with a function `run`.

    If wanted also `EXAMPLES` (text under the help) and `PARSER` (a class of its own).

    The module has the command's name unless that is a word of Python.
    """

    name: str
    summary: str
    panel: str = "Look"
    module: str = ""
    bad_input: int = STATUS_BAD_INPUT
    """Exit status where the input cannot be used."""
    judging: str = ""
    """The option with which it judges as `gate` does, and has the status of that."""


# A new command is a module in a2aperf/commands and a row here; a module is loaded when it is used.
COMMANDS: tuple[CommandRow, ...] = (
    CommandRow("doctor", "Check whether nodes are fit to measure; measures nothing.", "Measure"),
    CommandRow(
        "submit",
        "Submit a study to Slurm: scaling, or a comparison of settings.",
        "Measure",
        judging="--check",
    ),
    CommandRow("run", "Compare settings without Slurm: here, or on hosts of a file.", "Measure"),
    CommandRow("suite", "Interconnects side by side: the same workloads over each.", "Measure"),
    CommandRow("status", "Show where a study stands and what is missing.", "Measure"),
    CommandRow("table", "Print results: table, wide or compat layout, CSV or JSON."),
    CommandRow("plot", "Draw a figure for a paper: scaling, sizes, compare, latency…"),
    CommandRow("report", "Write one HTML page with summary, findings, charts and tables."),
    CommandRow("live", "Follow the file of a running job."),
    CommandRow("compare", "Compare settings or groups of files.", "Judge"),
    CommandRow("screen", "Find which of many settings matters: a plan, and its outcome.", "Judge"),
    CommandRow(
        "gate",
        "Check limits or a baseline: one status for a monitor.",
        "Judge",
        bad_input=_STATUS_UNKNOWN,
    ),
    CommandRow("explain", "Point out what stands out, with the numbers behind it.", "Judge"),
    CommandRow("history", "Show results over months: trends, and what changed when.", "Judge"),
    CommandRow(
        "import", "Import the 2019 layout, perftest's JSON or OSU's text.", "Files", "import_text"
    ),
    CommandRow("merge", "Merge several files into one.", "Files"),
    CommandRow("check", "Check integrity, schema and plausibility.", "Files"),
    CommandRow("export", "Write an anonymised copy, or flat rows for other tools.", "Files"),
)


def _command(row: CommandRow) -> _click.Command:
    module = importlib.import_module(f"a2aperf.commands.{row.module or row.name}")
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    examples = getattr(module, "EXAMPLES", None)
    epilog = f"\b\n[bold]Examples[/bold]\n{examples.rstrip()}" if examples else None
    # single line ends in a docstring are not meant, blank lines are
    paragraphs = (inspect.getdoc(module.run) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    parser = getattr(module, "PARSER", None)
    app.command(row.name, cls=parser, help=text, epilog=epilog)(module.run)
    return typer.main.get_command(app)


class _Commands(TyperGroup):
    """Loads a command's module when the command is used, not to list its name."""

    listing = False

    def list_commands(self, ctx: _click.Context) -> list[str]:
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: _click.Context, cmd_name: str) -> _click.Command | None:
        for row in COMMANDS:
            if row.name == cmd_name:
                return self._listed(row) if self.listing else _command(row)
        return None

    def format_help(self, ctx: _click.Context, formatter: _click.HelpFormatter) -> None:
        self.listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self.listing = False

    @staticmethod
    def _listed(row: CommandRow) -> _click.Command:
        return typer.core.TyperCommand(row.name, help=row.summary, rich_help_panel=row.panel)


def _print_version(wanted: bool) -> None:
    if wanted:
        terminal.say(f"a2a {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=_Commands,
    rich_markup_mode="rich",
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(
    epilog="""\b
[bold]Examples[/bold]
a2a table run.h5                        the results as a table
a2a plot scaling *.h5 -o scaling.pdf    a figure for a paper
a2a compare *.h5 --by PSM2_RCVTHREAD    whether a setting helps, and how sure that is
a2a report run.h5                       run.html: everything on one page
a2a COMMAND --help                      more examples of each"""
)
def _group(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Tables, figures, comparisons and reports from all-to-all measurements.

    [bold]a2aperf[/bold] measures, [bold]a2a[/bold] analyses.
    """


def _status_of_bad_input(arguments: list[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    own = words[: words.index("--")] if "--" in words else words
    row = next((row for row in COMMANDS if row.name in words[:1]), COMMANDS[0])
    return _STATUS_UNKNOWN if row.judging and row.judging in own else row.bad_input


def main(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit status; errors go to stderr, one line each."""
    try:
        return _run(arguments)
    except Exception as error:
        if _status_of_bad_input(arguments) != _STATUS_UNKNOWN:
            raise
        # Python's own status is 1, which a monitor takes for a warning.
        terminal.tell(f"a2a: a fault of a2a itself: {type(error).__name__}: {error}")
        terminal.tell(*traceback.format_exc().splitlines())
        return _STATUS_UNKNOWN


def _run(arguments: list[str] | None) -> int:
    terminal.forget()
    if "_A2A_COMPLETE" in os.environ:  # the shell asks how a word may go on
        completion_init()
    try:
        status: Any = app(args=arguments, prog_name="a2a", standalone_mode=False)
        if sys.stdout:
            sys.stdout.flush()
    except InputError as error:
        message = str(error)
    except _click.exceptions.NoArgsIsHelpError:  # the help is on the terminal by now
        return _status_of_bad_input(arguments)
    except _click.exceptions.UsageError as error:
        words = sys.argv[1:] if arguments is None else arguments
        message = usage.told(error, [row.name for row in COMMANDS], words)
    except _click.exceptions.ClickException as error:
        message = error.format_message()
    except (typer.Abort, KeyboardInterrupt):
        return STATUS_INTERRUPTED
    except (BrokenPipeError, SystemExit):  # typer makes a broken pipe a SystemExit
        terminal.discard(sys.stdout)  # `a2a --help | head`: the reader has seen enough
        return 0
    except OSError as error:  # of the help, which others print
        if error.errno != errno.ENOSPC or error.filename:
            raise
        terminal.discard(sys.stdout)
        message = f"standard output: {error.strerror}"
    else:
        status = status if isinstance(status, int) else 0
        return status or (STATUS_LEFT_OUT if terminal.has_left_out() else 0)
    terminal.tell(f"a2a: {message}")
    return _status_of_bad_input(arguments)


def entry() -> None:
    """Entry point of the installed command."""
    status = main()
    if status == STATUS_INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # while it ends, once is enough
    sys.exit(status)
