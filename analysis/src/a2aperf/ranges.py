# SPDX-License-Identifier: BSD-3-Clause
"""What the values of a file can be where nothing else in it tells them: ranges, and who must agree.

A figure that follows from the samples is computed again by `check`. All else has a range here, of
its own or by another column's value, so that no number that cannot be is taken for one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import counter_ranges, derived, reading, schema, segments, strict, workloads
from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results

Limit = float | str
"""A number, or the column whose value is the limit."""

_SECOND: Final = 10**9
_CLOCK_SET: Final = 60 * _SECOND
"""ns by which somebody may set a node's clock during a launch."""
_LARGEST_DRIFT: Final = 0.1
_LARGEST: Final = 1e18
"""Of a figure: thirty years in ns. What is above it is damage, and products of it overflow."""
_NONE: Final = np.inf

_ASKED: Final[Mapping[str, tuple[Limit, Limit]]] = {
    "window": (0, _NONE),
    "message_size": (0, _NONE),
    "ranks": (1, strict.MOST),
    "nodes": (1, "ranks"),
    "ranks_per_node": (1, "ranks"),
}
"""Of every row."""
_FIGURES: Final = [one.name for one in schema.COLUMNS if one.kind == "float64" and one.result]
_MEASURED: Final[Mapping[str, tuple[Limit, Limit]]] = {
    **dict.fromkeys(_FIGURES, (0, _LARGEST)),
    "order": (0, _NONE),
    "attempts": (0, _NONE),
    "ops": (0, _NONE),
    "invalid": (0, "attempts"),
    "inject": (0, 1),
    "buffer_slots": (1, "ranks"),
    "started": (0, _NONE),
    "duration": (0, _NONE),
    "late_limit": (0, _NONE),
    "warmup_p50": (0, "duration"),
    "time_max": (0, "duration"),
    "autocorrelation": (-1, 1),
    "last_rank_share": (0, 1),
}
"""Of rows that were measured; what else is there may be half written."""
_OF_FAILED: Final = ("clock_error", "warmup_p50")
"""Figures that a point has without a valid op."""
_LEAST_LATE: Final = 1000
_LATE_SHARE: Final = 0.01
"""A rank is late that begins later than so many ns, or than this share of a warm-up's op."""
_WIDENING: Final = 0.45
"""By which an interval of a ratio may reach beyond what its ops can say, as a share of that."""
_SETTINGS: Final[Mapping[str, tuple[float, float]]] = {
    "time_origin": (schema.UNKNOWN, _NONE),
    "memory_limit": (schema.UNKNOWN, _NONE),
    "shuffle_ranks": (schema.UNKNOWN, 1),
    "warmup": (schema.UNKNOWN, _NONE),
    "rails": (schema.UNKNOWN, 1 << 10),
    "rank_rails": (schema.UNKNOWN, 1 << 10),
    "clock_error_ns": (0, _NONE),
    "link_rate_gbps": (0, 1e6),
    "asked_link_rate": (0, 1e6),
}
"""Attributes of a launch."""
_STARTS: Final = ("", "clock", "barrier", "none")


def of_file(found: Results, path: Path) -> Iterator[str]:
    """What is wrong with the one file of these results, but for its samples, in words."""
    yield from _of_points(found)
    yield from _without_samples(found)
    with reading.open_results(path) as file:
        segments = reading.read_segments(file)
    for index, segment in enumerate(segments):
        yield from _of_launch(index, segment, found.points)


def _without_samples(found: Results) -> Iterator[str]:
    """Of a text that was imported, perhaps beside others, attempts are not known."""
    (attributes,) = found.attributes.values()
    of = found.points[(found.points["state"] == "complete") & found.points["attempts"].notna()]
    for _, row in of[~of["has_raw"]].iterrows() if attributes["raw_samples"] else ():
        where = f"point {row['point']} ({row['ranks']} ranks, {row['message_size']} B)"
        yield f"{where}: it is complete, and has no samples"


def of_failed(row: pd.Series[Any]) -> Iterator[str]:
    """What is wrong of a point without a valid op: it has no figures."""
    for name in (*_FIGURES, "last_rank"):
        if name in row and name not in _OF_FAILED and not pd.isna(row[name]):
            yield f"{name} is {row[name]:g}, and no op is valid"


