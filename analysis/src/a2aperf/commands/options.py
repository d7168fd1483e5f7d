# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

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
Mixed = Annotated[bool, typer.Option("--mixed", help="Take files of different clusters together.")]
