# SPDX-License-Identifier: BSD-3-Clause
"""Whether the matrix of a file is what its samples say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from a2aperf import derived, schema
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.pairs import stored
from a2aperf.workloads.workload import Verify


def verifier(found: Results, file: str) -> Verify:
    """What compares a step with the cells of the matrix that follow from it."""
    by_index = found.attributes[file].get("percentile_rule") == "index"
    return partial(_step, stored.read(found, file), by_index)


def _step(matrix: stored.Pairs, by_index: bool, row: pd.Series[Any], raw: RawOps) -> Iterator[str]:
    sizes = np.flatnonzero(matrix.message_size == row["message_size"])
    distance, ranks = int(row["distance"]), raw.begin.shape[1]
    if not sizes.size or not 0 < distance < ranks or matrix.ops.shape[1] != ranks:
        yield f"step {distance} has no place in /pairs"
        return
    source = np.arange(ranks)
    destination = (source + distance) % ranks
    zero = 0 if raw.exit is None else raw.exit
    arrived, began = raw.recv_done + zero, raw.begin + zero
    initiator = source if raw.has_send_done else destination
    took = np.sort(
        (arrived[:, destination] - began[:, initiator])[raw.valid].astype(np.float64), axis=0
    )
    impossible = (took <= schema.IMPOSSIBLE_NS).any(axis=0)
    if raw.exit is None and impossible.any():
        pair = int(np.flatnonzero(impossible)[0])
        yield (
            f"a message from {source[pair]} to {destination[pair]} takes no time (so do "
            f"{int(impossible.sum())} of {ranks} pairs): it was there before its receiver left the "
            "barrier, and the file doesn't say when that was"
        )
        return
    n = len(took)
    at = int(sizes[0]), source, destination
    again = {
        "ops": np.full(ranks, n),
        "time_p50": took[n // 2 if by_index else -(-n // 2) - 1],
        "time_min": took[0],
    }
    error = np.nan_to_num(row["clock_error"])
    for column in ("time_p50", "time_min"):
        again[column] = np.where(again[column] > error, again[column], np.nan)
    with np.errstate(invalid="ignore"):
        again["gbps"] = 8.0 * row["message_size"] / again["time_p50"]
    for column, values in again.items():
        stored = getattr(matrix, column)[at].astype(np.float64)
        wrong = ~np.isclose(stored, values, rtol=derived.TOLERANCE, atol=1e-9, equal_nan=True)
        if wrong.any():
            pair = int(np.flatnonzero(wrong)[0])
            yield (
                f"{column} of {source[pair]} → {destination[pair]} is {stored[pair]:g} in "
                f"/pairs, its samples say {values[pair]:g}"
            )
