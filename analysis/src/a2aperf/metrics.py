# SPDX-License-Identifier: BSD-3-Clause
"""Every formula of docs/metrics.md as a pure function of numbers and arrays.

Times are nanoseconds, sizes bytes, rates Gbit/s (1 Gbit = 1e9 bit, so bit/ns), message rates 1/s.
R is the number of ranks, B the message size, k the ranks of a node, T the op time.
"""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from a2aperf import laws

Floats = NDArray[np.float64]
Rule = Literal["rank", "index"]

CONFIDENCE = 0.95


# Times of one point, from moments of shape [ops, R] --------------------------------------------


def rank_end(send_done: NDArray[Any], recv_done: NDArray[Any], complete_at: str) -> NDArray[Any]:
    """End of every rank's op: both moments reached, or only the sends if complete at the sender."""
    return send_done if complete_at == "sender" else np.maximum(send_done, recv_done)


def op_time(end: NDArray[Any]) -> Floats:
    """T_i [ops]: the last rank's end, measured from the op's start (the headline)."""
    return np.asarray(end.max(axis=1), dtype=np.float64)


def op_span(begin: NDArray[Any], end: NDArray[Any]) -> Floats:
    """Last end minus first begin [ops]: T without the start skew; needs a common clock."""
    return np.asarray(end.max(axis=1) - begin.min(axis=1), dtype=np.float64)


def whole_time(begin: NDArray[Any], end: NDArray[Any]) -> float:
    """Time in which any op was under way on any rank: begin and end [ops, R] on a common clock."""
    spans = np.stack([begin.min(axis=1), end.max(axis=1)], axis=1)
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    until = np.maximum.accumulate(spans[:, 1])
    before = np.concatenate([spans[:1, 0], until[:-1]])
    return float(np.maximum(spans[:, 1] - np.maximum(spans[:, 0], before), 0).sum())


def rank_time(begin: NDArray[Any], end: NDArray[Any]) -> Floats:
    """E − b of every rank [ops, R]."""
    return np.asarray(end - begin, dtype=np.float64)


def last_rank(end: NDArray[Any]) -> tuple[int, float]:
    """The rank that finished last most often, and in which share of the ops."""
    counts = np.bincount(end.argmax(axis=1), minlength=end.shape[1])
    rank = int(counts.argmax())
    return rank, float(counts[rank] / end.shape[0])


# Percentiles and order statistics --------------------------------------------------------------


def percentile_index(n: int, q: float, rule: Rule = "rank") -> int:
    """Index into n sorted values: the ⌈q·n⌉-th smallest (rank), or int(q·n) (index)."""
    if n < 1:
        raise ValueError("a percentile needs at least one value")
    # q·n is rounded first: 0.07 * 100 is 7.000000000000001 and would count as 8
    position = round(q * n, 9)
    return min(max(math.ceil(position) - 1, 0) if rule == "rank" else int(position), n - 1)


def percentile(values: ArrayLike, q: float, rule: Rule = "rank") -> float:
    """Percentile q (0 to 1) of the values by the given rule; never interpolates."""
    array = np.sort(np.asarray(values, dtype=np.float64))
    return float(array[percentile_index(array.size, q, rule)])


def percentile_is_maximum(n: int, q: float, rule: Rule = "rank") -> bool:
    """Whether n is so small that the percentile is the largest value."""
    return percentile_index(n, q, rule) == n - 1


def interval_indices(n: int, q: float, confidence: float = CONFIDENCE) -> tuple[int, int] | None:
    """Indices into n sorted values that enclose percentile q, or None where n is too small.

    Order statistics of a binomial, each side with at most half of the error, so two-sided 95 %
    needs n ≥ 6 for the median, 368 for p99, 3688 for p99.9 (Hoefler & Belli, SC'15, section 4).
    """
    tail = (1 - confidence) / 2
    below = laws.special.bdtr(np.arange(n), n, q)  # P(at most j values lie below the percentile)
    lower = int(np.searchsorted(below, tail, side="right"))  # the lower-th smallest, 1-based
    upper = int(np.searchsorted(below, 1 - tail, side="left")) + 1
    if lower < 1 or upper > n:
        return None
    return lower - 1, upper - 1


# Rates ------------------------------------------------------------------------------------------


def gbps_rank(ranks: ArrayLike, size: ArrayLike, time: ArrayLike) -> Floats:
    """(R−1)·B·8 / T: what each rank sends, one direction, self excluded."""
    return np.asarray((np.asarray(ranks) - 1) * np.asarray(size) * 8.0 / np.asarray(time))


