# SPDX-License-Identifier: BSD-3-Clause
"""How results become text: every column's heading and how its values are written, and the layouts.

Text, CSV, JSON and the tables of the report all ask here.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from a2aperf import grouping, schema
from a2aperf.columns import aligned
from a2aperf.errors import InputError
from a2aperf.maxima import are_maxima
from a2aperf.results import ALIASES, NOT_ALL_TO_ALL, PAIR, Results

UNKNOWN = "-"


@dataclass(frozen=True)
class Shown:
    """How a column looks in text: its heading with the unit, and how a value is written."""

    heading: str
    write: Callable[[Any], str] = str
    left: bool = False


def _scaled(factor: float, decimals: int) -> Callable[[Any], str]:
    return lambda value: f"{float(value) * factor:.{decimals}f}"


def general(value: Any) -> str:
    """Any value, numbers with four digits."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def window(value: Any) -> str:
    """Outstanding sends as on the program's command line: the file has 0 where it was `all`."""
    return "all" if value == 0 else general(value)


def _of_pair(rate: Any) -> str:
    return f"{rate:.3f}" if rate < 1 else f"{rate:.2f}"


microseconds, gbps, _percent = _scaled(1e-3, 2), _scaled(1, 2), _scaled(100, 1)

SHOWN: dict[str, Shown] = {
    "message_size": Shown("msg B", general),
    "ranks_per_node": Shown("ppn", general),
    "window": Shown("window", window),
    "time_mean": Shown("avg µs", microseconds),
    "gbps_rank": Shown("Gbit/s/rank", gbps),
    "gbps_node_net": Shown("Gbit/s/node", gbps),
    "msg_rate": Shown("Mmsg/s", _scaled(1e-6, 3)),
    "efficiency": Shown("efficiency %", _percent),
    "last_rank_share": Shown("last %", _percent),
    "autocorrelation": Shown("autocorr", _scaled(1, 2)),
    "gbps": Shown("Gbit/s", _of_pair),
    "isolated_gbps": Shown("alone Gbit/s", gbps),
    "expected_share": Shown("expected %", _scaled(100, 0)),
    "ratio": Shown("ratio", _scaled(1, 3)),
    "ratio_low": Shown("ratio low", _scaled(1, 3)),
    "ratio_high": Shown("ratio high", _scaled(1, 3)),
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


def shown(name: str, columns: Mapping[str, schema.Column] = schema.COLUMN) -> Shown:
    """Heading and writer of any column, also of settings that are no column."""
    if name in SHOWN:
        return SHOWN[name]
    column = columns.get(name)
    if column is None:
        return Shown(name, general, left=name not in ("point", "rails", "link_rate_gbps"))
    heading = name.removeprefix("time_").replace("_", " ")
    if column.units == "ns":
        return Shown(f"{heading} µs", microseconds)
    if column.units == "Gbit/s":
        return Shown("Gbit/s " + heading.removeprefix("gbps "), gbps)
    return Shown(heading, general, left=column.kind == "string")


def of_role(found: Results, role: str, asked: str = "--role ") -> Results:
    """The points of the roles (with commas between them, or `all`); there is one, or InputError."""
    known = ("measure", "baseline", "sentinel", PAIR)
    wanted = known if role == "all" else tuple(role.split(","))
    if not set(wanted) <= set(known):
        raise InputError(f"{asked}{role}: expected one of {', '.join(known)}, all")
    chosen = found.select(found.points["role"].isin(wanted))
    if chosen.points.empty and found.with_pairs:
        raise InputError(f"{found.files[found.with_pairs[0]]}: {NOT_ALL_TO_ALL}")
    if chosen.points.empty:
        raise InputError(f"no point has role {role}")
    return chosen


def columns_for(results: Results, names: Sequence[str]) -> list[str]:
    """The names, preceded by what differs between the rows and followed by the ratio if any."""
    points = results.points
    # a file may hold several launches
    which = "launch" if len(results.launches) > points["file"].nunique() else "file"
    varying = [
        name for name in (which, *VARYING) if name not in names and points[name].nunique() > 1
    ]
    if "engine" in varying and "sentinel" not in set(points["role"]):
        varying = [name for name in varying if name != "role"]  # the engine tells a baseline apart
    ratio = ["ratio", "ratio_low", "ratio_high"] if points["ratio"].notna().any() else []
    return [name for name in (*varying, *names, *ratio) if name not in results.absent]


def frame(results: Results, names: Iterable[str]) -> pd.DataFrame:
    """The named columns, also settings (labels, variables, …), by their full names."""
    return pd.DataFrame({ALIASES.get(name, name): results.values(name) for name in names})


def text(
    results: Results, names: Sequence[str], mark_maximum: bool = False, steady: bool = False
) -> list[str]:
    """Aligned lines, the heading first; `mark_maximum` says where a percentile is the maximum.

    A point that is not complete says why in a last column. `steady` columns have room for the usual
    values, so that the lines of several calls can stand under one heading.
    """
    data = frame(results, names)
    notes = [_note(row) for _, row in results.points.iterrows()]
    columns: list[list[str]] = []
    left: list[bool] = []
    for name in data.columns:
        look = shown(name, results.columns)
        cells = [or_unknown(value, look.write) for value in data[name]]
        if mark_maximum and name in PERCENTILES:
            capped = are_maxima(results, results.points, PERCENTILES[name])
            cells = [
                f"{cell} =max" if cell != UNKNOWN and is_maximum else cell
                for cell, is_maximum in zip(cells, capped, strict=True)
            ]
        columns.append([look.heading, *cells])
        left.append(look.left)
    if any(notes):
        columns.append(["note", *notes])
        left.append(True)
    least = [_WORD if is_left else _NUMBER for is_left in left] if steady else []
    return aligned(list(zip(*columns, strict=True)), left, least)


def or_unknown(value: Any, write: Callable[[Any], str] = str) -> str:
    """The value as written, or the sign for what is not known."""
    return UNKNOWN if missing(value) else write(value)


def missing(value: Any) -> bool:
    """Whether it stands for "not known"."""
    return value is pd.NA or value is None or value == "" or value != value


def _note(row: "pd.Series[Any]") -> str:
    if row["state"] == "complete":
        return ""
    reason = row["skip_reason"]
    return f"{row['state']}: {reason}" if reason else str(row["state"])


# For machines ------------------------------------------------------------------------------------


def every_column(results: Results) -> list[str]:
    """All that is known of a point: the file's columns and what its launch recorded."""
    columns = [name for name in results.columns if name not in results.absent]
    own = ["file", "point", "launch", *columns, "link_rate_gbps", "rails"]
    return own + grouping.recorded_names(results)


def described(
    columns: Mapping[str, schema.Column], names: Iterable[str]
) -> dict[str, dict[str, str]]:
    """`long_name`, `units` and `better` of each name, where it has any."""
    told = {}
    for name in names:
        column = columns.get(name)
        known = {key: getattr(column, key, "") for key in ("long_name", "units", "better")}
        told[name] = {key: value for key, value in known.items() if value}
    return told


def as_json(data: pd.DataFrame, columns: Mapping[str, schema.Column]) -> str:
    """An object with `columns` (long name, units) and `rows`; unknown is null."""
    rows = [{name: plain(value) for name, value in row.items()} for row in data.to_dict("records")]
    told = described(columns, map(str, data))
    document = {"schema": schema.SCHEMA, "columns": told, "rows": rows}
    return json.dumps(document, indent=1, ensure_ascii=False)


def plain(value: Any) -> Any:
    """A value as JSON has it; what is unknown or no number there is None."""
    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value.item() if hasattr(value, "item") else value
