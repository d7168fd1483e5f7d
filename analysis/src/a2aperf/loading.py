# SPDX-License-Identifier: BSD-3-Clause
"""Reads the points and launches of files; raw samples stay on disk (`Results.raw`)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import (
    asking,
    carried,
    copies,
    grouping,
    reading,
    regular,
    schema,
    terminal,
    workloads,
)
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.launch import Launch
from a2aperf.results import Results
from a2aperf.traits import Traits


class NothingLeftError(InputError):
    """None of the files can be used; `left_out` says of each why, in words."""

    def __init__(self, left_out: Sequence[str]) -> None:
        super().__init__(f"none of {count_text(len(left_out), 'file')} can be used")
        self.left_out = left_out


def load(
    paths: Iterable[Path | str],
    spared: Collection[Path] = (),
    question: Callable[..., asking.Summary] = asking.summary,
) -> Results:
    """Read the points and launches of files; raw samples stay on disk.

    `question` is what each file is asked, where less of it is enough.

    Raises InputError for an empty list, an unreadable file, a launch that is there twice, and a
    complete point whose figures cannot be true. Of the files that are `spared` one that cannot be
    used is left out (`Results.left_out`); NothingLeftError where no other is left.
    """
    names = _display_names([Path(path) for path in paths])
    if not names:
        raise InputError("no files given; a2a needs at least one results file (.h5)")
    files = list(names.values())
    parts, left_out = [], []
    with closing(asking.ask_each(files, question)) as answers:
        told = terminal.tracked(answers, len(files), "reading")
        for (name, path), said in zip(names.items(), told, strict=True):
            try:
                parts.append(_read(name, path, said))
            except InputError as error:
                if path not in spared:
                    raise
                left_out.append(str(error))
    if not parts:
        raise NothingLeftError(left_out)
    described = _described(parts)
    tables = [_points(part, described) for part in parts]
    launches = {launch.id: launch for part in parts for launch in part.launches}
    copies.require_distinct(launches.values())
    points = pd.concat(tables, ignore_index=True)
    attributes = {part.name: part.attributes for part in parts}
    absent = frozenset.intersection(*(part.absent for part in parts))
    damaged = tuple(f"{part.path}: {what}" for part in parts for what in part.damaged)
    files_of = {part.name: part.path for part in parts}
    found = Results(
        points,
        launches,
        files_of,
        attributes,
        described,
        absent,
        _traits,
        damaged=damaged,
        untold=tuple(what for part in parts for what in part.untold),
        older=tuple(what for part in parts for what in part.older),
        left_out=tuple(left_out),
    )
    for workload in workloads.present(found):
        found = workload.untold(found)
    terminal.tell_once(*(f"a2a: {what}" for what in found.older))
    return found


def _traits(role: str) -> Traits:
    return workloads.of_role(role).traits


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
    damaged: list[str]
    untold: list[str] = field(default_factory=list)
    """Figures that are there and nothing carries, in words."""
    older: list[str] = field(default_factory=list)
    """The same of an older program, which knew nothing of it."""


def _read(name: str, path: Path, said: asking.Summary | InputError) -> _Part:
    if isinstance(said, InputError):
        raise said
    terminal.tell_once(*(f"a2a: {path}: {what}" for what in said.damaged))
    launches = [
        replace(_launch(name, path, index, one), threads=_threads(said.columns, index))
        for index, one in enumerate(said.segments)
    ]
    part = _Part(
        name,
        path,
        said.attributes,
        said.described,
        said.absent,
        said.columns,
        launches,
        said.damaged,
    )
    _name_roles(part.columns["role"], _workload_of(part))
    _require_sound(part)
    _keep_worst_clock_error(part.columns, part.launches)
    _leave_out_untold(part)
    _explain_failed(part.columns)
    return part


def _threads(columns: Mapping[str, NDArray[Any]], segment: int) -> int:
    """Threads of a rank that poll, at the most in any point of a launch."""
    threads, endpoints = columns.get(grouping.THREADS), columns.get(grouping.ENDPOINTS)
    if threads is None or endpoints is None:
        return 1
    own = (columns["segment"] == segment) & (threads == "each")
    return max(1, int(endpoints[own].max(initial=1)))


def _leave_out_untold(part: _Part) -> None:
    """Times that the start of points does not carry, as if they had never been told."""
    timed = workloads.of_key(_workload_of(part)).timed
    if timed is None or timed.time not in part.described:
        return
    # Points of a resumed file may be of an older program than what describes them.
    says = part.described[timed.time].long_name if len(part.launches) == 1 else ""
    before = part.columns[timed.time]
    wrong = [*carried.blank(timed, part.columns, says)]
    terminal.tell_once(*(f"a2a: {part.path}: {what}" for what in wrong))
    part.untold.extend(wrong)
    if left := int((before != part.columns[timed.time]).sum()) - len(wrong):
        of = count_text(left, "point")
        why = "it is not above what the clocks may be off by"
        part.older.append(f"{part.path}: {timed.time} of {of} left out: {why}")


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
    regular.require_once(paths, "ops")
    bases = Counter(path.name for path in paths)
    names = {path.name if bases[path.name] == 1 else os.fspath(path): path for path in paths}
    # A name need not be text.
    return {os.fsencode(name).decode(errors="backslashreplace"): names[name] for name in names}


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
        start=segment.start,
        start_times=segment.start_times,
    )


_MEMORY = "memory"
"""A column of workloads that have several kinds in a launch; elsewhere the launch has the one."""


def _points(part: _Part, described: Mapping[str, schema.Column]) -> pd.DataFrame:
    """Its points with the columns of all files: those that it has not are blank."""
    columns, launches = part.columns, part.launches
    count = len(columns["state"])
    before = workloads.of_key(_workload_of(part)).before
    # A text that was imported may be of any program.
    imported = (columns["state"] == schema.STATES.index("complete")) & (columns["attempts"] <= 0)
    measured_here = bool(part.attributes.get("raw_samples")) & ~imported
    data: dict[str, Any] = {"file": part.name, "point": np.arange(count)}
    for column in {**described, **part.described}.values():
        values = columns.get(column.name)
        known = reading.blanks(column, count) if values is None else values
        if column.name in before:
            known = np.where(measured_here & (known == column.blank), before[column.name], known)
        data[column.name] = _series(column, known)
    frame = pd.DataFrame(data)
    segment = columns["segment"]
    names = [launch.id for launch in launches]
    of_point = pd.Series([names[i] if i >= 0 else None for i in segment], dtype="string")
    frame.insert(2, "launch", of_point)
    frame["ppn"] = frame["ranks_per_node"]
    if _MEMORY in frame:
        kinds = [str(launch.attributes[_MEMORY]) for launch in launches]
        of_launch = [kinds[i] if i >= 0 and "," not in kinds[i] else "" for i in segment]
        frame[_MEMORY] = np.where(frame[_MEMORY] == "", of_launch, frame[_MEMORY])
    link = [float(launch.attributes["link_rate_gbps"]) for launch in launches]
    rails = [int(launch.attributes["rails"]) for launch in launches]
    frame["link_rate_gbps"] = [link[i] if i >= 0 else np.nan for i in segment]
    frame["rails"] = _nullable(np.array([rails[i] if i >= 0 else -1 for i in segment], np.int64))
    measured = np.isin(frame["state"], ("complete", "failed")) & (columns["segment"] >= 0)
    raw = bool(part.attributes.get("raw_samples"))
    frame["has_raw"] = raw & (columns["attempts"] > 0) & measured
    return frame


def _workload_of(part: _Part) -> str:
    return str(part.attributes.get("workload", schema.ALL_TO_ALL))


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
    told = columns["attempts"] < 0  # by a text that was imported, though others may be beside it
    if _workload_of(part) == schema.ALL_TO_ALL:
        told &= np.isfinite(columns["time_mean"])  # a foreign bandwidth test knows only a mean
    with np.errstate(invalid="ignore"):
        usable = np.isfinite(columns["time_p50"]) & (columns["time_p50"] > 0) | told
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
