# SPDX-License-Identifier: BSD-3-Clause
"""`a2a history`: a collection of launches over months."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from a2aperf import baselines, changepoints, clusters, filters, layouts, tables, terminal
from a2aperf.commands.options import Mixed, Where
from a2aperf.commands.over_nights import over_nights
from a2aperf.deferred import pandas as pd
from a2aperf.differences import apart, shortened
from a2aperf.errors import InputError
from a2aperf.history import LINE, Change, History, history
from a2aperf.labels import count_text
from a2aperf.nodes.night import Per
from a2aperf.oversubscription import in_launches
from a2aperf.tables import UNKNOWN, Column, Table, aligned

EXAMPLES = """\
a2a history results/
a2a history results/ --where message_size=60kB
a2a history 2025-03-*.h5 --save-baseline spring
a2a compare today-*.h5 --against spring          after maintenance
a2a history nightly/ --per node                  which nodes got slower, since when
a2a history nightly/ --per node --drain-list     and how to drain them
a2a history nightly/ --per pair                  which way between two nodes did
"""
_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 24
_MOST = 24  # lines of the table, and facts of a change, that are shown
_CLEAR = 0.05  # of the p of a line by itself, times their number


def run(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE|FOLDER", help="Results files, folders, or named baselines."),
    ],
    where: Where = [],  # noqa: B006
    mixed: Mixed = False,
    save_baseline: Annotated[
        str,
        typer.Option(metavar="NAME", help="Give these files a name for 'a2a compare --against'."),
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="Every line, also of a big folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, all figures.")] = False,
    per: Annotated[
        str,
        typer.Option(
            metavar="node|adapter|direction|pair",
            help="Each of them over the nights, from files of 'a2aperf pairs' and of all-to-alls.",
        ),
    ] = "",
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --per: a picture of the nights: .png, .svg or .pdf."
        ),
    ] = None,
    drains: Annotated[
        bool,
        typer.Option(
            "--drain-list", help="With --per node: only what would drain the slow ones, to read."
        ),
    ] = False,
) -> None:
    """Show how results went over time: trends, and the days on which something changed.

    Every message size, rank count and setting is a line of its own; steps are sought in all of them
    together (1 % error for a search) and shown with what else was recorded to change: firmware,
    library and kernel versions, nodes. A job counts once, whatever its number of launches; a slow
    drift is a trend and no step. 8 jobs are the least for a step, 6 for a trend.

    With `--per node` each node is compared with the other nodes of its night, and with its own
    nights before: which got slower or faster since when, and what was recorded to change there. A
    year in which nothing happens has a move in 2 %. 15 nights are the least. Likewise each adapter
    of a node, what each node sends and receives, and each pair of nodes: what its way adds to what
    its sender and its receiver take with the others.
    """
    if per or drains:
        _refuse_beside(per, drains, where, mixed, save_baseline, every)
        over_nights(paths, cast(Per, per), as_json, drains, plot)
        return
    if plot:
        raise InputError("--plot: expected --per, too; 'a2a plot history' draws the launches")
    files = baselines.files_of(paths)
    loaded = baselines.load(paths, files)
    found = filters.where(loaded, where).to_judge()
    clusters.require_one(found, mixed)
    if save_baseline:
        if Path(save_baseline).exists():
            raise InputError(f"--save-baseline {save_baseline}: a file has that name; take another")
        register = baselines.save(save_baseline, loaded.files.values())
        terminal.say(f"{register}: {save_baseline} is {count_text(len(loaded.files), 'file')}")
        return
    made = history(found)
    crowded = in_launches(found.launches)
    if as_json:
        document = {**_plain(made), "notes": [*crowded, *found.unjudged]}
        terminal.say_text(json.dumps(document, indent=1, default=str))
    else:
        terminal.say(*crowded, *_lines(made, every), *(f"note: {note}" for note in found.unjudged))


def _refuse_beside(
    per: str, drains: bool, where: Where, mixed: bool, save_baseline: str, every: bool
) -> None:
    if per and per not in get_args(Per):
        raise InputError(f"--per {per}: expected one of {', '.join(get_args(Per))}")
    if drains and per != "node":
        raise InputError("--drain-list: expected --per node")
    given = {"--where": where, "--mixed": mixed, "--save-baseline": save_baseline, "--all": every}
    for option, value in given.items():
        if value:
            raise InputError(f"{option} means nothing with --per {per}: leave it out")


def _date(nanoseconds: float) -> str:
    if nanoseconds < 0:
        return "unknown"
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).strftime("%Y-%m-%d %H:%M")


def _lines(made: History, every: bool) -> list[str]:
    times = made.launches["time"]
    count = len(made.launches)
    unit, sought = made.sought
    of_days = f" of {count_text(sought, 'day')}" if unit == "day" else ""
    lines = [
        f"{count_text(count, 'launch')} in {count_text(made.jobs, 'job')}{of_days} from "
        f"{_date(times.min())} to {_date(times.max())} (UTC)",
        "",
    ]
    if not made.changes:
        lines += ["; ".join(filter(None, ["no change point", made.lacking])), ""]
    for change in made.changes:
        lines += _told(change, every)
    return [*lines, *_table(made, every)]


def _chosen(lines: pd.DataFrame, every: bool) -> tuple[pd.DataFrame, list[str]]:
    """The lines to show, and what is left out: those of one job, and of the rest the shorter."""
    if every or len(lines) <= _MOST:
        return lines, []
    repeated = lines[lines["jobs"] > 1]
    kept = repeated if len(repeated) else lines
    kept = kept.loc[sorted(kept["jobs"].sort_values(ascending=False, kind="stable").index[:_MOST])]
    once = len(lines) - len(repeated)
    what = f"{len(kept)} of {len(lines)} lines shown, those of most jobs"
    told = f"{what}; {once} were measured by one job only" if once else what
    return kept, ["", f"{told}; --all shows every one, --where chooses"]


def _table(made: History, every: bool) -> list[str]:
    lines, left_out = _chosen(made.lines, every)
    since = "per 30 days since the last change" if made.changes else "per 30 days"
    columns = [
        *(layouts.shown(name) for name in ("ranks", "nodes")),
        Column("ppn", layouts.general, of="ppn"),
        layouts.shown("message_size"),
        Column("jobs", of="jobs"),
        Column("first", "{:.3g}".format, of="first"),
        Column("last", "{:.3g}".format, of="last"),
        Column(made.unit, _spark, left=True, of="values"),
        Column(since, lambda trend: f"{signed(trend)} %", of="trend"),
        Column("95 % interval", _interval),
    ]
    if (lines["series"] != "").any():
        columns.append(Column("setting", lambda text: shortened([text]), left=True, of="series"))
    return [*Table.of(columns, lines).lines(), *left_out]


def _interval(line: Any) -> str:
    low, high = line["trend_low"], line["trend_high"]
    return UNKNOWN if pd.isna(low) else f"{signed(low)} to {signed(high)}"


def signed(share: float) -> str:
    """In per cent; what rounds to nothing has no sign."""
    text = f"{100 * share:+.1f}"
    return "0.0" if float(text) == 0 else text


def _spark(values: list[float]) -> str:
    """Values as bars from their smallest to their largest; the last ones where there are many.

    One that is not known leaves its place empty.
    """
    shown = values[-_WIDTH:]
    known = [value for value in shown if value == value]
    if not known:
        return UNKNOWN
    low, high = min(known), max(known)
    # Bars tell changes of a few per cent, not noise of a few per mille.
    span = max(high - low, 0.02 * high) or 1.0  # messages of 0 B have the rate 0
    steps = len(_BARS) - 1
    return "".join(
        _BARS[round(steps * (value - low) / span)] if value == value else " " for value in shown
    )


def _told(change: Change, every: bool) -> list[str]:
    lines = [_step(change)]
    between = change.differences.between
    if between:
        rows = [["", "before", "after"]]
        shown = between if every else between[:_MOST]
        rows += [[x.name, *apart(x)] for x in shown]
        lines += ["  " + line for line in aligned(rows, [True] * 3)]
        if len(between) > len(shown):
            lines.append(f"  and {len(between) - len(shown)} more facts; --all shows them")
    else:
        lines.append("  nothing else that was recorded changed with it")
    return [*lines, ""]


def _step(change: Change) -> str:
    """Between which launches, and which lines moved by how much."""
    moved = change.lines
    ratio = moved["ratio"]
    small = "≤" if change.p <= changepoints.LEAST_P else "="
    text = (
        f"change between {change.before} and {change.after} ({_date(change.time)}), p {small} "
        f"{change.p:.3f}: "
    )
    if moved.empty:
        return f"{text}no line has two jobs on either side of it, so nobody knows by how much"
    clear = moved["p"] * len(moved) <= _CLEAR
    slower, faster = int((clear & (ratio < 1)).sum()), int((clear & (ratio > 1)).sum())
    rest = len(moved) - slower - faster
    alone = "itself" if rest == 1 else "themselves"
    unclear = f", {rest} not clear by {alone}" if rest else ""
    first: Any = moved.iloc[0]
    setting = f", {first['series']}" if moved["series"].nunique() > 1 else ""
    return (
        f"{text}{count_text(faster, 'line')} faster, {slower} slower{unclear}, from "
        f"{ratio.min():.3f} to {ratio.max():.3f} times the speed; "
        f"clearest at {first['ranks']} ranks, {first['message_size']} B{setting}: "
        f"{first['ratio']:.3f} ({first['before']} jobs before, {first['after']} after)"
    )


def _plain(made: History) -> dict[str, Any]:
    return {
        "launches": [
            {"launch": launch, "time": _date(time), "job": job}
            for launch, time, job in made.launches.itertuples(index=False)
        ],
        "lines": tables.records(made.lines),
        "lacking": made.lacking,
        "changes": [
            {
                "before": change.before,
                "after": change.after,
                "time": _date(change.time),
                "p": change.p,
                "lines": tables.records(change.lines[[*LINE, "ratio", "before", "after", "p"]]),
                "differences": {
                    x.name: {"before": x.baseline, "after": x.candidate}
                    for x in change.differences.between
                },
            }
            for change in made.changes
        ],
    }
