# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a point, computed from its raw samples: what `a2aperf` stores beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from a2aperf import intervals, metrics, schema
from a2aperf.deferred import pandas as pd
from a2aperf.intervals import Floats
from a2aperf.metrics import Rule
from a2aperf.raw_ops import RawOps

TOLERANCE = 1e-6
"""Relative difference up to which a stored figure counts as the recomputed one."""
_LARGEST_ERROR = 0.05  # of an op, as for a start by the clock


def derive(
    raw: RawOps,
    message_size: int,
    ranks_of_node: ArrayLike,
    link_gbps: float,
    has_common_start: bool,
    rule: Rule = "rank",
    clock_error: float = 0.0,
) -> dict[str, Any]:
    """Every derived column of one point over its valid ops, by name; times in ns.

    `ranks_of_node` is k of every node [N]; `link_gbps` is rails × link rate, NaN where unknown;
    without a common start (barrier) the op span is NaN. Who was last is unknown where no common
    clock carries it: with a barrier start whose exits were not kept, or with a `clock_error` (ns,
    NaN: not known) above 5 % of the median.
    """
    end, begin = raw.end[raw.valid], raw.begin[raw.valid]
    times = metrics.op_time(end)
    if times.size == 0:
        raise ValueError("no valid op")
    statistics = metrics.time_statistics(times, rule)
    rank, share = schema.UNKNOWN, np.nan
    has_common_ends = has_common_start or raw.exit is not None
    if has_common_ends and not clock_error > _LARGEST_ERROR * statistics["time_p50"]:
        exits = 0 if raw.exit is None else raw.exit[raw.valid]
        rank, share = metrics.last_rank(end + exits)
    span = metrics.op_span(begin, end)
    return {
        **statistics,
        **quantile_intervals(times),
        **metrics.rates(
            raw.begin.shape[1],
            message_size,
            statistics["time_p50"],
            statistics["time_mean"],
            ranks_of_node,
            link_gbps,
        ),
        "attempts": raw.valid.size,
        "ops": times.size,
        "invalid": raw.valid.size - times.size,
        "autocorrelation": metrics.autocorrelation(times),
        "span_p50": metrics.percentile(span, 0.5, rule) if has_common_start else np.nan,
        "rank_time_p50": metrics.percentile(metrics.rank_time(begin, end).ravel(), 0.5, rule),
        "last_rank": rank,
        "last_rank_share": share,
    }


def quantile_intervals(times: Floats) -> dict[str, Any]:
    """The intervals of median and p99, and which kind the median's is."""
    found: dict[str, Any] = {}
    for name, q in (("p50", 0.5), ("p99", 0.99)):
        interval = intervals.quantile_interval(times, q)
        found[f"time_{name}_low"], found[f"time_{name}_high"] = interval.low, interval.high
    return {**found, "interval_kind": intervals.median_interval(times).kind}


def contradicted(
    row: pd.Series[Any], again: Mapping[str, Any], least: float = 1e-9
) -> Iterator[tuple[str, Any, Any]]:
    """Stored figures that are not what was computed again: name, as stored (NaN: not), and again.

    A difference of `least` is none. A column that is not there contradicts nothing.
    """
    for name, value in again.items():
        if name not in row:
            continue
        stored = row[name]
        if isinstance(value, str):
            is_same = stored == value
        else:
            stored = np.nan if pd.isna(stored) else float(stored)
            is_same = np.isclose(stored, value, rtol=TOLERANCE, atol=least, equal_nan=True)
        if not is_same:
            yield name, stored, value
