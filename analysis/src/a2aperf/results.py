# SPDX-License-Identifier: BSD-3-Clause
"""Results of one or many files: points as a table, launches by name, raw samples on demand."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from a2aperf import copies, metrics, reading, schema
from a2aperf.datasets import Described
from a2aperf.errors import InputError

Made = TypeVar("Made")

ALIASES = {
    "ppn": "ranks_per_node",
    "size": "message_size",
    "msg": "message_size",
    "n": "ops",
    "version": "program_version",
}


@dataclass(frozen=True)
class Launch:
    """One segment of one file: who measured, where, with what."""

    id: str
    path: Path
    segment: int
    attributes: dict[str, Any]
    environment: dict[str, str]
    labels: dict[str, str]
    attachments: dict[str, str]
    nodes: list[str]
    node_of_rank: NDArray[np.int32]
    node_facts: dict[str, list[str]]
    rank_facts: dict[str, list[str]]
    end_state: str = "finished"
    message: str = ""
    fi_info: str = ""

    def setting(self, name: str) -> str | None:
        """Value of a label, variable, attribute or node fact; None where it is not recorded.

        Node facts that differ between nodes are joined: `a, b`.
        """
        for source in (self.labels, self.environment):
            if name in source:
                return source[name]
        if name in self.attributes:
            value = self.attributes[name]
            unknown = value in ("", schema.UNKNOWN) or value != value  # NaN
            return None if unknown else str(value)
        if name in self.node_facts:
            return ", ".join(sorted({fact for fact in self.node_facts[name] if fact})) or None
        return None

    def host_of(self, rank: int) -> str:
        """Name of the node that a rank was on; `?` where that is not recorded."""
        known = rank < len(self.node_of_rank)
        return self.nodes[int(self.node_of_rank[rank])] if known else "?"

    @property
    def tuned(self) -> set[str]:
        """Variables that a2aperf set by itself for the provider and the number of ranks."""
        words = str(self.attributes.get("tuned_environment", "")).split()
        return {word.partition("=")[0] for word in words}

    @property
    def setting_names(self) -> set[str]:
        """Every name that `setting` answers to."""
        return {*self.labels, *self.environment, *self.attributes, *self.node_facts}


@dataclass(frozen=True)
class RawOps:
    """Every attempt of one point, with the times that follow from it.

    begin, send_done, recv_done: int64 [attempts, R], ns; start: int64 [attempts]; valid [attempts].
    send_done is schema.NO_MOMENT where the receivers fetch the messages.
    """

    begin: NDArray[np.int64]
    send_done: NDArray[np.int64]
    recv_done: NDArray[np.int64]
    start: NDArray[np.int64]
    valid: NDArray[np.bool_]
    complete_at: str = "receiver"
    exit: NDArray[np.int64] | None = None

    @property
    def samples(self) -> schema.Raw:
        """The same as they are stored."""
        return schema.Raw(
            self.begin, self.send_done, self.recv_done, self.start, self.valid, self.exit
        )

    @property
    def has_send_done(self) -> bool:
        """Whether anything told the ranks that their sends were done."""
        return not (self.send_done == schema.NO_MOMENT).any()

    @property
    def end(self) -> NDArray[np.int64]:
        """End of every rank's op [attempts, R], ns."""
        return metrics.rank_end(self.send_done, self.recv_done, self.complete_at)

    def op_times(self) -> NDArray[np.float64]:
        """T of every attempt [attempts], ns, valid or not."""
        return metrics.op_time(self.end)


