# SPDX-License-Identifier: BSD-3-Clause
"""The histogram of all round trips: what is known of those that are not kept one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import labels, metrics, schema
from a2aperf.deferred import pandas as pd
from a2aperf.metrics import Rule
from a2aperf.results import Results

BEGIN: Final = "bucket_begin"
TRIPS: Final = "bucket_trips"
_BITS: Final = 10

Counts = NDArray[np.int64]


def widths(begins: Counts) -> Counts:
    """Of buckets that begin so, ns: the rule of docs/file-format.md."""
    # A double has the power of two of any int64 right but just below the next one: there by 1 more.
    wide = np.maximum(np.asarray(begins, dtype=np.int64), 1)
    power = np.minimum(np.frexp(wide.astype(np.float64))[1] - 1, 62).astype(np.int64)
    power -= (np.int64(1) << power) > wide
    return np.asarray(np.int64(1) << np.maximum(power - _BITS, 0), dtype=np.int64)


def begins_of(times: Counts) -> Counts:
    """The beginnings of the buckets in which times of 0 ns and more are."""
    width = widths(times)
    return np.asarray(times // width * width, dtype=np.int64)


@dataclass(frozen=True)
class Histogram:
    """Ascending beginnings of buckets, ns, and how many round trips each has."""

    begins: Counts
    trips: Counts

    @property
    def total(self) -> int:
        """All of its round trips."""
        return int(self.trips.sum())

    @property
    def middles(self) -> Counts:
        """No further from any time in the bucket than half its width, 0.05 % of it."""
        return np.asarray(self.begins + (widths(self.begins) - 1) // 2)

    def percentile(self, q: float, rule: Rule) -> float:
        """The middle of the bucket that has it; NaN where it would be the longest of all."""
        index = metrics.percentile_index(self.total, q, rule)
        if q > 0.5 and index == self.total - 1:
            return np.nan
        place = int(np.searchsorted(np.cumsum(self.trips), index, side="right"))
        return float(self.middles[min(place, self.begins.size - 1)])

    def deviation(self, mean: float) -> float:
        """The sample standard deviation, by the middles."""
        if self.total < 2:
            return np.nan
        squares = (self.middles - mean) ** 2 * self.trips
        return float(np.sqrt(squares.sum() / (self.total - 1)))


def of_clients(found: Results, file: str, point: int) -> tuple[Counts, Counts] | None:
    """Beginnings and counts as they are stored, [buckets, R]; None where the point has none."""
    columns = found.own_columns(file)
    if BEGIN not in columns or TRIPS not in columns:
        return None
    begins, trips = (found.own(file, point, columns[name]) for name in (BEGIN, TRIPS))
    return (begins, trips) if len(begins) else None


def pooled(stored: tuple[Counts, Counts]) -> Histogram:
    """Of all clients."""
    there = stored[0] != schema.NO_MOMENT
    begins, place = np.unique(stored[0][there], return_inverse=True)
    trips = np.zeros(begins.size, np.int64)
    np.add.at(trips, place, stored[1][there])
    return Histogram(begins, trips)


def faults(stored: tuple[Counts, Counts], totals: dict[str, Counts], kept: Counts) -> Iterator[str]:
    """What contradicts the totals of a client, or the round trips that it kept, [ticks, R]."""
    for rank in range(stored[0].shape[1]):
        begins, trips = stored[0][:, rank], stored[1][:, rank]
        there = begins != schema.NO_MOMENT
        if (there != (trips != schema.NO_MOMENT)).any() or there[np.count_nonzero(there) :].any():
            yield f"the histogram of rank {rank} has counts without a bucket, or gaps"
            continue
        mine = Histogram(begins[there], trips[there])
        own = {name: int(values[rank]) for name, values in totals.items()}
        yield from (
            f"the histogram of rank {rank} {words}"
            for words in _of_rank(mine, own, kept[kept[:, rank] != schema.NO_MOMENT, rank])
        )


def _of_rank(mine: Histogram, own: dict[str, int], kept: Counts) -> Iterator[str]:
    if (np.diff(mine.begins) <= 0).any() or (mine.begins < 0).any() or (mine.trips <= 0).any():
        yield "has buckets out of order, or without a round trip"
        return
    if (begins_of(mine.begins) != mine.begins).any():
        yield "has a bucket that begins where none does"
        return
    if mine.total != own["round_trips"]:
        yield f"has {mine.total} round trips, and there were {own['round_trips']}"
    if not mine.total:
        return
    ends = begins_of(np.array([own["shortest_trip"], own["longest_trip"]]))
    for which, at, end in zip(("shortest", "longest"), (0, -1), ends, strict=True):
        if mine.begins[at] != end:
            yield f"has not the {which} round trip in its {'last' if at else 'first'} bucket"
    of_kept, counts = np.unique(begins_of(kept), return_counts=True)
    place = np.minimum(np.searchsorted(mine.begins, of_kept), mine.begins.size - 1)
    if (np.where(mine.begins[place] == of_kept, mine.trips[place], 0) < counts).any():
        yield "has fewer in a bucket than round trips are kept that belong there"


def rest_on_it(points: pd.DataFrame) -> pd.Series[bool]:
    """Whether percentiles are the histogram's: more round trips were made than are kept."""
    none = pd.Series(0, index=points.index)
    buckets, lost = (points.get(name, none).fillna(0) for name in ("buckets", "ticks_lost"))
    return (buckets > 0) & (lost > 0)


def words(points: pd.DataFrame) -> str:
    """What is to be known of such percentiles; empty where no point has any."""
    of = points[rest_on_it(points)]
    if of.empty:
        return ""
    trips = labels.count_text(int(of["round_trips"].sum()), "round trip")
    return (
        f"percentiles of {labels.count_text(len(of), 'point')} are from a histogram of 0.1 % of "
        f"{trips}"
    )


def further(found: Results, row: pd.Series[Any], quantiles: dict[str, float]) -> dict[str, float]:
    """More percentiles of such a point, in ns."""
    stored = of_clients(found, str(row["file"]), int(row["point"]))
    all_of_them = None if stored is None else pooled(stored)
    if all_of_them is None or all_of_them.total < 1:
        return {}
    rule = found.attributes[str(row["file"])].get("percentile_rule", "rank")
    ends = row["time_min"], row["time_max"]
    return {
        name: float(np.clip(all_of_them.percentile(q, rule), *ends))
        for name, q in quantiles.items()
    }
