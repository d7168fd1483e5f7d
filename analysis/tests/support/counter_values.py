# SPDX-License-Identifier: BSD-3-Clause
"""Changes what was read before and after points, in a file."""

from typing import Any

import h5py
import numpy as np

from a2aperf import counted, datasets

NAMES = (datasets.VALUES_OF_RANKS, datasets.VALUES_OF_NODES)


def put(file: h5py.File, name: str, point: int, values: Any, port: int = 0) -> None:
    """Of each rank or node, or the same of all; `name` as in "before_minor_faults"."""
    dataset, column = _place(file, name, port)
    dataset[point, :, column] = np.broadcast_to(values, dataset.shape[1])


def _place(file: h5py.File, name: str, port: int) -> tuple[h5py.Dataset, int]:
    ports = len(file["counters/port_names"])
    for dataset in (file["counters"][one] for one in NAMES):
        column = 0
        for one in counted.columns_of(dataset):
            is_port = one.endswith("_port")
            if one == name:
                return dataset, column + (port if is_port else 0)
            column += ports if is_port else 1
    raise KeyError(name)


def remove(file: h5py.File) -> None:
    """As an older program left it."""
    for name in (*NAMES, "rank_value", "node_value"):
        del file["counters"][name]
