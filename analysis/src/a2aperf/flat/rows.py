# SPDX-License-Identifier: BSD-3-Clause
"""Tidy rows: one per point, pair or op, each with the key of its launch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from a2aperf import copies, layouts, roles, schema, workloads
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.workloads.workload import Listing

KEY: Final = "launch_id"
_KEYS: Final = {
    KEY: schema.Column(KEY, "string", "what no two launches share, in whatever file they are"),
    "file": schema.Column("file", "string", "name of the results file"),
    "point": schema.Column("point", "int64", "number of the point in its file, from 0"),
    "launch": schema.Column("launch", "string", "file and segment"),
    "link_rate_gbps": schema.Column(
        "link_rate_gbps", "float64", "rate of a link, one way", "Gbit/s"
    ),
    "rails": schema.Column("rails", "int64", "adapters that a node uses"),
    "op": schema.Column("op", "int64", "attempt at an op of the point, from 0"),
    "valid": schema.Column("valid", "int8", "1: no rank began late"),
    "start": schema.Column("start", "int64", "start of the op since 1970", "ns"),
    "time": schema.Column("time", "int64", "the op's time T, the last rank's", "ns"),
}
_RECORDED: Final = "recorded of the launch: an option, a version, a label or a variable"
_OF_POINT: Final = ("file", "point", "launch", "provider", "mode", "schedule", "message_size")


@dataclass(frozen=True)
class Flat:
    """Rows, and what each of their columns is."""

    rows: pd.DataFrame
    columns: Mapping[str, schema.Column]


def _of_points(found: Results) -> Flat:
    chosen = roles.chosen(found, "all", "")
    chosen = chosen.select(chosen.points["state"] != "pending")
    frame = layouts.frame(chosen, layouts.every_column(chosen))
    recorded = {str(name): schema.Column(str(name), "string", _RECORDED) for name in frame}
    return _keyed(found, frame, {**recorded, **found.columns})


def _of_listing(listing: Listing, found: Results) -> Flat:
    frame = listing.frame(found)
    if "launch" not in frame:
        # Of a file that was resumed it is not known which of its launches a pair is of.
        launches = found.points.groupby("file")["launch"]
        only = launches.first().where(launches.nunique() == 1)
        frame.insert(0, "launch", frame["file"].map(only))
    return _keyed(found, frame, dict(listing.columns))


def _of_ops(found: Results) -> Flat:
    parts = list(_ops(found))
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"launch": []})
    return _keyed(found, frame, dict(found.columns))


def _ops(found: Results) -> Iterator[pd.DataFrame]:
    points = found.points[found.points["has_raw"] & (found.points["state"] == "complete")]
    for row in points.to_dict("records"):
        if not workloads.of_role(row["role"]).ops_are_attempts:
            continue
        raw = found.raw(str(row["file"]), int(row["point"]))
        origin = int(found.launches[str(row["launch"])].attributes["time_origin"])
        end = raw.end.max(axis=1)
        yield pd.DataFrame(
            {
                **{name: row[name] for name in _OF_POINT},
                "op": np.arange(len(end)),
                "valid": raw.valid.astype(int),
                "start": raw.start + origin,
                "time": end,
            }
        )


def _keyed(found: Results, frame: pd.DataFrame, columns: dict[str, schema.Column]) -> Flat:
    """With the launch's key in front."""
    if frame.empty:
        return Flat(frame, {**columns, **_KEYS})
    keys = {name: _key(launch) for name, launch in found.launches.items()}
    # What is no launch's comes and goes with the first of its file, whose key stays when the file
    # is resumed: a point that was skipped, pairs of several launches.
    of_file: dict[Path, str] = {}
    for name, launch in found.launches.items():
        of_file.setdefault(launch.path, keys[name])
    of_first = frame["file"].map({name: of_file.get(path) for name, path in found.files.items()})
    # What a launch recorded may have any name.
    free = next(name for i in count(2) if (name := f"{KEY}_{i}") not in frame.columns)
    frame = frame.rename(columns={KEY: free})
    rows = frame.assign(**{KEY: frame["launch"].map(keys).fillna(of_first)})
    return Flat(rows[[KEY, *frame.columns]], {**columns, **_KEYS})


def _key(launch: Launch) -> str:
    return hashlib.sha256(copies.key(launch).encode()).hexdigest()[:16]


KINDS: Final[Mapping[str, Callable[[Results], Flat]]] = {
    "points": _of_points,
    **{
        one.listing.method: partial(_of_listing, one.listing)
        for one in workloads.ALL
        if one.listing
    },
    "ops": _of_ops,
}


def of(found: Results, kind: str) -> Flat:
    """The rows of that kind; InputError where there is none."""
    if kind not in KINDS:
        raise InputError(f"--rows {kind}: expected one of {', '.join(KINDS)}")
    made = KINDS[kind](found)
    if made.rows.empty:
        raise InputError(f"there are no {kind} in these files")
    return made
