# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the operating system and the ports counted."""

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import strict, verified
from a2aperf.datasets import COUNTED_PER_RANK
from a2aperf.errors import DAMAGE, what_is_damaged
from a2aperf.schema import Counters


def port_names(file: h5py.File, unread: list[str] | None = None) -> list[str]:
    """Names of the ports' counters; where `unread` is given it says why they have numbers only."""
    try:
        return strict.texts(file["counters"]["port_names"])
    except DAMAGE as error:
        if unread is None:
            raise
        what = f"/counters/port_names: {what_is_damaged(error)}: numbers stand for the names"
        unread.append(what)
        return [f"unknown/{index}" for index in range(file["counters"]["port"].shape[-1])]


def read(
    file: h5py.File, point: int, ranks: int, nodes: int, ports: list[str] | None = None
) -> Counters | None:
    """What the operating system and the ports counted during one point; None if not recorded.

    `ports` are the names of the ports' counters, where they are read already.
    """
    if "counters" not in file:
        return None
    verified.require(file, point)
    group = file["counters"]
    names = port_names(file) if ports is None else ports
    of_ranks, of_nodes = np.s_[point, :ranks], np.s_[point, :nodes]
    port = strict.part(group["port"], (*of_nodes, slice(None)), (nodes, len(names)))
    affinity = group["thread_affinity"]
    return Counters(
        per_rank={
            name: strict.part(group[name], of_ranks, (ranks,)).astype(np.int64)
            for name in COUNTED_PER_RANK
        },
        thread_affinity=[strict.text(value) for value in affinity[of_ranks]],
        interrupts=strict.part(group["interrupts"], of_nodes, (nodes,)),
        ports={name: port[:, index] for index, name in enumerate(names)},
    )


def involuntary_switches(file: h5py.File, point: int, ranks: int) -> NDArray[np.int64] | None:
    """How often each rank lost its core during one point; None if not recorded."""
    if "counters" not in file:
        return None
    verified.require(file, point)
    found = strict.part(file["counters"]["involuntary_switches"], np.s_[point, :ranks], (ranks,))
    return found.astype(np.int64)
