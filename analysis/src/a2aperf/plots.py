# SPDX-License-Identifier: BSD-3-Clause
"""The figures of all workloads by name.

The function of a row takes results and options and says what is to be seen (`chart.Figure`);
`drawing` and `interactive` make it visible. It reads raw samples only for the points that it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from a2aperf import counter_plots, oversubscription, workloads
from a2aperf.chart import Figure
from a2aperf.curves import Kind, Option, Options
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.screening import figures

KINDS: dict[str, Kind] = (
    {name: kind for workload in workloads.ALL for name, kind in workload.plots.items()}
    | counter_plots.KINDS
    | figures.KINDS
)


def options() -> Iterator[tuple[str, dict[str, Option]]]:
    """The name of each option that not all kinds have, and by kind what it is there."""
    names = dict.fromkeys(option.name for kind in KINDS.values() for option in kind.options)
    for name in names:
        yield name, {key: one for key, kind in KINDS.items() if (one := kind.option(name))}


def made(kind: str, results: Results, options: Options) -> Figure:
    """The figure of a kind; that cores are oversubscribed is the first of its notes."""
    row = KINDS[kind]
    for name, value in options.own.items():
        _require(kind, name, value)
    figure = row.make(results, options)
    return figure if row.one_launch else cautioned(figure, results)  # one launch says it of its own


def _require(kind: str, name: str, value: object) -> None:
    """InputError where the kind lacks the option, or the option the value."""
    option = KINDS[kind].option(name)
    if option is None:
        having = [key for key, other in KINDS.items() if other.option(name)]
        if having:
            raise InputError(f"--{name} is for {', '.join(having)}")
        raise InputError(f"no figure has a '{name}'; sel({name}=…) chooses points")
    if option.values and value not in option.values:
        raise InputError(f"--{name} {value}: expected one of {', '.join(option.values)}")


def cautioned(figure: Figure, results: Results) -> Figure:
    """The figure with what all of it is to be read with as its first notes."""
    crowded = oversubscription.in_launches(results.launches)
    return replace(figure, notes=(*crowded, *figure.notes))
