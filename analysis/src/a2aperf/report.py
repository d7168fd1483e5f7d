# SPDX-License-Identifier: BSD-3-Clause
"""The report: one HTML file that needs nothing else, neither network nor server.

Every string from a results file passes through Jinja's escaping, or through JSON whose "<" is
escaped; a content security policy in the page forbids it to load anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources

import jinja2
from markupsafe import Markup

from a2aperf import (
    __version__,
    compare,
    contrasts,
    curves,
    gaps,
    grouping,
    interactive,
    node_table,
    overview,
    plots,
    point_table,
    provenance,
    summary,
    verdicts,
    workloads,
)
from a2aperf.decision import LEVEL
from a2aperf.differences import apart
from a2aperf.errors import InputError
from a2aperf.explain import finders
from a2aperf.results import Results
from a2aperf.screening import section
from a2aperf.studies.study import Job
from a2aperf.suite import figure, outcome
from a2aperf.tables import Table
from a2aperf.visible import visible_lines

SCRIPT_FILE = "a2a-charts.js"
"""Beside pages that share the script."""
_MOST_SETTINGS = 3
_MOST_COMPARISONS = 3

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ChartSection:
    """A figure on the page."""

    id: str
    title: str
    reads: str
    figure: interactive.Drawn


@dataclass(frozen=True)
class FindingGroup:
    """Findings of one kind: what it means, and each with its numbers."""

    title: str
    meaning: str
    findings: Sequence[overview.MergedFinding]


@dataclass(frozen=True)
class ComparisonSection:
    """What is compared with what: verdicts in words, a table, a figure, and what else differs."""

    made: Sequence[compare.Comparison]
    sentences: Sequence[str]
    tables: Sequence[Table]
    chart: ChartSection | None


@dataclass(frozen=True)
class InterconnectSection:
    """Interconnects side by side: what is said of each workload, tables of it, a figure."""

    heading: str
    parts: Sequence[tuple[str, Sequence[str], Table, Table | None]]
    contradictions: Sequence[str]
    notes: Sequence[str]
    chart: ChartSection


@dataclass(frozen=True)
class ScreeningSection:
    """Which of many settings matters, and its figures."""

    told: section.Section
    charts: Sequence[ChartSection]


def render(
    results: Results,
    title: str = "",
    jobs: Sequence[Job] = (),
    progress: Progress = lambda step: None,
    script_file: str = "",
    error: float = LEVEL,
    error_said: str = "",
) -> str:
    """The whole page. `jobs` are those that meant to measure all of this, and perhaps more.

    `error` is that of each comparison, `error_said` where it comes from.

    `script_file` names the charts' script beside the page; without, the page holds it.
    """
    progress("screening")
    screening = _screening(results, jobs)
    looked_at = screening.told.plain if screening else results
    progress("findings")
    points = looked_at.measured(finders.ROLES)
    found = finders.grouped(finders.explain(points))
    findings = [FindingGroup(x.title, x.meaning, overview.once(mine)) for x, mine in found]
    progress("comparison")
    interconnects = _interconnects(results)
    comparison = None if interconnects or screening else _comparison(results, error, error_said)
    charts = _charts(looked_at, progress)
    progress("page")
    listings = [one.listing for one in workloads.ALL if one.listing]
    shown = [(one.method, one.heading, one.reported(results)) for one in listings]
    of_nodes = workloads.study_of_nodes(looked_at)
    if of_nodes and of_nodes.launches > 1:
        shown.append(("nodes", node_table.HEADING, node_table.table(of_nodes)[0]))
    listed = [role for one in workloads.ALL if one.listing for role in one.roles]
    ops = results.select(~results.points["role"].isin(listed))
    figures = [*charts]
    if comparison is not None and comparison.chart is not None:
        figures.insert(0, comparison.chart)
    if interconnects is not None:
        figures.insert(0, interconnects.chart)
    if screening is not None:
        figures[:0] = screening.charts
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("a2aperf"),
        autoescape=True,
        finalize=_seen,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = sentence
    return environment.get_template("report.html").render(
        title=title or _title(results),
        version=__version__,
        facts=overview.facts(results),
        verdict=overview.verdict(
            found, comparison.made if comparison else (), judged=not points.points.empty
        ),
        summary=[*summary.sentences(results), *gaps.sentences(jobs)],
        gaps=gaps.table(jobs),
        charts=charts,
        findings=findings,
        comparison=comparison,
        interconnects=interconnects,
        screening=screening,
        listings=[(id_, heading, table) for id_, heading, table in shown if table],
        points=point_table.table(ops) if len(ops.points) else None,
        provenance=provenance.describe(results),
        data=_json([chart for section in figures for chart in section.figure.charts]),
        style=Markup(_asset("report.css")),
        script=Markup(_asset("report.js")),
        plotly="" if script_file else Markup(charts_script()),
        script_file=script_file,
    )


def _seen(value: object) -> object:
    """What stands on the page: of texts every character is seen, markup is our own."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return visible_lines(value)


