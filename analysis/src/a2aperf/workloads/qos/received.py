# SPDX-License-Identifier: BSD-3-Clause
"""What came on each path in each interval, in the words of the published notes."""

from __future__ import annotations

from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.schema import UNKNOWN
from a2aperf.workloads.qos import experiments
from a2aperf.workloads.qos.experiments import Experiment


def lines(results: Results) -> list[str]:
    """A heading for each experiment and a line for each interval of each path, in time."""
    told: list[str] = []
    for one in experiments.of(results):
        told += [f"qos {one.where}", *_lines(one)]
    if not told:
        raise InputError("no path is measured: this layout is of paths that share a link")
    return told


def _lines(one: Experiment) -> list[str]:
    paths = one.paths
    begins = paths.interval_begin[one.rows]
    order = [
        (int(begin), place, at)
        for place, mine in enumerate(begins)
        for at, begin in enumerate(mine)
        if begin != UNKNOWN
    ]
    told = []
    for _, place, at in sorted(order):
        row = one.rows[place]
        seconds = paths.interval_length[row, at] / 1e9
        told.append(
            f"Rx_{paths.number[row]} received {paths.interval_bytes[row, at]} data bytes in "
            f"{paths.interval_messages[row, at]} messages over last {seconds:.1f} seconds"
        )
    silent = [place for place, mine in enumerate(begins) if (mine == UNKNOWN).all()]
    return told + [f"Rx_{paths.number[one.rows[place]]} received nothing" for place in silent]
