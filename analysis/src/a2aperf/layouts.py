# SPDX-License-Identifier: BSD-3-Clause
"""The columns of results: every one's heading and how its values are written, and the layouts.

Text, CSV, JSON and the tables of the report all ask here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from a2aperf import draws, grouping, schema
from a2aperf.deferred import pandas as pd
from a2aperf.labels import number_text
from a2aperf.maxima import are_maxima
from a2aperf.results import ALIASES, Results
from a2aperf.tables import Cell, Column, Table, missing
from a2aperf.traits import Unsaid


def _scaled(factor: float, decimals: int) -> Callable[[Any], str]:
    return lambda value: f"{float(value) * factor:.{decimals}f}"


_HIDDEN = 0.1
"""Gbit/s, below which two decimals have one figure or none."""


def general(value: Any) -> str:
    """Any value, numbers with four digits."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def window(value: Any) -> str:
    """Outstanding sends as on the program's command line: the file has 0 where it was `all`."""
    return "all" if value == 0 else general(value)


def gbps(value: Any) -> str:
    """Two decimals, and two figures of what these would hide."""
    rate = float(value)
    return f"{rate:.2f}" if rate == 0 or rate >= _HIDDEN else number_text(rate, 2)


microseconds, _percent = _scaled(1e-3, 2), _scaled(100, 1)

SHOWN: dict[str, Column] = {
    "message_size": Column("msg B", general),
    "ranks_per_node": Column("ppn", general),
    "window": Column("window", window),
    "chunk": Column("cut above B", lambda value: "—" if value == 0 else general(value)),
    "window_bytes": Column("window B", lambda value: "—" if value == 0 else general(value)),
    "time_mean": Column("avg µs", microseconds),
    "gbps_rank": Column("Gbit/s/rank", gbps),
    "gbps_node_net": Column("Gbit/s/node", gbps),
    "gbps": Column("Gbit/s", gbps),
    "byte_rate": Column("MB/s", _scaled(1e-6, 2)),
    "stream_time": Column("time s", _scaled(1e-9, 6)),
    "shared_time": Column("time s", _scaled(1e-9, 3)),
    "msg_rate": Column("Mmsg/s", _scaled(1e-6, 3)),
    "offered_rate": Column("offered/s", _scaled(1, 0)),
    "achieved_rate": Column("achieved/s", _scaled(1, 0)),
    "efficiency": Column("efficiency %", _percent),
    "last_rank_share": Column("last %", _percent),
    "autocorrelation": Column("autocorr", _scaled(1, 2)),
    "ratio": Column("ratio", _scaled(1, 3)),
    "ratio_low": Column("ratio low", _scaled(1, 3)),
    "ratio_high": Column("ratio high", _scaled(1, 3)),
}

TABLE = (
    "ranks nodes ranks_per_node message_size ops time_min time_mean time_p50 time_p90 time_p99 "
    "time_max gbps_rank gbps_node_net"
).split()
WIDE = (
    "ranks nodes ranks_per_node message_size ops invalid time_min time_mean time_p50 "
    "time_p50_low time_p50_high time_p90 time_p99 time_p99_low time_p99_high time_max "
    "time_stddev autocorrelation interval_kind span_p50 rank_time_p50 gbps_rank gbps_compat "
    "gbps_node_net_min gbps_node_net gbps_node_net_max gbps_node_total gbps_node_compat "
    "gbps_duplex gbps_aggregate gbps_bisection gbps_sustained gbps_sustained_compat msg_rate "
    "efficiency last_rank last_rank_share"
).split()
LIVE = (
    "engine mode schedule ranks nodes ranks_per_node message_size ops time_p50 time_p90 time_p99 "
    "time_max gbps_rank gbps_node_net"
).split()
_WORD, _NUMBER = len("collective"), len("1000.00")  # of steady columns
VARYING = "role engine mode schedule distance window provider post".split()
"""Shown in front where the rows differ in them."""

PERCENTILES = {"time_p50": 0.5, "time_p90": 0.9, "time_p99": 0.99}


def shown(name: str, columns: Mapping[str, schema.Column] = schema.COLUMN) -> Column:
    """Heading and writer of any column, also of settings that are no column."""
    if name in SHOWN:
        return replace(SHOWN[name], of=name)
    column = columns.get(name)
    if column is None:
        is_word = name not in ("point", "rails", "link_rate_gbps")
        return Column(name, general, is_word, name)
    heading = name.removeprefix("time_").replace("_", " ")
    if column.units == "ns":
        return Column(f"{heading} µs", microseconds, of=name)
    if column.units == "Gbit/s":
        words = [word for word in heading.split() if word != "gbps"]
        return Column(" ".join(["Gbit/s", *words]), gbps, of=name)
    heading += {"B": " B", "%": " %", "1/s": "/s"}.get(column.units, "")
    return Column(heading, general, column.kind == "string", name)


def columns_for(results: Results, names: Sequence[str]) -> list[str]:
    """The names, preceded by what is to be told apart and followed by the ratio if any."""
    points = results.points
    # a file may hold several launches
    which = "launch" if len(results.launches) > points["file"].nunique() else "file"
    of_file = [which] if which not in names and _tells(results, which) else []
    ratio = ["ratio", "ratio_low", "ratio_high"] if points["ratio"].notna().any() else []
    shown = (*of_file, *varying(results, names), *names, *ratio)
    return [name for name in shown if name not in results.absent]