def gbps_compat(ranks: ArrayLike, size: ArrayLike, time: ArrayLike) -> Floats:
    """R·B·8 / T: the 2019 table's throughput, which counts a message to self."""
    return np.asarray(np.asarray(ranks) * np.asarray(size) * 8.0 / np.asarray(time))


def gbps_node_net(ranks: ArrayLike, k: ArrayLike, size: ArrayLike, time: ArrayLike) -> Floats:
    """8·B·k·(R−k) / T: what leaves a node of k ranks; NaN where one node holds all ranks."""
    total, own = np.asarray(ranks, dtype=np.float64), np.asarray(k, dtype=np.float64)
    remote = np.where(own < total, total - own, np.nan)
    return np.asarray(8.0 * np.asarray(size) * own * remote / np.asarray(time))


def gbps_bisection(ranks: ArrayLike, size: ArrayLike, time: ArrayLike) -> Floats:
    """8·B·⌊R/2⌋·⌈R/2⌉ / T: across a balanced cut, per direction."""
    total = np.asarray(ranks)
    return np.asarray(8.0 * np.asarray(size) * (total // 2) * ((total + 1) // 2) / np.asarray(time))


def msg_rate(ranks: ArrayLike, time: ArrayLike) -> Floats:
    """R·(R−1) / T in messages per second."""
    total = np.asarray(ranks, dtype=np.float64)
    return np.asarray(total * (total - 1) / np.asarray(time) * 1e9)


def rates(
    ranks: int, size: int, p50: float, mean: float, ranks_of_node: ArrayLike, link_gbps: float
) -> dict[str, float]:
    """Every rate of one point, by column name.

    `ranks_of_node` [N] is empty where the nodes are unknown (their figures are then NaN);
    `link_gbps` is rails × link rate, NaN if unknown. Only the sustained figures use the mean.
    """
    k = np.asarray(ranks_of_node, dtype=np.float64)
    net = gbps_node_net(ranks, k, size, p50) if k.size else np.array([np.nan])
    mean_k = float(k.mean()) if k.size else np.nan
    one, compat = float(gbps_rank(ranks, size, p50)), float(gbps_compat(ranks, size, p50))
    return {
        "gbps_rank": one,
        "gbps_compat": compat,
        "gbps_node_net_min": float(net.min()),
        "gbps_node_net": float(net.mean()),
        "gbps_node_net_max": float(net.max()),
        "gbps_node_total": mean_k * one,
        "gbps_node_compat": mean_k * compat,
        "gbps_duplex": 2 * float(net.mean()),
        "gbps_aggregate": ranks * one,
        "gbps_bisection": float(gbps_bisection(ranks, size, p50)),
        # (R−1)·B·8·n / ΣT is the rate at the mean
        "gbps_sustained": float(gbps_rank(ranks, size, mean)),
        "gbps_sustained_compat": float(gbps_compat(ranks, size, mean)),
        "msg_rate": float(msg_rate(ranks, p50)),
        "efficiency": float(net.mean()) / link_gbps if link_gbps > 0 else np.nan,
    }


# Statistics of one point ------------------------------------------------------------------------


def autocorrelation(values: ArrayLike) -> float:
    """Lag-1 autocorrelation; NaN for fewer than three values or where all are equal."""
    array = np.asarray(values, dtype=np.float64)
    if array.size < 3:
        return math.nan
    centred = array - array.mean()
    variance = float(centred @ centred)
    return float(centred[:-1] @ centred[1:]) / variance if variance > 0 else math.nan


def time_statistics(times: ArrayLike, rule: Rule = "rank") -> dict[str, float]:
    """The `time_*` columns of op times [n], n ≥ 1, intervals by order statistics."""
    ordered = np.sort(np.asarray(times, dtype=np.float64))
    n = ordered.size
    found = {
        "time_min": float(ordered[0]),
        "time_mean": float(ordered.mean()),
        "time_max": float(ordered[-1]),
        "time_stddev": float(ordered.std(ddof=1)) if n > 1 else math.nan,
    }
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        found[f"time_{name}"] = float(ordered[percentile_index(n, q, rule)])
    for name, q in (("p50", 0.5), ("p99", 0.99)):
        ends = interval_indices(n, q)
        low, high = (ordered[ends[0]], ordered[ends[1]]) if ends else (math.nan, math.nan)
        found[f"time_{name}_low"], found[f"time_{name}_high"] = float(low), float(high)
    return found