@dataclass(frozen=True)
class Results:
    """Points of all files, one row each, and the launches that measured them.

    `points` has every column of the file (integers that are unknown are <NA>, enumerations are
    words) plus `file`, `point`, `launch`, `ppn`, `link_rate_gbps`, `rails` and `has_raw`.
    """

    points: pd.DataFrame
    launches: dict[str, Launch]
    files: dict[str, Path]
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)
    columns: dict[str, schema.Column] = field(default_factory=lambda: dict(schema.COLUMN))
    """What the columns of the points are, as the files describe them."""
    absent: frozenset[str] = frozenset()
    """Columns that no file has: blank in `points`, and refused where they are asked for."""
    _times: dict[tuple[str, int], NDArray[np.float64]] = field(default_factory=dict, repr=False)
    """Op times read so far, shared by all selections: several analyses ask for the same."""

    def raw(self, file: str, point: int) -> RawOps:
        """Every sample of one point, read now; InputError where the file holds only a summary."""
        attempts, ranks = self._shape(file, point)
        with reading.open_results(self.files[file]) as stream:
            raw = reading.read_raw(stream, point, attempts, ranks)
        complete_at = self._complete_at(file)
        return RawOps(
            raw.begin, raw.send_done, raw.recv_done, raw.start, raw.valid, complete_at, raw.exit
        )

    def op_times(self, file: str, point: int) -> NDArray[np.float64]:
        """T of the valid ops of one point, ns, in the order of measurement."""
        known = self._times.get((file, point))
        if known is None:
            attempts, ranks = self._shape(file, point)
            with reading.open_results(self.files[file]) as stream:
                ends = reading.read_ends(stream, point, attempts, ranks)
            end = metrics.rank_end(ends.send_done, ends.recv_done, self._complete_at(file))
            known = self._times[file, point] = metrics.op_time(end)[ends.valid]
        return known.copy()

    def arrival(
        self, file: str, point: int, attempts: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64] | None:
        """When each message of these attempts (default: all) came [attempts, destination, source].

        In ns from the op's start; −1: none. None where the launch did not trace.
        """
        count, ranks = self._shape(file, point)
        wanted = np.arange(count) if attempts is None else np.sort(attempts)
        with reading.open_results(self.files[file]) as stream:
            return reading.read_arrival(stream, point, wanted, ranks)

    def is_traced(self, file: str) -> bool:
        """Whether the file says when each message came."""
        with reading.open_results(self.files[file]) as stream:
            return reading.has_arrival(stream)

    def files_with(self, roles: Sequence[str]) -> list[str]:
        """Files that have a complete point of these roles here."""
        points = self.measured(roles).points
        return list(dict.fromkeys(points["file"]))

    @property
    def described(self) -> tuple[schema.Column, ...]:
        """The columns that any file has."""
        return tuple(one for name, one in self.columns.items() if name not in self.absent)

    def group(
        self,
        file: str,
        name: str,
        described: Mapping[str, Described],
        make: Callable[[dict[str, NDArray[Any]]], Made],
    ) -> Made:
        """What is made of the datasets of a workload's own group; `make` may raise ValueError."""
        with reading.open_results(self.files[file]) as stream:
            return make(reading.read_group(stream, name, described))

    def _complete_at(self, file: str) -> str:
        return str(self.attributes[file].get("complete_at", "receiver"))

    def _shape(self, file: str, point: int) -> tuple[int, int]:
        """Attempts and ranks of a point; InputError where it has no raw samples."""
        row = self._row(file, point)
        if not self.points["has_raw"].iloc[row]:
            raise InputError(f"{self.files[file]}: point {point} has no raw samples")
        attempts, ranks = self.points[["attempts", "ranks"]].iloc[row]
        return int(attempts), int(ranks)

    def counters(self, file: str, point: int) -> schema.Counters | None:
        """What the operating system and the ports counted during one point; None if not there."""
        row = self._row(file, point)
        if not self.points["has_raw"].iloc[row]:
            return None
        nodes = len(self.launches[str(self.points["launch"].iloc[row])].nodes)
        _, ranks = self._shape(file, point)
        with reading.open_results(self.files[file]) as stream:
            return reading.read_counters(stream, point, ranks, nodes)

    def _row(self, file: str, point: int) -> int:
        """Position of a point among the rows; KeyError where it is not there."""
        return self._rows[file, point]

    @cached_property
    def _rows(self) -> dict[tuple[str, int], int]:
        keys = zip(self.points["file"], self.points["point"], strict=True)
        return {(str(file), int(point)): row for row, (file, point) in enumerate(keys)}

    def select(self, mask: "pd.Series[bool]") -> "Results":
        """The same results with only the points of the mask, and only their launches."""
        points = self.points[mask].reset_index(drop=True)
        used = set(points["launch"].dropna())
        launches = {name: launch for name, launch in self.launches.items() if name in used}
        return replace(self, points=points, launches=launches)

    def reordered(self, index: "pd.Index[Any]") -> "Results":
        """The same points in the order of the given row labels."""
        points = self.points.loc[index].reset_index(drop=True)
        return replace(self, points=points)

    def measured(self, roles: Sequence[str] = ("measure",)) -> "Results":
        """Only complete points of the given roles."""
        complete = self.points["state"] == "complete"
        return self.select(complete & self.points["role"].isin(roles))

    def complete(self, roles: Sequence[str] = ("measure",)) -> "Results":
        """The same, where there must be one: InputError says what became of the points."""
        chosen = self.measured(roles)
        if chosen.points.empty:
            asked = self.points[self.points["role"].isin(roles)]
            if asked.empty:
                self.refuse_others()
            raise InputError(", ".join(["no point is complete", *_fates(asked)]))
        return chosen

    def refuse_others(self) -> None:
        """Say what is here, and what shows it, where an all-to-all was asked for and none is."""
        from a2aperf import workloads  # they build upon this module

        points = self.points[self.points["state"] == "complete"]
        for file, role in zip(points["file"], points["role"], strict=True):
            if said := workloads.of_role(role).instead:
                raise InputError(f"{self.files[file]}: {said}")

    def values(self, name: str) -> "pd.Series[Any]":
        """A column, or what each point's launch recorded under that name (str or <NA>).

        Looks among columns, labels, environment variables, segment attributes and node facts, in
        this order. Raises InputError where no file knows the name.
        """
        name = ALIASES.get(name, name)
        if name in self.absent:
            raise InputError(f"no file has the column '{name}'")
        if name in self.points:
            return self.points[name]
        if not any(name in launch.setting_names for launch in self.launches.values()):
            raise InputError(f"no file records '{name}'; {self._known(name)}")
        by_launch = {key: launch.setting(name) for key, launch in self.launches.items()}
        return self.points["launch"].map(by_launch).astype("string").rename(name)

    def _known(self, name: str) -> str:
        names = (set(self.points.columns) - self.absent).union(
            *(x.setting_names for x in self.launches.values())
        )
        close = get_close_matches(name, sorted(names), n=3, cutoff=0.5)
        if close:
            return f"did you mean {' or '.join(close)}?"
        return "expected a column of docs/file-format.md, a label or a recorded variable"


