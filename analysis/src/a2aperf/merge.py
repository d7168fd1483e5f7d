# SPDX-License-Identifier: BSD-3-Clause
"""Several results files as one: their points one after the other, every launch a segment."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from a2aperf import (
    __version__,
    asking,
    clusters,
    loading,
    member_attributes,
    results,
    sample_columns,
    schema,
    workloads,
    writer,
)
from a2aperf.asking import ask
from a2aperf.datasets import Tables
from a2aperf.errors import InputError
from a2aperf.sample_columns import SampleColumn
from a2aperf.workloads.workload import Arrays, Group

_SAME = {"complete_at": None, "percentile_rule": None, "workload": schema.ALL_TO_ALL}
"""What one file says once for all its points, and what it means where it does not."""
_DECLARED = ("replicate", "block")
"""What follows from the workload; older files do not say it."""
_OF_ONE_FILE = ("schema", "schema_version", "title", "source", "created", "origin", "raw_samples")
"""What a merged file says of itself."""
_OWN = {*_SAME, *_DECLARED, *_OF_ONE_FILE, "layout", "repaired"}


def _refuse_group(path: Path, key: str, group: Group) -> NoReturn:
    raise InputError(
        f"{path}: a file of 'a2aperf {key}' holds {group.holds} and stays by itself, for a file "
        f"has one /{group.name} alone: 'a2a report' takes several such files as they are"
    )


def _require_known(found: results.Results) -> None:
    """Workloads whose files can be merged; InputError otherwise."""
    for workload in workloads.present(found):
        if workload not in workloads.ALL:
            raise InputError(f"{next(iter(found.files.values()))}: {workload.instead}")
        files = workload.files(found)
        if workload.group and files and not workload.group.joining:
            _refuse_group(found.files[files[0]], workload.key, workload.group)


class _Groups:
    """What workloads keep beside the points, of one file after the other."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[Path, Arrays, NDArray[Any]]]] = {}

    def add(self, path: Path, groups: Mapping[str, Arrays], columns: dict[str, Any]) -> None:
        """Of a file, and its columns, of which `joined` moves the index."""
        for workload in workloads.ALL:
            group = workload.group
            if group is None or group.name not in groups:
                continue
            if group.joining is None:
                _refuse_group(path, workload.key, group)
            part = path, groups[group.name], columns[group.joining.index]
            self._parts.setdefault(group.name, []).append(part)

    def joined(self) -> dict[str, tuple[Tables, Arrays]]:
        """One group of each name, to which the points' indices now point."""
        made: dict[str, tuple[Tables, Arrays]] = {}
        for group in (one.group for one in workloads.ALL if one.group):
            if group.name not in self._parts or group.joining is None:
                continue
            parts = self._parts[group.name]
            try:
                arrays, offsets = group.joining.joined([own for _, own, _ in parts])
            except MemoryError as error:
                raise InputError(
                    f"{parts[-1][0]}: with it /{group.name} would be too large for one file "
                    f"({error}); such files stay apart: 'a2a report' takes them as they are"
                ) from None
            for (_, _, index), offset in zip(parts, offsets, strict=True):
                _shift(index, offset)
            made[group.name] = group.datasets, arrays
        return made


