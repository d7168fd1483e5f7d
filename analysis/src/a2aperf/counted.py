# SPDX-License-Identifier: BSD-3-Clause
"""Reads what the operating system and the ports counted."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import strict, verified
from a2aperf.datasets import (
    AFTER,
    BEFORE,
    CAME_LATER,
    CHANGED_PER_RANK,
    CHANGES,
    COLUMNS,
    COUNTED_PER_NODE,
    COUNTED_PER_RANK,
    VALUES_AFTER,
    VALUES_BEFORE,
    VALUES_OF_NODES,
    VALUES_OF_RANKS,
    VERIFICATION,
)
from a2aperf.errors import DAMAGE, what_is_damaged
from a2aperf.schema import Counters
from a2aperf.segments import START


def port_names(file: h5py.File, unread: list[str] | None = None) -> list[str]:
    """Names of the ports' counters; where `unread` is given it says why they have numbers only."""
    try:
        return strict.texts(file["counters"]["port_names"])
    except DAMAGE as error:
        if unread is None:
            raise
        what = f"/counters/port_names: {what_is_damaged(error)}: numbers stand for the names"
        unread.append(what)
        return [
            f"unknown/{index}"
            for index in range(strict.dataset(file["counters"]["port"]).shape[-1])
        ]


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

    def of_phase(prefix: str, per_rank: Iterable[str]) -> Counters:
        place = (*of_nodes, slice(None))
        port = strict.part(group[f"{prefix}port"], place, (nodes, len(names)))
        return Counters(
            per_rank={
                name: strict.part(group[prefix + name], of_ranks, (ranks,)).astype(np.int64)
                for name in per_rank
                if _has(group, prefix + name)
            },
            thread_affinity=[],
            per_node={
                name: strict.part(group[prefix + name], of_nodes, (nodes,)).astype(np.int64)
                for name in COUNTED_PER_NODE
                if _has(group, prefix + name)
            },
            ports={name: port[:, index] for index, name in enumerate(names)},
        )

    has_verification = f"{VERIFICATION}port" in group
    return replace(
        of_phase("", COUNTED_PER_RANK),
        thread_affinity=[strict.text(value) for value in group["thread_affinity"][of_ranks]],
        verification=of_phase(VERIFICATION, CHANGED_PER_RANK) if has_verification else None,
        before=_values(group, BEFORE, point, (ranks, nodes), names),
        after=_values(group, AFTER, point, (ranks, nodes), names),
    )


def _values(
    group: h5py.Group, moment: str, point: int, counts: tuple[int, int], ports: list[str]
) -> Counters | None:
    """What was read of so many ranks and nodes before a point or after it; None: of older files."""
    if VALUES_OF_RANKS not in group:
        return None
    of_ranks, of_nodes = (
        dict(_columns(group[name], point, count, ports))
        for name, count in zip((VALUES_OF_RANKS, VALUES_OF_NODES), counts, strict=True)
    )
    known = [name for name in VALUES_BEFORE if moment == BEFORE or name in VALUES_AFTER]

    def own(columns: dict[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
        return {name: columns[moment + name] for name in known if moment + name in columns}

    return Counters(
        per_rank=own(of_ranks),
        thread_affinity=[],
        per_node=own(of_nodes),
        ports={name: of_nodes[f"{moment}port/{name}"] for name in ports},
    )


def _columns(
    dataset: h5py.Dataset, point: int, count: int, ports: list[str]
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """By their names in the file, of a port with its own name behind that."""
    names: list[str] = []
    for name in columns_of(dataset):
        is_port = name in (f"{BEFORE}port", f"{AFTER}port")
        names += [f"{name}/{port}" for port in ports] if is_port else [name]
    place = np.s_[point, :count, :]
    values = strict.part(dataset, place, (count, len(names))).astype(np.int64)
    return zip(names, values.T, strict=True)


def columns_of(dataset: h5py.Dataset) -> list[str]:
    """What its attribute says of its columns; all ports are one."""
    names = strict.text(dataset.attrs[COLUMNS]).split()
    if len(set(names)) < len(names):
        raise ValueError(f"{dataset.name} has two columns of one name")
    return names


def read_start(launch: h5py.Group, ranks: int) -> Counters | None:
    """What the start of a launch counted, of at most so many ranks; None: not recorded."""
    if START not in launch:
        return None
    group = strict.group(launch[START])
    names = strict.texts(group["port_names"])
    nodes = strict.numbers(group["interrupts"], "int64", ranks).size
    whole = (slice(None), slice(None))
    port = strict.part(group["port"], whole, (nodes, len(names)))
    return Counters(
        per_rank={
            name: strict.numbers(group[name], "int64", ranks)
            for name in CHANGED_PER_RANK
            if _has(group, name)
        },
        thread_affinity=[],
        per_node={
            name: strict.part(group[name], (slice(None),), (nodes,)).astype(np.int64)
            for name in COUNTED_PER_NODE
            if _has(group, name)
        },
        ports={name: port[:, index] for index, name in enumerate(names)},
    )


def strangers_of_start(launch: h5py.Group) -> list[str]:
    """What `read_start` does not read: a copy would lack it."""
    if START not in launch:
        return []
    return sorted(set(strict.group(launch[START])) - {*CHANGES, "port_names"})


def strangers_of_values(group: h5py.Group) -> list[str]:
    """Columns of values that `read` does not read, in /counters: a copy would lack them."""
    known = {f"{BEFORE}{name}" for name in VALUES_BEFORE} | {
        f"{AFTER}{name}" for name in VALUES_AFTER
    }
    return [
        f"{dataset}/{name}"
        for dataset in (VALUES_OF_RANKS, VALUES_OF_NODES)
        if dataset in group
        for name in columns_of(group[dataset])
        if name not in known
    ]


def _has(group: h5py.Group, name: str) -> bool:
    """Whether it is there, or ought to be."""
    return name.removeprefix(VERIFICATION) not in CAME_LATER or name in group


def involuntary_switches(file: h5py.File, point: int, ranks: int) -> NDArray[np.int64] | None:
    """How often each rank lost its core during one point; None if not recorded."""
    if "counters" not in file:
        return None
    verified.require(file, point)
    found = strict.part(file["counters"]["involuntary_switches"], np.s_[point, :ranks], (ranks,))
    return found.astype(np.int64)
