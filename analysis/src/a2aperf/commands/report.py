# SPDX-License-Identifier: BSD-3-Clause
"""`a2a report`: one page with everything."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from a2aperf import baselines, clusters, filters, output, report, terminal
from a2aperf.commands.options import Error, Mixed, Where
from a2aperf.errors import InputError
from a2aperf.percent import share
from a2aperf.studies import look, study
from a2aperf.studies.look import Look
from a2aperf.studies.study import Job
from a2aperf.suite import ranking

EXAMPLES = """\
a2a report run.h5                                    run.html
a2a report results/                                  a folder: results/report.html
a2a report n20.h5 n40.h5 n80.h5 -o scaling.html --title 'Cluster X, June'
a2a report results/monday/*.h5 --light -o pages/monday.html
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
            help="Page to write: .html; replaced if there. [default: beside what it is on: "
            "run.html of run.h5, report.html in a folder or beside several files]",
            show_default=False,
        ),
    ] = None,
    where: Where = [],  # noqa: B006
    mixed: Mixed = False,
    error: Error = "",
    title: Annotated[str, typer.Option(help="Heading of the page.")] = "",
    light: Annotated[
        bool,
        typer.Option(
            "--light",
            help="Put the script that draws the charts (4.6 MB) in a file beside the page, one for "
            "all pages of the folder.",
        ),
    ] = False,
) -> None:
    """Write one self-contained HTML page: summary, findings, charts, tables, provenance.

    Launches that a study's plan has and that have no complete file are listed with the reason.

    The page needs no network and no server; it can be mailed, read on a phone and printed. Charts
    zoom, tell their numbers under the pointer, and hide lines; tables sort. With --light it needs
    the file of the script beside it.
    """
    given = share("--error", error, "5%") if error else None
    files = baselines.files_of(paths)
    page_of = out or _beside(paths, files)
    output.require_suffix(page_of, (".html", ".htm"), "a report")
    if page_of in files:
        raise InputError(f"{page_of}: these are results; give the report another name by -o")
    console = Console(stderr=True)
    jobs = _jobs(paths, files)
    planned = look.of_jobs(jobs) if given is None else Look(given)
    level, said = planned.error, planned.said
    found = filters.where(baselines.load_studies(paths, files), where)
    # Interconnects side by side are different adapters.
    clusters.require_one_a_side(found, ranking.interconnect(found), mixed)
    script = report.SCRIPT_FILE if light else ""
    if not console.is_terminal:
        page = report.render(found, title, jobs, script_file=script, error=level, error_said=said)
    else:
        with console.status("reading") as status:
            page = report.render(
                found,
                title,
                jobs,
                lambda step: status.update(f"report: {step}"),
                script,
                level,
                said,
            )
    if light:
        output.replace(page_of.parent / script, report.charts_script().encode("utf-8"))
    output.replace(page_of, page.encode("utf-8"))
    # Where the name is ours it is told also to a log.
    if console.is_terminal or out is None:
        terminal.tell(f"a2a: {page_of} ({len(page) / 1e6:.1f} MB)")


def _beside(paths: list[Path], files: list[Path]) -> Path:
    """The page's name where none is given: it is found where the results are."""
    if len(paths) == 1 and paths[0].is_dir():
        return paths[0] / "report.html"
    if len(files) == 1:
        return files[0].with_suffix(".html")
    folders = {file.parent for file in files}
    if len(folders) > 1:
        raise InputError(
            "-o PAGE.html: where should the report go? The files are in several folders"
        )
    return folders.pop() / "report.html"


def _jobs(paths: list[Path], files: list[Path]) -> list[Job]:
    """The jobs whose plans are concerned: all of a folder, or those that made any of the files."""
    whole = [job for path in paths if path.is_dir() for job in study.read(path)]
    known = {(job.folder.resolve(), job.id) for job in whole}
    others = study.concerned(files)
    return whole + [job for job in others if (job.folder.resolve(), job.id) not in known]
