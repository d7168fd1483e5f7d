# SPDX-License-Identifier: BSD-3-Clause
"""The cells of the matrices that follow from the samples of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a2aperf import derived, schema
from a2aperf.raw_ops import RawOps
from a2aperf.workloads.workload import Arrays, Row, Steps

_FIGURES = ("time_p50", "time_min", "gbps")
_SUSPECT = ("suspect_source", "suspect_destination", "suspect_size")


@dataclass(frozen=True)
class Step:
    """One distance: rank r sends to (r + distance) mod R. All are [R]."""

    source: npt.NDArray[np.int64]
    destination: npt.NDArray[np.int64]
    impossible: npt.NDArray[np.bool_]
    """Pairs whose messages take no time."""
    figures: dict[str, npt.NDArray[Any]]
    """By the names of the matrices."""


def of_step(row: Row, raw: RawOps, by_index: bool) -> Step:
    """By `message_size`, `distance` and `clock_error` of its row; see docs/file-format.md."""
    ranks = raw.begin.shape[1]
    source = np.arange(ranks)
    destination = (source + int(row["distance"])) % ranks
    zero = 0 if raw.exit is None else raw.exit
    arrived, began = raw.recv_done + zero, raw.begin + zero
    initiator = source if raw.has_send_done else destination
    took = np.sort(
        (arrived[:, destination] - began[:, initiator])[raw.valid].astype(np.float64), axis=0
    )
    n = len(took)
    values = {
        "ops": np.full(ranks, n),
        "time_p50": took[n // 2 if by_index else -(-n // 2) - 1],
        "time_min": took[0],
    }
    error = np.nan_to_num(row["clock_error"])
    for column in ("time_p50", "time_min"):
        values[column] = np.where(values[column] > error, values[column], np.nan)
    with np.errstate(invalid="ignore"):
        values["gbps"] = 8.0 * row["message_size"] / values["time_p50"]
    impossible = np.any(took <= schema.IMPOSSIBLE_NS, axis=0)
    return Step(source, destination, np.asarray(impossible), values)


def differs(stored: npt.NDArray[Any], again: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where a stored figure is not the one that the samples give."""
    close = np.isclose(
        stored.astype(np.float64), again, rtol=derived.TOLERANCE, atol=1e-9, equal_nan=True
    )
    return np.asarray(np.logical_not(close))


def remade(read: Arrays, steps: Steps, ranks: int, by_index: bool) -> dict[str, npt.NDArray[Any]]:
    """The matrices of these steps; what could be read stays where it is what the samples say.

    The second look is as it was read, and none where it was not: nothing else tells it.
    """
    measured = [(row, of_step(row, raw, by_index)) for row, raw in steps]
    sizes = _sizes(read, [row["message_size"] for row, _ in measured])
    shape = (len(sizes), ranks, ranks)
    made: dict[str, npt.NDArray[Any]] = {
        "message_size": sizes,
        "ops": np.zeros(shape, np.int32),
        **{name: np.full(shape, np.nan) for name in _FIGURES},
    }
    for row, step in measured:
        at = int(np.flatnonzero(sizes == row["message_size"])[0]), step.source, step.destination
        for name, values in step.figures.items():
            made[name][at] = values
            if name in read and read[name].shape == shape:
                made[name][at] = np.where(
                    differs(read[name][at], values), values, read[name][at]
                ).astype(made[name].dtype)
    return {**made, **_second_look(read)}


def _sizes(read: Arrays, of_points: Sequence[int]) -> npt.NDArray[np.int64]:
    found = read.get("message_size", np.empty(0, np.int64))
    known = np.array(list(dict.fromkeys(of_points)), np.int64)
    return found if found.ndim == 1 and np.isin(known, found).all() else known


def _second_look(read: Arrays) -> dict[str, npt.NDArray[Any]]:
    names = (*_SUSPECT, "isolated_time", "isolated_gbps")
    if {len(read[name]) if name in read else -1 for name in names} == {len(read.get(names[0], ""))}:
        return {name: read[name] for name in names}
    return {
        **{name: np.empty(0, np.int32) for name in _SUSPECT},
        "isolated_time": np.empty((0, 1), np.int64),
        "isolated_gbps": np.empty(0),
    }


def without_isolated(made: Arrays) -> dict[str, npt.NDArray[Any]]:
    """The same with room for one, and nobody looked."""
    blank = dict(made)
    for name in (*_SUSPECT, "isolated_time"):
        blank[name] = np.full_like(made[name], schema.UNKNOWN)
    return {**blank, "isolated_gbps": np.full_like(made["isolated_gbps"], np.nan)}