def varying(results: Results, names: Sequence[str]) -> list[str]:
    """What points are to be told apart by, beside the names."""
    points = results.points
    found = [
        name
        for name in (*VARYING, *results.choices)
        if name not in names and name in points and _tells(results, name)
    ]
    if draws.MATRIX not in names and draws.are_several(results, points):
        found.append(draws.MATRIX)
    if "engine" in found and "sentinel" not in set(points["role"]):
        found = [name for name in found if name != "role"]  # the engine tells a baseline apart
    return found


def _tells(results: Results, name: str) -> bool:
    """Whether a column has more than one value, or one that does not go without saying.

    Where it is a setting, unknown is a value, too.
    """
    points = results.points
    if name not in results.choices:
        return int(points[name].nunique()) > 1
    traits = {str(role): results.traits(str(role)) for role in points["role"].unique()}
    having = points[
        points["role"].isin(role for role, one in traits.items() if name in one.choices)
    ]
    usual = having["role"].map({role: one.usual.get(name) for role, one in traits.items()})
    is_known = ~having[name].map(missing).astype(bool)
    is_other = usual.notna() & is_known & (having[name] != usual)
    return bool(is_other.any()) or int(having[name].nunique(dropna=False)) > 1


def frame(results: Results, names: Iterable[str]) -> pd.DataFrame:
    """The named columns, also settings (labels, variables, …), by their full names.

    Figures that say nothing are not there (`traits.Unsaid`).
    """
    made = pd.DataFrame({ALIASES.get(name, name): results.values(name) for name in names})
    for unsaid, mask in _unsaid(results):
        for name in made.columns.intersection(list(unsaid.columns)):
            made[name] = made[name].mask(mask)
    return made


def _unsaid(results: Results) -> list[tuple[Unsaid, pd.Series[bool]]]:
    """What figures of which points say nothing, by their role."""
    found = []
    done = results.points[results.points["state"] == "complete"]
    for role, rows in done.groupby("role", sort=False):
        unsaid = results.traits(str(role)).unsaid
        if unsaid.columns and (here := unsaid.of(rows)).any():
            index = results.points.index
            found.append((unsaid, pd.Series(index.isin(rows.index[here]), index=index)))
    return found


def table(
    results: Results, names: Sequence[str], mark_maximum: bool = False, caption: str = ""
) -> Table:
    """One row per point; `mark_maximum` says where a percentile is the maximum.

    A point that is not complete, or of which figures say nothing, says why in a last column.
    """
    data = frame(results, names)
    columns = [shown(str(name), results.columns) for name in data]
    rows = [list(row) for row in Table.of(columns, data).rows]
    for place, column in enumerate(columns):
        if mark_maximum and column.of in PERCENTILES:
            capped = are_maxima(results, results.points, PERCENTILES[column.of])
            for row, is_maximum in zip(rows, capped, strict=True):
                row[place] = replace(
                    row[place], mark="max" if row[place].key and is_maximum else ""
                )
    notes = [_note(row) for _, row in results.points.iterrows()]
    for unsaid, mask in _unsaid(results):
        notes = [unsaid.why if here else note for note, here in zip(notes, mask, strict=True)]
    if any(notes):
        columns.append(Column("note", left=True))
        rows = [[*row, Cell(note)] for row, note in zip(rows, notes, strict=True)]
    return Table(columns, rows, caption)


def text(
    results: Results, names: Sequence[str], mark_maximum: bool = False, steady: bool = False
) -> list[str]:
    """The table's lines. `steady` columns have room for the usual values.

    So the lines of several calls can stand under one heading.
    """
    made = table(results, names, mark_maximum)
    least = [_WORD if column.left else _NUMBER for column in made.columns] if steady else []
    return made.lines(least)


def _note(row: pd.Series[Any]) -> str:
    if row["state"] == "complete":
        return ""
    reason = row["skip_reason"]
    return f"{row['state']}: {reason}" if reason else str(row["state"])


def every_column(results: Results) -> list[str]:
    """All that is known of a point: the file's columns and what its launch recorded."""
    columns = [name for name in results.columns if name not in results.absent]
    own = ["file", "point", "launch", *columns, "link_rate_gbps", "rails"]
    return own + grouping.recorded_names(results)


_OF_SETTING = "launch provider engine mode schedule window post nodes ranks ranks_per_node".split()


def with_settings(results: Results, rows: pd.DataFrame, of_role: Sequence[str]) -> pd.DataFrame:
    """The rows of a listing, and behind them what their points and launches were measured with.

    <NA> where it differs between the points that a row is of: those of its size, if it names none.
    """
    found = results.select(results.points["role"].isin(of_role))
    names = [name for name in (*_OF_SETTING, *found.choices) if name in found.points]
    names = [*dict.fromkeys([*names, *grouping.recorded_names(found)])]
    names = [name for name in names if name not in rows and name not in found.absent]
    place = ["file", "point" if "point" in rows else "message_size"]
    known = found.points[place].join(frame(found, names))
    known = known[found.points["state"] != "pending"]
    of_place = known.groupby(place, as_index=False, sort=False).agg(_only)
    return rows.merge(of_place, how="left", on=place)


def _only(values: pd.Series[Any]) -> Any:
    return values.iloc[0] if values.nunique(dropna=False) == 1 else pd.NA