def of_point(found: Results, row: pd.Series[Any], raw: RawOps) -> Iterator[str]:
    """What is wrong with the times and the counters of one point."""
    launch = found.launches[str(row["launch"])]
    yield from _of_samples(row, raw, launch)
    yield from _of_warmup(row, launch, found.attributes[str(row["file"])].get("origin"))
    counters = found.counters(row["file"], int(row["point"]))
    if counters is not None:
        yield from counter_ranges.of_point(row, counters)


# Points -------------------------------------------------------------------------------------------


def _of_points(found: Results) -> Iterator[str]:
    """What no column can be, or not with the others, in words."""
    points = found.points
    measured = points["state"].isin(("complete", "failed"))
    for limits, rows in ((_ASKED, points), (_MEASURED, points[measured])):
        for name, (low, high) in limits.items():
            if name not in found.absent:
                yield from _beyond(rows, name, low, high)
    yield from _ranks_named(points)
    yield from _counts(points[measured])
    yield from _partners(points, found.judged.untold(found).to_numpy(bool))
    yield from _settings(found, points[measured & points["has_raw"]])
    yield from _clock_errors(found, points[measured])


def _numbers(rows: pd.DataFrame, name: Limit) -> NDArray[np.float64]:
    """A column as numbers, NaN where it is not known; a number is its own."""
    if not isinstance(name, str):
        return np.full(len(rows), float(name))
    return rows[name].to_numpy(dtype=np.float64, na_value=np.nan)


def _known(value: Any) -> float:
    return np.nan if pd.isna(value) else float(value)


def _beyond(rows: pd.DataFrame, name: str, low: Limit, high: Limit) -> Iterator[str]:
    values, least, most = (_numbers(rows, one) for one in (name, low, high))
    # Numbers above 2^53 are compared as the nearest that a float has.
    wrong = (values < least) | (values > most) | np.isinf(values)
    for row, value, limit in zip(rows["point"][wrong], values[wrong], most[wrong], strict=True):
        side = f", above {high} = {limit:g}" if isinstance(high, str) and value > limit else ""
        yield f"point {row}: {name} is {value:g}{side}"


def _ranks_named(points: pd.DataFrame) -> Iterator[str]:
    """Ranks count from 0; a step has a distance below their number."""
    for name in ("distance", "last_rank"):
        values, ranks = _numbers(points, name), _numbers(points, "ranks")
        wrong = (values < 0) | (values >= np.maximum(ranks, 1))  # what is not known is NaN
        for row, value in zip(points["point"][wrong], values[wrong], strict=True):
            yield f"point {row}: {name} is {value:g}, and there are no such ranks"


def _counts(rows: pd.DataFrame) -> Iterator[str]:
    for _, row in rows.iterrows():
        where, rule = f"point {row['point']}", row["stop_rule"]
        ops, invalid, attempts = (_known(row[name]) for name in ("ops", "invalid", "attempts"))
        counted = row["has_raw"] and workloads.of_role(str(row["role"])).ops_are_attempts
        if counted and ops + invalid != attempts:
            yield f"{where}: {ops:g} ops and {invalid:g} invalid are not all attempts"
        if row["has_raw"] and rule == "none":
            yield f"{where}: measured, but no rule ended it (stop_rule)"
        if row["has_raw"] and rule == "attempts" and ops == attempts:
            yield f"{where}: stop_rule is attempts, but all of them are valid"
        for low, high in (("ratio_low", "ratio_high"), ("time_p50_low", "time_p50_high")):
            if row[low] > row[high] or pd.isna(row[low]) != pd.isna(row[high]):
                yield f"{where}: {low} {row[low]:g} and {high} {row[high]:g} are no interval"


def _partners(points: pd.DataFrame, untold: NDArray[np.bool_]) -> Iterator[str]:
    """`untold`: of which points the start of their ops carries no ratio."""
    partner = points["partner"].fillna(schema.UNKNOWN).to_numpy(dtype=np.int64)
    for point, other in enumerate(partner):
        row = points.iloc[point]
        if other == schema.UNKNOWN:
            if not pd.isna(row[["ratio", "ratio_low", "ratio_high"]]).all():
                yield f"point {point}: a ratio without a partner"
            continue
        if not 0 <= other < len(partner) or partner[other] != point or other == point:
            yield f"point {point}: partner {other} is not partner of it"
            continue
        against = points.iloc[other]
        if any(row[name] != against[name] for name in ("message_size", "ranks")):
            yield f"point {point}: partner {other} is of another size"
        if not (untold[point] and pd.isna(row["ratio"])):
            yield from _ratio(point, row, against)


