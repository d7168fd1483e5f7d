# SPDX-License-Identifier: BSD-3-Clause
"""Puts the checksums of its parts into a file that is otherwise whole (docs/file-format.md)."""

from __future__ import annotations

import h5py
import numpy as np

from a2aperf import checksums, datasets, making, schema

_NO_WORKLOADS = ("raw", "counters", "segments")
_OF_A_POINT = "CRC-32 of all that the file holds of the point"
_OF_A_GROUP = "CRC-32 of all other datasets here"
_OF_THE_REST = "CRC-32 of what does not change: structure, attributes, what was asked, who measured"


def seal(file: h5py.File) -> None:
    """Make all checksums anew: of points that are done with, of what was asked, of groups.

    And the digest of the rest. The trailer comes behind the closed file (`trailer.append`).
    """
    states = file["state"][()]
    if checksums.POINTS not in file:
        _create(file, checksums.POINTS, states.shape, _OF_A_POINT)
        file[checksums.POINTS].dims[0].attach_scale(file["point"])
    of_workloads = groups(file)
    for name in of_workloads:
        if checksums.POINTS not in file[name]:
            _create(file[name], checksums.POINTS, (), _OF_A_GROUP)
    if checksums.DIGEST not in file:
        _create(file, checksums.DIGEST, (), _OF_THE_REST)
    sums = checksums.PointChecksums(file)
    file[checksums.POINTS][...] = [
        checksums.NONE if state == schema.PENDING else sums.of(point)
        for point, state in enumerate(states)
    ]
    for name in of_workloads:
        file[name][checksums.POINTS][()] = checksums.of_group(file[name])
    for launch in file["segments"].values():
        if isinstance(launch, h5py.Group) and checksums.OF_END in launch:
            launch[checksums.OF_END][()] = _of_end(launch)
    for _, column in checksums.asked(file):
        crc = np.int64(checksums.of_column(column))
        making.attribute(column, checksums.OF_COLUMN, crc)
    file[checksums.DIGEST][()] = checksums.digest(file)


def _of_end(launch: h5py.Group) -> int:
    is_running = int(launch["end_state"][()]) == schema.END_STATES.index("running")
    return checksums.NONE if is_running else checksums.of_end(launch)


def groups(file: h5py.File) -> list[str]:
    """Those that workloads keep beside the points."""
    others = (str(name) for name in checksums.children(file) if name not in _NO_WORKLOADS)
    return [name for name in others if file.get(name, getclass=True) is h5py.Group]


def _create(group: h5py.Group, name: str, shape: tuple[int, ...], long_name: str) -> None:
    dataset = group.create_dataset(name, shape, "i8")
    dataset[...] = np.int64(checksums.NONE)
    making.attribute(dataset, "long_name", long_name)
    datasets.mark_unknown(dataset)
