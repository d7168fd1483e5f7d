# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that several commands share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Results files (.h5).")]
Output = Annotated[Path, typer.Option("-o", "--output", help="File to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
Where = Annotated[
    list[str],
    typer.Option(
        metavar="EXPR",
        help="Only points for which it holds: ppn=2, ranks=20,40, message_size>=10kB, "
        "PSM2_RCVTHREAD=0. Several: all must hold.",
    ),
]
Error = Annotated[
    str,
    typer.Option(
        "--error",
        metavar="SHARE",
        help="Error of all cells together, of each interval. Default: 5%, or that of the look of a "
        "study that went on until it was decided.",
    ),
]
Hostfile = Annotated[
    Path | None,
    typer.Option(
        "--hostfile",
        metavar="FILE",
        help="Hosts, a line each: 'node1 slots=4'. The ranks are spread evenly over them. "
        "Default: this machine.",
    ),
]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, max=999_999_999, help="Random seed (1).")
]
Program = Annotated[
    Path | None,
    typer.Option(
        "--program", metavar="FILE", help="The program a2aperf (A2APERF, or the one in PATH)."
    ),
]
Site = Annotated[
    str,
    typer.Option(
        "--site",
        metavar="NAME",
        help="Site profile: a name in jobs/sites, or a file (A2APERF_SITE).",
    ),
]
Mixed = Annotated[bool, typer.Option("--mixed", help="Take files of different clusters together.")]


class AgainstParser(TyperCommand):
    """Lets `--against` take every file up to the next option: `--against a.h5 b.h5`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeats the option before each of its files."""
        repeated: list[str] = []
        inside = False
        for i, argument in enumerate(args):
            first = i > 0 and args[i - 1] == "--against"
            inside = (inside or first) and not argument.startswith("-")
            repeated += ["--against"] * (inside and not first) + [argument]
        return super().parse_args(ctx, repeated)


def words_of(options: Mapping[str, object]) -> list[str]:
    """The options that have a value, and their values, as words for a script."""
    return [
        word
        for name, value in options.items()
        if value not in ("", None)
        for word in (name, str(value))
    ]
