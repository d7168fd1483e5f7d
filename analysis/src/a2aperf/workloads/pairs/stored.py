# SPDX-License-Identifier: BSD-3-Clause
"""The matrices as a file holds them: the group `/pairs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf.datasets import Described
from a2aperf.results import Results
from a2aperf.schema import IMPOSSIBLE_NS, UNKNOWN
from a2aperf.workloads.pairs import cells
from a2aperf.workloads.workload import Group, Remaking

_MATRIX = ("message_size", "source", "destination")
_SUSPECT = ("suspect",)
GROUP: Final = Group(
    "pairs",
    {
        "message_size": Described("bytes of a message", (), "B"),
        "time_p50": Described(
            "median transfer time from source to destination", _MATRIX, "ns", better="lower"
        ),
        "time_min": Described(
            "shortest transfer time from source to destination", _MATRIX, "ns", better="lower"
        ),
        "gbps": Described(
            "message size / median transfer time", _MATRIX, "Gbit/s", better="higher"
        ),
        "ops": Described("valid ops of the pair, 0 = not measured", _MATRIX),
        "suspect_source": Described(
            "sender of a pair that was looked at again", _SUSPECT, has_unknown=True
        ),
        "suspect_destination": Described("its receiver", _SUSPECT, has_unknown=True),
        "suspect_size": Described(
            "its message size, index into message_size", _SUSPECT, has_unknown=True
        ),
        "isolated_time": Described(
            "its transfer times with all other ranks idle",
            (*_SUSPECT, "isolated_attempt"),
            "ns",
            has_unknown=True,
            better="lower",
        ),
        "isolated_gbps": Described(
            "message size / median of isolated_time", _SUSPECT, "Gbit/s", better="higher"
        ),
    },
    "one matrix",
    Remaking(cells.remade, cells.without_isolated, "the second look at suspects"),
)


@dataclass(frozen=True)
class Pairs:
    """What each rank sends to each other: `/pairs`, only in the files of `a2aperf pairs`.

    Matrices are [M, R, R]: size, source, destination; NaN (ops: 0) where nothing was measured.
    The second look: K pairs measured while all others were silent, `isolated_time` [K, A2] ns.
    """

    message_size: NDArray[np.int64]
    time_p50: NDArray[np.float64]
    time_min: NDArray[np.float64]
    gbps: NDArray[np.float64]
    ops: NDArray[np.int32]
    suspect_source: NDArray[np.int32]
    suspect_destination: NDArray[np.int32]
    suspect_size: NDArray[np.int32]
    isolated_time: NDArray[np.int64]
    isolated_gbps: NDArray[np.float64]


def read(results: Results, file: str) -> Pairs:
    """The matrices of all pairs and the second look at some of them."""
    return results.group(file, GROUP.name, GROUP.datasets, _sound)


def _sound(arrays: dict[str, NDArray[np.generic]]) -> Pairs:
    pairs = Pairs(**arrays)  # type: ignore[arg-type]
    shape = (pairs.message_size.size, *pairs.gbps.shape[-1:] * 2)
    if not all(m.shape == shape for m in (pairs.time_p50, pairs.time_min, pairs.gbps, pairs.ops)):
        raise ValueError(f"/pairs: matrices are not all {shape}")
    if 0 in shape:
        raise ValueError("/pairs: the matrices are empty")
    looked = pairs.suspect_source, pairs.suspect_destination, pairs.suspect_size
    within = zip(looked, (shape[1], shape[1], shape[0]), strict=True)
    if any(((one >= limit) | (one < UNKNOWN)).any() for one, limit in within):
        raise ValueError("/pairs: a second look is at a pair that is not there")
    counts = {len(one) for one in (*looked, pairs.isolated_time, pairs.isolated_gbps)}
    if len(counts) > 1:
        raise ValueError("/pairs: second looks have different lengths")
    for matrix in (pairs.time_p50, pairs.time_min, pairs.gbps):
        # Of a file that is being written, too: where no op is counted there may be anything.
        matrix[(pairs.ops <= 0) | ~np.isfinite(matrix)] = np.nan
    # No message takes no time: nothing is derived from it (`check` refuses the file).
    pairs.gbps[pairs.time_p50 <= IMPOSSIBLE_NS] = np.nan
    for matrix in (pairs.time_p50, pairs.time_min):
        matrix[matrix <= IMPOSSIBLE_NS] = np.nan
    return pairs
