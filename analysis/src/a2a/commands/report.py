# SPDX-License-Identifier: BSD-3-Clause
"""`a2a report`: one page with everything."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from a2a import baselines, clusters, filters, output, report, results, study
from a2a.commands.options import Mixed, Where
from a2a.errors import InputError
from a2a.study import Job

EXAMPLES = """\
a2a report run.h5 -o run.html
a2a report results/                                  a study: results/report.html
a2a report n20.h5 n40.h5 n80.h5 -o scaling.html --title 'Cluster X, June'
a2a report before*.h5 after*.h5 --where 'message_size>=8kB' -o change.html
"""


def run(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE|FOLDER", help="Results files, or the folder of a study."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Page to write: .html; replaced if there. Of one folder: report.html in it.",
            show_default=False,
        ),
    ] = None,
    where: Where = [],  # noqa: B006
    mixed: Mixed = False,
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
) -> None:
    """Write one self-contained HTML page: summary, findings, charts, tables, provenance.

    Launches that a study's plan has and that have no complete file are listed with the reason.

    The page needs no network and no server; it can be mailed, read on a phone and printed. Charts
    zoom, tell their numbers under the pointer, and hide lines; tables sort.
    """
    if out is None:
        if len(paths) > 1 or not paths[0].is_dir():
            raise InputError("-o PAGE.html: where should the report go?")
        out = paths[0] / "report.html"
    output.require_suffix(out, (".html", ".htm"), "a report")
    files = baselines.files_of(paths)
    console = Console(stderr=True)
    jobs = _jobs(paths, files)
    found = filters.where(results.load(files), where)
    clusters.require_one(found, mixed)
    if not console.is_terminal:
        page = report.render(found, title, jobs)
    else:
        with console.status("reading") as status:
            page = report.render(found, title, jobs, lambda step: status.update(f"report: {step}"))
    output.replace(out, page.encode("utf-8"))
    if console.is_terminal:
        print(f"a2a: {out} ({len(page) / 1e6:.1f} MB)", file=sys.stderr)


def _jobs(paths: list[Path], files: list[Path]) -> list[Job]:
    """The jobs whose plans are concerned: all of a folder, or those that made any of the files."""
    whole = [job for path in paths if path.is_dir() for job in study.read(path)]
    known = {(job.folder.resolve(), job.id) for job in whole}
    others = study.concerned(files)
    return whole + [job for job in others if (job.folder.resolve(), job.id) not in known]
