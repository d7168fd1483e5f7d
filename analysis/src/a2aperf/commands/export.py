# SPDX-License-Identifier: BSD-3-Clause
"""`a2a export`: a copy to give away."""

from pathlib import Path
from typing import Annotated

import typer

from a2aperf import anonymize as anonymizing
from a2aperf import loading, terminal, writer
from a2aperf.commands.options import Force, Output
from a2aperf.errors import InputError

EXAMPLES = """\
a2a export run.h5 --anonymize -o run-for-vendor.h5
a2a export run.h5 --anonymize --key paper.key -o run-for-paper.h5
"""


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Results file (.h5).")],
    output: Output,
    anonymize: Annotated[
        bool,
        typer.Option(
            "--anonymize", help="Hosts, users, paths and addresses become stable pseudonyms."
        ),
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option(
            help="Secret that makes the pseudonyms; made on first use. "
            "Default: ~/.config/a2a/pseudonyms.key"
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write a copy without names, for a vendor or a paper; every sample and setting stays.

    With the same key the same host gets the same pseudonym in every file. Times of day, hardware
    and versions stay; labels stay but for names in them, so look at what is printed.
    """
    if not anonymize:
        raise InputError("give --anonymize; cp makes a plain copy of a results file")
    writer.require_writable(output, force)
    found = loading.load([file])
    path = key or Path.home() / ".config" / "a2a" / "pseudonyms.key"
    made = not path.exists()
    document = anonymizing.anonymize(found, anonymizing.read_key(path))
    writer.write(output, document, force)
    if made:
        terminal.tell(f"a2a: new key {path}; whoever has it can check guessed names")
    terminal.say(f"{output}: {len(document.columns['state'])} points, names replaced")
    labels = {f"{k}={v}" for segment in document.segments for k, v in segment.labels.items()}
    for label in sorted(labels):
        terminal.say(f"  label kept: {label}")