def _fates(points: pd.DataFrame) -> list[str]:
    """`12 failed (none of 200 ops was valid)`, for every state that points are in."""
    told = []
    for state, rows in points.groupby("state", sort=False):
        reasons = [reason for reason in dict.fromkeys(rows["skip_reason"]) if reason]
        why = f" ({reasons[0]}{', …' if len(reasons) > 1 else ''})" if reasons else ""
        told.append(f"{len(rows)} {state}{why}")
    return told


def load(paths: Iterable[Path | str]) -> Results:
    """Read the points and launches of files; raw samples stay on disk.

    Raises InputError for an empty list, an unreadable file, a launch that is there twice, and a
    complete point whose figures cannot be true.
    """
    names = _display_names([Path(path) for path in paths])
    if not names:
        raise InputError("no files given; a2a needs at least one results file (.h5)")
    parts = [_read(name, path) for name, path in names.items()]
    described = _described(parts)
    tables = [_points(part, described) for part in parts]
    launches = {launch.id: launch for part in parts for launch in part.launches}
    copies.require_distinct(launches.values())
    points = pd.concat(tables, ignore_index=True)
    attributes = {part.name: part.attributes for part in parts}
    absent = frozenset.intersection(*(part.absent for part in parts))
    return Results(points, launches, names, attributes, described, absent)


