# SPDX-License-Identifier: BSD-3-Clause
"""For how long each rank did what until its launch could measure: `/segments/<i>/start_times`."""

from __future__ import annotations

import h5py
import numpy as np

from a2aperf import making, segments, strict
from a2aperf.schema import StartTimes
from a2aperf.segments import START_TIMES


def read(launch: h5py.Group, ranks: int) -> StartTimes | None:
    """Of at most so many ranks; None: not recorded."""
    if START_TIMES not in launch:
        return None
    group = strict.group(launch[START_TIMES])
    phases = strict.texts(group["phase"])
    meanings = strict.texts(group["meaning"])
    waits = strict.numbers(group["waits"], "int8", len(phases)).astype(bool)
    times = strict.dataset(group["time"])
    shape = (len(phases), min(ranks, *times.shape[1:]))
    if {len(meanings), waits.size} != {len(phases)} or times.shape != shape:
        raise ValueError(f"{group.name} has not a time of each rank in each phase")
    time = strict.part(times, (slice(None), slice(None)), shape)
    return StartTimes(phases, meanings, waits, time.astype(np.int64))


def write(launch: h5py.Group, times: StartTimes) -> None:
    """As `read` reads it."""
    group = launch.create_group(START_TIMES)
    segments.write_texts(group, "phase", times.phases)
    segments.write_texts(group, "meaning", times.meanings)
    group.create_dataset("waits", data=times.waits.astype(np.int8))
    group.create_dataset("time", data=times.time)
    making.attribute(
        group["time"], "long_name", "time that each rank spent in each phase of its start"
    )
    making.attribute(group["time"], "units", "ns")