def _ratio(point: int, row: pd.Series[Any], against: pd.Series[Any]) -> Iterator[str]:
    both = row["state"] == against["state"] == "complete"
    ratio = against["time_p50"] / row["time_p50"] if both and row["time_p50"] else np.nan
    if both and row["launch"] != against["launch"]:
        yield f"point {point}: its partner was measured by another launch"
    if not row["has_raw"] and pd.isna(row["ratio"]):
        return
    stored = row["ratio"]
    if against["state"] == "pending":  # it is written apart, and the launch ended between the two
        return
    if row["state"] == "complete" and not np.isclose(
        stored, ratio, rtol=derived.TOLERANCE, atol=0, equal_nan=True
    ):
        yield f"point {point}: ratio is {stored:g}, the medians say {ratio:g}"
    elif both:
        yield from _ratio_interval(point, row, against)


def _ratio_interval(point: int, row: pd.Series[Any], against: pd.Series[Any]) -> Iterator[str]:
    """An interval of quotients of medians is within those of the extremes, and a bit beyond."""
    least, most = (
        float(against[a] / row[b]) if row[b] > 0 and against[a] > 0 else np.nan
        for a, b in (("time_min", "time_max"), ("time_max", "time_min"))
    )
    beyond = (most / least) ** _WIDENING
    for name in ("ratio_low", "ratio_high"):
        if row[name] < least / beyond or row[name] > most * beyond:
            yield f"point {point}: {name} is {row[name]:g}, ops say {least:g} to {most:g}"


def _settings(found: Results, rows: pd.DataFrame) -> Iterator[str]:
    """What a point shares with its launch."""
    for _, row in rows.iterrows():
        launch = found.launches[str(row["launch"])]
        provider = str(launch.attributes["provider"])
        if row["engine"] == "a2aperf" and provider and row["provider"] != provider:
            yield f"point {row['point']}: provider {row['provider']}, its launch has {provider}"
        kinds = str(launch.attributes["memory"]).split(",")
        if "memory" in row and kinds != [""] and row["memory"] not in kinds:
            yield f"point {row['point']}: memory {row['memory']}, its launch has {', '.join(kinds)}"
        if row["post"] not in ("before", "inside"):
            yield f"point {row['point']}: post is '{row['post']}', not before or inside"


def _clock_errors(found: Results, rows: pd.DataFrame) -> Iterator[str]:
    """A launch's largest error until a point ended: it never falls."""
    for launch, mine in rows[rows["order"].notna()].groupby("launch"):
        in_time = mine.sort_values("order")["clock_error"].dropna()
        if not in_time.is_monotonic_increasing:
            yield f"launch {found.launches[str(launch)].segment}: clock_error falls with time"


# Launches -----------------------------------------------------------------------------------------


def _of_launch(index: int, segment: schema.Segment, points: pd.DataFrame) -> Iterator[str]:
    """What no provenance can say; `points` are all of the file."""
    where = f"launch {index}"
    for name, (low, high) in _SETTINGS.items():
        value = float(segment.attributes[name])
        if value < low or value > high or np.isinf(value):
            yield f"{where}: {name} is {value:g}"
    used, stated = (
        float(segment.attributes[name]) for name in ("link_rate_gbps", "asked_link_rate")
    )
    if not (np.isnan(used) or np.isnan(stated) or np.isclose(used, stated)):
        yield f"{where}: link_rate_gbps is {used:g}, and {stated:g} was stated"
    if segment.attributes["sync"] not in _STARTS:
        yield f"{where}: sync is '{segment.attributes['sync']}', not clock, barrier or none"
    mine = points[(points["segment"] == index) & points["has_raw"]]
    ranks = int(mine["ranks"].max()) if len(mine) else segment.node_of_rank.size
    yield from _of_ranks(where, segment, ranks)
    order = segment.planned_order
    if (order < 0).any() or (order >= len(points)).any() or len(np.unique(order)) < order.size:
        yield f"{where}: planned_order is not an order of the points"
    if segment.start:
        yield from counter_ranges.of_start(f"{where}: {segments.START}", segment.start)
        for name, values in segment.start.per_rank.items():
            if values.size != ranks:
                yield f"{where}: {segments.START}/{name} has {values.size} values, not {ranks}"
    if segment.start_times:
        spent = segment.start_times.time
        if spent.shape[1] != ranks:
            yield f"{where}: {segments.START_TIMES} has {spent.shape[1]} ranks, not {ranks}"
        if (spent < 0).any():
            yield f"{where}: {segments.START_TIMES} has {spent.min()} ns"
    yield from _times(where, segment, mine)