@dataclass(frozen=True)
class _Part:
    """What one file says, but for its samples."""

    name: str
    path: Path
    attributes: dict[str, Any]
    described: dict[str, schema.Column]
    absent: frozenset[str]
    columns: dict[str, NDArray[Any]]
    launches: list[Launch]


def _read(name: str, path: Path) -> _Part:
    with reading.open_results(path) as file:
        described = reading.columns_of(file)
        part = _Part(
            name,
            path,
            reading.read_attributes(file),
            described,
            frozenset(reading.missing_columns(file)),
            reading.read_columns(file, described.values()),
            [
                _launch(name, path, index, reading.read_segment(file, index))
                for index in range(reading.segment_count(file))
            ],
        )
    _name_roles(part.columns["role"], str(part.attributes.get("workload", schema.ALL_TO_ALL)))
    _require_sound(part)
    _keep_worst_clock_error(part.columns, part.launches)
    _explain_failed(part.columns)
    return part


def _name_roles(roles: NDArray[Any], workload: str) -> None:
    """What is measured of another workload is no all-to-all: its role is that of the workload.

    So whoever looks at all-to-alls looks at no points but those.
    """
    if workload == schema.ALL_TO_ALL:
        return
    for point, role in enumerate(roles):
        if role in schema.OF_ALL_TO_ALLS:
            roles[point] = workload if role == "measure" else f"{workload}-{role}"


def _described(parts: Iterable[_Part]) -> dict[str, schema.Column]:
    """The columns of all files, as the first that has one describes it.

    Raises InputError where files mean different things by one name.
    """
    described: dict[str, schema.Column] = {}
    first: dict[str, Path] = {}
    for part in parts:
        for name, column in part.described.items():
            known = described.setdefault(name, column)
            first.setdefault(name, part.path)
            if (known.kind, known.units) != (column.kind, column.units):
                said = " and ".join(
                    f"{' in '.join(filter(None, (one.kind, one.units)))} in {where}"
                    for one, where in ((known, first[name]), (column, part.path))
                )
                raise InputError(f"column {name} is {said}: such files stay apart")
            better = known.better or column.better  # an older file says nothing of it
            fuller = column if len(column.flags) > len(known.flags) else known
            described[name] = replace(fuller, better=better)
    return described


def _display_names(paths: list[Path]) -> dict[str, Path]:
    """A short unique name for every path: the file name, or the path where names collide."""
    resolved = [path.resolve() for path in paths]
    for path, where in zip(paths, resolved, strict=True):
        if resolved.count(where) > 1:
            raise InputError(f"{path}: given twice; its ops would count twice")
    bases = [path.name for path in paths]
    return {path.name if bases.count(path.name) == 1 else os.fspath(path): path for path in paths}


def _launch(name: str, path: Path, index: int, segment: schema.Segment) -> Launch:
    return Launch(
        id=f"{name}#{index}",
        path=path,
        segment=index,
        attributes=segment.attributes,
        environment=segment.environment,
        labels=segment.labels,
        attachments=segment.attachments,
        nodes=segment.nodes,
        node_of_rank=segment.node_of_rank,
        node_facts=segment.node_facts,
        rank_facts=segment.rank_facts,
        end_state=segment.end_state,
        message=segment.message,
        fi_info=segment.fi_info,
    )


