# SPDX-License-Identifier: BSD-3-Clause
"""`a2a plot`: a figure for a paper."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from a2aperf import (
    baselines,
    curves,
    drawing,
    figures,
    filters,
    output,
    plots,
    style,
    terminal,
)
from a2aperf.commands.options import Mixed, Where
from a2aperf.labels import list_text
from a2aperf.studies import look

_ERROR = "error"
"""Option of the kinds that judge: where the launches were planned for a look, it is that one's."""
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
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE|FOLDER", help="Results files (.h5), or folders.")
    ],
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
    **own: Any,
) -> None:
    """Draw a figure that a two-column paper can print.

    Lines are told apart by colour, dash and marker (Okabe and Ito's colours). Bars are intervals;
    what they mean, n, and what was left out stands under the figure; what was left out is told on
    stderr, too. Where launches repeat a point, the line is their median and the bar their range.
    """
    output.require_suffix(out, SUFFIXES, "a figure")
    wanted = [f"message_size={','.join(size)}"] if size else []
    wanted += [f"ranks={ranks}"] if ranks else []
    paths = baselines.files_of(files)
    loaded = baselines.load_studies(files, paths)
    found = filters.where(loaded, [*where, *wanted])
    most = max(curves.Options.most, len(size))
    x_scale, y_scale = ("" if scale is Scale.AUTO else scale.value for scale in (x, y))
    given = curves.given(own)
    if _ERROR in {option.name for option in plots.KINDS[kind.value].options}:
        given.setdefault(_ERROR, f"{look.of_files(paths).error:g}")
    options = curves.Options(tuple(by), most, given, x_scale, y_scale, title)
    page, figure = figures.drawn(kind.value, found, options, INCHES[width], notes, mixed)
    drawing.write(page, out)
    for left_out in figure.left_out:
        how = "; --where, --size and --ranks choose" if left_out.endswith(" shown") else ""
        terminal.tell(f"a2a: {left_out}{how}")
    if terminal.is_watched():
        inches = page.get_size_inches()
        size_of = f"{inches[0]:.1f} × {inches[1]:.1f} inches"
        terminal.tell(f"a2a: {figure.title}: {out} ({size_of})")


def _parameters() -> Iterator[inspect.Parameter]:
    """Those of `run`; in the place of `own` one for each option that some kinds alone have."""
    for parameter in inspect.signature(run, eval_str=True).parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            yield parameter
            continue
        for name, of in plots.options():
            yield _parameter(name, of)


def _parameter(name: str, of: Mapping[str, curves.Option]) -> inspect.Parameter:
    kinds: dict[curves.Option, list[str]] = {}
    for kind, option in of.items():
        kinds.setdefault(option, []).append(kind)
    says = " ".join(f"Of {list_text(names)}: {one.says}" for one, names in kinds.items())
    metavar = "|".join(part for one in kinds for part in (*one.values, one.metavar) if part)
    is_file = all(one.is_file for one in kinds)
    shape = typer.Option(f"--{name}", metavar=metavar, help=says)
    hint = Annotated[Path | None, shape] if is_file else Annotated[str, shape]
    default = None if is_file else ""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


run.__signature__ = inspect.Signature([*_parameters()])  # type: ignore[attr-defined]
