# SPDX-License-Identifier: BSD-3-Clause
"""`a2a table`: results as text."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer

from a2aperf import (
    counter_table,
    counter_values,
    filters,
    layouts,
    loading,
    node_table,
    oversubscription,
    results,
    roles,
    schema,
    start_table,
    tables,
    terminal,
    text_layouts,
    thread_cpus,
    workloads,
)
from a2aperf.commands.options import Files, Where
from a2aperf.counter_table import Phase
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.workloads.workload import Listing, Workload

EXAMPLES = """\
a2a table run.h5
a2a table r20.h5 r40.h5 --where 'message_size>=10kB' --where ppn=2
a2a table run.h5 --columns ranks,ppn,PSM2_RCVTHREAD,time_p50,gbps_bisection
a2a table *.h5 --layout compat > table.txt
a2a table *.h5 --csv > all.csv
a2a table run.h5 --counters --where message_size=60kB
a2a table run.h5 --counters --phase start
a2a table run.h5 --counters --values     before → after (difference)
a2a table run.h5 --start-times
a2a table *.h5 --nodes                   which node is late, over all launches
"""


Layout = StrEnum("Layout", {name.upper(): name for name in text_layouts.ALL})  # type: ignore[misc]
_DEFAULT = next(iter(Layout))


def run(
    files: Files,
    layout: Annotated[
        Layout, typer.Option(help=" ".join(x.says for x in text_layouts.ALL.values() if x.says))
    ] = _DEFAULT,
    columns: Annotated[
        str,
        typer.Option(
            metavar="A,B,…",
            help="Other columns: any of the file's, a label, a variable, a node fact.",
        ),
    ] = "",
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated, all columns.")] = False,
    json: Annotated[bool, typer.Option("--json", help="JSON, all columns.")] = False,
    counters: Annotated[
        bool,
        typer.Option(
            "--counters",
            help="What system and ports counted at each point, per message, per GB and per s.",
        ),
    ] = False,
    phase: Annotated[
        Phase | None,
        typer.Option(help="With --counters: while what; timed unless told otherwise."),
    ] = None,
    values: Annotated[
        bool,
        typer.Option("--values", help="With --counters: before → after (difference) of each."),
    ] = False,
    start_times: Annotated[
        bool,
        typer.Option(
            "--start-times",
            help="How long the start of each launch took, phase by phase.",
        ),
    ] = False,
    nodes: Annotated[
        bool,
        typer.Option("--nodes", help="One line per node: in how many launches it was late."),
    ] = False,
    where: Where = [],  # noqa: B006
    role: Annotated[
        str,
        typer.Option(help=f"Roles to show: {', '.join(roles.KNOWN)} or all."),
    ] = roles.DEFAULT,
) -> None:
    """Print results, one line per point.

    Text shows times in µs and rates in Gbit/s; CSV and JSON keep the names and units of the file
    (ns, Gbit/s), round nothing, and have the settings of the launch: labels, variables of the
    fabric and how it was measured (not with --counters). What is not known is '-' (CSV: empty,
    JSON: null).

    Of a matrix of pairs: one line per pair, of more than 8 ranks the slowest 20; CSV and JSON have
    all.

    With --counters: what the operating system and the ports counted at each point, of all ranks or
    nodes together, of the one with least and most, and by messages and GB (1e9 B) of payload.
    Settings are those of the points. --phase verification has what the verification of each point
    counted, --phase start the start of each launch: nobody knows how much these moved, and nothing
    is divided.

    With --counters --values: what each had counted before the point's ops and after them, as
    before → after (difference), and the frequency of the ranks' CPUs. Text has the sum of all ranks
    or nodes and the one that changed most; CSV and JSON have each rank and node. What was not read
    before and after (older files, other phases) has the difference alone.

    Below the counters stand the CPUs that the threads of each rank might use.

    With --start-times: a line for each phase of a launch's start, from the program's first step
    until the results file can be made. Where ranks wait for one another, a phase took as long as
    the rank that waited least, otherwise as the slowest.

    With --nodes: each node over all launches, between which ranks are shuffled: in how many its
    ranks were late beyond the other nodes, or early, and by how much; it stands out where that is
    beyond chance (5 % for all nodes together).
    """
    if csv and json:
        raise InputError("give --csv or --json, not both")
    loaded = loading.load(files)
    given = {"--columns": bool(columns), "--layout": layout is not _DEFAULT}
    counted = {**given, "--counters": counters, "--phase": bool(phase), "--values": values}
    if start_times:
        _refuse("--start-times", {**counted, "--nodes": nodes, "--role": role != roles.DEFAULT})
        _start(filters.where(loaded, where), csv, json)
    elif nodes:
        _refuse("--nodes", {**counted, "--role": role != roles.DEFAULT})
        _say_nodes(filters.where(loaded, where), csv, json)
    elif counters:
        _refuse("--counters", given)
        chosen_role = role if role != roles.DEFAULT or _has(loaded, role) else "all"
        measured = _measured(filters.where(roles.chosen(loaded, chosen_role), where))
        _tell_others(loaded, chosen_role)
        show = _say_values if values else _count
        show(measured, phase or Phase.TIMED, csv, json)
    elif phase or values:
        raise InputError(f"{'--phase' if phase else '--values'} is of --counters: give both")
    else:
        _say_points(loaded, role, where, columns, layout, csv, json)


def _say_points(
    loaded: results.Results,
    role: str,
    where: list[str],
    columns: str,
    layout: Layout,
    csv: bool,
    json: bool,
) -> None:
    if says_role := role == roles.DEFAULT and filters.names_role(where):
        loaded, where = filters.where(loaded, where), []
    if role == roles.DEFAULT and not _has(loaded, role):
        other = next((one for one in workloads.present(loaded) if one.files(loaded)), None)
        if other and other.listing:
            _tell_others(loaded, ",".join(other.roles))
            _list(other, other.listing, filters.where(loaded, where), columns, layout, csv, json)
            return
        role = "all"
    elif says_role:
        role = "all"
    found = filters.where(roles.chosen(loaded, role), where)
    _tell_others(loaded, role)
    names = [name.strip() for name in columns.split(",") if name.strip()]
    chosen = text_layouts.ALL[layout.value]
    if names and not chosen.takes_columns and not (csv or json):
        raise InputError(f"--layout {layout} has fixed columns; --columns needs another layout")
    layouts.frame(found, names)  # refuses a name that no file knows, before anything is said
    found = _measured(found)
    _say_oversubscribed(found)
    if words := found.judged.rest_on(found.points):
        terminal.tell(f"a2a: {words}")
    if len(loaded.files) > 1:
        order = found.points.sort_values(["ranks", "ppn"], kind="stable").index
        found = found.reordered(order)
    own = workloads.table_columns(found)
    if own and chosen.is_of_alltoalls and not (csv or json):
        found.refuse_others()
    if csv or json:
        data = layouts.frame(found, names or layouts.every_column(found))
        _say_data(data, found.columns, json)
    else:
        _print(chosen.lines(found, names or _known(found, own)))


def _tell_others(loaded: results.Results, role: str) -> None:
    """Of workloads that have no point of a role that is shown."""
    if role == "all":
        return
    for one in workloads.present(loaded):
        of_it = loaded.points["role"].isin(one.roles) & (loaded.points["state"] != "pending")
        if of_it.any() and not set(one.roles) & set(role.split(",")):
            count = count_text(int(of_it.sum()), "point")
            also = f"--role {','.join(one.roles)}"
            terminal.tell(f"a2a: {count} of {one.key} left out; {also} shows them")


def _refuse(beside: str, given: Mapping[str, bool]) -> None:
    for option in (option for option, is_given in given.items() if is_given):
        raise InputError(f"give {option} or {beside}, not both")


def _measured(found: results.Results) -> results.Results:
    """Without the points that are not measured yet, which are told."""
    pending = found.points.loc[found.points["state"] == "pending", "role"]
    waiting = sum(map(schema.is_counted, pending))
    found = found.select(found.points["state"] != "pending")
    if found.points.empty:
        raise InputError("no point is measured yet")
    if waiting:
        verb = "is" if waiting == 1 else "are"
        why = ", ".join(
            dict.fromkeys(x.unfinished for x in found.launches.values() if x.unfinished)
        )
        told = f"a2a: {count_text(waiting, 'point')} {verb} not measured yet"
        terminal.tell(f"{told} (a launch was {why})" if why else told)
    return found


def _say_nodes(found: results.Results, csv: bool, json: bool) -> None:
    said = node_table.study(found)
    if csv or json:
        _say_data(node_table.frame(said), node_table.COLUMNS, json)
        return
    made, notes = node_table.table(said)
    _print(made.lines())
    terminal.tell(*(f"a2a: {note}" for note in notes))


def _count(found: results.Results, phase: Phase, csv: bool, json: bool) -> None:
    frame = counter_table.frame(found, phase)
    if left_out := counter_table.left_out(found, frame):
        terminal.tell(f"a2a: {left_out}")
    if csv or json:
        _say_data(frame, {**found.columns, **counter_table.COLUMNS}, json)
        return
    _say_oversubscribed(found)
    table, note = counter_table.table(frame, found.columns)
    _print(table.lines())
    if note:
        terminal.tell(f"a2a: {note}")
    _say_cpus(found, phase)


def _say_values(found: results.Results, phase: Phase, csv: bool, json: bool) -> None:
    if csv or json:
        frame, notes = counter_values.frame(found, phase)
        terminal.tell(*(f"a2a: {note}" for note in notes))
        _say_data(frame, {**found.columns, **counter_values.COLUMNS}, json)
        return
    table, notes = counter_values.table(found, phase)
    _say_oversubscribed(found)
    _print(table.lines())
    terminal.tell(*(f"a2a: {note}" for note in notes))
    _say_cpus(found, phase)


def _say_cpus(found: results.Results, phase: Phase) -> None:
    """Of the threads, below the counters of the timed part: they are looked at after it."""
    table, note = thread_cpus.table(found) if phase is Phase.TIMED else (None, "")
    if table:
        terminal.say("")
        _print(table.lines())
    if note:
        terminal.tell(f"a2a: {note}")


def _start(found: results.Results, csv: bool, json: bool) -> None:
    frame = start_table.frame(found)
    if left_out := start_table.left_out(found, frame):
        terminal.tell(f"a2a: {left_out}")
    if csv or json:
        _say_data(frame, start_table.COLUMNS, json)
        return
    _say_oversubscribed(found)
    _print(start_table.table(frame).lines())


def _known(found: results.Results, names: list[str]) -> list[str]:
    """What tells the rows apart, and of the columns that a workload has those with a value."""
    chosen = layouts.columns_for(found, [*dict.fromkeys(names)]) if names else []
    return [
        name for name in chosen if any(not tables.missing(value) for value in found.values(name))
    ]


def _has(found: results.Results, role: str) -> bool:
    return bool(found.points["role"].isin(role.split(",")).any())


def _say_oversubscribed(found: results.Results) -> None:
    for words in oversubscription.in_launches(found.launches):
        terminal.tell(f"a2a: {words}")


def _say_data(frame: pd.DataFrame, columns: Mapping[str, schema.Column], json: bool) -> None:
    terminal.say_text(tables.as_json(frame, columns) if json else tables.as_csv(frame))


def _print(lines: list[str]) -> None:
    heading, *rows = lines
    terminal.say(terminal.Bold(heading), *rows)


def _list(
    of: Workload,
    listing: Listing,
    found: results.Results,
    columns: str,
    layout: Layout,
    csv: bool,
    json: bool,
) -> None:
    own = listing.texts.get(layout.value)
    given = [("--columns", columns), ("--layout", layout is not _DEFAULT and not own)]
    for option in [option for option, is_given in given if is_given]:
        (name, *_) = of.files(found)
        raise InputError(f"{option} is for all-to-alls; {name} is {listing.what}")
    _say_oversubscribed(found)
    if own and not (csv or json):
        _print(own(found))
        return
    frame = listing.frame(found)
    if frame.empty:
        raise InputError(listing.nothing)
    if csv or json:
        columns_of_both = {**found.columns, **listing.columns}
        _say_data(layouts.with_settings(found, frame, of.roles), columns_of_both, json)
    else:
        table, note = listing.table(frame)
        _print(table.lines())
        if note:
            terminal.tell(f"a2a: {note}")
