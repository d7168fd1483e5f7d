# SPDX-License-Identifier: BSD-3-Clause
"""`a2a report`: one page with everything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from a2a import clusters, filters, output, report, results
from a2a.commands.options import Files, Mixed, Where

EXAMPLES = """\
a2a report run.h5 -o run.html
a2a report n20.h5 n40.h5 n80.h5 -o scaling.html --title 'Cluster X, June'
a2a report before*.h5 after*.h5 --where 'message_size>=8kB' -o change.html
"""


def run(
    files: Files,
    out: Annotated[
        Path, typer.Option("-o", "--output", help="Page to write: .html; replaced if there.")
    ],
    where: Where = [],  # noqa: B006
    mixed: Mixed = False,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
) -> None:
    """Write one self-contained HTML page: summary, findings, charts, tables, provenance.

    The page needs no network and no server; it can be mailed, read on a phone and printed. Charts
    zoom, tell their numbers under the pointer, and hide lines; tables sort.
    """
    output.require_suffix(out, (".html", ".htm"), "a report")
    console = Console(stderr=True)
    found = filters.where(results.load(files), where)
    clusters.require_one(found, mixed)
    if not console.is_terminal:
        page = report.render(found, title)
    else:
        with console.status("reading") as status:
            page = report.render(found, title, lambda step: status.update(f"report: {step}"))
    output.replace(out, page.encode("utf-8"))
    if console.is_terminal:
        print(f"a2a: {out} ({len(page) / 1e6:.1f} MB)", file=sys.stderr)
