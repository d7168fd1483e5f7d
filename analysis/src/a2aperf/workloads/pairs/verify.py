# SPDX-License-Identifier: BSD-3-Clause
"""Whether the matrix of a file is what its samples say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from a2aperf import derived, schema
from a2aperf.deferred import pandas as pd
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.pairs import cells, stored
from a2aperf.workloads.workload import Verify


def verifier(found: Results, file: str) -> Verify:
    """What compares a step with the cells of the matrix that follow from it."""
    by_index = found.attributes[file].get("percentile_rule") == "index"
    return partial(_step, stored.read(found, file), by_index)


def verify_isolated(found: Results, file: str) -> Iterator[str]:
    """Whether the rate of each pair that was measured alone is that of its times."""
    matrix = stored.read(found, file)
    largest_error = np.nan_to_num(found.points["clock_error"].max())
    for place, times in enumerate(matrix.isolated_time):
        took, rate = np.sort(times[times != schema.UNKNOWN]), matrix.isolated_gbps[place]
        size, n = int(matrix.suspect_size[place]), len(took)
        if matrix.suspect_source[place] == schema.UNKNOWN:  # written last: the rest may be half
            continue
        if not n or size == schema.UNKNOWN:
            yield f"/pairs: second look {place} has no times or no size"
            continue
        # By either rule of percentiles, and their mean, which other programs take.
        least, most = took[(n - 1) // 2], took[n // 2]
        bits = 8.0 * matrix.message_size[size]
        told = least > 0 and bits / most <= rate * (1 + derived.TOLERANCE)
        if np.isnan(rate):  # not above the clock's error then
            told = not least > largest_error
        elif rate * (1 - derived.TOLERANCE) > bits / max(least, 1):
            told = False
        if not told:
            yield (
                f"/pairs: isolated_gbps is {rate:g} where the times of {n} messages alone say "
                f"{bits / max(most, 1):g}"
            )


def _step(matrix: stored.Pairs, by_index: bool, row: pd.Series[Any], raw: RawOps) -> Iterator[str]:
    sizes = np.flatnonzero(matrix.message_size == row["message_size"])
    distance, ranks = int(row["distance"]), raw.begin.shape[1]
    if not sizes.size or not 0 < distance < ranks or matrix.ops.shape[1] != ranks:
        yield f"step {distance} has no place in /pairs"
        return
    step = cells.of_step(row, raw, by_index)
    if raw.exit is None and step.impossible.any():
        pair = int(np.flatnonzero(step.impossible)[0])
        yield (
            f"a message from {step.source[pair]} to {step.destination[pair]} takes no time (so do "
            f"{int(step.impossible.sum())} of {ranks} pairs): it was there before its receiver "
            "left the barrier, and the file doesn't say when that was"
        )
        return
    at = int(sizes[0]), step.source, step.destination
    for column, values in step.figures.items():
        found = getattr(matrix, column)[at]
        wrong = cells.differs(found, values)
        if wrong.any():
            pair = int(np.flatnonzero(wrong)[0])
            yield (
                f"{column} of {step.source[pair]} → {step.destination[pair]} is {found[pair]:g} in "
                f"/pairs, its samples say {values[pair]:g}"
            )