def _of_ranks(where: str, segment: schema.Segment, ranks: int) -> Iterator[str]:
    names = ("node_of_rank", "clock_domain_of_rank", "clock_offset", "clock_drift", "rank_order")
    for name in names:
        count = getattr(segment, name).size
        if count != ranks:
            yield f"{where}: {name} has {count} values, not {ranks}"
    for name, most in (("clock_offset", _LARGEST), ("clock_drift", _LARGEST_DRIFT)):
        clocks = getattr(segment, name)
        if not (np.abs(clocks) < most).all() and not np.isnan(clocks).all():  # not known
            yield f"{where}: {name} has a value that no clock has"
    domains = segment.clock_domain_of_rank
    if (domains < 0).any() or (domains >= max(ranks, 1)).any():
        yield f"{where}: clock_domain_of_rank names no clock"
    if not np.array_equal(np.sort(segment.rank_order), np.arange(segment.rank_order.size)):
        yield f"{where}: rank_order has not every rank once"


def _times(where: str, segment: schema.Segment, mine: pd.DataFrame) -> Iterator[str]:
    origin, ended = int(segment.attributes["time_origin"]), segment.ended
    if ended < schema.UNKNOWN or 0 <= ended < origin - _CLOCK_SET:
        yield f"{where}: it ended before it began"
    if ended - origin > _LARGEST:
        yield f"{where}: it ended later than it can have"
    for _, row in mine[mine["started"].notna() & mine["duration"].notna()].iterrows():
        start = int(row["started"])
        end = start + int(row["duration"])
        if start < origin - _CLOCK_SET or (ended > 0 and end > ended + _CLOCK_SET):
            yield f"point {row['point']}: started or duration is not within the time of its launch"


# Samples and counters -----------------------------------------------------------------------------


def _of_samples(row: pd.Series[Any], raw: RawOps, launch: Launch) -> Iterator[str]:
    """What the samples of a point say of its time."""
    origin = int(launch.attributes["time_origin"])
    if pd.isna(row["started"]) or pd.isna(row["duration"]):
        return
    if (raw.op_times() > 0).any() and raw.op_times().clip(0).sum() > row["duration"] + _SECOND:
        yield f"duration is {row['duration']} ns, its ops took longer"
    start, last = origin + int(raw.start[0]), origin + int(raw.start[-1])
    began = int(row["started"])
    if start < began - _CLOCK_SET or last > began + int(row["duration"]) + _CLOCK_SET:
        yield "its ops are not within the time from started on (/raw/start)"
    if (np.diff(raw.start) < 0).any():
        yield "its ops do not follow one another (/raw/start)"
    if raw.exit is not None and (np.abs(raw.exit) > row["duration"] + _CLOCK_SET).any():
        yield "ranks left the barrier outside of the time of the point (/raw/exit)"


def _of_warmup(row: pd.Series[Any], launch: Launch, origin: Any) -> Iterator[str]:
    """Whether its median fits to the rule that was made of it, and into the point's time."""
    median, limit = row["warmup_p50"], row["late_limit"]
    if pd.notna(limit) and origin == "measured":
        known = 0.0 if pd.isna(median) else float(median)
        due = max(_LEAST_LATE, int(_LATE_SHARE * known))
        if abs(int(limit) - due) > 1:
            yield f"late_limit is {limit} ns, warmup_p50 {known:g} ns says {due}"
    half = max(int(launch.attributes["warmup"]) // 2, 1)
    if pd.notna(median) and pd.notna(row["duration"]) and median * half > row["duration"]:
        yield f"warmup_p50 is {median:g}, and {half} such ops take longer than the point"
