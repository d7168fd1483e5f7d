# SPDX-License-Identifier: BSD-3-Clause
"""The paths as rows: for the terminal, for machines, for the report."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from a2aperf import layouts, schema
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results
from a2aperf.tables import Column, Table, missing
from a2aperf.workloads.qos import experiments, received
from a2aperf.workloads.qos.experiments import Experiment
from a2aperf.workloads.qos.stored import GROUP
from a2aperf.workloads.workload import Listing


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _with_interval(name: str) -> Column:
    def write(row: Any) -> str:
        if missing(row[name]):
            return "-"
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        span = "" if missing(low) else f" ({_percent(low)} to {_percent(high)})"
        return f"{_percent(row[name])}{span}"

    heads = {"share": "share %", "class_share": "class %"}
    return Column(heads[name], write, by=name)


SHOWN: Final = {
    "share": _with_interval("share"),
    "class_share": _with_interval("class_share"),
    "expected_share": Column("expected %", _percent, of="expected_share"),
    "idle": Column("idle %", _percent, of="idle"),
    "gbps": Column("Gbit/s", layouts.gbps, of="gbps"),
    "alone_gbps": Column("Gbit/s alone", layouts.gbps, of="alone_gbps"),
}

_SHARE = "of what all paths carry"
COLUMNS: Final = {
    column.name: column
    for column in (
        schema.Column("file", "string", ""),
        schema.Column("launch", "string", "file and segment"),
        schema.Column("point", "int64", "row of the points"),
        schema.Column("path", "int32", "which of the paths of its point"),
        schema.Column("source", "int32", "rank that sends"),
        schema.Column("destination", "int32", "rank that receives"),
        *(
            schema.Column(name, "string", GROUP.datasets[name].long_name)
            for name in ("class_requested", "class_granted", "class_verified", "class_trouble")
        ),
        schema.Column("message_size", "int64", "bytes of a message", "B"),
        schema.Column("window", "int32", "messages under way"),
        schema.Column("mode", "string", "transfer mode"),
        schema.Column("memory", "string", "pages of the message buffers"),
        schema.Column("core", "int32", "CPU of the thread that drives it"),
        schema.Column("port", "string", "adapter and port"),
        schema.Column("intervals", "int64", "intervals in which every path could send"),
        schema.Column("shared_time", "int64", "how long they are together", "ns"),
        schema.Column("messages", "int64", "that came in them"),
        schema.Column("bytes", "int64", "payload that came in them", "B"),
        schema.Column("byte_rate", "float64", "payload per second", "B/s", better="higher"),
        schema.Column("gbps", "float64", "payload per second", "Gbit/s", better="higher"),
        schema.Column("idle", "float64", "share of the time with nothing outstanding"),
        schema.Column("share", "float64", f"share {_SHARE}"),
        schema.Column("share_low", "float64", "lower end of its 95 % interval"),
        schema.Column("share_high", "float64", "upper end of its 95 % interval"),
        schema.Column("class_share", "float64", f"share of its class {_SHARE}"),
        schema.Column("class_share_low", "float64", "lower end of its 95 % interval"),
        schema.Column("class_share_high", "float64", "upper end of its 95 % interval"),
        schema.Column("expected_share", "float64", "share that arbitration says"),
        schema.Column("expected_by", "string", "what says so"),
        schema.Column("alone_gbps", "float64", "of such a path by itself", "Gbit/s"),
        schema.Column("total_gbps", "float64", "of all paths of the point", "Gbit/s"),
        schema.Column("jain", "float64", "Jain's index of the paths of the point"),
    )
}
_TEXTS = ("class_requested", "class_granted", "class_verified", "class_trouble", "mode", "port")
_NUMBERS = ("source", "destination", "window", "core")


def frame(results: Results) -> pd.DataFrame:
    """Every path of every complete point, with the columns of COLUMNS."""
    rows = [row for one in experiments.of(results) for row in _rows(one)]
    made = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in (*_NUMBERS, "messages", "bytes"):
        made[name] = made[name].astype("Int64")
    return made


def _rows(one: Experiment) -> list[dict[str, Any]]:
    part, expected = one.shared, one.expected
    told = []
    for place, row in enumerate(one.rows):
        paths = one.paths
        mine = one.shares[place]
        of_class = one.share(one.of_class(place))
        known: dict[str, Any] = {
            "file": one.file,
            "launch": one.launch.id,
            "point": one.point,
            "path": int(paths.number[row]),
            "message_size": int(paths.message_size[row]),
            **{name: str(getattr(paths, name)[row]) for name in _TEXTS},
            **{name: _known(getattr(paths, name)[row]) for name in _NUMBERS},
            "memory": str(one.row.get("memory", "")),
            "intervals": 0 if part is None else part.count,
            "shared_time": 0 if part is None else round(part.seconds * 1e9),
            "share": mine.value,
            "share_low": mine.low,
            "share_high": mine.high,
            "class_share": of_class.value,
            "class_share_low": of_class.low,
            "class_share_high": of_class.high,
            "expected_share": expected.shares[place] if expected else np.nan,
            "expected_by": expected.source if expected else "",
            "alone_gbps": one.alone[place] * 8e-9,
            "total_gbps": one.row["gbps"],
            "jain": one.row["jain"] if one.has_shares else np.nan,
        }
        if part is not None and part.known[place]:
            rate = float(part.bytes[place].sum()) / part.seconds
            known |= {
                "messages": int(part.messages[place].sum()),
                "bytes": int(part.bytes[place].sum()),
                "byte_rate": rate,
                "gbps": rate * 8e-9,
                "idle": part.idle[place],
            }
        told.append(known)
    return told


def _known(value: Any) -> Any:
    return pd.NA if value == schema.UNKNOWN else int(value)


def _table(found: pd.DataFrame, caption: str = "") -> Table:
    """A row per path; a column that says nothing is left out."""
    names = ["point", "path", "class_requested", "class_granted", "class_verified", "class_trouble"]
    names += ["message_size", "window", "mode", "intervals", "gbps", "share"]
    if (found.groupby(["file", "point"])["class_requested"].transform("nunique") > 1).any():
        names.append("class_share")
    names += ["expected_share", "idle", "alone_gbps", "total_gbps", "jain"]
    if found["memory"].nunique() > 1:
        names.insert(names.index("intervals"), "memory")
    if found["launch"].nunique() > 1:
        names.insert(0, "launch")
    kept = [name for name in names if any(not missing(value) for value in found[name])]
    made = [SHOWN.get(name) or layouts.shown(name, COLUMNS) for name in kept]
    return Table.of(made, found, caption)


def _reported(results: Results) -> Table | None:
    """All paths, for the report; None without any."""
    found = frame(results)
    if found.empty:
        return None
    return _table(
        found,
        "Rates in Gbit/s and shares over the intervals in which every path could send; expected: "
        "what arbitration says, by the tables or weights that the launch has.",
    )


LISTING: Final = Listing(
    "paths that share a link",
    "paths",
    "no path is measured yet",
    COLUMNS,
    frame,
    lambda found: (_table(found), _note(found)),
    "Paths",
    _reported,
    {"qos": received.lines},
    "qos has a line for each interval of paths that share a link, as published.",
)


def _note(found: pd.DataFrame) -> str:
    """What limits the shares; empty where nothing does."""
    if found["share"].notna().any() and found["share_low"].isna().all():
        return "shares of fewer than 10 intervals have no interval of their own"
    return ""