def merge(paths: Sequence[Path], mixed: bool = False) -> writer.Document:
    """One document of all files; raw samples are read when it is written, point by point.

    Raises InputError where files follow different rules, or are of different clusters unless
    `mixed`.
    """
    found = loading.load(paths)
    if len(paths) < 2:
        raise InputError("merge takes at least two files")
    _require_known(found)
    clusters.require_one(found, mixed)
    of_root = _common_attributes(found)
    columns: list[dict[str, Any]] = []
    segments: list[schema.Segment] = []
    own_columns: dict[str, dict[str, SampleColumn]] = {}
    is_traced = False
    kept: list[member_attributes.Attributes] = []
    origins: list[tuple[str, int]] = []  # (file, point) of every new point
    groups = _Groups()
    for name, path in found.files.items():
        content = ask(path, asking.content, path, [*found.columns.values()], workloads.GROUPS)
        part, own = content.columns, content.segments
        groups.add(path, content.groups, part)
        is_traced |= content.is_traced
        own_columns |= {name: content.own_columns} if content.has_samples else {}
        _shift(part["segment"], len(segments))
        _shift(part["partner"], len(origins))
        for segment in own:
            _shift(segment.planned_order, len(origins))
            segment.attributes.setdefault("origin", found.attributes[name].get("origin", ""))
        columns.append(part)
        kept.append(member_attributes.of_segment(content.of_members, len(segments)))
        segments += own
        origins += [(name, point) for point in range(len(part["state"]))]
    own_groups = groups.joined()
    joined = {name: np.concatenate([part[name] for part in columns]) for name in found.columns}
    for name in workloads.may_be_untold():  # the copy says that it has none that nothing carries
        if name in found.columns and name in found.points:
            absent = found.points[name].isna().to_numpy(bool)
            joined[name] = np.where(absent, found.columns[name].blank, joined[name])
    has_raw = found.points["has_raw"].to_numpy()
    _require_same_names(found, own_columns)
    all_columns = sample_columns.joined(own_columns)
    _require_blanks(all_columns, own_columns)

    def raw(point: int) -> schema.Raw | None:
        if not has_raw[point]:
            return None
        ops = found.raw(*origins[point])
        return ops.samples

    def counters(point: int) -> schema.Counters | None:
        return found.counters(*origins[point])

    def arrival(point: int) -> NDArray[np.int64] | None:
        return found.arrival(*origins[point]) if has_raw[point] else None

    def own_samples(point: int, column: SampleColumn) -> NDArray[Any] | None:
        file, of_file = origins[point]
        there = has_raw[point] and column.name in own_columns[file]
        return found.own(file, of_file, column) if there else None

    return writer.Document(
        of_root,
        joined,
        segments,
        raw=raw if has_raw.any() else None,
        counters=counters if has_raw.any() else None,
        arrival=arrival if is_traced else None,
        own_columns=all_columns,
        own_samples=own_samples,
        own=own_groups,
        described=found.described,
        kept=_kept(kept),
    )


def _kept(by_file: Sequence[member_attributes.Attributes]) -> member_attributes.Attributes:
    try:
        return member_attributes.joined(by_file)
    except member_attributes.DifferError as error:
        raise InputError(f"{error}; such files stay apart") from None


def _require_blanks(
    columns: Mapping[str, SampleColumn], by_file: Mapping[str, Mapping[str, SampleColumn]]
) -> None:
    """Refuse a file without a column where nothing in it can stand for what is not there."""
    for file, present in by_file.items():
        for name, column in columns.items():
            if name not in present and column.fill is None:
                raise InputError(
                    f"{file} has no /raw/{name}, and without _FillValue no {column.dtype} of it "
                    "stands for none; such files stay apart"
                )


def _require_same_names(
    found: results.Results, by_file: Mapping[str, Mapping[str, SampleColumn]]
) -> None:
    """Refuse files that have the same samples by different names."""
    for workload in workloads.present(found):
        for former, name in workload.renamed.items():
            old, new = ([file for file, has in by_file.items() if x in has] for x in (former, name))
            if old and new:
                raise InputError(
                    f"{old[0]} has /raw/{former}, which {new[0]} has as /raw/{name}; such files "
                    "stay apart"
                )


def _shift(indices: np.ndarray[Any, Any], by: int) -> None:
    indices[indices != schema.UNKNOWN] += by


def _common_attributes(found: results.Results) -> dict[str, Any]:
    common: dict[str, Any] = {}
    for name, default in _SAME.items():
        by_file = {file: values.get(name, default) for file, values in found.attributes.items()}
        if len(set(by_file.values())) > 1:
            said = ", ".join(f"'{value}' in {file}" for file, value in by_file.items())
            raise InputError(f"{name} differs ({said}); such files stay apart")
        common[name] = next(iter(by_file.values()))
    for name in _DECLARED:
        declared = {values[name] for values in found.attributes.values() if name in values}
        if len(declared) == 1:
            common[name] = declared.pop()
    for name in sorted({name for values in found.attributes.values() for name in values} - _OWN):
        by_file = {file: values.get(name) for file, values in found.attributes.items()}
        if len(set(by_file.values())) > 1:  # of a newer program: nobody knows what of both it says
            raise InputError(f"attribute {name} differs; such files stay apart")
        common[name] = next(iter(by_file.values()))
    repaired = [
        f"{file}: {x['repaired']}" for file, x in found.attributes.items() if "repaired" in x
    ]
    if repaired:
        common["repaired"] = "; ".join(repaired)[:8192]
    kinds = sorted({str(values.get("origin", "")) for values in found.attributes.values()})
    return {
        **common,
        "title": f"{len(found.files)} files merged",
        "source": f"a2a {__version__}",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "origin": kinds[0] if len(kinds) == 1 else f"merged: {'; '.join(kinds)}",
    }
