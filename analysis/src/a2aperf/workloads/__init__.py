# SPDX-License-Identifier: BSD-3-Clause
"""What a2aperf can be asked to measure: one package and one row here each."""

from __future__ import annotations

from typing import Any, Final

from a2aperf import schema
from a2aperf.deferred import pandas as pd
from a2aperf.nodes.study import Study
from a2aperf.results import Results
from a2aperf.workloads import (
    alltoall,
    echo,
    interconnects,
    interference,
    open_loop,
    pairs,
    qos,
    stream,
)
from a2aperf.workloads.workload import Workload

ALL: Final = (
    alltoall.WORKLOAD,
    pairs.WORKLOAD,
    stream.WORKLOAD,
    echo.WORKLOAD,
    open_loop.WORKLOAD,
    qos.WORKLOAD,
    interference.WORKLOAD,
    interconnects.WORKLOAD,
)
GROUPS: Final = {one.group.name: one.group.datasets for one in ALL if one.group}
"""What any of them keeps in the root of its files."""


def of_role(role: str) -> Workload:
    """The workload whose points have this role; of a newer program one of which nothing is known.

    Its points can be tabulated, filtered, exported: that needs no more than what the file says.
    """
    for workload in ALL:
        if role in workload.roles:
            return workload
    key = role
    for part in schema.OF_ALL_TO_ALLS:  # as `loading.load` calls its points; a name may have dashes
        key = key.removesuffix(f"-{part}")
    words = f"a file of 'a2aperf {key}', which this a2a does not know: 'a2a table' shows its points"
    return Workload(
        key,
        (role,),
        f"a2aperf {key} with {{}} ranks",
        words,
        sentences=lambda results: [f"{file}: {words[7:]}." for file in results.files_with((role,))],
    )


def of_key(key: str) -> Workload:
    """The workload that a file names; of a newer program one of which nothing is known."""
    return next((one for one in ALL if one.key == key), None) or of_role(key)


def may_be_untold() -> list[str]:
    """Columns that are left out where the start of ops does not carry them, whatever a file has."""
    times = [name for one in ALL if one.timed for name in (one.timed.time, *one.timed.rates)]
    return list(dict.fromkeys([*alltoall.one_way.LEFT_OUT, *times]))


def present(results: Results) -> list[Workload]:
    """The workloads that have points here, complete or not; those that are not known come last."""
    found = {one.key: one for one in (of_role(str(x)) for x in results.points["role"].unique())}
    known = [one for one in ALL if one.key in found]
    return known + [one for one in found.values() if one not in known]


def study_of_nodes(results: Results) -> Study | None:
    """What all launches say of each node, by the first workload that can tell."""
    studies = (one.study(results) for one in present(results))
    return next((said for said in studies if said is not None), None)


def _is_known(values: pd.Series[Any]) -> bool:
    """Of any point."""
    return bool((values.notna() & (values.astype(str) != "")).any())


def table_columns(results: Results) -> list[str]:
    """What the workloads here show in a table, as far as a file has it: imports have more."""
    names = [name for one in present(results) for name in one.table]
    seldom = {name for one in present(results) for name in one.seldom}
    return [
        name
        for name in dict.fromkeys(names)
        if name in results.points and (name not in seldom or _is_known(results.points[name]))
    ]
