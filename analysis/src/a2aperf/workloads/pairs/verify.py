# SPDX-License-Identifier: BSD-3-Clause
"""Whether the matrix of a file is what its samples say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.pairs import cells, stored
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
