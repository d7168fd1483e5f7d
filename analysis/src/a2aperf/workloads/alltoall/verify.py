# SPDX-License-Identifier: BSD-3-Clause
"""Whether what an all-to-all says of its traffic is what the matrix and the samples say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import derived, grouping, metrics, schema
from a2aperf.deferred import pandas as pd
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.alltoall import forwarding, matrices, one_way, redrawn
from a2aperf.workloads.workload import Row, Verify

_MOST_IN_WINDOW = 1_000_000
_MOST_RANKS = 1024  # of which a matrix is made that the file need not have


def verifier(found: Results, file: str) -> Verify:
    """What compares a point with its matrix; nothing in older files, which have none."""
    if "bound" not in found.points:
        return lambda row, raw: iter(())
    return partial(_point, found)


def otherwise(row: Row) -> frozenset[str]:
    """What of a point does not follow from its median."""
    if row["role"] == schema.PIPELINED:
        return schema.WHOLE | {"last_rank", "last_rank_share"}
    return frozenset() if matrices.is_uniform(row) else schema.WHOLE


def _point(found: Results, row: pd.Series, raw: RawOps) -> Iterator[str]:
    node_of_rank = found.launches[str(row["launch"])].node_of_rank
    yield from _chunks(row)
    yield from _queues(row)
    yield from _threads(row)
    yield from _window(row, node_of_rank)
    yield from forwarded(row, node_of_rank)
    if matrices.draws(row) > 1:
        yield from _in_turn(found, row, raw)
        return
    sizes = _sizes(found, row)
    if sizes is None:
        if not matrices.is_uniform(row):
            yield f"the matrix of its traffic {row['traffic']} is not in the file"
        return
    again = figures(row, sizes, found.launches[str(row["launch"])])
    if not matrices.is_uniform(row):
        launch = found.launches[str(row["launch"])]
        again |= rates(row, [matrices.Loads.of(sizes, launch.node_of_rank)], launch)
    if row["role"] == schema.PIPELINED:
        again |= _of_the_whole(row, raw, again["bound"], found.launches[str(row["launch"])])
    yield from _contradicted(row, again | _untold(found, row))


def _untold(found: Results, row: pd.Series) -> dict[str, float]:
    """What nothing carries, by column: whatever it says was left out (`one_way`)."""
    if matrices.is_uniform(row) or row["role"] == schema.PIPELINED:
        return {}
    is_untold = one_way.at_a_barrier(found, row) and one_way.goes(found, row)
    return dict.fromkeys(one_way.LEFT_OUT, np.nan) if is_untold else {}


def _contradicted(row: pd.Series, again: dict[str, Any]) -> Iterator[str]:
    if row["role"] == "baseline":  # MPI's network need not be the provider's
        again.pop("efficiency", None)
    for name, stored, value in derived.contradicted(row, again):
        form = "" if isinstance(value, str) else "g"
        yield f"{name} is {stored:{form}}, its traffic says {value:{form}}"


def _in_turn(found: Results, row: pd.Series, raw: RawOps) -> Iterator[str]:
    """Where each op has a matrix of its own."""
    stack = matrices.in_turn(found, row)
    if stack is None:
        yield f"the matrices of its traffic {row['traffic']} are not in the file"
        return
    launch = found.launches[str(row["launch"])]
    asked = redrawn.Asked.of(stack, int(row["message_size"]), launch)
    rule = found.attributes[str(row["file"])].get("percentile_rule", "rank")
    again = redrawn.figures(asked, raw, rule)
    ops = [asked.loads[op] for op in redrawn.of_ops(raw, len(stack))]
    times = raw.op_times()[raw.valid]
    again |= rates(row, ops, launch, times, rule)
    yield from _contradicted(row, again | _untold(found, row))


def _of_the_whole(row: pd.Series, raw: RawOps, bound: float, launch: Launch) -> dict[str, Any]:
    """Figures of ops that follow one another, by column."""
    zero = raw.start[:, None] + (0 if raw.exit is None else raw.exit)
    whole = metrics.whole_time((zero + raw.begin)[raw.valid], (zero + raw.end)[raw.valid])
    each = whole / int(raw.valid.sum())
    link = float(launch.attributes["rails"]) * float(launch.attributes["link_rate_gbps"])
    of_node = np.bincount(launch.node_of_rank, minlength=len(launch.nodes))
    size = int(row["message_size"])
    return {
        **metrics.rates(int(row["ranks"]), size, each, each, of_node, link),
        "whole_time": whole,
        "bound_share": bound / each,
        "last_rank": np.nan,
        "last_rank_share": np.nan,
    }


def _largest(row: pd.Series) -> int:
    return int(row["message_size"] if matrices.is_uniform(row) else row["largest_message"])


def _chunks(row: pd.Series) -> Iterator[str]:
    """`chunks` says what is in force: a chunk that no message is longer than cuts nothing."""
    if "chunks" not in row or pd.isna(row["chunks"]):
        return
    chunk = int(row[grouping.CHUNK])
    due = 1 if chunk == 0 else max(-(-_largest(row) // chunk), 1)
    if row["chunks"] != due:
        yield f"chunks is {row['chunks']}, {_largest(row)} B in chunks of {chunk} B make {due}"


def _queues(row: pd.Series) -> Iterator[str]:
    """One endpoint has a queue of its own."""
    queues, endpoints = row.get(grouping.QUEUES, "each"), row.get(grouping.ENDPOINTS, 1)
    if pd.isna(queues) or pd.isna(endpoints):
        return
    if queues not in ("each", "one"):
        yield f"queues is '{queues}', it can be each or one"
    elif queues == "one" and endpoints == 1:
        yield "queues is one, and a rank has one endpoint, with a queue of its own"


def _threads(row: pd.Series) -> Iterator[str]:
    """A thread has a domain of its own, and with it a queue."""
    threads, endpoints = row.get(grouping.THREADS, "one"), row.get(grouping.ENDPOINTS, 1)
    if pd.isna(threads) or pd.isna(endpoints):
        return
    if threads not in ("one", "each"):
        yield f"threads is '{threads}', it can be one or each"
    elif threads == "each" and (endpoints == 1 or row.get(grouping.QUEUES, "each") == "one"):
        yield "threads is each, and a rank has one endpoint, or one queue for all"
    pinned = row.get(grouping.PINNED_THREADS, 0)
    most = endpoints if threads == "each" else 0
    if not pd.isna(pinned) and not 0 <= pinned <= most:
        yield f"pinned_threads is {pinned}, with threads {threads} it can be 0 to {most}"


def _window(row: pd.Series, node_of_rank: NDArray[np.integer[Any]]) -> Iterator[str]:
    asked = row.get(grouping.WINDOW_BYTES, 0)
    if pd.isna(asked) or asked <= 0:
        return
    largest = _largest(row)
    chunk = row.get(grouping.CHUNK, 0)
    if not pd.isna(chunk) and 0 < chunk < largest:
        largest = int(chunk)
    if forwarding.is_forwarded(row):
        largest = forwarding.largest(node_of_rank, int(row["message_size"]))
    due = min(max(int(asked) // max(largest, 1), 1), _MOST_IN_WINDOW)
    if row["window"] != due:
        yield f"window is {row['window']}, {asked} B hold {due} messages of {largest} B"


def forwarded(row: pd.Series, node_of_rank: NDArray[np.integer[Any]]) -> Iterator[str]:
    """What is wrong with what a point says its leaders forward."""
    if pd.isna(row.get(forwarding.FORWARDED)):
        return
    size = int(row["message_size"])
    due = forwarding.forwarded(node_of_rank, size) if forwarding.is_forwarded(row) else 0
    if row[forwarding.FORWARDED] != due:
        yield f"{forwarding.FORWARDED} is {row[forwarding.FORWARDED]}, leaders forward {due} B"


def exchanged(found: Results, row: pd.Series) -> NDArray[np.bool_] | None:
    """[draw, destination, source]: the messages of the ops, which take the draws in turn.

    None where every rank sends to all others.
    """
    stack = matrices.in_turn(found, row)
    return None if stack is None else stack.transpose(0, 2, 1) > 0


def _sizes(found: Results, row: pd.Series) -> NDArray[np.int64] | None:
    ranks, size = int(row["ranks"]), int(row["message_size"])
    if not matrices.is_uniform(row):
        matrix = matrices.weights(found, row)
        return None if matrix is None else matrices.bytes_of(matrix, size)
    if ranks > _MOST_RANKS:
        return None
    return (1 - np.eye(ranks, dtype=np.int64)) * size


def figures(row: pd.Series, sizes: NDArray[np.int64], launch: Launch) -> dict[str, Any]:
    """What the traffic alone asks of ranks, nodes and links, by column."""
    loads = matrices.Loads.of(sizes, launch.node_of_rank)
    bound, busiest = loads.bound(*matrices.link_rates(launch))
    if np.isnan(bound):
        busiest = loads.rank
    return {
        "largest_message": loads.largest,
        "imbalance": loads.rank_imbalance(len(sizes)),
        "node_imbalance": loads.node_imbalance(),
        "busiest": busiest.kind,
        "busiest_index": busiest.index,
        "bound": bound,
        "bound_share": bound / row["time_p50"],
    }


def rates(
    row: pd.Series,
    ops: list[matrices.Loads],
    launch: Launch,
    times: NDArray[np.float64] | None = None,
    rule: metrics.Rule = "rank",
) -> dict[str, float]:
    """Of traffic that is not uniform every rate, by column; only the sustained one by the mean.

    `ops`: what each asks, which takes its `times` (ns), and rates are medians of theirs, by the
    time for a byte; or, without times, one of them where all ask the same.
    """
    ranks, nodes = int(row["ranks"]), len(ops[0].left)
    took = np.array([float(row["time_p50"])]) if times is None else times

    def middle(amounts: list[float]) -> float:
        with np.errstate(divide="ignore"):  # an op may send nothing between nodes
            return float(np.divide(1, metrics.percentile(took / np.array(amounts), 0.5, rule)))

    one = 8 * middle([loads.total for loads in ops]) / ranks
    least = 8 * middle([loads.left.min() for loads in ops])
    net = 8 * middle([loads.left.mean() for loads in ops])
    most = 8 * middle([loads.left.max() for loads in ops])
    if nodes == 1:
        least, net, most = np.nan, np.nan, np.nan
    halves = 8 * middle([loads.halves for loads in ops])
    total = float(np.mean([loads.total for loads in ops]))
    link = float(launch.attributes["rails"]) * float(launch.attributes["link_rate_gbps"])
    return {
        "gbps_rank": one,
        "gbps_compat": np.nan,
        "gbps_node_net_min": least,
        "gbps_node_net": net,
        "gbps_node_net_max": most,
        "gbps_node_total": ranks / nodes * one,
        "gbps_node_compat": np.nan,
        "gbps_duplex": 2 * net,
        "gbps_aggregate": ranks * one,
        "gbps_bisection": halves if nodes > 1 else np.nan,
        "gbps_sustained": 8 * total / float(row["time_mean"]) / ranks,
        "gbps_sustained_compat": np.nan,
        "msg_rate": middle([loads.messages for loads in ops]) * 1e9,
        "efficiency": net / link if link > 0 else np.nan,
    }