def _title(results: Results) -> str:
    ranks = sorted(set(results.points["ranks"]))
    span = f"{ranks[0]}" if len(ranks) == 1 else f"{ranks[0]} to {ranks[-1]}"
    return workloads.present(results)[0].title.format(span)


def _interconnects(results: Results) -> InterconnectSection | None:
    """Where launches say over which interconnect they went, and there are several."""
    try:
        made = outcome.judge(results)
    except InputError:
        return None
    drawn = figure.figure(made)
    chart = ChartSection(drawn.kind, drawn.title, figure.READS, interactive.spec(drawn))
    parts = [(one.title, outcome.sentences(one), one.table, one.per_second) for one in made.parts]
    return InterconnectSection(made.heading, parts, made.contradictions, made.notes, chart)


def _screening(results: Results, jobs: Sequence[Job]) -> ScreeningSection | None:
    """Where launches say that they are of a screening, and its plan lies beside them."""
    told = section.of(results, jobs)
    if told is None:
        return None
    charts = [ChartSection(f"screening-{one.kind}", one.title, reads, interactive.spec(one))
              for one, reads in told.figures]  # fmt: skip
    return ScreeningSection(told, charts)


def _comparison(results: Results, error: float, error_said: str) -> ComparisonSection | None:
    """Every setting that differs, its values against the ordinary one, the others held."""
    try:
        judged = results.to_judge(("measure", "baseline"))
    except InputError:  # nothing that could be held against anything
        return None
    names = grouping.setting_names(judged, judged.points, ())
    names = [name for name in names if name != "ppn"] or names
    names.sort(key=lambda name: name not in results.compared)  # what was asked for comes first
    if not names:
        return None
    sentences: list[str] = []
    made: list[compare.Comparison] = []
    settings = names[:_MOST_SETTINGS]
    for name in settings:
        try:
            measured = results.to_judge(compare.roles([name]))
            if len(names) == 1 or name == "engine":
                made += compare.by_setting(measured, [name], error=error)
            else:
                made += compare.main_effects(measured, settings, error=error)[name]
        except InputError as trouble:
            sentences.append(f"{name} differs but cannot be compared here: {trouble}")
    for one in [one for one in made if one.cells["ratio"].isna().all()]:
        made.remove(one)
        sentences.append(
            f"{one.candidate} and {one.baseline} differ in other settings, too: "
            "launches that differ in this one only would tell what it does"
        )
    for one in made:
        sentences += _verdict(one)
    sentences += [error_said] if made and error_said else []
    if rest := names[_MOST_SETTINGS:]:
        sentences.append(f"not compared here: {', '.join(rest)}; a2a compare --by NAME does it")
    chart = None
    if made:
        compared = contrasts.figure(made[:_MOST_COMPARISONS], curves.Options.most)
        fewer = curves.fitting(len(made), _MOST_COMPARISONS, "comparisons")
        compared = replace(compared, left_out=(*compared.left_out, *fewer))
        drawn = interactive.spec(compared)
        chart = ChartSection(compared.kind, compared.title, contrasts.READS, drawn)
    shown = [
        verdicts.table(
            one, f"{one.candidate} (B) against {one.baseline} (A, baseline), cell by cell."
        )
        for one in made
    ]
    return ComparisonSection(made, sentences, shown, chart)


def _verdict(one: compare.Comparison) -> list[str]:
    said = "; ".join(verdicts.summary(one))
    told = [f"{one.candidate} against {one.baseline} (baseline): {said}"]
    told += [f"It rests on {verdicts.rests_on(one)}", *one.notes, *verdicts.closing(one)]
    others = [f"{x.name} ({' against '.join(reversed(apart(x)))})" for x in one.differences.between]
    if others:
        told.append(f"what else was recorded and differs: {'; '.join(others)}")
    return told


def sentence(text: str) -> str:
    """Text with a capital at its start (`p90` stays as it is) and a full stop at its end."""
    first = text.partition(" ")[0]
    start = text[:1].upper() if first.isalpha() and first.islower() else text[:1]
    return start + text[1:] + ("" if text.endswith((".", "…", "!", "?")) else ".")


def _charts(results: Results, progress: Progress) -> list[ChartSection]:
    """Every kind of figure that these results can fill."""
    sections = []
    has_raw = bool(results.points["has_raw"].any())
    for name, kind in plots.KINDS.items():
        if (kind.needs_raw and not has_raw) or not kind.in_report(results):
            continue
        progress(name)
        try:
            plotted = plots.made(name, results, curves.Options())
        except InputError:  # nothing of that kind in these files
            continue
        if not plotted.empty:
            drawn = interactive.spec(plotted)
            sections.append(ChartSection(name, plotted.title, kind.reads, drawn))
    return sections


def _json(value: object) -> Markup:
    """JSON that can stand inside a script element whatever its strings hold."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _asset(name: str) -> str:
    return resources.files("a2aperf").joinpath("templates", name).read_text(encoding="utf-8")


def charts_script() -> str:
    """The script that draws the charts: plotly's, 4.6 MB."""
    script = resources.files("plotly").joinpath("package_data", "plotly.min.js")
    return script.read_text(encoding="utf-8").replace("</script", "<\\/script")
