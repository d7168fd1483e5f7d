# SPDX-License-Identifier: BSD-3-Clause
"""The group /pairs of a results file, held against the raw samples."""

from pathlib import Path

import h5py
import numpy as np
from results import COMPLETE, Results


def distances(results: Results) -> list[int]:
    return [int(d) for d in results.columns["distance"]]


def measured(path: Path) -> list[np.ndarray]:
    """Of every message size, which pairs are there [source, destination]."""
    with h5py.File(path, "r") as file:
        return list(file["pairs/ops"][()] > 0)


def check_matrix(path: Path) -> set[tuple[int, int, int, float]]:
    """Every complete point's cells follow from its samples; all others are unknown.

    Returned: size index, source, destination and time of those that are there. A writer that was killed may have
    filled in the cells of one point more.
    """
    results = Results(path)
    with h5py.File(path, "r") as file:
        there = {name: item[()] for name, item in file["pairs"].items()}
    ranks = len(there["source"])
    sizes = list(there["message_size"])
    shape = (len(sizes), ranks, ranks)
    expected = {name: np.full(shape, np.nan) for name in ("time_p50", "time_min", "gbps")}
    ops = np.zeros(shape, dtype=int)
    for point in np.flatnonzero(results.columns["state"] == COMPLETE):
        samples, d = results.samples(point), int(results.columns["distance"][point])
        size = sizes.index(results.columns["message_size"][point])
        for source in range(ranks):
            cell = (size, source, (source + d) % ranks)
            arrived = samples["zero"] + samples["recv_done"]
            initiator = cell[2] if results.words("mode")[point] == "read" else source
            times = (arrived[:, cell[2]] - (samples["zero"] + samples["begin"])[:, initiator])[samples["valid"]]
            error = float(results.columns["clock_error"][point])
            p50, least = (t if t > error else np.nan for t in (results.percentile(times, 0.5), times.min()))
            expected["time_p50"][cell], expected["time_min"][cell] = p50, least
            expected["gbps"][cell] = 8 * sizes[size] / p50
            ops[cell] = len(times)
    is_killed = results.segments[-1].end_state == 0
    if is_killed:
        for values in there.values():
            if values.shape == shape:
                values[ops == 0] = np.nan if values.dtype.kind == "f" else 0
    for name, values in expected.items():
        np.testing.assert_allclose(there[name], values, rtol=1e-12, err_msg=name)
    np.testing.assert_array_equal(there["ops"], ops)
    return {(*cell, float(expected["time_p50"][cell])) for cell in zip(*map(list, np.nonzero(ops)), strict=True)}
