# SPDX-License-Identifier: BSD-3-Clause
"""`a2a plot`: a figure for a paper."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from a2aperf import curves, drawing, figures, filters, loading, output, plots, style, terminal
from a2aperf.commands.options import Files, Mixed, Where

EXAMPLES = """\
a2a plot scaling n20.h5 n40.h5 n80.h5 -o scaling.pdf
a2a plot sizes run.h5 --width page -o sizes.svg
a2a plot scaling n*.h5 --ranks 20,40,80 --x log --title 'Cluster X' -o scaling.svg
a2a plot latency before.h5 after.h5 --by PSM2_RCVTHREAD -o latency.png
a2a plot compare a*.h5 b*.h5 --by PSM2_RCVTHREAD -o compare.pdf
a2a plot history archive/*.h5 --size 60kB -o history.svg
a2a plot cdf run*.h5 --size 8kB --size 60kB -o cdf.pdf
a2a plot ops run.h5 --size 60kB -o ops.png
a2a plot ranks run.h5 --where ranks=320 -o ranks.png
a2a plot matrix pairs.h5 --topology topology.txt -o matrix.pdf
"""
SUFFIXES = (".png", ".svg", ".pdf")

Kind = StrEnum("Kind", {name.upper(): name for name in plots.KINDS})  # type: ignore[misc]


class Scale(StrEnum):
    """Scales of an axis."""

    AUTO = "auto"
    LINEAR = "linear"
    LOG = "log"


class Width(StrEnum):
    """Widths of a two-column paper."""

    AUTO = "auto"
    COLUMN = "column"
    PAGE = "page"


INCHES = {Width.AUTO: None, Width.COLUMN: style.COLUMN_WIDTH, Width.PAGE: style.PAGE_WIDTH}


def run(
    kind: Annotated[
        Kind, typer.Argument(help="  ".join(f"{n}: {k.says}." for n, k in plots.KINDS.items()))
    ],
    files: Files,
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Figure to write: .png, .svg or .pdf; replaced if there."
        ),
    ],
    by: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="What tells lines apart: a column, variable or label. Default: all that differs. "
            "A matrix: rank or node.",
        ),
    ] = [],  # noqa: B006
    size: Annotated[
        list[str],
        typer.Option(
            metavar="SIZE",
            help="Message size to show, such as 8kB; repeat for more. Default: a choice.",
        ),
    ] = [],  # noqa: B006
    what: Annotated[
        str,
        typer.Option(
            metavar=f"{'|'.join(x for k in plots.KINDS.values() for x in k.quantities)}|COLUMN",
            help="Of a matrix: rate of the largest or time of the smallest messages (default: "
            "gbps). Of sizes and scaling: any column of numbers. Default: the rate.",
        ),
    ] = "",
    arrange: Annotated[
        str,
        typer.Option(
            metavar="|".join(x for k in plots.KINDS.values() for x in k.orders),
            help="Of a matrix: rows by name, by switch, or by similarity. Default: switch "
            "where they are known.",
        ),
    ] = "",
    topology: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of a matrix: text of 'scontrol show topology' or topology.conf. Default: what "
            "is attached to the results.",
        ),
    ] = None,
    ranks: Annotated[
        str, typer.Option(metavar="N,N,…", help="Only these rank counts: --ranks 20,40.")
    ] = "",
    x: Annotated[Scale, typer.Option("--x", help="Scale of the x-axis.")] = Scale.AUTO,
    y: Annotated[Scale, typer.Option("--y", help="Scale of the y-axis.")] = Scale.AUTO,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title above the figure.")] = "",
    where: Where = [],  # noqa: B006
    mixed: Mixed = False,
    width: Annotated[
        Width, typer.Option(help="column: 3.4 inches; page: 7 inches, both columns.")
    ] = Width.AUTO,
    notes: Annotated[
        bool,
        typer.Option(help="Explain n, bars and marks under the figure."),
    ] = True,
) -> None:
    """Draw a figure that a two-column paper can print.

    Lines are told apart by colour, dash and marker (Okabe and Ito's colours). Bars are intervals;
    what they mean, n, and what was left out stands under the figure; what was left out is told on
    stderr, too. Where launches repeat a point, the line is their median and the bar their range.
    """
    output.require_suffix(out, SUFFIXES, "a figure")
    wanted = [f"message_size={','.join(size)}"] if size else []
    wanted += [f"ranks={ranks}"] if ranks else []
    found = filters.where(loading.load(files), [*where, *wanted])
    most = max(curves.Options.most, len(size))
    x_scale, y_scale = ("" if scale is Scale.AUTO else scale.value for scale in (x, y))
    options = curves.Options(tuple(by), most, what, arrange, topology, x_scale, y_scale, title)
    page, figure = figures.drawn(kind.value, found, options, INCHES[width], notes, mixed)
    stream = io.BytesIO()
    drawing.save(page, stream, out.suffix[1:].lower())
    output.replace(out, stream.getvalue())
    for left_out in figure.left_out:
        terminal.tell(f"a2a: {left_out}; --where, --size and --ranks choose")
    if sys.stderr.isatty():
        inches = page.get_size_inches()
        size_of = f"{inches[0]:.1f} × {inches[1]:.1f} inches"
        terminal.tell(f"a2a: {figure.title}: {out} ({size_of})")
