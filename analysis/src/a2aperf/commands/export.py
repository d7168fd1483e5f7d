# SPDX-License-Identifier: BSD-3-Clause
"""`a2a export`: a copy to give away, or flat rows for other tools."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from a2aperf import anonymize as anonymizing
from a2aperf import baselines, loading, schema, terminal, writer
from a2aperf import review as review_list
from a2aperf.commands.options import Force
from a2aperf.errors import InputError
from a2aperf.flat import formats
from a2aperf.flat import rows as flat_rows
from a2aperf.labels import count_text

EXAMPLES = """\
a2a export run.h5 --anonymize -o run-for-vendor.h5
a2a export run.h5 --anonymize --key paper.key -o run-for-paper.h5
a2a export results/ --flat -o points.csv           one row per point
a2a export nightly/ --flat --rows pairs -o site.sqlite
"""


def run(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…", help="Results file (.h5); with --flat several, or folders."
        ),
    ],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write.")] = None,
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
    review: Annotated[
        bool, typer.Option("--review", help="Only list what would remain of texts; write nothing.")
    ] = False,
    flat: Annotated[
        bool, typer.Option("--flat", help="Tidy rows instead: a row per point, pair or op.")
    ] = False,
    rows: Annotated[
        str,
        typer.Option(metavar="KIND", help="With --flat: points (default), pairs, paths or ops."),
    ] = "",
    force: Force = False,
) -> None:
    """Write a copy without names, for a vendor or a paper; or flat rows for a site's own tools.

    With --flat the output's suffix says how: .csv, .jsonl, .parquet, or a database to append to
    (.sqlite, .duckdb), in which a launch that is there already is replaced. Times are in ns, rates
    in Gbit/s, sizes in bytes; Parquet and the databases say so of each column.

    With --anonymize every sample and setting stays. With the same key the same host gets the same
    pseudonym in every file. Times of day, hardware and versions stay. What remains of texts is
    listed before the file is written; on a terminal it is asked whether to write it.
    """
    if flat or rows:
        if anonymize or review or key is not None:
            raise InputError(
                "--flat writes rows as they are: --anonymize makes a file without names"
            )
        if not flat or output is None:
            raise InputError("flat rows: give --flat and -o FILE, such as -o points.csv")
        _export_rows(files, rows or "points", output, force)
        return
    if not anonymize:
        raise InputError("give --anonymize or --flat; cp makes a plain copy of a results file")
    if len(files) > 1:
        raise InputError("--anonymize takes one file; 'a2a merge' makes one of several")
    (file,) = files
    if output is None and not review:
        raise InputError("give -o FILE, or --review to see what would remain of texts")
    if output is not None:
        writer.require_writable(output, force)
    found = loading.load([file])
    path = key or Path.home() / ".config" / "a2a" / "pseudonyms.key"
    made = not path.exists()
    document = anonymizing.anonymize(found, anonymizing.read_key(path))
    if made:
        terminal.tell(f"a2a: new key {path}; whoever has it can check guessed names")
    terminal.say(*(f"  {line}" for line in review_list.remaining(document)))
    if review or output is None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty() and not _is_wanted(output):
        raise typer.Exit(1)
    writer.write(output, document, force)
    counted = count_text(sum(map(schema.is_counted, document.columns["role"])), "point")
    terminal.say(f"{output}: {counted}, names replaced")


def _export_rows(files: list[Path], kind: str, output: Path, force: bool) -> None:
    formats.require_format(output)
    made = flat_rows.of(baselines.load(files, baselines.files_of(files)), kind)
    count = formats.write(output, kind, made, force)
    terminal.say(f"{output}: {count_text(count, 'row')} of {kind}")


def _is_wanted(output: Path) -> bool:
    terminal.say(f"write {output} with these texts? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
