# SPDX-License-Identifier: BSD-3-Clause
"""The report: one HTML file that needs nothing else, neither network nor server.

Every string from a results file passes through Jinja's escaping, or through JSON whose "<" is
escaped; a content security policy in the page forbids it to load anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from a2a import __version__, curves, grouping, interactive, layouts, plots, provenance, summary
from a2a.errors import InputError
from a2a.results import Results

COLUMNS = (
    "ranks nodes ranks_per_node message_size ops invalid time_min time_p50 time_p50_low "
    "time_p50_high time_p90 time_p99 time_max gbps_rank gbps_node_net gbps_sustained efficiency "
    "msg_rate"
).split()

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Cell:
    """One cell: what is read, what it sorts by, and a caveat in a word."""

    text: str
    key: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """A table that sorts. `left` tells which columns are words."""

    caption: str
    heads: Sequence[str]
    left: Sequence[bool]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class ChartSection:
    """A figure on the page."""

    id: str
    title: str
    reads: str
    figure: interactive.Drawn


def render(results: Results, title: str = "", progress: Progress = lambda step: None) -> str:
    """The whole page."""
    progress("charts")
    charts = _charts(results, progress)
    progress("page")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("a2a"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        title=title or _title(results),
        version=__version__,
        summary=summary.sentences(results),
        charts=charts,
        findings=None,
        comparison=None,
        points=_points_table(results),
        provenance=provenance.describe(results),
        data=_json([chart for section in charts for chart in section.figure.charts]),
        style=Markup(_asset("report.css")),
        script=Markup(_asset("report.js")),
        plotly=Markup(_plotly()),
    )


def _title(results: Results) -> str:
    ranks = sorted(set(results.points["ranks"]))
    span = f"{ranks[0]}" if len(ranks) == 1 else f"{ranks[0]} to {ranks[-1]}"
    return f"All-to-all with {span} ranks"


def _charts(results: Results, progress: Progress) -> list[ChartSection]:
    """Every kind of figure that these results can fill."""
    sections = []
    scales = results.points["ranks"].nunique()
    for name, kind in plots.KINDS.items():
        if (name == "scaling" and scales == 1) or (
            kind.needs_raw and not results.points["has_raw"].any()
        ):
            continue
        progress(name)
        try:
            figure = kind.make(results, curves.Options())
        except InputError:  # nothing of that kind in these files
            continue
        if figure.charts:
            sections.append(ChartSection(name, figure.title, kind.reads, interactive.spec(figure)))
    return sections


def _points_table(results: Results) -> Table:
    done = results.select(results.points["state"].isin(["complete", "skipped", "failed"]))
    points = done.points
    names = [
        n
        for n in layouts.columns_for(done, COLUMNS)
        if n in ("ranks", "message_size") or points[n].notna().any()
    ]
    data = layouts.frame(done, names)
    setting = grouping.setting_labels(results, points)
    capped = curves.p99_is_max(results, points)
    heads = [layouts.shown(name).heading for name in names]
    left = [layouts.shown(name).left for name in names]
    rows = []
    for index in range(len(points)):
        row = [_cell(name, data[name].iloc[index]) for name in data.columns]
        if "time_p99" in names and capped[index]:
            place = names.index("time_p99")
            row[place] = Cell(row[place].text, row[place].key, "max")
        state = str(points["state"].iloc[index])
        reason = str(points["skip_reason"].iloc[index])
        if state != "complete":
            row.append(Cell(f"{state}: {reason}" if reason else state))
        else:
            row.append(Cell(""))
        rows.append([Cell(str(setting.iloc[index])), *row] if setting.any() else row)
    if setting.any():
        heads, left = ["setting", *heads], [True, *left]
    noted = any(row[-1].text for row in rows)
    if not noted:
        rows = [row[:-1] for row in rows]
    return Table(
        "Every point of every launch. Times in µs, rates in Gbit/s, one way.",
        [*heads, "note"] if noted else heads,
        [*left, True] if noted else left,
        rows,
    )


def _cell(name: str, value: Any) -> Cell:
    if value is pd.NA or value is None or value == "" or value != value:
        return Cell("–", "")
    return Cell(layouts.shown(name).write(value), str(value))


def _json(value: object) -> Markup:
    """JSON that can stand inside a script element whatever its strings hold."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _asset(name: str) -> str:
    return resources.files("a2a").joinpath("templates", name).read_text(encoding="utf-8")


def _plotly() -> str:
    script = resources.files("plotly").joinpath("package_data", "plotly.min.js")
    return script.read_text(encoding="utf-8").replace("</script", "<\\/script")
