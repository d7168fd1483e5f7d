# SPDX-License-Identifier: BSD-3-Clause
"""What counters were before and after each point, read with h5py alone: a column of one of two datasets."""

import h5py
import numpy as np
from results import text

DATASETS = ("values_of_ranks", "values_of_nodes")


def names(file: h5py.File) -> list[str]:
    """Such as before_minor_faults; before_port and after_port are of all ports."""
    return [name for one in DATASETS for name in text(file["counters"][one].attrs["counters"]).split()]


def values_of(file: h5py.File, wanted: str) -> np.ndarray:
    """[P, R] or [P, N], of ports [P, N, C]."""
    ports = len(file["counters/port_names"])
    for dataset in (file["counters"][one] for one in DATASETS):
        at = 0
        for name in text(dataset.attrs["counters"]).split():
            is_port = name.endswith("_port")
            if name == wanted:
                return dataset[:, :, at : at + ports] if is_port else dataset[:, :, at]
            at += ports if is_port else 1
    raise KeyError(wanted)
