# SPDX-License-Identifier: BSD-3-Clause
"""`a2a live`: a running job in a terminal."""

from pathlib import Path
from typing import Annotated

import typer

from a2aperf import layouts, terminal
from a2aperf.live import StalledError, Step, follow

EXAMPLES = """\
a2a live run.h5
a2a live run.h5 --interval 10 --patience 3600
a2a live run.h5 --once
"""


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File of the running job.")],
    interval: Annotated[
        float, typer.Option(min=0.1, help="Seconds between two reads of the file.")
    ] = 2.0,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds without a new point after which to give up.")
    ] = 600.0,
    once: Annotated[bool, typer.Option("--once", help="Print the points so far and exit.")] = False,
) -> None:
    """Follow the file of a running job: each point as it completes, until the run ends.

    It only reads, and does not disturb the run. Exit status: 0 when the run finished, or with
    --once is running, 1 when it failed, was interrupted or killed, or no point came for too long.
    """
    columns: list[str] = []
    told: list[str] = []
    try:
        for step in follow(file, interval, patience):
            for words in step.crowded:
                if words not in told:
                    terminal.tell(f"a2a: {words}")
            told += step.crowded
            columns = _print(step, columns)
            if once or terminal.is_unread():
                break
    except StalledError as error:
        terminal.tell(
            f"a2a: no new point for {patience:g} s, and the file was last written "
            f"{_ago(error.seconds)}: killed, or very slow"
        )
        raise typer.Exit(1) from None
    if step.end_state not in ("finished", "running"):  # who waits sees it run no more
        raise typer.Exit(1)


def _ago(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 7200 else f"{seconds / 3600:.0f} h ago"


def _columns(step: Step) -> list[str]:
    """Those of its workload, as far as the file has them, after what its points differ in."""
    traits = step.fresh.traits(str(step.fresh.points["role"].iloc[0]))
    names = list(traits.table or layouts.LIVE)
    if not traits.table and (step.fresh.points["distance"] > 0).any():
        names.insert(names.index("schedule") + 1, "distance")  # a step of it each
    here = set(step.fresh.points.columns) - step.fresh.absent
    return [name for name in (*layouts.varying(step.all, names), *names) if name in here]


def _print(step: Step, columns: list[str]) -> list[str]:
    """Print the new rows under the one heading; returns its columns once it is printed."""
    if not step.fresh.points.empty:
        shown = columns or _columns(step)
        heading, *lines = layouts.text(step.fresh, shown, steady=True)
        terminal.say(*(lines if columns else [heading, *lines]))
        columns = shown
    state = step.end_state + (f": {step.message}" if step.message else "")
    if step.written is not None:
        state += (
            f" or killed, which its file system does not tell; last written {_ago(step.written)}"
        )
    terminal.tell(f"{step.done} of {step.total} points, {state}")
    return columns
