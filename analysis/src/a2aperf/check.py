# SPDX-License-Identifier: BSD-3-Clause
"""Whether a results file is whole, of the schema, and its figures can be true."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from a2aperf import (
    credentials,
    datasets,
    derived,
    integrity,
    isolated,
    loading,
    ranges,
    reading,
    results,
    schema,
    skeleton,
    trailer,
    workloads,
)
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.raw_ops import RawOps
from a2aperf.sample_columns import SampleColumn, strangers
from a2aperf.workloads.workload import Workload

_AT_ONCE = 2**20  # values of a point that are read: all of them may be gigabytes


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (an error) or odd (a warning)."""

    error: bool
    text: str


Progress = Callable[[int, int], None]


def check(path: Path, progress: Progress = lambda done, all_: None) -> list[Finding]:
    """Everything that is wrong or odd in a file, in the order found; empty for a sound one.

    Reads every sample, in a process of its own where no trailer vouches for the file. Raises
    InputError for a file that cannot be read as results at all.
    """
    told = reading.trailer_of(path)
    if told is trailer.Trailer.RIGHT:
        return _in_one_file(path, progress)
    wrong = [*_not_as_written(path, told)]
    try:
        found = isolated.call(path, findings_of_damaged, path, progress=progress)
    except InputError as error:
        if not wrong:
            raise
        return [*wrong, _error(str(error).removeprefix(f"{path}: "))]
    return [*wrong, *found]


def _not_as_written(path: Path, told: trailer.Trailer) -> Iterator[Finding]:
    """What the bytes of a file say, which nobody has to find a way in for."""
    if told is trailer.Trailer.WRONG:
        yield _error("not every byte is as it was written: its trailer tells; --repair helps")
    try:
        parts = skeleton.of(path)
        changed = skeleton.changed_bytes(path, parts) if parts else 0
    except OSError:  # which opening it will tell
        return
    except skeleton.DamagedError:
        yield _error(
            "its copy of its own structure is not as it was written; nothing else needs it"
        )
        return
    if changed:
        yield _error(f"{skeleton.words(changed, 'is')}: --repair sets it right by its copy")


def findings_of_damaged(path: Path, progress: Progress) -> list[Finding]:
    """What `check` asks another process for."""
    with trailer.unheeded():
        return _in_one_file(path, progress)


def _in_one_file(path: Path, progress: Progress) -> list[Finding]:
    with reading.held(path):
        return _findings(path, progress)


def _findings(path: Path, progress: Progress) -> list[Finding]:
    found = loading.load([path])
    (name,) = found.files
    present = workloads.present(found)
    findings = [*_written(path, found.damaged), *_schema(path, present)]
    findings += [*map(_error, found.untold), *_launches(found), *_points(found)]
    findings += map(_error, ranges.of_file(found, path))
    own = found.own_columns(name).values()
    rows = [
        row
        for _, row in found.points.iterrows()
        if row["has_raw"] and row["state"] in ("complete", "failed") and row["ranks"] > 0
    ]
    verify = {
        role: workload.verify(found, name)
        for workload in present
        if workload.verify and workload.files(found)
        for role in workload.roles
    }
    confirmed = _confirmed(path)
    findings += _beside(found, name, present)
    for done, row in enumerate(rows):
        progress(done, len(rows))
        try:
            raw = found.raw(name, int(row["point"]))
            findings += _samples(found, name, row, raw)
            findings += _trace(found, name, row, raw)
            odd = ranges.of_point(found, row, raw)
            findings += [_error(f"{_where(row)}: {text}") for text in odd]
            for column in own:
                _read(found, name, row, column)
            if (
                row["state"] == "complete"
                and row["role"] in verify
                and int(row["point"]) in confirmed
            ):
                wrong = _again(verify[row["role"]](row, raw), found)
                findings += [_error(f"{_where(row)}: {text}") for text in wrong]
        except InputError as error:
            findings.append(Finding(True, str(error).removeprefix(f"{path}: ")))
    return findings


def _beside(found: results.Results, name: str, present: list[Workload]) -> Iterator[Finding]:
    """What workloads keep beside the points."""
    for one in present:
        if one.beside and one.files(found):
            yield from map(_error, _again(one.beside(found, name), found))


def _again(wrong: Iterable[str], found: results.Results) -> Iterator[str]:
    """What computing again says, or which column it lacks."""
    try:
        yield from wrong
    except KeyError as error:
        name = str(error.args[0])
        if name in found.points or not name.isidentifier():  # what h5py lacks it says in words
            raise
        yield f"column {name} is missing"


def _confirmed(path: Path) -> set[int]:
    """Points of which everything is on the disk, what a workload keeps beside the samples, too."""
    with reading.open_results(path) as file:
        return {int(p) for p in np.flatnonzero(file["state"][()] != schema.PENDING)}


def _error(text: str) -> Finding:
    return Finding(True, text)


def _warning(text: str) -> Finding:
    return Finding(False, text)


