# SPDX-License-Identifier: BSD-3-Clause
"""The figures of all workloads by name.

The function of a row takes results and options and says what is to be seen (`chart.Figure`);
`drawing` and `interactive` make it visible. It reads raw samples only for the points that it shows.
"""

from __future__ import annotations

from dataclasses import replace

from a2aperf import oversubscription, workloads
from a2aperf.chart import Figure
from a2aperf.curves import Kind, Options
from a2aperf.errors import InputError
from a2aperf.results import Results

KINDS: dict[str, Kind] = {
    name: kind for workload in workloads.ALL for name, kind in workload.plots.items()
}


def made(kind: str, results: Results, options: Options) -> Figure:
    """The figure of a kind; that cores are oversubscribed is the first of its notes."""
    row = KINDS[kind]
    if options.what and not row.takes_what:
        raise InputError(f"--what is for {', '.join(n for n, k in KINDS.items() if k.takes_what)}")
    figure = row.make(results, options)
    return figure if row.one_launch else cautioned(figure, results)  # one launch says it of its own


def cautioned(figure: Figure, results: Results) -> Figure:
    """The figure with what all of it is to be read with as its first notes."""
    crowded = oversubscription.in_launches(results.launches.values())
    return replace(figure, notes=(*crowded, *figure.notes))
