# SPDX-License-Identifier: BSD-3-Clause
"""What is sound of a damaged file, as a new one; the rest is not measured there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import (
    checksums,
    counted,
    integrity,
    isolated,
    loading,
    member_attributes,
    mending,
    reading,
    regular,
    sample_columns,
    schema,
    skeleton,
    strict,
    trailer,
    workloads,
    writer,
)
from a2aperf.errors import DAMAGE, InputError, what_is_damaged
from a2aperf.raw_ops import RawOps
from a2aperf.sample_columns import SampleColumn
from a2aperf.workloads.workload import Group, Steps

_PENDING = schema.STATES.index("pending")
_LOST = schema.Segment(end_state="failed", end_reason="other", message="lost: its part is damaged")


@dataclass
class Outcome:
    """What was lost, and what was set right, in words."""

    lost: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)


def repair(path: Path, output: Path, force: bool, progress: Callable[[int, int], None]) -> Outcome:
    """Write what is sound of a file to another one.

    Reads in a process of its own. Raises InputError where nothing can be kept, or written.
    """
    writer.require_writable(output, force)
    regular.require_file(path)
    if output.exists() and output.samefile(path):
        raise InputError(f"{output}: is the damaged file itself; name a new one")
    outcome: Outcome = isolated.call(path, written, path, output, progress=progress)
    return outcome


def written(path: Path, output: Path, *, progress: Callable[[int, int], None]) -> Outcome:
    """What `repair` asks another process for."""
    bit = mending.flipped_bit(path)
    if bit is not None:
        try:
            writer.write_copy(output, path, partial(mending.flip, bit=bit), _require_sound)
        except _AlsoWrongError:
            pass
        else:
            return Outcome([], [f"byte {bit // 8} was not as it was written, and is again"])
    outcome = _by_skeleton(path, output, progress)
    if outcome is not None:
        return outcome
    if _begins_well(path):
        return _written(path, path, output, progress)
    with writer.changed_copy(output, path, mending.begin_anew) as whole:
        if not _begins_well(whole):
            whole = path  # which says why
        outcome = _written(path, whole, output, progress)
    outcome.mended.append("its first 96 bytes were not as they were written, and are again")
    return outcome


def _by_skeleton(path: Path, output: Path, progress: Callable[[int, int], None]) -> Outcome | None:
    """What comes of a file whose own copy of its structure is another; None where that is no help.

    A file that another program wrote anew may have a copy that is of places it has no more.
    """
    if trailer.of(path) is trailer.Trailer.RIGHT:
        return None
    with suppress(skeleton.DamagedError):
        parts = skeleton.of(path)
        changed = skeleton.changed_bytes(path, parts) if parts else 0
        if not parts or not changed:
            return None
        with writer.changed_copy(output, path, partial(skeleton.lay, parts=parts)) as whole:
            if not _is_vouched_for(whole):
                return None
            outcome = _written(path, whole, output, progress)
        outcome.mended.append(f"{skeleton.words(changed, 'was')}, and is again: by its copy")
        return outcome
    return None


def _is_vouched_for(whole: Path) -> bool:
    """Whether a file with the structure of its copy is one: where points have checksums, of one."""
    try:
        with trailer.unheeded(), reading.open_results(whole) as file:
            if not integrity.is_digest_right(file):
                return False
            told = file[checksums.POINTS][()]
            done = np.flatnonzero(told != checksums.NONE)
            return done.size == 0 or any(integrity.is_point_right(file, int(p)) for p in done)
    except InputError:
        return False


class _AlsoWrongError(Exception):
    """Another bit is wrong that makes the same difference as several."""


def _require_sound(mended: Path) -> None:
    try:
        with reading.open_results(mended) as file:
            if not list(integrity.errors(file)):
                return
    except InputError:
        pass
    raise _AlsoWrongError


def _begins_well(path: Path) -> bool:
    """Whether HDF5 finds a way into the file."""
    try:
        with h5py.File(path, "r", locking=False) as file:
            return "state" in file and "schema" in file.attrs
    except DAMAGE:
        return False


def _written(
    path: Path, source: Path, output: Path, progress: Callable[[int, int], None]
) -> Outcome:
    """What comes of a file, or of a copy that begins as it should."""
    with trailer.unheeded(), reading.open_results(source, path) as file:
        kept = _kept(path, file)
        document = _document(path, file, kept)
        document.progress = lambda point: progress(point, len(kept.columns["state"]))
        writer.write(output, document, force=True, examine=partial(_require_readable, path))
    return Outcome(kept.lost, kept.mended)


def _require_readable(path: Path, repaired: Path) -> None:
    """Refuse what nobody could read, before it takes the place of a file that is good."""
    try:
        loading.load([repaired])
    except InputError as error:
        said = str(error).removeprefix(f"{repaired}: ")
        raise InputError(f"{path}: cannot be repaired: {said}") from None


@dataclass
class _Kept:
    """What a new file gets, and what it does not get."""

    described: tuple[schema.Column, ...]
    columns: dict[str, NDArray[Any]]
    segments: list[schema.Segment] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    of_members: member_attributes.Attributes = field(default_factory=dict)
    ports: list[str] | None = None


def _columns(file: h5py.File) -> dict[str, schema.Column]:
    """Those that the file has or should have: not every workload has times or rates of ops."""
    workload = strict.text(file.attrs.get("workload", schema.ALL_TO_ALL))
    own = frozenset().union(*(one.columns for one in workloads.ALL if one.key == workload))
    others = schema.RATES | schema.TIMES if workload != schema.ALL_TO_ALL else frozenset()
    return {
        name: column
        for name, column in reading.columns_of(file).items()
        if name in file or name not in others - own
    }


def _kept(path: Path, file: h5py.File) -> _Kept:
    described = _columns(file)
    kept = _Kept(tuple(described.values()), reading.read_columns(file, described.values()))
    wrong = dict(integrity.damaged_points(file))
    is_digest_right = integrity.is_digest_right(file)
    if not is_digest_right:
        kept.lost.append(
            "what was asked, who measured, or a description is not as it was written (/digest): "
            "kept as it reads"
        )
    for index in range(reading.segment_count(file)):
        unread: list[str] = []
        try:
            kept.segments.append(reading.read_segment(file, index, unread))
            kept.lost += [f"launch {index}: {what}" for what in unread]
        except DAMAGE as error:
            kept.segments.append(_LOST)
            kept.lost.append(f"launch {index}: cannot be read: {what_is_damaged(error)}")
            of_it = np.flatnonzero(kept.columns["segment"] == index)
            wrong |= {int(point): f"of launch {index}, which is lost" for point in of_it}
    kept.lost += integrity.damaged_states(file)
    kept.lost += [f"{what}; kept as it reads" for what in integrity.damaged_columns(file)]
    for point, what in sorted(wrong.items()):
        kept.lost.append(f"point {point}: {what}")
        _forget(kept, point, wrong)
    kept.lost += _left_out(path, file, is_digest_right)
    if "counters" in file:
        kept.ports = counted.port_names(file, kept.lost)
    kept.of_members = member_attributes.of_file(file, kept.lost)
    return kept


def _left_out(path: Path, file: h5py.File, is_digest_right: bool) -> list[str]:
    """Members of which nothing is known, in words; refuses a file that has them undamaged.

    A flipped bit in a name makes one: the rest of such a file is good.
    """
    groups = {one.group.name: one.group.datasets for one in workloads.ALL if one.group}
    if is_digest_right:
        reading.require_whole_copy(path, file, groups)
    return [f"/{name}: this a2a knows nothing of it" for name in reading.strangers(file, groups)]


def _forget(kept: _Kept, point: int, wrong: dict[int, str]) -> None:
    """The point is one that was asked for and not measured."""
    for column in kept.described:
        if column.result:
            kept.columns[column.name][point] = column.blank
    kept.columns["state"][point] = _PENDING
    sound = np.delete(kept.columns["ranks"], list(wrong))
    # One flipped bit more would ask for a file of terabytes, one less for none of a launch's lists.
    launched = max([len(one.node_of_rank) for one in kept.segments], default=1)
    most = int(sound.max(initial=max(launched, 1)))
    kept.columns["ranks"][point] = min(max(int(kept.columns["ranks"][point]), 1), most)


def _document(path: Path, file: h5py.File, kept: _Kept) -> writer.Document:
    columns = kept.columns
    measured = (columns["state"] != _PENDING) & (columns["attempts"] > 0)
    has_raw = reading.raw_samples(file) & measured & (columns["segment"] >= 0)
    own_columns = sample_columns.of_copy(path, file["raw"]) if has_raw.any() else {}

    def shape(point: int) -> tuple[int, int]:
        return int(columns["attempts"][point]), int(columns["ranks"][point])

    def raw(point: int) -> schema.Raw | None:
        if not has_raw[point]:
            return None
        names = (*schema.RAW_MOMENTS, "start", "valid", "exit")
        found: dict[str, Any] = reading.read_samples(file, names, point, *shape(point))
        return schema.Raw(**found)

    def counters(point: int) -> schema.Counters | None:
        if not has_raw[point]:
            return None
        nodes = len(kept.segments[columns["segment"][point]].nodes)
        return counted.read(file, point, shape(point)[1], nodes, kept.ports)

    def arrival(point: int) -> NDArray[np.int64] | None:
        attempts, ranks = shape(point)
        there = has_raw[point]
        return reading.read_arrival(file, point, np.arange(attempts), ranks) if there else None

    def own_samples(point: int, column: SampleColumn) -> NDArray[Any] | None:
        if not has_raw[point]:
            return None
        count = max(int(columns[column.count][point]), 0)
        return reading.read_own(file, column, point, range(count), shape(point)[1])

    groups = dict(_groups(file, kept))
    said = "; ".join(kept.lost) or "nothing was lost"
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return writer.Document(
        {**reading.read_attributes(file), "repaired": f"{when}: {said}"[:8192]},
        columns,
        kept.segments,
        raw=raw if reading.raw_samples(file) else None,
        counters=counters if "counters" in file and has_raw.any() else None,
        arrival=arrival if reading.has_arrival(file) else None,
        own_columns=own_columns,
        own_samples=own_samples,
        own=groups,
        described=kept.described,
        kept=kept.of_members,
    )


def _groups(file: h5py.File, kept: _Kept) -> Iterator[tuple[str, Any]]:
    """What workloads keep beside the points; made anew where no checksum vouches for it."""
    workload = strict.text(file.attrs.get("workload", schema.ALL_TO_ALL))
    for one in workloads.ALL:
        group = one.group
        is_due = group and one.key == workload and not group.optional
        if not group or (group.name not in file and not is_due):
            continue
        if integrity.is_group_right(file, group.name):
            arrays = reading.read_group(file, group.name, group.datasets)
        else:
            arrays = _remade(file, kept, group)
        yield group.name, (group.datasets, arrays)


def _remade(file: h5py.File, kept: _Kept, group: Group) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for name, table in group.datasets.items():
        with suppress(*DAMAGE):
            found |= reading.read_group(file, group.name, {name: table})
    columns = kept.columns
    by_index = strict.text(file.attrs.get("percentile_rule", "rank")) == "index"
    ranks = int(columns["ranks"].max())
    made = group.remaking.remade(found, _steps(file, columns), ranks, by_index)
    if integrity.is_group_right(file, group.name, made):
        kept.mended.append(f"/{group.name} is made anew of the samples")
        return made
    kept.lost.append(
        f"/{group.name} is not as it was written: made anew of the samples, without "
        f"{group.remaking.unsure}"
    )
    return group.remaking.surely(made)


def _steps(file: h5py.File, columns: Mapping[str, NDArray[Any]]) -> Steps:
    """Points that are complete, with their samples."""
    names = (*schema.RAW_MOMENTS, "start", "valid", "exit")
    complete = schema.STATES.index("complete")
    for point in np.flatnonzero((columns["state"] == complete) & (columns["attempts"] > 0)):
        row = {name: values[point] for name, values in columns.items()}
        shape = int(row["attempts"]), int(row["ranks"])
        found: dict[str, Any] = reading.read_samples(file, names, int(point), *shape)
        yield row, RawOps(**found)