def _written(path: Path, at_first: tuple[str, ...]) -> Iterator[Finding]:
    """What is not as it was written. `at_first`: what the first look at the file said.

    HDF5 gives some of what is damaged when it is asked again, and a command asks once.
    """
    with reading.open_results(path) as file:
        told = [*integrity.errors(file)]
        yield from map(_error, told)
        unreadable = (
            what.removeprefix(f"{path}: ") for what in at_first if integrity.UNREADABLE in what
        )
        yield from (_error(what) for what in unreadable if what not in told)
        yield from map(_warning, integrity.warnings(file))


# Schema ------------------------------------------------------------------------------------------


def _schema(path: Path, present: list[Workload]) -> Iterator[Finding]:
    with reading.open_results(path) as file:
        figures = frozenset().union(*(one.columns for one in present))
        yield from map(_error, datasets.columns_lacking(file, figures))
        own = {one.group.name: one.group.datasets for one in present if one.group}
        columns = reading.own_columns(file)
        described = {name: one.described for name, one in columns.items()}
        own["raw"] = {**datasets.RAW, **described}
        yield from map(_error, datasets.lacking(file, own))
        yield from map(_error, datasets.miscounted(file, own))
        if reading.raw_samples(file):
            counts = {name: one.count for name, one in columns.items()}
            yield from map(_error, datasets.too_small(file, described, counts))
            for name in strangers(file["raw"]):
                said = "has no values of each op, rank or message that this a2a knows"
                yield _warning(f"/raw/{name} {said}: it was not looked at")


# Launches ----------------------------------------------------------------------------------------


def _launches(found: results.Results) -> Iterator[Finding]:
    for launch in found.launches.values():
        where = f"launch {launch.segment}"
        if launch.end_state != "finished":
            said = f": {launch.message}" if launch.message else ""
            state = "still running, or killed" if launch.end_state == "running" else None
            yield _warning(f"{where}: {state or launch.end_state}{said}")
        nodes, placed = len(launch.nodes), launch.node_of_rank
        for facts, count in ((launch.node_facts, nodes), (launch.rank_facts, placed.size)):
            for name, values in facts.items():
                if len(values) != count:
                    yield _error(f"{where}: fact {name} has {len(values)} values, not {count}")
        for name in launch.environment:
            if credentials.looks_like_credential(name):
                yield _error(f"{where}: variable {name} looks like a credential")


# Points ------------------------------------------------------------------------------------------


def _points(found: results.Results) -> Iterator[Finding]:
    points = found.points
    yield from _order(points)
    for _, row in points[points["state"] == "complete"].iterrows():
        launch = found.launches.get(str(row["launch"]))
        for one in _row(row, launch is not None and launch.has_stated_link):
            yield Finding(one.error, f"{_where(row)}: {one.text}")
    for state in ("pending", "failed"):
        if count := int((points["state"] == state).sum()):
            yield _warning(f"{count_text(count, 'point')} {state}")
    skipped = points[points["state"] == "skipped"]
    for _, row in skipped[skipped["skip_reason"] == ""].iterrows():
        yield _error(f"{_where(row)}: skipped without a reason")


def _where(row: pd.Series[Any]) -> str:
    return f"point {row['point']} ({row['ranks']} ranks, {row['message_size']} B)"


def _order(points: pd.DataFrame) -> Iterator[Finding]:
    measured = points[points["order"].notna() & (points["state"] == "complete")]
    for launch, rows in measured.groupby("launch"):
        if rows["order"].duplicated().any():
            yield _error(f"launch {launch}: two points have the same place in time")
        started = rows[rows["started"].notna()].sort_values("order")["started"]
        if not started.is_monotonic_increasing:
            yield _error(f"launch {launch}: the order of its points is not that of their starts")


def _row(row: pd.Series[Any], is_stated: bool) -> Iterator[Finding]:
    ladder = [row[f"time_{name}"] for name in ("min", "p50", "p90", "p99", "max")]
    known = [value for value in ladder if np.isfinite(value)]
    if known != sorted(known):
        yield _error("min, p50, p90, p99, max do not ascend")
    if not _between(row["time_min"], row["time_mean"], row["time_max"]):
        yield _error("the mean is not between minimum and maximum")
    for name in ("p50", "p99"):
        low, high = row[f"time_{name}_low"], row[f"time_{name}_high"]
        if not _between(low, row[f"time_{name}"], high):
            yield _error(f"the interval of {name} does not hold it")
    placed = row["nodes"] * row["ppn"] if pd.notna(row["nodes"]) else np.nan
    if np.isfinite(placed) and not np.isclose(placed, row["ranks"]):
        yield _error(f"{row['nodes']} nodes of {row['ppn']:g} ranks are not {row['ranks']}")
    if row["efficiency"] > 1:
        which = "link rate that was stated" if is_stated else "link rate"
        yield _warning(f"{row['efficiency']:.0%} of the {which}: more than the link can carry")
    workload = workloads.of_role(row["role"])
    if row["ranks"] < workload.least_ranks:
        yield _error(
            f"{workload.title.partition(' ')[0]} has at least {workload.least_ranks} ranks"
        )


def _between(low: float, value: float, high: float) -> bool:
    return not (value < low or value > high)  # NaN: not known, not wrong


# Samples -----------------------------------------------------------------------------------------