def _points(part: _Part, described: Mapping[str, schema.Column]) -> pd.DataFrame:
    """Its points with the columns of all files: those that it has not are blank."""
    columns, launches = part.columns, part.launches
    count = len(columns["state"])
    data: dict[str, Any] = {"file": part.name, "point": np.arange(count)}
    for column in {**described, **part.described}.values():
        values = columns.get(column.name)
        known = reading.blanks(column, count) if values is None else values
        data[column.name] = _series(column, known)
    frame = pd.DataFrame(data)
    segment = columns["segment"]
    names = [launch.id for launch in launches]
    of_point = pd.Series([names[i] if i >= 0 else None for i in segment], dtype="string")
    frame.insert(2, "launch", of_point)
    frame["ppn"] = frame["ranks_per_node"]
    link = [float(launch.attributes["link_rate_gbps"]) for launch in launches]
    rails = [int(launch.attributes["rails"]) for launch in launches]
    frame["link_rate_gbps"] = [link[i] if i >= 0 else np.nan for i in segment]
    frame["rails"] = _nullable(np.array([rails[i] if i >= 0 else -1 for i in segment], np.int64))
    measured = np.isin(frame["state"], ("complete", "failed")) & (columns["segment"] >= 0)
    raw = bool(part.attributes.get("raw_samples"))
    frame["has_raw"] = raw & (columns["attempts"] > 0) & measured
    return frame


def _series(column: schema.Column, values: NDArray[Any]) -> Any:
    if column.flags:
        return np.array(column.flags, dtype=object)[values]
    if column.kind in ("string", "float64"):
        return values
    return _nullable(values.astype(np.int64)) if column.unknown else values.astype(np.int64)


def _nullable(values: NDArray[np.int64]) -> Any:
    return pd.arrays.IntegerArray(values.copy(), values == schema.UNKNOWN)


def _explain_failed(columns: dict[str, NDArray[Any]]) -> None:
    """Say why a point failed that ran but has no valid op, so no figure that anyone could use.

    Older programs call such a point complete.
    """
    complete, failed = (schema.STATES.index(name) for name in ("complete", "failed"))
    ran = np.isin(columns["state"], (complete, failed)) & (columns["attempts"] > 0)
    for point in np.flatnonzero(ran & (columns["ops"] == 0)):
        columns["state"][point] = failed
        columns["skip_reason"][point] = (
            columns["skip_reason"][point] or f"none of {columns['attempts'][point]} ops was valid"
        )


def _require_sound(part: _Part) -> None:
    """Refuse what no later step could use; `a2a check` looks much closer."""
    path, columns = part.path, part.columns
    for column in part.described.values():
        if column.flags and not np.isin(columns[column.name], range(len(column.flags))).all():
            raise InputError(f"{path}: damaged: column {column.name} has values without a meaning")
    if (columns["segment"] >= len(part.launches)).any():
        raise InputError(f"{path}: damaged: a point names a segment that is not there")
    complete = columns["state"] == schema.STATES.index("complete")

    def refuse(wrong: NDArray[np.bool_], what: str) -> None:
        if (wrong & complete).any():
            point = int(np.flatnonzero(wrong & complete)[0])
            size = columns["message_size"][point]
            raise InputError(f"{path}: point {point} ({size} B) is complete but {what}")

    refuse(columns["segment"] < 0, "names no segment")
    idle = columns["ops"] == 0
    refuse(idle & (columns["attempts"] <= 0), "has zero ops")
    if "time_p50" in part.absent:
        return  # of a workload that has none
    times = [columns["time_p50"]]
    if not part.attributes.get("raw_samples", 0):
        times.append(columns["time_mean"])  # a foreign bandwidth test knows only a mean
    with np.errstate(invalid="ignore"):
        usable = np.any([np.isfinite(x) & (x > 0) for x in times], axis=0)
    refuse(~usable & ~idle, "its median op time is not a positive number (NaN?)")


def _keep_worst_clock_error(columns: dict[str, NDArray[Any]], segments: list[Launch]) -> None:
    """Of a launch the attribute is what it began with, the points have what it came to."""
    for launch in segments:
        errors = columns["clock_error"][columns["segment"] == launch.segment]
        known = [float(error) for error in errors if np.isfinite(error)]
        if known:
            launch.attributes["clock_error_ns"] = max(
                *known, float(np.nan_to_num(launch.attributes["clock_error_ns"]))
            )