def _samples(
    found: results.Results, name: str, row: pd.Series[Any], raw: RawOps
) -> Iterator[Finding]:
    where, launch = _where(row), found.launches[str(row["launch"])]
    clock = launch.attributes["sync"] == "clock"
    workload = workloads.of_role(row["role"])
    if pd.isna(row["ops"]):
        yield _error(f"{where}: ops is unknown, though it was measured")
        return
    if workload.ops_are_attempts and int(raw.valid.sum()) != row["ops"]:
        yield _error(f"{where}: {raw.valid.sum()} valid ops in /raw, {row['ops']} in the summary")
        return
    yield from (_error(f"{where}: {text}") for text in _impossible(raw, row, clock))
    wrong = [*workload.impossible(row, raw)]
    if wrong or row["state"] == "failed":
        yield from (_error(f"{where}: {text}") for text in wrong or ranges.of_failed(row))
        return
    if not (recomputed := workload.recomputed):
        return  # of a newer program: its figures follow from formulas that are not known here
    link = float(launch.attributes["link_rate_gbps"]) * float(launch.attributes["rails"])
    again = derived.derive(
        raw,
        int(row["message_size"]),
        np.bincount(launch.node_of_rank, minlength=len(launch.nodes)),
        link,
        clock,
        found.attributes[name].get("percentile_rule", "rank"),
        row["clock_error"],
    )
    if not clock and raw.exit is None:  # of an older program, which called somebody last
        del again["last_rank"], again["last_rank_share"]
    elif again["last_rank"] == schema.UNKNOWN:
        again["last_rank"] = np.nan
    if row["role"] == "baseline":  # MPI's network and start need not be the provider's
        del again["span_p50"], again["efficiency"]
    # A column that its workload must have is told as missing.
    known = recomputed - found.absent - workload.otherwise(row)
    here = {column: again[column] for column in again if column in known}
    for column, stored, value in derived.contradicted(row, here):
        form = "" if isinstance(value, str) else "g"
        yield _error(f"{where}: {column} is {stored:{form}}, its samples say {value:{form}}")


def _trace(
    found: results.Results, name: str, row: pd.Series[Any], raw: RawOps
) -> Iterator[Finding]:
    """Whether every peer's message came, after its receiver began and no later than the last."""
    attempts, ranks = raw.begin.shape
    due = ~np.eye(ranks, dtype=bool)  # [destination, source]
    if row["distance"]:  # one step only
        due = np.roll(np.eye(ranks, dtype=bool), int(row["distance"]), axis=0)
    of_traffic = workloads.of_role(row["role"]).exchanged(found, row)
    of_ops = due[None] if of_traffic is None else of_traffic  # which the attempts take in turn
    told, silent, out_of_time = False, False, False
    for part in _parts(attempts, ranks**2):
        some = np.asarray(part)
        arrival = found.arrival(name, int(row["point"]), some)
        if arrival is None:
            return
        came = arrival != schema.UNKNOWN
        told |= bool(came.any())
        silent |= bool((came != of_ops[some % len(of_ops)]).any())
        begin, end = (moments[some][:, :, None] for moments in (raw.begin, raw.recv_done))
        out_of_time |= bool((came & ((arrival < begin) | (arrival > end))).any())
    if not told:
        return  # an engine that does not tell, or another launch in the same file
    where = _where(row)
    if silent:
        yield _error(f"{where}: a message is missing in /raw/arrival, or one too many is there")
    if out_of_time:
        yield _error(f"{where}: a message came before its receiver began, or after the last one")


def _read(found: results.Results, name: str, row: pd.Series[Any], column: SampleColumn) -> None:
    """Read a column of which nothing more is known; InputError where that can't be done."""
    point = int(row["point"])
    count, ranks = found.count(name, point, column), int(row["ranks"])
    for some in _parts(count, math.prod(column.shape(1, ranks))):
        found.own(name, point, column, some)


def _parts(count: int, values: int) -> Iterator[range]:
    """`count` attempts, or ticks, of so many values each, in parts to read at once."""
    step = max(_AT_ONCE // max(values, 1), 1)
    for first in range(0, count, step):
        yield range(first, min(first + step, count))


def _impossible(raw: RawOps, row: pd.Series[Any], clock: bool) -> Iterator[str]:
    told = raw.send_done != schema.NO_MOMENT
    if told.any() and not told.all():
        yield "send_done is there for some ranks and ops only"
    if not told.all() and raw.complete_at == "sender":
        yield "ops end at the sender (complete_at), and no sender tells when it was done"
    elif (told & (raw.send_done < raw.begin)).any() or (raw.recv_done < raw.begin).any():
        yield "an op ends before it begins"
    if (raw.valid & (raw.op_times() <= 0)).any():
        yield "a valid op takes no time"
    if (np.diff(raw.start) <= 0).any():
        yield "ops do not follow each other in time"
    if not clock and raw.begin.any():
        yield "barrier start, but a begin is not 0"
    if clock and pd.notna(row["late_limit"]):
        late = raw.begin.max(axis=1) > int(row["late_limit"])
        if (late == raw.valid).any():
            yield "valid is not what late_limit says"
